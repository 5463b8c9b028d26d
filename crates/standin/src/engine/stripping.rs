//! The stripping rule: what startup and warm-up may build is declared by the engine, and every
//! shader that such a declaration names must be in the package that is shipped. Content can
//! only name shaders that the package ships, so nothing ever builds from a stripped one.

use super::feature::Feature;
use std::collections::BTreeSet;

/// The shaders that a package ships.
#[derive(Debug, Clone, Default)]
pub struct Package {
    shaders: BTreeSet<String>,
}

/// A shader that the package ships: what content names a shader by. There is no other way to
/// make one than to ask the package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShippedShader(String);

impl ShippedShader {
    /// The shader's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// Content names a shader that the package does not ship.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{content} names shader {shader:?}, which the package does not ship")]
pub struct NotShipped {
    /// The content that names it.
    pub content: String,
    /// The shader.
    pub shader: String,
}

/// A declared pipeline names a stripped shader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "feature {feature:?} declares pipeline {pipeline:?} with shader {shader:?}, which was stripped"
)]
pub struct Stripped {
    /// The feature.
    pub feature: String,
    /// The pipeline that would be built.
    pub pipeline: String,
    /// The shader that is not there.
    pub shader: String,
}

impl Package {
    /// The shader of this name, for content to refer to.
    ///
    /// # Errors
    /// The package does not ship it.
    pub fn shader(&self, content: &str, name: &str) -> Result<ShippedShader, NotShipped> {
        if self.shaders.contains(name) {
            Ok(ShippedShader(name.to_owned()))
        } else {
            Err(NotShipped {
                content: content.to_owned(),
                shader: name.to_owned(),
            })
        }
    }

    /// Checks what startup and warm-up may build against the package.
    ///
    /// # Errors
    /// Every stripped shader that a feature names, in the order of the declarations.
    pub fn check<'a>(
        &self,
        features: impl IntoIterator<Item = &'a Feature>,
    ) -> Result<(), Vec<Stripped>> {
        let mut stripped = Vec::new();
        for feature in features {
            for pipeline in feature.pipelines() {
                for shader in pipeline.shaders() {
                    if !self.shaders.contains(shader) {
                        stripped.push(Stripped {
                            feature: feature.name().to_owned(),
                            pipeline: pipeline.name().to_owned(),
                            shader: shader.clone(),
                        });
                    }
                }
            }
        }
        if stripped.is_empty() {
            Ok(())
        } else {
            Err(stripped)
        }
    }
}

impl<S: Into<String>> FromIterator<S> for Package {
    fn from_iter<I: IntoIterator<Item = S>>(shaders: I) -> Self {
        Self {
            shaders: shaders.into_iter().map(Into::into).collect(),
        }
    }
}
