//! A truly cold launch, made reproducible: the archive and the driver's own caches are moved
//! aside, and back afterwards.
//!
//! A folder is moved by one rename within its parent, so nothing is copied and nothing can be
//! half moved. A program that dies in between leaves the folders aside; [`restore`] brings them
//! back, and a new cold launch refuses to begin until that was done, since it would otherwise
//! overwrite the only warm copy.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is appended to a folder's name while it is aside.
pub const ASIDE: &str = ".aside-for-cold-launch";

/// Why a folder could not be moved.
#[derive(Debug, thiserror::Error)]
pub enum ColdError {
    /// An earlier cold launch did not end: its folders are still aside.
    #[error("{} is still aside from an earlier cold launch: restore it first", path.display())]
    StillAside {
        /// Where the warm copy is.
        path: PathBuf,
    },
    /// The system refused a move or a removal.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Folders that are aside. Dropping it moves them back; [`end`](Self::end) does so and says
/// what went wrong.
#[derive(Debug)]
pub struct ColdLaunch {
    folders: Vec<PathBuf>,
}

impl ColdLaunch {
    /// Moves each folder that exists aside.
    ///
    /// # Errors
    /// A folder is still aside from an earlier launch, or a move fails; then whatever was
    /// moved is back in its place.
    pub fn begin(folders: &[PathBuf]) -> Result<Self, ColdError> {
        for folder in folders {
            let aside = aside(folder);
            if aside.exists() {
                return Err(ColdError::StillAside { path: aside });
            }
        }
        let mut launch = Self {
            folders: Vec::new(),
        };
        for folder in folders {
            if folder.exists() {
                fs::rename(folder, aside(folder)).map_err(at(folder))?;
            }
            launch.folders.push(folder.clone());
        }
        Ok(launch)
    }

    /// Moves the folders back. What the cold launch wrote in their places is removed.
    ///
    /// # Errors
    /// The first folder that could not be moved back; the others are.
    pub fn end(mut self) -> Result<(), ColdError> {
        restore(&std::mem::take(&mut self.folders))
    }
}

impl Drop for ColdLaunch {
    fn drop(&mut self) {
        // Whoever wants to know calls `end`; the folders stay aside and `restore` finds them.
        let _unreported = restore(&self.folders);
    }
}

/// Moves back what a cold launch left aside. A folder that was not there before it is removed
/// only if its warm copy is aside; otherwise it is left alone.
///
/// # Errors
/// The first folder that could not be moved back; the others are.
pub fn restore(folders: &[PathBuf]) -> Result<(), ColdError> {
    let mut outcome = Ok(());
    for folder in folders {
        let result = restore_one(folder);
        if outcome.is_ok() {
            outcome = result;
        }
    }
    outcome
}

fn restore_one(folder: &Path) -> Result<(), ColdError> {
    let aside = aside(folder);
    if !aside.exists() {
        return Ok(());
    }
    if folder.exists() {
        let removed = if folder.is_dir() {
            fs::remove_dir_all(folder)
        } else {
            fs::remove_file(folder)
        };
        removed.map_err(at(folder))?;
    }
    fs::rename(&aside, folder).map_err(at(folder))
}

/// The folders in which the drivers known here keep caches of their own, by the variables of
/// an environment: Mesa (its `docs/envvars`), NVIDIA (the driver's README, "Specifying OpenGL
/// environment variable settings") and AMDVLK. They need not exist.
#[must_use]
pub fn driver_caches(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let path = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
    let mut folders = Vec::new();
    // MESA_SHADER_CACHE_DIR is the parent of the folder that Mesa makes.
    if let Some(parent) = path("MESA_SHADER_CACHE_DIR").or_else(|| cache.clone()) {
        folders.push(parent.join("mesa_shader_cache"));
        folders.push(parent.join("mesa_shader_cache_db"));
    }
    if let Some(folder) = path("__GL_SHADER_DISK_CACHE_PATH") {
        folders.push(folder.join("GLCache"));
    } else if let Some(cache) = &cache {
        folders.push(cache.join("nvidia").join("GLCache"));
    }
    if let Some(cache) = cache {
        folders.push(cache.join("AMD").join("VkCache"));
    }
    folders
}

fn aside(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(ASIDE);
    PathBuf::from(name)
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ColdError {
    let path = path.to_path_buf();
    move |source| ColdError::Io { path, source }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]
    use super::*;

    fn warm(folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("blob"), "warm").unwrap();
    }

    #[test]
    fn the_launch_is_cold_and_everything_is_back_afterwards() {
        let root = tempfile::tempdir().unwrap();
        let archive = root.path().join("archive");
        let absent = root.path().join("absent");
        warm(&archive);
        let launch = ColdLaunch::begin(&[archive.clone(), absent.clone()]).unwrap();
        assert!(!archive.exists());
        fs::create_dir(&archive).unwrap();
        fs::write(archive.join("blob"), "cold").unwrap();
        fs::create_dir(&absent).unwrap();
        launch.end().unwrap();
        assert_eq!(fs::read_to_string(archive.join("blob")).unwrap(), "warm");
        // It had no warm copy; what the launch wrote is not ours to remove.
        assert!(absent.exists());
    }

    #[test]
    fn a_launch_that_died_is_restored_and_never_overwritten() {
        let root = tempfile::tempdir().unwrap();
        let folders = [root.path().join("archive")];
        warm(&folders[0]);
        std::mem::forget(ColdLaunch::begin(&folders).unwrap());
        fs::create_dir(&folders[0]).unwrap();
        let error = ColdLaunch::begin(&folders).unwrap_err();
        assert!(matches!(error, ColdError::StillAside { .. }), "{error}");
        restore(&folders).unwrap();
        let text = fs::read_to_string(folders[0].join("blob")).unwrap();
        assert_eq!(text, "warm");
        drop(ColdLaunch::begin(&folders).unwrap());
        assert!(folders[0].join("blob").exists());
    }

    #[test]
    fn the_drivers_caches_follow_the_environment() {
        let named = driver_caches(|name| match name {
            "HOME" => Some("/home/player".into()),
            "MESA_SHADER_CACHE_DIR" => Some("/tmp/mesa".into()),
            _ => None,
        });
        assert_eq!(
            named,
            [
                "/tmp/mesa/mesa_shader_cache",
                "/tmp/mesa/mesa_shader_cache_db",
                "/home/player/.cache/nvidia/GLCache",
                "/home/player/.cache/AMD/VkCache",
            ]
            .map(PathBuf::from)
        );
        assert!(driver_caches(|_| None).is_empty());
    }
}
