//! What there is on this machine, and which routes each device can take.

use crate::blobs::{BlobKind, BlobSource, Keep};
use crate::capabilities::{Capabilities, DeviceKind};
use crate::device::{Device, DeviceSettings};
use crate::features::Feature as F;
use crate::instance::{Instance, InstanceError, PhysicalDevice};
use crate::objects::Objects;
use ash::vk;
use serde::Serialize;
use standin_recipe::layout::PipelineLayoutRecipe;
use standin_recipe::stage::{EntryName, Stage};
use standin_recipe::{ComputeRecipe, Module, ModuleRef, Recipe};
use std::sync::Arc;

/// One device.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// Its place in the loader's list: what it can be selected by.
    pub index: usize,
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: DeviceKind,
    /// The driver's name and version text.
    pub driver: String,
    /// The API version, such as `1.4.305`.
    pub api_version: String,
    /// What it has of the features that matter here, and lacks.
    pub capabilities: Vec<Capability>,
    /// The routes.
    pub routes: Vec<Route>,
}

/// A capability that matters here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// Vulkan's name of it.
    pub name: String,
    /// Whether the device has it.
    pub present: bool,
}

/// A route, and whether the device can take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Route {
    /// `linked`, `dynamic`, `pulled`, `generic` or `archive`.
    pub name: &'static str,
    /// Whether it can, and how or why not.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Whether a device can take a route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "detail")]
pub enum Verdict {
    /// It can, in this way.
    Takes(String),
    /// It can, once a proof on this device has said that the picture is the same.
    AfterProof(String),
    /// It cannot, for this reason.
    Cannot(String),
}

/// What matters to a route or to captures, and is not the same everywhere.
const SHOWN: &[F] = &[
    F::DynamicRendering,
    F::GraphicsPipelineLibrary,
    F::VertexInputDynamicState,
    F::ExtendedDynamicState,
    F::ExtendedDynamicState2,
    F::ExtendedDynamicState3ColorBlendEnable,
    F::ExtendedDynamicState3ColorBlendEquation,
    F::ExtendedDynamicState3ColorWriteMask,
    F::ExtendedDynamicState3PolygonMode,
    F::PipelineCreationCacheControl,
    F::ShaderModuleIdentifier,
    F::BufferDeviceAddress,
    F::ShaderDrawParameters,
    F::ScalarBlockLayout,
    F::StorageBuffer8BitAccess,
    F::StorageBuffer16BitAccess,
    F::ShaderInt16,
    F::ShaderInt64,
    F::ShaderFloat64,
    F::VertexAttributeInstanceRateDivisor,
    F::VertexAttributeInstanceRateZeroDivisor,
    F::RobustBufferAccess2,
    F::NullDescriptor,
    F::SubgroupSizeControl,
    F::TessellationShader,
    F::GeometryShader,
    F::Multiview,
    F::TransformFeedback,
    F::ProvokingVertexLast,
    F::BresenhamLines,
    F::DepthClipEnable,
    F::DepthClipControl,
    F::MeshShader,
    F::AccelerationStructure,
    F::ShaderObject,
    F::Maintenance5,
];

/// A report on every device of an instance.
///
/// # Errors
/// [`InstanceError`] if the devices cannot be listed.
pub fn report(instance: &Arc<Instance>) -> Result<Vec<DeviceReport>, InstanceError> {
    Ok(instance
        .physical_devices()?
        .iter()
        .enumerate()
        .map(|(index, physical)| device_report(index, physical))
        .collect())
}

fn device_report(index: usize, physical: &PhysicalDevice) -> DeviceReport {
    let capabilities = physical.capabilities();
    let identity = &capabilities.identity;
    let version = identity.api_version;
    let mut shown: Vec<_> = SHOWN
        .iter()
        .map(|&feature| Capability {
            name: feature.name(),
            present: capabilities.features.has(feature),
        })
        .collect();
    shown.push(Capability {
        name: "pipelineBinaries".into(),
        present: capabilities.pipeline_binary.is_some(),
    });
    shown.push(Capability {
        name: "graphicsPipelineLibraryFastLinking".into(),
        present: capabilities.library.is_some_and(|l| l.fast_linking),
    });
    DeviceReport {
        index,
        name: identity.name.clone(),
        kind: identity.kind,
        driver: format!("{} {}", identity.driver_name, identity.driver_info),
        api_version: format!(
            "{}.{}.{}",
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version)
        ),
        capabilities: shown,
        routes: vec![
            Route {
                name: "linked",
                verdict: linked(capabilities),
            },
            Route {
                name: "dynamic",
                verdict: dynamic(capabilities),
            },
            Route {
                name: "pulled",
                verdict: pulled(capabilities),
            },
            Route {
                name: "generic",
                verdict: generic(capabilities),
            },
            Route {
                name: "archive",
                verdict: archive(physical),
            },
        ],
    }
}

fn too_old(capabilities: &Capabilities) -> Option<Verdict> {
    (capabilities.identity.api_version < vk::API_VERSION_1_2)
        .then(|| Verdict::Cannot("the device is older than Vulkan 1.2".into()))
}

fn linked(capabilities: &Capabilities) -> Verdict {
    if let Some(verdict) = too_old(capabilities) {
        return verdict;
    }
    match &capabilities.library {
        None => Verdict::Cannot(format!("no {}", F::GraphicsPipelineLibrary)),
        Some(library) if !library.fast_linking => {
            Verdict::Cannot("the driver does not link fast".into())
        }
        Some(_) => Verdict::Takes("fast links of library parts".into()),
    }
}

fn dynamic(capabilities: &Capabilities) -> Verdict {
    if let Some(verdict) = too_old(capabilities) {
        return verdict;
    }
    let has = |feature| capabilities.features.has(feature);
    let mut absorbed = Vec::new();
    if has(F::VertexInputDynamicState) {
        absorbed.push("vertex layout");
    }
    if has(F::ExtendedDynamicState) {
        absorbed.push("depth and stencil tests, culling, topology");
    }
    if has(F::ExtendedDynamicState2) {
        absorbed.push("depth bias, discard, restart");
    }
    if has(F::ExtendedDynamicState3ColorBlendEnable)
        && has(F::ExtendedDynamicState3ColorBlendEquation)
        && has(F::ExtendedDynamicState3ColorWriteMask)
    {
        absorbed.push("blending");
    }
    if has(F::ExtendedDynamicState3PolygonMode) {
        absorbed.push("polygon mode");
    }
    if absorbed.is_empty() {
        Verdict::Cannot("no dynamic state beyond Vulkan 1.0's".into())
    } else {
        Verdict::Takes(absorbed.join("; "))
    }
}

fn pulled(capabilities: &Capabilities) -> Verdict {
    if let Some(verdict) = too_old(capabilities) {
        return verdict;
    }
    if !capabilities.features.has(F::ShaderDrawParameters) {
        return Verdict::Cannot(format!("no {}", F::ShaderDrawParameters));
    }
    Verdict::AfterProof(
        if capabilities.features.has(F::BufferDeviceAddress) {
            "through buffer device addresses or storage buffers"
        } else {
            "through storage buffers"
        }
        .into(),
    )
}

fn generic(capabilities: &Capabilities) -> Verdict {
    too_old(capabilities).unwrap_or_else(|| Verdict::AfterProof("with a guest's evaluator".into()))
}

/// A driver may have the functions and keep nothing, so a small pipeline is made and looked at.
fn archive(physical: &PhysicalDevice) -> Verdict {
    let device = match Device::new(physical, &DeviceSettings::default()) {
        Ok(device) => device,
        Err(error) => return Verdict::Cannot(error.to_string()),
    };
    let source = BlobSource::new(&Objects::new(&device));
    let tried = || -> Result<Verdict, Box<dyn std::error::Error>> {
        let recipe = Recipe::Compute(empty_compute());
        Ok(match source.kind() {
            BlobKind::PipelineBinaries => match source.make(&recipe, None, None)?.keep {
                Keep::Binaries(_) => Verdict::Takes("through VK_KHR_pipeline_binary".into()),
                Keep::Nothing | Keep::InSegment => {
                    Verdict::Cannot("the driver gives no pipeline binaries".into())
                }
            },
            BlobKind::CacheSegments => {
                let segment = source.new_segment()?;
                source.make(&recipe, None, Some(&segment))?;
                match segment.data()? {
                    Some(_) => Verdict::Takes("through VkPipelineCache segments".into()),
                    None => Verdict::Cannot(
                        "the driver has no VK_KHR_pipeline_binary and keeps nothing in its \
                         VkPipelineCache"
                            .into(),
                    ),
                }
            }
        })
    };
    tried().unwrap_or_else(|error| Verdict::Cannot(error.to_string()))
}

/// A compute shader that does nothing, in SPIR-V 1.0.
#[rustfmt::skip]
const EMPTY_COMPUTE: [u32; 35] = [
    0x0723_0203, 0x0001_0000, 0, 5, 0,
    2 << 16 | 17, 1,                            // OpCapability Shader
    3 << 16 | 14, 0, 1,                         // OpMemoryModel Logical GLSL450
    5 << 16 | 15, 5, 3, 0x6e69_616d, 0,         // OpEntryPoint GLCompute %3 "main"
    6 << 16 | 16, 3, 17, 1, 1, 1,               // OpExecutionMode %3 LocalSize 1 1 1
    2 << 16 | 19, 1,                            // %1 = OpTypeVoid
    3 << 16 | 33, 2, 1,                         // %2 = OpTypeFunction %1
    5 << 16 | 54, 1, 3, 0, 2,                   // %3 = OpFunction %1 None %2
    2 << 16 | 248, 4,                           // %4 = OpLabel
    1 << 16 | 253,                              // OpReturn
    1 << 16 | 56,                               // OpFunctionEnd
];

fn empty_compute() -> ComputeRecipe {
    let module = Module::new(vk::ShaderModuleCreateFlags::empty(), EMPTY_COMPUTE);
    ComputeRecipe {
        flags: Default::default(),
        stage: Stage {
            stage: vk::ShaderStageFlags::COMPUTE,
            flags: vk::PipelineShaderStageCreateFlags::empty(),
            module: ModuleRef(Arc::new(module)),
            entry: EntryName::default(),
            specialization: None,
            required_subgroup_size: None,
            robustness: None,
        },
        layout: Arc::new(PipelineLayoutRecipe::default()),
        robustness: None,
    }
}
