//! A recipe in one line: stages with their modules, what is rendered to, and what is dynamic.

use crate::output::Target;
use crate::pipeline::{ComputeRecipe, GraphicsRecipe, Recipe};
use crate::stage::Stage;
use ash::vk;
use std::fmt;

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graphics(recipe) => recipe.fmt(f),
            Self::Compute(recipe) => recipe.fmt(f),
        }
    }
}

impl fmt::Display for ComputeRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "compute: {}; {} sets",
            self.stage,
            self.layout.set_layouts.len()
        )
    }
}

impl fmt::Display for GraphicsRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("graphics:")?;
        if self.parts != crate::pipeline::Parts::ALL {
            write!(f, " parts {:?},", self.parts)?;
        }
        if !self.libraries.is_empty() {
            write!(f, " {} libraries,", self.libraries.len())?;
        }
        for (index, stage) in self.stages.iter().enumerate() {
            write!(f, "{} {stage}", if index == 0 { "" } else { " +" })?;
        }
        write!(f, "; to {}", self.target)?;
        if let Some(state) = &self.multisample
            && state.samples != vk::SampleCountFlags::TYPE_1
        {
            write!(f, ", {} samples", state.samples.as_raw())?;
        }
        if let Some(state) = &self.vertex_input {
            write!(
                f,
                "; {} attributes in {} bindings",
                state.attributes.len(),
                state.bindings.len()
            )?;
        }
        if let Some(state) = &self.input_assembly {
            write!(f, "; {:?}", state.topology)?;
        }
        if let Some(layout) = &self.layout {
            write!(f, "; {} sets", layout.set_layouts.len())?;
        }
        write!(f, "; {} dynamic states", self.dynamic_states.len())
    }
}

/// The stage, the first eight digits of its module's key, its entry point if it is not `main`, and
/// the number of specialisation constants.
impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.module.key().to_string();
        write!(f, "{:?} {}", self.stage, key.get(..8).unwrap_or(&key))?;
        if self.entry != Default::default() {
            write!(f, " {}", self.entry)?;
        }
        if let Some(specialization) = &self.specialization {
            write!(f, " with {} constants", specialization.entries.len())?;
        }
        Ok(())
    }
}

/// The formats of the attachments.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formats: Vec<vk::Format> = match self {
            Self::Rendering(formats) => formats
                .color
                .iter()
                .copied()
                .chain([formats.depth, formats.stencil])
                .filter(|format| *format != vk::Format::UNDEFINED)
                .collect(),
            Self::RenderPass { pass, subpass } => usize::try_from(*subpass)
                .ok()
                .and_then(|index| pass.subpasses.get(index))
                .into_iter()
                .flat_map(|subpass| {
                    subpass
                        .color_attachments
                        .iter()
                        .chain(&subpass.depth_stencil_attachment)
                })
                .filter_map(|reference| usize::try_from(reference.attachment).ok())
                .filter_map(|index| pass.attachments.get(index))
                .map(|attachment| attachment.format)
                .collect(),
        };
        if formats.is_empty() {
            return f.write_str("no attachments");
        }
        for (index, format) in formats.iter().enumerate() {
            write!(f, "{}{format:?}", if index == 0 { "" } else { " + " })?;
        }
        Ok(())
    }
}
