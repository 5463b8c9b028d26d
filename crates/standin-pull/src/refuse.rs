//! Why a shader is not rewritten.

/// A named reason; nothing was rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// The words are no SPIR-V module.
    #[error("malformed module at word {word}: {what}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where, in words.
        word: usize,
    },
    /// There is no vertex entry point of that name, or none at all.
    #[error("no vertex entry point{}", name.as_ref().map(|name| format!(" called {name}")).unwrap_or_default())]
    NoEntry {
        /// The name asked for.
        name: Option<String>,
    },
    /// Several vertex entry points match; a name is needed.
    #[error("several vertex entry points match: {}", names.join(", "))]
    AmbiguousEntry {
        /// Their names.
        names: Vec<String>,
    },
    /// The entry point writes transform feedback.
    #[error("the shader writes transform feedback")]
    TransformFeedback,
    /// The entry point writes the layer or the viewport index.
    #[error("the shader writes {0}")]
    LayerOrViewport(&'static str),
    /// The pipeline has stages between this one and rasterisation, for which positions are not proven.
    #[error("the pipeline has a {0} stage")]
    LaterStage(&'static str),
    /// An input has a type that has no vertex format.
    #[error("the input type %{ty} cannot be fetched")]
    InputType {
        /// The type's id.
        ty: u32,
    },
    /// An input is neither a built-in nor located.
    #[error("the input variable %{variable} has no location")]
    InputWithoutLocation {
        /// The variable's id.
        variable: u32,
    },
    /// The inputs take more locations than a layout block has.
    #[error("the inputs take more than {limit} locations")]
    TooManyLocations {
        /// Locations of a block.
        limit: u32,
    },
    /// A member's location depends on a specialisation constant.
    #[error("a location follows an array whose length is a specialisation constant")]
    LocationAfterSpecialised,
    /// A pointer to an input is used by an instruction that is not followed.
    #[error("a pointer to an input is used by instruction {opcode}")]
    PointerUse {
        /// Its opcode.
        opcode: u16,
    },
    /// A block of inputs is of a type that also serves elsewhere.
    #[error("the input block %{ty} is also the type of other variables")]
    SharedBlock {
        /// The structure's id.
        ty: u32,
    },
    /// The place for the layout block or the data is taken by the shader itself.
    #[error("{0} is used by the shader itself")]
    PlaceTaken(String),
    /// The module addresses memory in a way that data addresses cannot be added to.
    #[error("the addressing model {0} does not go with device addresses")]
    AddressingModel(u32),
    /// An input is reached by untyped pointers.
    #[error("inputs are reached by untyped pointers")]
    UntypedPointers,
}

impl Declined {
    pub(crate) const fn malformed(what: &'static str, word: usize) -> Self {
        Self::Malformed { what, word }
    }

    /// A short name for counting.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed",
            Self::NoEntry { .. } => "no-entry",
            Self::AmbiguousEntry { .. } => "ambiguous-entry",
            Self::TransformFeedback => "transform-feedback",
            Self::LayerOrViewport(_) => "layer-or-viewport",
            Self::LaterStage(_) => "later-stage",
            Self::InputType { .. } => "input-type",
            Self::InputWithoutLocation { .. } => "input-without-location",
            Self::TooManyLocations { .. } => "too-many-locations",
            Self::LocationAfterSpecialised => "location-after-specialised",
            Self::PointerUse { .. } => "pointer-use",
            Self::SharedBlock { .. } => "shared-block",
            Self::PlaceTaken(_) => "place-taken",
            Self::AddressingModel(_) => "addressing-model",
            Self::UntypedPointers => "untyped-pointers",
        }
    }
}
