//! What databases hold besides pipelines: applications, links, ray tracing, buckets.

use crate::entry::{EntryKey, FozKey};
use crate::hash::UnknownStruct;
use crate::json::Document;
use crate::json::chain::{
    FeatureLink, ImageRobustness, ImageViewOf3D, PipelineRobustness, PrimitivesGenerated,
    Robustness2,
};
use crate::json::resource::{ApplicationBody, FeaturesBody};

/// A recorded application and those of its features that change what is compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationInfo {
    /// Its key.
    pub key: FozKey,
    /// Name and versions, with the features; none if the recorder had none.
    pub application: Option<Application>,
}

/// Name, versions and features of an application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Application {
    /// The application's name.
    pub name: Option<String>,
    /// The engine's name.
    pub engine: Option<String>,
    /// The application's version, as it counts itself.
    pub version: u32,
    /// The engine's version, as it counts itself.
    pub engine_version: u32,
    /// The Vulkan version asked for, as `VK_MAKE_API_VERSION` packs it.
    pub api_version: u32,
    /// Enabled `robustBufferAccess`.
    pub robust_buffer_access: bool,
    /// Enabled `robustBufferAccess2`.
    pub robust_buffer_access2: bool,
    /// Enabled `robustImageAccess`.
    pub robust_image_access: bool,
    /// Enabled `robustImageAccess2`.
    pub robust_image_access2: bool,
    /// Enabled `nullDescriptor`.
    pub null_descriptor: bool,
    /// Enabled `pipelineRobustness`.
    pub pipeline_robustness: bool,
    /// Enabled `image2DViewOf3D`.
    pub image_2d_view_of_3d: bool,
    /// Enabled `sampler2DViewOf3D`.
    pub sampler_2d_view_of_3d: bool,
    /// Enabled `primitivesGeneratedQuery`.
    pub primitives_generated_query: bool,
    /// Enabled `primitivesGeneratedQueryWithRasterizerDiscard`.
    pub primitives_generated_query_with_rasterizer_discard: bool,
    /// Enabled `primitivesGeneratedQueryWithNonZeroStreams`.
    pub primitives_generated_query_with_non_zero_streams: bool,
    /// sTypes of recorded feature structs that are not known here.
    pub unknown_features: Vec<u32>,
}

impl ApplicationInfo {
    pub(crate) fn of(key: FozKey, document: &Document) -> Self {
        Self {
            key,
            application: Application::of(document),
        }
    }
}

impl Application {
    fn of(document: &Document) -> Option<Self> {
        let info = document.application_info.as_ref()?;
        let features = document.physical_device_features.as_ref()?;
        // Without both the whole counts as absent.
        let mut application = Self {
            name: info.application_name.clone(),
            engine: info.engine_name.clone(),
            version: info.application_version.unwrap_or(0),
            engine_version: info.engine_version.unwrap_or(0),
            api_version: info.api_version?,
            robust_buffer_access: features.robust_buffer_access? != 0,
            ..Self::default()
        };
        for link in &features.p_next {
            match link {
                FeatureLink::Robustness2(b) => {
                    application.robust_buffer_access2 = b.robust_buffer_access2 != 0;
                    application.robust_image_access2 = b.robust_image_access2 != 0;
                    application.null_descriptor = b.null_descriptor != 0;
                }
                FeatureLink::ImageRobustness(b) => {
                    application.robust_image_access = b.robust_image_access != 0;
                }
                FeatureLink::PipelineRobustness(b) => {
                    application.pipeline_robustness = b.pipeline_robustness != 0;
                }
                FeatureLink::ImageViewOf3D(b) => {
                    application.image_2d_view_of_3d = b.image != 0;
                    application.sampler_2d_view_of_3d = b.sampler != 0;
                }
                FeatureLink::PrimitivesGenerated(b) => {
                    application.primitives_generated_query = b.primitives_generated_query != 0;
                    application.primitives_generated_query_with_rasterizer_discard =
                        b.primitives_generated_query_with_rasterizer_discard != 0;
                    application.primitives_generated_query_with_non_zero_streams =
                        b.primitives_generated_query_with_non_zero_streams != 0;
                }
                FeatureLink::Ignored(_) => {}
                FeatureLink::Unknown(s_type) => application.unknown_features.push(*s_type),
            }
        }
        Some(application)
    }

    /// The application's payload; structs of features that are all off are left out.
    pub(crate) fn bodies(&self) -> Result<(ApplicationBody, FeaturesBody), UnknownStruct> {
        if let Some(&s_type) = self.unknown_features.first() {
            return Err(UnknownStruct(s_type));
        }
        let info = ApplicationBody {
            application_name: self.name.clone(),
            engine_name: self.engine.clone(),
            application_version: Some(self.version),
            engine_version: Some(self.engine_version),
            api_version: Some(self.api_version),
        };
        let features = FeaturesBody {
            robust_buffer_access: Some(u32::from(self.robust_buffer_access)),
            p_next: self.chain(),
        };
        Ok((info, features))
    }

    /// In the order of Mesa's zink, for which there are captures.
    fn chain(&self) -> Vec<FeatureLink> {
        let mut chain = Vec::new();
        if self.pipeline_robustness {
            chain.push(FeatureLink::PipelineRobustness(PipelineRobustness {
                pipeline_robustness: 1,
            }));
        }
        let queries = [
            self.primitives_generated_query,
            self.primitives_generated_query_with_rasterizer_discard,
            self.primitives_generated_query_with_non_zero_streams,
        ];
        if queries.contains(&true) {
            let [query, discard, streams] = queries.map(u32::from);
            chain.push(FeatureLink::PrimitivesGenerated(PrimitivesGenerated {
                primitives_generated_query: query,
                primitives_generated_query_with_rasterizer_discard: discard,
                primitives_generated_query_with_non_zero_streams: streams,
            }));
        }
        if self.robust_buffer_access2 || self.robust_image_access2 || self.null_descriptor {
            chain.push(FeatureLink::Robustness2(Robustness2 {
                robust_buffer_access2: u32::from(self.robust_buffer_access2),
                robust_image_access2: u32::from(self.robust_image_access2),
                null_descriptor: u32::from(self.null_descriptor),
            }));
        }
        if self.robust_image_access {
            chain.push(FeatureLink::ImageRobustness(ImageRobustness {
                robust_image_access: 1,
            }));
        }
        if self.image_2d_view_of_3d || self.sampler_2d_view_of_3d {
            chain.push(FeatureLink::ImageViewOf3D(ImageViewOf3D {
                image: u32::from(self.image_2d_view_of_3d),
                sampler: u32::from(self.sampler_2d_view_of_3d),
            }));
        }
        chain
    }
}

/// Which application made a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobLink {
    /// Key of the application.
    pub application: FozKey,
    /// Number of the resource's tag.
    pub tag: u32,
    /// The resource's key.
    pub resource: FozKey,
}

/// A ray-tracing pipeline, as far as it matters to tell what is declined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RayTracingPipeline {
    /// The layout's key.
    pub layout: FozKey,
    /// `VkShaderStageFlagBits` and module of each stage.
    pub stages: Vec<(u32, FozKey)>,
    /// Number of shader groups.
    pub groups: usize,
    /// Keys of the libraries that it consumes.
    pub libraries: Vec<FozKey>,
    /// Deepest recursion of rays.
    pub max_recursion_depth: u32,
}

/// An entry that is no part of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Other {
    /// Which application made a resource.
    Link(BlobLink),
    /// A ray-tracing pipeline.
    RayTracing(RayTracingPipeline),
    /// What applications a bucket is for, with the payload's version.
    Bucket {
        /// 5 or 6.
        version: u32,
    },
}

impl Other {
    pub(crate) fn of(entry: EntryKey, document: Document) -> Vec<(EntryKey, Self)> {
        if let Some(link) = document.link {
            let link = BlobLink {
                application: FozKey(link.application.0),
                tag: link.tag,
                resource: FozKey(link.hash.0),
            };
            return vec![(entry, Self::Link(link))];
        }
        let Some(pipelines) = document.ray_tracing_pipelines else {
            let version = document.version;
            return vec![(entry, Self::Bucket { version })];
        };
        pipelines
            .0
            .into_iter()
            .map(|(key, body)| {
                let libraries = body.library_info.map(|info| info.libraries);
                let pipeline = RayTracingPipeline {
                    layout: FozKey(body.layout.0),
                    stages: body
                        .stages
                        .iter()
                        .map(|stage| (stage.stage, FozKey(stage.module.0)))
                        .collect(),
                    groups: body.groups.len(),
                    libraries: libraries
                        .unwrap_or_default()
                        .iter()
                        .map(|library| FozKey(library.0))
                        .collect(),
                    max_recursion_depth: body.max_pipeline_ray_recursion_depth,
                };
                (EntryKey::new(entry.tag, key.0), Self::RayTracing(pipeline))
            })
            .collect()
    }
}
