//! What a guest's fragment programs bring along to join the generic family: a fragment
//! module for each shell, a packet for each program, admission, keys. A backend needs
//! nothing else, and knows no guest. No GPU API is needed to read this: modules are SPIR-V
//! words, blocks are bytes.
//!
//! A guest's fragment state has three parts. The *program* is what the evaluator
//! interprets: it moves from the pipeline into a packet. The *shell* stays compile-time
//! state: texture shapes, side effects. *Data* are constants; no key contains them.

use std::fmt;

/// Identity of a fragment program, without its data and its shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramKey(pub u128);

/// Identity of a shell: what the evaluator's module depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShellKey(pub u128);

/// The shape of the image that a texture binding samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureShape {
    /// Two-dimensional.
    Flat,
    /// Three-dimensional.
    Volume,
    /// A cube map.
    Cube,
}

/// A combined image and sampler that the fragment modules of a shell sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureBinding {
    /// Its binding number.
    pub binding: u32,
    /// The image's shape.
    pub shape: TextureShape,
}

/// A uniform block, bound with a dynamic offset: switching programs or constants moves the
/// offset and updates no descriptor set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockBinding {
    /// Its binding number.
    pub binding: u32,
    /// Its size in bytes.
    pub bytes: usize,
}

/// How the fragment modules of one shell are bound. The evaluator's module and the exact
/// ones agree in it, so one pipeline layout serves both; an exact module leaves the
/// program block alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FragmentInterface {
    /// The descriptor set of all bindings.
    pub set: u32,
    /// The packet of the program: static data, written once for each program.
    pub program: BlockBinding,
    /// The data of the draw.
    pub constants: BlockBinding,
    /// The textures that are sampled, by rising binding number.
    pub textures: Vec<TextureBinding>,
}

/// The outcome of admission: everything that a draw needs, except the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission<P, S> {
    /// The program in the evaluator's own canonical form.
    pub program: P,
    /// Its identity.
    pub program_key: ProgramKey,
    /// The shell around it.
    pub shell: S,
    /// Its identity.
    pub shell_key: ShellKey,
}

/// An interpreter of a guest's fragment programs.
///
/// The contract: for an admitted state the exact module and the evaluator's module with
/// the program's packet write the same bits and discard the same fragments. Everything is
/// checked in [`Evaluator::admit`]; a packet that was written needs no check when it is
/// drawn with.
pub trait Evaluator: Send + Sync {
    /// The guest's fragment state as it stands at a draw.
    type State;
    /// An admitted program.
    type Program: Clone + Send + Sync;
    /// A shell.
    type Shell: Clone + Send + Sync;
    /// Why a state is not admitted: one of a closed list.
    type Declined: fmt::Display + fmt::Debug + Clone + Send + Sync;

    /// Identity of this evaluator's translation: changes whenever a module or a packet of
    /// it would. Part of what an archive keeps modules under.
    fn version(&self) -> u128;

    /// Decodes and admits a state.
    ///
    /// # Errors
    ///
    /// The reason why the state is not represented exactly.
    fn admit(
        &self,
        state: &Self::State,
    ) -> Result<Admission<Self::Program, Self::Shell>, Self::Declined>;

    /// How a shell's modules are bound.
    fn interface(&self, shell: &Self::Shell) -> FragmentInterface;

    /// The evaluator's fragment module for a shell, as SPIR-V words with entry point `main`.
    fn generic_module(&self, shell: &Self::Shell) -> Vec<u32>;

    /// The fragment module of one program in its shell.
    fn exact_module(&self, program: &Self::Program, shell: &Self::Shell) -> Vec<u32>;

    /// Appends the program's packet: as many bytes as the interface's program block has.
    fn write_program(&self, program: &Self::Program, packet: &mut Vec<u8>);

    /// Appends the data of a state: as many bytes as the interface's constants block has.
    fn write_constants(&self, state: &Self::State, block: &mut Vec<u8>);
}
