//! Shader modules: SPIR-V and its identity.

use crate::codec::{Codec, DecodeError, Reader, Writer, put_count};
use ash::vk;
use std::fmt;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Identity of a shader module: its flags and every word of its SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleKey(u128);

impl ModuleKey {
    /// The key with this value.
    #[must_use]
    pub const fn from_u128(value: u128) -> Self {
        Self(value)
    }

    /// The key's 128 bits.
    #[must_use]
    pub const fn to_u128(self) -> u128 {
        self.0
    }

    /// The key's bytes, least significant first: the form that is kept on disk.
    #[must_use]
    pub const fn to_le_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// The key whose bytes are these, least significant first.
    #[must_use]
    pub const fn from_le_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }
}

impl fmt::Debug for ModuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModuleKey({:032x})", self.0)
    }
}

impl fmt::Display for ModuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A shader module.
#[derive(Clone)]
pub struct Module {
    flags: vk::ShaderModuleCreateFlags,
    code: Box<[u32]>,
    key: ModuleKey,
}

impl Module {
    /// A module of these SPIR-V words. They are not looked at.
    #[must_use]
    pub fn new(flags: vk::ShaderModuleCreateFlags, code: impl Into<Box<[u32]>>) -> Self {
        let code = code.into();
        let mut hash = Xxh3::new();
        hash.update(&flags.as_raw().to_le_bytes());
        let mut block = [0; 1024];
        for words in code.chunks(block.len() / 4) {
            for (bytes, word) in block.chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            hash.update(&block[..words.len() * 4]);
        }
        Self {
            flags,
            code,
            key: ModuleKey(hash.digest128()),
        }
    }

    /// The creation flags.
    #[must_use]
    pub fn flags(&self) -> vk::ShaderModuleCreateFlags {
        self.flags
    }

    /// The SPIR-V words.
    #[must_use]
    pub fn code(&self) -> &[u32] {
        &self.code
    }

    /// The module's identity.
    #[must_use]
    pub const fn key(&self) -> ModuleKey {
        self.key
    }

    /// The module's own canonical bytes: flags, count of words, words.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut ignore = |_: &Arc<Self>| {};
        let bytes = Vec::with_capacity(8 + self.code.len() * 4);
        let mut out = Writer::new(bytes, &mut ignore);
        self.write(&mut out);
        out.into_bytes()
    }

    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        self.flags.encode(out);
        put_count(out, self.code.len());
        for word in &self.code {
            word.encode(out);
        }
    }

    /// Reads the canonical bytes of one module.
    ///
    /// # Errors
    /// The bytes are not such bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let none = |_| None;
        let mut reader = Reader::new(bytes, &none);
        let module = Self::read(&mut reader)?;
        reader.end()?;
        Ok(module)
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let flags = vk::ShaderModuleCreateFlags::decode(reader)?;
        let count = reader.count()?;
        let at = reader.at();
        let length = count.checked_mul(4).ok_or(DecodeError::Truncated { at })?;
        let code: Vec<u32> = reader
            .take(length)?
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        Ok(Self::new(flags, code))
    }
}

impl PartialEq for Module {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.flags == other.flags && self.code == other.code
    }
}

impl Eq for Module {}

impl std::hash::Hash for Module {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({} words, {})", self.code.len(), self.key)
    }
}

/// A reference to a module, as a stage of a recipe holds it: in canonical bytes it is the
/// module's key alone, so that an archive keeps each module once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModuleRef(pub Arc<Module>);

/// A module of no words.
impl Default for ModuleRef {
    fn default() -> Self {
        Self(Arc::new(Module::new(
            vk::ShaderModuleCreateFlags::empty(),
            Vec::new(),
        )))
    }
}

impl Codec for ModuleRef {
    fn encode(&self, out: &mut Writer<'_>) {
        (out.module)(&self.0);
        out.bytes.extend_from_slice(&self.0.key.0.to_le_bytes());
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let key = ModuleKey(u128::from_le_bytes(input.array()?));
        (input.module)(key)
            .filter(|module| module.key() == key)
            .map(Self)
            .ok_or(DecodeError::MissingModule(key))
    }
}

impl std::ops::Deref for ModuleRef {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.0
    }
}
