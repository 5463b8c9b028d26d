//! What pipelines are made of, each distinct one made once: samplers, set layouts, pipeline layouts,
//! render passes and shader modules, by their content.

use crate::decline::Declined;
use crate::device::Device;
use ash::vk;
use standin_recipe::create_info::module_create_info;
use standin_recipe::layout::{
    PipelineLayoutRecipe, SamplerRecipe, SetLayoutRecipe, YcbcrConversion,
};
use standin_recipe::{Module, RenderPassRecipe};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why an object was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The device cannot make it, and was not asked to.
    #[error(transparent)]
    Declined(#[from] Declined),
    /// The driver failed.
    #[error("{call} failed: {result}")]
    Call {
        /// The Vulkan command.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
    },
}

pub(crate) fn failed(call: &'static str) -> impl FnOnce(vk::Result) -> ObjectError {
    move |result| ObjectError::Call { call, result }
}

/// The objects of one device. To be used from any thread.
#[derive(Debug)]
pub struct Objects {
    conversions: Table<YcbcrConversion, vk::SamplerYcbcrConversion>,
    samplers: Table<SamplerRecipe, vk::Sampler>,
    set_layouts: Table<SetLayoutRecipe, vk::DescriptorSetLayout>,
    layouts: Table<PipelineLayoutRecipe, vk::PipelineLayout>,
    passes: Table<RenderPassRecipe, vk::RenderPass>,
    modules: Table<Module, vk::ShaderModule>,
    device: Arc<Device>,
}

/// How many objects of each kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct ObjectCounts {
    /// Samplers.
    pub samplers: usize,
    /// Descriptor set layouts.
    pub set_layouts: usize,
    /// Pipeline layouts.
    pub layouts: usize,
    /// Render passes.
    pub passes: usize,
    /// Shader modules.
    pub modules: usize,
}

/// Objects by the content that they are made of.
#[derive(Debug)]
struct Table<K, V>(Mutex<HashMap<Arc<K>, V>>);

impl<K: Eq + Hash, V: Copy> Table<K, V> {
    fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<K>, V>> {
        // An entry is inserted whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object for this content. The lock is held while it is made: none of them takes long,
    /// and two threads must not make the same.
    fn get(
        &self,
        key: &Arc<K>,
        make: impl FnOnce() -> Result<V, ObjectError>,
    ) -> Result<V, ObjectError> {
        let mut made = self.lock();
        if let Some(&object) = made.get(key) {
            return Ok(object);
        }
        let object = make()?;
        made.insert(Arc::clone(key), object);
        Ok(object)
    }
}

impl Objects {
    /// No objects yet.
    #[must_use]
    pub fn new(device: &Arc<Device>) -> Arc<Self> {
        Arc::new(Self {
            conversions: Table::new(),
            samplers: Table::new(),
            set_layouts: Table::new(),
            layouts: Table::new(),
            passes: Table::new(),
            modules: Table::new(),
            device: Arc::clone(device),
        })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// How many objects there are.
    #[must_use]
    pub fn counts(&self) -> ObjectCounts {
        ObjectCounts {
            samplers: self.samplers.lock().len(),
            set_layouts: self.set_layouts.lock().len(),
            layouts: self.layouts.lock().len(),
            passes: self.passes.lock().len(),
            modules: self.modules.lock().len(),
        }
    }

    pub(crate) fn conversion(
        &self,
        recipe: &Arc<YcbcrConversion>,
    ) -> Result<vk::SamplerYcbcrConversion, ObjectError> {
        self.conversions
            .get(recipe, || crate::layouts::conversion(&self.device, recipe))
    }

    /// The sampler.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub fn sampler(&self, recipe: &Arc<SamplerRecipe>) -> Result<vk::Sampler, ObjectError> {
        self.samplers
            .get(recipe, || crate::layouts::sampler(self, recipe))
    }

    /// The descriptor set layout.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub fn set_layout(
        &self,
        recipe: &Arc<SetLayoutRecipe>,
    ) -> Result<vk::DescriptorSetLayout, ObjectError> {
        self.set_layouts
            .get(recipe, || crate::layouts::set_layout(self, recipe))
    }

    /// The pipeline layout.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub fn layout(
        &self,
        recipe: &Arc<PipelineLayoutRecipe>,
    ) -> Result<vk::PipelineLayout, ObjectError> {
        self.layouts
            .get(recipe, || crate::layouts::layout(self, recipe))
    }

    /// The render pass.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub fn render_pass(
        &self,
        recipe: &Arc<RenderPassRecipe>,
    ) -> Result<vk::RenderPass, ObjectError> {
        self.passes
            .get(recipe, || crate::passes::render_pass(&self.device, recipe))
    }

    /// The shader module. Whether the device takes its code is the caller's check, because that
    /// depends on the stage.
    pub(crate) fn module(&self, module: &Arc<Module>) -> Result<vk::ShaderModule, ObjectError> {
        self.modules.get(module, || {
            let info = module_create_info(module);
            // SAFETY: the words live until the call returns, and were checked to be SPIR-V
            // instructions that the device takes.
            unsafe { self.device.raw().create_shader_module(&info, None) }
                .map_err(failed("vkCreateShaderModule"))
        })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let raw = self.device.raw();
        // SAFETY: pipelines hold an Arc of this, so nothing made from these objects is left, and
        // no call with them is running.
        unsafe {
            for &module in self.modules.lock().values() {
                raw.destroy_shader_module(module, None);
            }
            for &layout in self.layouts.lock().values() {
                raw.destroy_pipeline_layout(layout, None);
            }
            for &layout in self.set_layouts.lock().values() {
                raw.destroy_descriptor_set_layout(layout, None);
            }
            for &sampler in self.samplers.lock().values() {
                raw.destroy_sampler(sampler, None);
            }
            for &conversion in self.conversions.lock().values() {
                raw.destroy_sampler_ycbcr_conversion(conversion, None);
            }
            for &pass in self.passes.lock().values() {
                raw.destroy_render_pass(pass, None);
            }
        }
    }
}
