//! Each field of a recipe changed in turn, for tests that must cover every field: what declares a
//! struct also declares its variations, so that none can be forgotten.

mod sample;

pub use sample::{compute_sample, graphics_sample, rendering_sample};

use crate::codec::Float;
use crate::module::{Module, ModuleRef};
use crate::output::Target;
use crate::pipeline::{Parts, PipelineFlags, Recipe};
use crate::raster::Counted;
use crate::stage::EntryName;
use ash::vk;
use std::sync::Arc;

/// A value that can be changed a little, in each way that matters.
pub trait Vary: Sized + Clone {
    /// Calls `each` with every variation, and the path of the field that differs. Every variation
    /// differs from `self`, and in one field only.
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self));
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Vary for $ty {
            fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
                each(path, self.wrapping_add(1));
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i32);

impl Vary for bool {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        each(path, !self);
    }
}

impl Vary for Float {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        each(path, Self::new(self.get() + 0.5));
    }
}

impl Vary for EntryName {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        if let Ok(name) = Self::new(format!("{self}_")) {
            each(path, name);
        }
    }
}

impl<T: Vary + Default> Vary for Option<T> {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        match self {
            None => each(path, Some(T::default())),
            Some(value) => {
                each(path, None);
                value.vary(path, &mut |path, value| each(path, Some(value)));
            }
        }
    }
}

/// One element changed, the last one missing, one more.
impl<T: Vary + Default> Vary for Vec<T> {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        for (index, value) in self.iter().enumerate() {
            value.vary(&format!("{path}[{index}]"), &mut |path, value| {
                let mut values = self.clone();
                values[index] = value;
                each(path, values);
            });
        }
        if let Some((_, rest)) = self.split_last() {
            each(&format!("{path}.pop"), rest.to_vec());
        }
        let mut more = self.clone();
        more.push(T::default());
        each(&format!("{path}.push"), more);
    }
}

impl<T: Vary, const N: usize> Vary for [T; N] {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        for (index, value) in self.iter().enumerate() {
            value.vary(&format!("{path}[{index}]"), &mut |path, value| {
                let mut values = self.clone();
                values[index] = value;
                each(path, values);
            });
        }
    }
}

impl<T: Vary> Vary for Arc<T> {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        T::vary(self, path, &mut |path, value| each(path, Self::new(value)));
    }
}

impl<T: Vary + Default> Vary for Counted<T> {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        match self {
            Self::Values(values) => {
                values.vary(path, &mut |path, values| each(path, Self::Values(values)));
            }
            Self::Count(count) => {
                count.vary(path, &mut |path, count| each(path, Self::Count(count)));
            }
        }
    }
}

impl Vary for ModuleRef {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        let flags = vk::ShaderModuleCreateFlags::from_raw(self.flags().as_raw() ^ 1);
        each(
            &format!("{path}.flags"),
            Self(Arc::new(Module::new(flags, self.code()))),
        );
        self.code()
            .to_vec()
            .vary(&format!("{path}.code"), &mut |path, code| {
                each(path, Self(Arc::new(Module::new(self.flags(), code))));
            });
    }
}

/// A bit that is not one of those that recipes leave out.
impl Vary for PipelineFlags {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        each(path, Self::new(self.bits() ^ 1));
        each(path, Self::new(self.bits() ^ (1 << 40)));
    }
}

impl Vary for Parts {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        for bit in 0..4 {
            let flags = self.flags().as_raw() ^ (1 << bit);
            each(
                path,
                Self::new(vk::GraphicsPipelineLibraryFlagsEXT::from_raw(flags)),
            );
        }
    }
}

impl Vary for Target {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        match self {
            Self::RenderPass { pass, subpass } => {
                let subpass = *subpass;
                pass.vary(&format!("{path}.pass"), &mut |path, pass| {
                    each(path, Self::RenderPass { pass, subpass });
                });
                subpass.vary(&format!("{path}.subpass"), &mut |path, subpass| {
                    let pass = Arc::clone(pass);
                    each(path, Self::RenderPass { pass, subpass });
                });
                each(path, Self::default());
            }
            Self::Rendering(formats) => {
                formats.vary(path, &mut |path, formats| {
                    each(path, Self::Rendering(formats));
                });
            }
        }
    }
}

impl Vary for Recipe {
    fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
        match self {
            Self::Graphics(recipe) => {
                recipe.vary(path, &mut |path, recipe| each(path, Self::Graphics(recipe)));
            }
            Self::Compute(recipe) => {
                recipe.vary(path, &mut |path, recipe| each(path, Self::Compute(recipe)));
            }
        }
    }
}
