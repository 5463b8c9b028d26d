//! The Vulkan loader, the instance, and the physical devices it lists.

use crate::capabilities::{Capabilities, DeviceKind};
use crate::extensions::Extensions;
use crate::validation::{FalsePositive, Messages};
use ash::vk;
use std::ffi::CStr;
use std::sync::Arc;

/// The newest version that Standin asks for. The loader may offer less.
const NEWEST: u32 = vk::make_api_version(0, 1, 4, 0);

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Whether the validation layer is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// It is not.
    #[default]
    Off,
    /// It is, if it is installed.
    IfPresent,
    /// It is, and its absence is an error.
    Required,
}

/// How an instance is made.
#[derive(Debug, Clone, Default)]
pub struct InstanceSettings {
    /// Whether the validation layer is loaded.
    pub validation: Validation,
    /// Messages of the layer that are left out of [`Instance::messages`].
    pub false_positives: &'static [FalsePositive],
}

/// Why there is no instance.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The loader library could not be opened.
    #[error(
        "there is no Vulkan loader ({0}); install it and a driver: libvulkan1 and mesa-vulkan-drivers on \
         Debian and Ubuntu, vulkan-loader and mesa-vulkan-drivers on Fedora, vulkan-icd-loader on Arch"
    )]
    NoLoader(ash::LoadingError),
    /// The validation layer was required and is not installed.
    #[error(
        "VK_LAYER_KHRONOS_validation is not installed (vulkan-validationlayers on Debian and Ubuntu)"
    )]
    NoValidationLayer,
    /// The loader found no driver that works.
    #[error("the Vulkan loader found no working driver; install one, such as mesa-vulkan-drivers")]
    NoDriver,
    /// A call failed.
    #[error("{call} failed: {result}")]
    Call {
        /// The Vulkan command.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
    },
}

fn failed(call: &'static str) -> impl FnOnce(vk::Result) -> InstanceError {
    move |result| InstanceError::Call { call, result }
}

/// A Vulkan instance, with the messages of its validation layer if that is loaded.
pub struct Instance {
    raw: ash::Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    api_version: u32,
    // After the instance: the messenger points here until the instance is gone.
    messages: Option<Arc<Messages>>,
    // Last: it holds the library that every function pointer above leads into.
    _entry: ash::Entry,
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance")
            .field("api_version", &self.api_version)
            .field("validated", &self.messages.is_some())
            .finish_non_exhaustive()
    }
}

impl Instance {
    /// Opens the loader and makes an instance.
    ///
    /// # Errors
    /// [`InstanceError`], which says what to install.
    pub fn new(settings: &InstanceSettings) -> Result<Arc<Self>, InstanceError> {
        // SAFETY: the loader is a well-behaved library; loading it runs its initialisers only.
        let entry = unsafe { ash::Entry::load() }.map_err(InstanceError::NoLoader)?;
        // SAFETY: plain queries of a loaded entry.
        let offered = unsafe { entry.try_enumerate_instance_version() }
            .map_err(failed("vkEnumerateInstanceVersion"))?
            .unwrap_or(vk::API_VERSION_1_0);
        let api_version = offered.min(NEWEST);

        let layered = match settings.validation {
            Validation::Off => false,
            Validation::IfPresent => has_layer(&entry)?,
            Validation::Required => {
                if !has_layer(&entry)? {
                    return Err(InstanceError::NoValidationLayer);
                }
                true
            }
        };
        let available = instance_extensions(&entry, None)?;
        let mut extensions = Extensions::default();
        for name in [
            ash::khr::surface::NAME,
            ash::khr::portability_enumeration::NAME,
        ] {
            if available.has(name) {
                extensions.insert(name);
            }
        }
        let messages = if layered
            && (available.has(ash::ext::debug_utils::NAME)
                || instance_extensions(&entry, Some(VALIDATION_LAYER))?
                    .has(ash::ext::debug_utils::NAME))
        {
            extensions.insert(ash::ext::debug_utils::NAME);
            Some(Arc::new(Messages::new(settings.false_positives)))
        } else {
            None
        };

        let application = vk::ApplicationInfo::default()
            .application_name(c"standin")
            .engine_name(c"standin")
            .api_version(api_version);
        let layers = [VALIDATION_LAYER.as_ptr()];
        let names = extensions.pointers();
        let mut flags = vk::InstanceCreateFlags::empty();
        if extensions.has(ash::khr::portability_enumeration::NAME) {
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_extension_names(&names);
        if layered {
            info = info.enabled_layer_names(&layers);
        }
        let mut messenger_info = messages.as_deref().map(Messages::create_info);
        if let Some(messenger) = &mut messenger_info {
            info = info.push_next(messenger);
        }
        // SAFETY: the create-info and everything it points to live until the call returns, and
        // the messages live as long as the instance.
        let raw = match unsafe { entry.create_instance(&info, None) } {
            Ok(raw) => raw,
            Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => return Err(InstanceError::NoDriver),
            Err(result) => return Err(failed("vkCreateInstance")(result)),
        };
        let mut instance = Self {
            messenger: None,
            raw,
            api_version,
            messages,
            _entry: entry,
        };
        if let Some(messages) = &instance.messages {
            let loader = ash::ext::debug_utils::Instance::new(&instance._entry, &instance.raw);
            // SAFETY: the messages outlive the messenger: `drop` destroys it first.
            let messenger =
                unsafe { loader.create_debug_utils_messenger(&messages.create_info(), None) }
                    .map_err(failed("vkCreateDebugUtilsMessengerEXT"))?;
            instance.messenger = Some((loader, messenger));
        }
        Ok(Arc::new(instance))
    }

    /// The instance's API version: the lower of 1.4 and what the loader offers.
    #[must_use]
    pub fn api_version(&self) -> u32 {
        self.api_version
    }

    /// What the validation layer says; `None` if it is not loaded.
    #[must_use]
    pub fn messages(&self) -> Option<&Arc<Messages>> {
        self.messages.as_ref()
    }

    /// The raw instance. Creating objects from it is the caller's own business.
    #[must_use]
    pub fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// Every physical device, in the loader's order, with what it can do.
    ///
    /// # Errors
    /// [`InstanceError::Call`] if the devices cannot be listed. No device is an empty list.
    pub fn physical_devices(self: &Arc<Self>) -> Result<Vec<PhysicalDevice>, InstanceError> {
        // SAFETY: a query of a live instance.
        let devices = match unsafe { self.raw.enumerate_physical_devices() } {
            Ok(devices) => devices,
            // The loader says so when every driver refused to start.
            Err(vk::Result::ERROR_INITIALIZATION_FAILED) => Vec::new(),
            Err(result) => return Err(failed("vkEnumeratePhysicalDevices")(result)),
        };
        devices
            .into_iter()
            .map(|raw| {
                Ok(PhysicalDevice {
                    capabilities: Capabilities::query(self, raw)
                        .map_err(failed("vkEnumerateDeviceExtensionProperties"))?,
                    instance: Arc::clone(self),
                    raw,
                })
            })
            .collect()
    }

    /// The device that a choice means.
    ///
    /// # Errors
    /// [`SelectError`], which lists what there is.
    pub fn select(self: &Arc<Self>, choice: &DeviceChoice) -> Result<PhysicalDevice, SelectError> {
        let devices = self.physical_devices()?;
        let names = || {
            devices
                .iter()
                .enumerate()
                .map(|(index, device)| format!("{index}: {}", device.capabilities.identity.name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if devices.is_empty() {
            return Err(SelectError::NoDevice);
        }
        let kinds: Vec<(DeviceKind, &str)> = devices
            .iter()
            .map(|device| {
                let identity = &device.capabilities.identity;
                (identity.kind, identity.name.as_str())
            })
            .collect();
        match choose(&kinds, choice) {
            Some(index) => devices.into_iter().nth(index).ok_or(SelectError::NoDevice),
            None if *choice == DeviceChoice::BestGpu => {
                Err(SelectError::OnlyCpu { found: names() })
            }
            None => Err(SelectError::NotFound {
                asked: choice.to_string(),
                found: names(),
            }),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: whatever was made from the instance holds an Arc of it and is gone.
        unsafe {
            if let Some((loader, messenger)) = &self.messenger {
                loader.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

fn has_layer(entry: &ash::Entry) -> Result<bool, InstanceError> {
    // SAFETY: a query of a loaded entry.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(failed("vkEnumerateInstanceLayerProperties"))?;
    Ok(layers
        .iter()
        .any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)))
}

fn instance_extensions(
    entry: &ash::Entry,
    layer: Option<&CStr>,
) -> Result<Extensions, InstanceError> {
    // SAFETY: a query of a loaded entry.
    let properties = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .map_err(failed("vkEnumerateInstanceExtensionProperties"))?;
    Ok(Extensions::from_properties(&properties))
}

/// Which of the listed devices is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// A discrete GPU before an integrated one before a virtual one. Never a CPU device: on a
    /// machine without a driver that would put a long job on the processor without anybody
    /// having asked for it.
    #[default]
    BestGpu,
    /// As [`Self::BestGpu`], and a CPU device if there is nothing else.
    BestOrCpu,
    /// The device whose name contains this text, whatever the case of its letters.
    Name(String),
    /// The device at this place in the list.
    Index(usize),
    /// The first device of this kind.
    Kind(DeviceKind),
}

impl std::fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BestGpu => f.write_str("a GPU"),
            Self::BestOrCpu => f.write_str("any device"),
            Self::Name(name) => write!(f, "a device named {name:?}"),
            Self::Index(index) => write!(f, "device {index}"),
            Self::Kind(kind) => write!(f, "a device of type {kind}"),
        }
    }
}

/// A number is an index, the name of a kind is a kind, all else is part of a device's name.
impl std::str::FromStr for DeviceChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if let Ok(index) = text.parse() {
            Self::Index(index)
        } else if let Some(kind) = DeviceKind::parse(text) {
            Self::Kind(kind)
        } else {
            Self::Name(text.to_owned())
        })
    }
}

/// The place of the device that is meant.
fn choose(devices: &[(DeviceKind, &str)], choice: &DeviceChoice) -> Option<usize> {
    let best = |with_cpu: bool| {
        devices
            .iter()
            .enumerate()
            .filter(|(_, (kind, _))| with_cpu || *kind != DeviceKind::Cpu)
            .min_by_key(|(_, (kind, _))| *kind)
            .map(|(index, _)| index)
    };
    match choice {
        DeviceChoice::BestGpu => best(false),
        DeviceChoice::BestOrCpu => best(true),
        DeviceChoice::Name(part) => {
            let part = part.to_lowercase();
            devices
                .iter()
                .position(|(_, name)| name.to_lowercase().contains(&part))
        }
        DeviceChoice::Index(index) => (*index < devices.len()).then_some(*index),
        DeviceChoice::Kind(wanted) => devices.iter().position(|(kind, _)| kind == wanted),
    }
}

/// Why no device was selected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// There is no device at all.
    #[error("no Vulkan device was found; install a driver, such as mesa-vulkan-drivers")]
    NoDevice,
    /// There are only CPU devices, and none was named.
    #[error("only CPU devices were found ({found}); name one to use it")]
    OnlyCpu {
        /// The devices there are.
        found: String,
    },
    /// The device asked for is not there.
    #[error("there is no such device: {asked}; found: {found}")]
    NotFound {
        /// What was asked for.
        asked: String,
        /// The devices there are.
        found: String,
    },
    /// The devices could not be listed.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

/// A physical device and what it can do.
#[derive(Debug, Clone)]
pub struct PhysicalDevice {
    capabilities: Capabilities,
    instance: Arc<Instance>,
    raw: vk::PhysicalDevice,
}

impl PhysicalDevice {
    /// What the device is and can do.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The instance that listed the device.
    #[must_use]
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The raw handle.
    #[must_use]
    pub fn raw(&self) -> vk::PhysicalDevice {
        self.raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p2_a_cpu_device_is_used_only_when_it_is_asked_for() {
        let only_cpu = [(DeviceKind::Cpu, "llvmpipe (LLVM 15.0.6, 256 bits)")];
        let both = [only_cpu[0], (DeviceKind::IntegratedGpu, "Some GPU")];
        assert_eq!(choose(&only_cpu, &DeviceChoice::BestGpu), None);
        assert_eq!(choose(&only_cpu, &DeviceChoice::BestOrCpu), Some(0));
        assert_eq!(choose(&both, &DeviceChoice::BestGpu), Some(1));
        assert_eq!(choose(&both, &DeviceChoice::BestOrCpu), Some(1));
        for named in ["LLVMpipe", "0", "cpu"] {
            assert_eq!(choose(&both, &named.parse().unwrap_or_default()), Some(0));
        }
        assert_eq!(choose(&both, &DeviceChoice::Index(2)), None);
    }
}
