//! The canonical byte form of a recipe. `docs/recipe-format.md` has the layout.
//!
//! The *body* refers to modules by key: an archive keeps each module once. The self-contained
//! form carries them along.

use crate::codec::{Codec, DecodeError, Reader, Writer};
use crate::module::{Module, ModuleKey};
use crate::pipeline::Recipe;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first bytes of a recipe.
pub const MAGIC: [u8; 4] = *b"SIrc";

/// Version of the byte form.
pub const VERSION: u16 = 1;

/// How deeply shared values may be nested in a recipe: a linked pipeline, its libraries, their
/// layouts, sets and samplers need six.
pub const MAX_DEPTH: u32 = 8;

impl Recipe {
    /// The body: what an archive keeps beside the modules.
    #[must_use]
    pub fn to_body(&self) -> Vec<u8> {
        self.write(&mut |_| ())
    }

    /// The modules that the recipe refers to, each once, in order of key.
    #[must_use]
    pub fn modules(&self) -> Vec<Arc<Module>> {
        let mut modules = BTreeMap::new();
        self.write(&mut |module: &Arc<Module>| {
            modules.insert(module.key(), module.clone());
        });
        modules.into_values().collect()
    }

    /// Reads a body, with the modules that `module` finds.
    ///
    /// # Errors
    /// The bytes are not a body, or a module is missing.
    pub fn from_body(
        bytes: &[u8],
        module: &dyn Fn(ModuleKey) -> Option<Arc<Module>>,
    ) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes, module);
        let recipe = read(&mut reader)?;
        reader.end()?;
        Ok(recipe)
    }

    /// The self-contained form: the modules, then the body.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let modules = self.modules();
        let mut bytes = Vec::new();
        bytes.extend_from_slice(
            &u32::try_from(modules.len())
                .unwrap_or(u32::MAX)
                .to_le_bytes(),
        );
        for module in &modules {
            bytes.extend_from_slice(&module.to_bytes());
        }
        bytes.extend_from_slice(&self.to_body());
        bytes
    }

    /// Reads the self-contained form.
    ///
    /// # Errors
    /// The bytes are not that form, or carry other modules than those the body refers to.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let none = |_| None;
        let mut reader = Reader::new(bytes, &none);
        let count = reader.count()?;
        let mut modules = BTreeMap::new();
        let mut last = None;
        for _ in 0..count {
            let module = Module::read(&mut reader)?;
            if last.is_some_and(|last| last >= module.key()) {
                return Err(DecodeError::Unordered { at: reader.at() });
            }
            last = Some(module.key());
            modules.insert(module.key(), Arc::new(module));
        }
        let at = reader.at();
        let recipe = Self::from_body(&bytes[at..], &|key| modules.get(&key).cloned())?;
        if recipe.modules().len() == modules.len() {
            Ok(recipe)
        } else {
            Err(DecodeError::Unordered { at })
        }
    }

    pub(crate) fn write(&self, module: &mut dyn FnMut(&Arc<Module>)) -> Vec<u8> {
        let mut writer = Writer {
            bytes: Vec::with_capacity(1024),
            module,
        };
        writer.bytes.extend_from_slice(&MAGIC);
        VERSION.encode(&mut writer);
        self.encode(&mut writer);
        writer.bytes
    }
}

fn read(reader: &mut Reader<'_>) -> Result<Recipe, DecodeError> {
    let magic: [u8; 4] = reader.array().map_err(|_| DecodeError::NotARecipe)?;
    if magic != MAGIC {
        return Err(DecodeError::NotARecipe);
    }
    match u16::decode(reader)? {
        VERSION => Recipe::decode(reader),
        found => Err(DecodeError::Version { found }),
    }
}
