//! The canonical byte form: a body that refers to modules by key, and a self-contained form with
//! the modules in front of the body. `docs/recipe-format.md` has the layout.

use crate::codec::{Codec, DecodeError, Reader, Writer, put_count};
use crate::module::{Module, ModuleKey};
use crate::pipeline::{ComputeRecipe, GraphicsRecipe, Recipe};
use crate::stage::Stage;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Version of the byte form that this program writes and reads.
pub const VERSION: u16 = 1;

/// How deep shared parts may be nested: a pipeline's libraries, a layout's sets, their samplers.
/// Vulkan itself has no use for more than four libraries inside one another.
pub const MAX_DEPTH: u32 = 16;

/// First bytes of a body.
pub const BODY_MAGIC: [u8; 4] = *b"SRB\n";
/// First bytes of the self-contained form.
pub const WHOLE_MAGIC: [u8; 4] = *b"SRW\n";

/// A recipe's bytes, with the modules apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The canonical bytes.
    pub bytes: Vec<u8>,
    /// The modules that the bytes refer to, each once, in ascending order of keys.
    pub modules: Vec<Arc<Module>>,
}

impl Recipe {
    /// The canonical bytes of the recipe as it stands, and the modules that they refer to.
    #[must_use]
    pub fn to_body(&self) -> Body {
        let mut modules = BTreeMap::new();
        let mut keep = |module: &Arc<Module>| {
            modules
                .entry(module.key())
                .or_insert_with(|| Arc::clone(module));
        };
        let bytes = encode_body(self, &mut keep);
        Body {
            bytes,
            modules: modules.into_values().collect(),
        }
    }

    /// Reads the canonical bytes of a body; `module` has the modules that it refers to.
    ///
    /// # Errors
    /// The bytes are not the canonical form of a recipe, or a module is missing.
    pub fn from_body(
        bytes: &[u8],
        module: impl Fn(ModuleKey) -> Option<Arc<Module>>,
    ) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes, &module);
        let recipe = decode_body(&mut reader)?;
        reader.end()?;
        Ok(recipe)
    }

    /// The self-contained canonical bytes: the modules and the body.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = self.to_body();
        let words: usize = body.modules.iter().map(|module| module.code().len()).sum();
        let mut bytes =
            Vec::with_capacity(10 + words * 4 + body.modules.len() * 8 + body.bytes.len());
        bytes.extend_from_slice(&WHOLE_MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        let mut ignore = |_: &Arc<Module>| {};
        let mut out = Writer::new(bytes, &mut ignore);
        put_count(&mut out, body.modules.len());
        for module in &body.modules {
            module.write(&mut out);
        }
        let mut bytes = out.into_bytes();
        bytes.extend_from_slice(&body.bytes);
        bytes
    }

    /// Reads the self-contained canonical bytes.
    ///
    /// # Errors
    /// The bytes are not the canonical form of a recipe.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let none = |_| None;
        let mut reader = Reader::new(bytes, &none);
        reader.head(WHOLE_MAGIC)?;
        let count = reader.count()?;
        let mut modules: Vec<(Arc<Module>, Cell<bool>)> = Vec::new();
        for _ in 0..count {
            let module = Module::read(&mut reader)?;
            if modules
                .last()
                .is_some_and(|(last, _)| last.key() >= module.key())
            {
                return Err(DecodeError::ModuleTable);
            }
            modules.push((Arc::new(module), Cell::new(false)));
        }
        let find = |key| {
            let index = modules
                .binary_search_by_key(&key, |(module, _)| module.key())
                .ok()?;
            let (module, used) = modules.get(index)?;
            used.set(true);
            Some(Arc::clone(module))
        };
        let recipe = Self::from_body(reader.rest(), find)?;
        if modules.iter().all(|(_, used)| used.get()) {
            Ok(recipe)
        } else {
            Err(DecodeError::ModuleTable)
        }
    }
}

/// The canonical bytes of a recipe's body. `module` is told of each stage's module.
pub(crate) fn encode_body(recipe: &Recipe, module: &mut dyn FnMut(&Arc<Module>)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1024);
    bytes.extend_from_slice(&BODY_MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    let mut out = Writer::new(bytes, module);
    match recipe {
        Recipe::Graphics(recipe) => {
            0u8.encode(&mut out);
            recipe.encode(&mut out);
        }
        Recipe::Compute(recipe) => {
            1u8.encode(&mut out);
            recipe.encode(&mut out);
        }
    }
    out.into_bytes()
}

fn decode_body(reader: &mut Reader<'_>) -> Result<Recipe, DecodeError> {
    reader.head(BODY_MAGIC)?;
    let at = reader.at();
    match u8::decode(reader)? {
        0 => {
            let recipe: GraphicsRecipe = Codec::decode(reader)?;
            check_graphics(&recipe)?;
            Ok(Recipe::Graphics(recipe))
        }
        1 => {
            let recipe: ComputeRecipe = Codec::decode(reader)?;
            check_stage(&recipe.stage)?;
            Ok(Recipe::Compute(recipe))
        }
        tag => Err(DecodeError::BadTag { at, tag }),
    }
}

fn check_graphics(recipe: &GraphicsRecipe) -> Result<(), DecodeError> {
    recipe.stages.iter().try_for_each(check_stage)?;
    recipe
        .libraries
        .iter()
        .try_for_each(|library| check_graphics(library))
}

/// A driver reads each constant's value: it must be within the data.
fn check_stage(stage: &Stage) -> Result<(), DecodeError> {
    match &stage.specialization {
        Some(specialization) => specialization.check().map_err(DecodeError::Specialization),
        None => Ok(()),
    }
}
