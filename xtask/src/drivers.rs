//! The drivers that tests and the demo run on, unpacked beside the project.
//!
//! They come from the machine's own package archive and are unpacked, not installed: the
//! system's Mesa stays as it is. `docs/drivers.md` says what each one is for.

use crate::packages::{Apt, Needed};
use std::fs;
use std::path::{Path, PathBuf};

/// Raised when what is unpacked changes, so that an older folder is made anew.
const RECIPE: &str = "standin drivers 3";

/// What the drivers and the tools of the tests are taken from.
const PACKAGES: [&str; 5] = [
    "mesa-vulkan-drivers",
    "mesa-drm-shim",
    "libvulkan1",
    "spirv-tools",
    "glslang-tools",
];

/// Packages that carry a validation layer, the newest first.
const LAYER_PACKAGES: [&str; 2] = ["chromium-common", "vulkan-validationlayers"];

/// The oldest Mesa that the tests are written for.
const MESA_MAJOR: u32 = 25;

/// Why the drivers could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriverError {
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{tool} failed: {message}")]
    Tool { tool: String, message: String },
    #[error("this system is not one that the drivers can be fetched on: {0}")]
    Unsupported(String),
    #[error("the package archive's Mesa is {found}; {MESA_MAJOR} or newer is needed")]
    MesaTooOld { found: String },
    #[error("{what} is missing from the unpacked packages")]
    Missing { what: &'static str },
}

impl DriverError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, source }
    }
}

/// The unpacked drivers.
pub(crate) struct Drivers {
    root: PathBuf,
}

impl Drivers {
    /// Folder of the shared libraries.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.root.join("usr/lib/x86_64-linux-gnu")
    }

    /// Folder of `spirv-val`, `spirv-as`, `glslangValidator` and the like.
    pub(crate) fn programs(&self) -> PathBuf {
        self.root.join("usr/bin")
    }

    /// Folder of the Vulkan loader to use: the validation layer's own where it came with one.
    pub(crate) fn loader(&self) -> PathBuf {
        self.root.join("loader")
    }

    /// Folder of the validation layer's manifest.
    pub(crate) fn layers(&self) -> PathBuf {
        self.root.join("layers")
    }

    /// The manifest of one driver: `lvp` or `radeon`.
    pub(crate) fn manifest(&self, driver: &str) -> PathBuf {
        self.root.join(format!("{driver}_icd.json"))
    }

    /// The library that stands in for the amdgpu kernel driver.
    pub(crate) fn amdgpu_shim(&self) -> PathBuf {
        self.libraries().join("libamdgpu_noop_drm_shim.so")
    }
}

/// The project's root folder.
pub(crate) fn project() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

fn folder() -> PathBuf {
    std::env::var_os("STANDIN_DRIVERS").map_or_else(|| project().join(".drivers"), PathBuf::from)
}

/// The drivers, fetched first where they are not there yet.
pub(crate) fn ensure() -> Result<Drivers, DriverError> {
    let drivers = Drivers { root: folder() };
    let ready = drivers.root.join("READY");
    if fs::read_to_string(&ready).is_ok_and(|text| text.trim() == RECIPE) {
        return Ok(drivers);
    }
    match fetch(&drivers) {
        Ok(()) => {
            fs::write(&ready, RECIPE).map_err(DriverError::io(&ready))?;
            println!("  drivers are ready in {}", drivers.root.display());
            Ok(drivers)
        }
        Err(error) => {
            eprintln!("{BY_HAND}");
            Err(error)
        }
    }
}

const BY_HAND: &str = "
The drivers could not be fetched. By hand, on Debian 12 as root:
  echo 'deb http://deb.debian.org/debian bookworm-backports main' > /etc/apt/sources.list.d/backports.list
  apt-get update
  apt-get install -t bookworm-backports mesa-vulkan-drivers mesa-drm-shim libvulkan1 spirv-tools glslang-tools
  apt-get download chromium-common       # carries a current validation layer
on Ubuntu 24.04 or newer as root:
  apt-get update
  apt-get install mesa-vulkan-drivers mesa-drm-shim libvulkan1 vulkan-validationlayers spirv-tools glslang-tools
On another system: install Mesa 25 or newer with lavapipe, RADV and the no-op amdgpu shim, a Vulkan
loader and the Khronos validation layer, and lay them out as docs/drivers.md says.";

fn fetch(drivers: &Drivers) -> Result<(), DriverError> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(DriverError::Unsupported(
            "x86-64 Linux is the only platform it is known for".into(),
        ));
    }
    let root = &drivers.root;
    println!(
        "fetching Vulkan drivers into {} (nothing is installed):",
        root.display()
    );
    if root.exists() {
        fs::remove_dir_all(root).map_err(DriverError::io(root))?;
    }
    let apt = Apt::prepare(&root.join("apt"))?;
    let needed = apt.needed(&PACKAGES)?;
    let mesa = needed
        .iter()
        .find(|package| package.name == "mesa-vulkan-drivers")
        .map_or("not to be had", |package| package.version.as_str());
    let major: Option<u32> = mesa
        .rsplit(':')
        .next()
        .and_then(|version| version.split('.').next())
        .and_then(|major| major.parse().ok());
    if major.is_none_or(|major| major < MESA_MAJOR) {
        return Err(DriverError::MesaTooOld { found: mesa.into() });
    }
    // The C library must be the machine's own: the loader that starts programs is its.
    let wanted: Vec<Needed> = needed
        .into_iter()
        .filter(|package| !package.name.starts_with("libc6") && !package.name.ends_with("-dev"))
        .collect();
    apt.unpack(&wanted, root)?;
    fetch_layer(&apt, drivers)?;
    for driver in ["lvp", "radeon"] {
        let soname = match driver {
            "lvp" => "libvulkan_lvp.so",
            _ => "libvulkan_radeon.so",
        };
        let library = drivers.libraries().join(soname);
        if !library.exists() {
            return Err(DriverError::Missing {
                what: "a Mesa Vulkan driver",
            });
        }
        let text = format!(
            r#"{{"file_format_version":"1.0.0","ICD":{{"library_path":"{}","api_version":"1.4.0"}}}}"#,
            library.display()
        );
        let manifest = drivers.manifest(driver);
        fs::write(&manifest, text).map_err(DriverError::io(&manifest))?;
    }
    if !drivers.amdgpu_shim().exists() {
        return Err(DriverError::Missing {
            what: "the no-op amdgpu shim",
        });
    }
    let apt_folder = root.join("apt");
    fs::remove_dir_all(&apt_folder).map_err(DriverError::io(&apt_folder))
}

/// Unpacks the validation layer, and beside it the loader that goes with it.
fn fetch_layer(apt: &Apt, drivers: &Drivers) -> Result<(), DriverError> {
    const LIBRARY: &str = "libVkLayer_khronos_validation.so";
    let package = LAYER_PACKAGES
        .iter()
        .find_map(|name| apt.candidate(name))
        .ok_or(DriverError::Missing {
            what: "a package with the validation layer",
        })?;
    let staging = drivers.root.join("layer-package");
    apt.unpack(&[package], &staging)?;
    let layers = drivers.layers();
    let loader = drivers.loader();
    for folder in [&layers, &loader] {
        fs::create_dir_all(folder).map_err(DriverError::io(folder))?;
    }
    let carried = [
        staging.join("usr/lib/chromium"),
        staging.join("usr/lib/x86_64-linux-gnu"),
    ];
    let source = carried
        .iter()
        .find(|folder| folder.join(LIBRARY).exists())
        .ok_or(DriverError::Missing {
            what: "the validation layer",
        })?;
    let library = layers.join(LIBRARY);
    fs::rename(source.join(LIBRARY), &library).map_err(DriverError::io(&library))?;
    let text = format!(
        r#"{{"file_format_version":"1.2.0","layer":{{"name":"VK_LAYER_KHRONOS_validation","type":"GLOBAL","library_path":"{}","api_version":"1.4.0","implementation_version":"1","description":"Khronos validation layer"}}}}"#,
        library.display()
    );
    let manifest = layers.join("VkLayer_khronos_validation.json");
    fs::write(&manifest, text).map_err(DriverError::io(&manifest))?;
    // A new layer wants a new loader; where none came along, the distribution's serves.
    let beside = source.join("libvulkan.so.1");
    let from = if beside.exists() {
        beside
    } else {
        drivers.libraries().join("libvulkan.so.1")
    };
    let to = loader.join("libvulkan.so.1");
    fs::copy(&from, &to).map_err(DriverError::io(&from))?;
    // The mock driver makes pipelines in nanoseconds: overhead and call counts are tested on it.
    let mock = source.join("libVkICD_mock_icd.so");
    if mock.exists() {
        let library = drivers.root.join("libVkICD_mock_icd.so");
        fs::rename(&mock, &library).map_err(DriverError::io(&library))?;
        let text = format!(
            r#"{{"file_format_version":"1.0.1","ICD":{{"library_path":"{}","api_version":"1.4.0"}}}}"#,
            library.display()
        );
        let manifest = drivers.manifest("mock");
        fs::write(&manifest, text).map_err(DriverError::io(&manifest))?;
    }
    fs::remove_dir_all(&staging).map_err(DriverError::io(&staging))
}
