//! Well-known programs in the assembler's language, for examples, pictures and measurements.

/// A named program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownProgram {
    /// Its short name.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The programs.
pub const KNOWN_PROGRAMS: [KnownProgram; 4] = [
    KnownProgram {
        name: "modulate",
        text: include_str!("known/modulate.combiner"),
    },
    KnownProgram {
        name: "lerp-by-alpha",
        text: include_str!("known/lerp-by-alpha.combiner"),
    },
    KnownProgram {
        name: "dot3-bump-specular",
        text: include_str!("known/dot3-bump-specular.combiner"),
    },
    KnownProgram {
        name: "two-texture-mux",
        text: include_str!("known/two-texture-mux.combiner"),
    },
];
