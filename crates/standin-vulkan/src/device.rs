//! The logical device, with everything enabled that it has and that captures or routes may need.

use crate::capabilities::{Capabilities, PipelineBinaryFeatures};
use crate::extensions::{self, Extensions};
use crate::features::{Feature, Features, Structures};
use crate::instance::{Instance, PhysicalDevice};
use ash::vk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which robustness features are enabled. They change what a pipeline compiles to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Robustness {
    /// None.
    #[default]
    Off,
    /// `robustBufferAccess` and `robustImageAccess`.
    Access,
    /// Those and `robustBufferAccess2`, `robustImageAccess2`, as far as the device has them.
    Access2,
}

/// Whether pipelines may come from a cache inside the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InternalCache {
    /// As the driver does it by itself.
    #[default]
    DriverDefault,
    /// Switched off where the device has a way to (`pipelineBinaryInternalCacheControl`), so that
    /// a cold run is cold.
    Off,
}

/// How a logical device is made.
#[derive(Debug, Clone, Default)]
pub struct DeviceSettings {
    /// Which robustness features are enabled.
    pub robustness: Robustness,
    /// Features that are left off although the device has them.
    pub without: Vec<Feature>,
    /// Extensions that are left off although the device has them, such as
    /// [`PIPELINE_BINARY`](crate::extensions::PIPELINE_BINARY).
    pub without_extensions: Vec<&'static std::ffi::CStr>,
    /// Whether pipelines may come from a cache inside the driver.
    pub internal_cache: InternalCache,
}

/// Why there is no logical device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device is too old.
    #[error("{device} offers Vulkan {major}.{minor}; 1.2 or newer is needed")]
    TooOld {
        /// The device's name.
        device: String,
        /// Its version.
        major: u32,
        /// Its version.
        minor: u32,
    },
    /// The device can neither draw nor compute.
    #[error("{device} has no graphics or compute queue")]
    NoQueue {
        /// The device's name.
        device: String,
    },
    /// The driver refused.
    #[error("vkCreateDevice on {device} failed: {result}")]
    Create {
        /// The device's name.
        device: String,
        /// What the driver returned.
        result: vk::Result,
    },
}

/// A logical device with one queue.
pub struct Device {
    raw: ash::Device,
    queue: Mutex<vk::Queue>,
    queue_family: u32,
    queue_flags: vk::QueueFlags,
    timestamp_bits: u32,
    memory: vk::PhysicalDeviceMemoryProperties,
    capabilities: Capabilities,
    enabled: Features,
    extensions: Extensions,
    robustness: Robustness,
    pub(crate) dynamic_rendering: Option<ash::khr::dynamic_rendering::Device>,
    pub(crate) vertex_input: Option<ash::ext::vertex_input_dynamic_state::Device>,
    physical: vk::PhysicalDevice,
    instance: Arc<Instance>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device")
            .field("name", &self.capabilities.identity.name)
            .field("robustness", &self.robustness)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// Makes a logical device.
    ///
    /// # Errors
    /// [`DeviceError`].
    pub fn new(
        physical: &PhysicalDevice,
        settings: &DeviceSettings,
    ) -> Result<Arc<Self>, DeviceError> {
        let instance = Arc::clone(physical.instance());
        let capabilities = physical.capabilities().clone();
        let name = || capabilities.identity.name.clone();
        let version = capabilities.identity.api_version;
        if version < vk::API_VERSION_1_2 {
            return Err(DeviceError::TooOld {
                device: name(),
                major: vk::api_version_major(version),
                minor: vk::api_version_minor(version),
            });
        }
        // SAFETY: queries of a device that the instance listed.
        let (families, memory) = unsafe {
            (
                instance
                    .raw()
                    .get_physical_device_queue_family_properties(physical.raw()),
                instance
                    .raw()
                    .get_physical_device_memory_properties(physical.raw()),
            )
        };
        let (queue_family, family) = [
            vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE,
            vk::QueueFlags::GRAPHICS,
            vk::QueueFlags::COMPUTE,
        ]
        .into_iter()
        .find_map(|wanted| {
            (0_u32..)
                .zip(&families)
                .find(|(_, family)| family.queue_flags.contains(wanted))
        })
        .ok_or_else(|| DeviceError::NoQueue { device: name() })?;

        let mut extensions = capabilities.extensions.to_enable();
        for name in &settings.without_extensions {
            extensions.remove(name);
        }
        if capabilities.pipeline_binary.is_none() {
            extensions.remove(extensions::PIPELINE_BINARY);
        }
        let enabled = enabled_features(&capabilities.features, settings);
        // The extension promises both features (VUID-VkDeviceCreateInfo-ppEnabledExtensionNames-02835).
        if !enabled.has(Feature::ShaderOutputViewportIndex)
            || !enabled.has(Feature::ShaderOutputLayer)
        {
            extensions.remove(ash::ext::shader_viewport_index_layer::NAME);
        }
        let mut structures = Structures::known(version, &extensions);
        structures.write(&enabled);
        // What has no structure on this device is not enabled; what is core has no bit to set.
        let mut enabled = {
            let mut written = structures.read();
            for core in [
                Feature::ExtendedDynamicState,
                Feature::ExtendedDynamicState2,
            ] {
                written.set(core, enabled.has(core));
            }
            written
        };
        if !extensions.has(ash::khr::dynamic_rendering::NAME) {
            enabled.set(Feature::DynamicRendering, false);
        }

        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(queue_family)
            .queue_priorities(&priorities)];
        let names = extensions.pointers();
        let mut binary = PipelineBinaryFeatures::new(true);
        let mut cache_control = crate::binary::InternalCacheControl::disabled();
        let mut tail: *mut std::ffi::c_void = std::ptr::null_mut();
        if extensions.has(extensions::PIPELINE_BINARY) {
            if settings.internal_cache == InternalCache::Off
                && capabilities
                    .pipeline_binary
                    .is_some_and(|binary| binary.internal_cache_control)
            {
                binary.p_next = std::ptr::from_mut(&mut cache_control).cast();
            }
            tail = std::ptr::from_mut(&mut binary).cast();
        }
        let raw = structures.linked(tail, |head| {
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(head);
            // SAFETY: the create-info holds only extensions, features and structures that the
            // device listed, and all of it lives until the call returns.
            unsafe { instance.raw().create_device(physical.raw(), &info, None) }
        });
        let raw = raw.map_err(|result| DeviceError::Create {
            device: name(),
            result,
        })?;
        // SAFETY: the queue was asked for above.
        let queue = unsafe { raw.get_device_queue(queue_family, 0) };
        let has = |name| extensions.has(name);
        Ok(Arc::new(Self {
            dynamic_rendering: has(ash::khr::dynamic_rendering::NAME)
                .then(|| ash::khr::dynamic_rendering::Device::new(instance.raw(), &raw)),
            vertex_input: enabled
                .has(Feature::VertexInputDynamicState)
                .then(|| ash::ext::vertex_input_dynamic_state::Device::new(instance.raw(), &raw)),
            queue: Mutex::new(queue),
            queue_family,
            queue_flags: family.queue_flags,
            timestamp_bits: family.timestamp_valid_bits,
            memory,
            enabled,
            extensions,
            robustness: settings.robustness,
            physical: physical.raw(),
            capabilities,
            raw,
            instance,
        }))
    }

    /// The raw device. What is made from it must be gone before the last `Arc` of this is.
    #[must_use]
    pub fn raw(&self) -> &ash::Device {
        &self.raw
    }

    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The physical device.
    #[must_use]
    pub fn physical(&self) -> vk::PhysicalDevice {
        self.physical
    }

    /// What the physical device is and can do.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The features that are enabled.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.enabled
    }

    /// The extensions that are enabled.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// The robustness that was asked for.
    #[must_use]
    pub fn robustness(&self) -> Robustness {
        self.robustness
    }

    /// What the queue can do.
    #[must_use]
    pub fn queue_flags(&self) -> vk::QueueFlags {
        self.queue_flags
    }

    /// The queue's family.
    #[must_use]
    pub fn queue_family(&self) -> u32 {
        self.queue_family
    }

    /// Valid bits of a timestamp on the queue; 0 if it has none.
    #[must_use]
    pub fn timestamp_bits(&self) -> u32 {
        self.timestamp_bits
    }

    /// The queue, for one thread at a time.
    pub(crate) fn queue(&self) -> MutexGuard<'_, vk::Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first memory type among `allowed` that has all `wanted` properties.
    pub(crate) fn memory_type(&self, allowed: u32, wanted: vk::MemoryPropertyFlags) -> Option<u32> {
        (0..self.memory.memory_type_count).find(|&index| {
            allowed >> index & 1 == 1
                && self.memory.memory_types[index as usize]
                    .property_flags
                    .contains(wanted)
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: what was made from the device holds an Arc of it and is gone.
        unsafe {
            // Nothing can be done about a lost device here; destroying it is valid.
            let _ = self.raw.device_wait_idle();
            self.raw.destroy_device(None);
        }
    }
}

/// All that the device has, without what would change code unasked.
fn enabled_features(available: &Features, settings: &DeviceSettings) -> Features {
    let access = [Feature::RobustBufferAccess, Feature::RobustImageAccess];
    let access2 = [Feature::RobustBufferAccess2, Feature::RobustImageAccess2];
    let mut enabled = *available;
    let mut without = settings.without.clone();
    match settings.robustness {
        Robustness::Off => without.extend(access.into_iter().chain(access2)),
        Robustness::Access => without.extend(access2),
        Robustness::Access2 => {}
    }
    for feature in without {
        enabled.set(feature, false);
    }
    // robustBufferAccess2 must not be enabled without robustBufferAccess (VUID 04000).
    if !enabled.has(Feature::RobustBufferAccess) {
        enabled.set(Feature::RobustBufferAccess2, false);
    }
    enabled
}
