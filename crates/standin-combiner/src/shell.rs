//! The shell around a combiner program: what fills the registers before it and decides
//! about the fragment after it. Both GPU paths share it, and it stays compile-time state.

use crate::program::Register;
use crate::state::TEXTURE_STAGES;

/// What a texture stage puts into its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureMode {
    /// (0, 0, 0, 1), on hardware for all four stages.
    None,
    /// A two-dimensional image at (s/q, t/q).
    Projective2d,
    /// A three-dimensional image at (s/q, t/q, r/q).
    Projective3d,
    /// A cube map in direction (s, t, r).
    Cube,
    /// The coordinates themselves.
    PassThrough,
    /// Discards by the coordinates' signs. Bit c of the compares set: discard where
    /// component c >= 0; clear: where it is < 0. The register's value is not known, so a
    /// program that reads it is declined.
    ClipPlane {
        /// The stage's four compare bits.
        compares: u8,
    },
}

impl TextureMode {
    /// The mode's number in SHADERPROG.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Projective2d => 1,
            Self::Projective3d => 2,
            Self::Cube => 3,
            Self::PassThrough => 4,
            Self::ClipPlane { .. } => 5,
        }
    }

    /// What the shell samples, if it samples.
    #[must_use]
    pub fn image(self) -> Option<ImageShape> {
        match self {
            Self::Projective2d => Some(ImageShape::Flat),
            Self::Projective3d => Some(ImageShape::Volume),
            Self::Cube => Some(ImageShape::Cube),
            Self::None | Self::PassThrough | Self::ClipPlane { .. } => None,
        }
    }

    /// Whether the stage reads its texture coordinates.
    #[must_use]
    pub fn reads_coordinates(self) -> bool {
        self != Self::None
    }
}

/// The shape of a sampled image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageShape {
    /// Two-dimensional.
    Flat,
    /// Three-dimensional.
    Volume,
    /// A cube map.
    Cube,
}

/// Names of all texture modes by number, for messages.
pub(crate) const MODE_NAMES: [&str; 0x13] = [
    "NONE",
    "PROJ2D",
    "PROJ3D",
    "CUBE",
    "PASSTHRU",
    "CLIPPLANE",
    "BUMPENV",
    "BUMPENV_LUM",
    "BRDF",
    "DOT_ST",
    "DOT_ZW",
    "RFLCT_DIFF",
    "RFLCT_SPEC",
    "STR_3D",
    "STR_CUBE",
    "DPNDNT_AR",
    "DPNDNT_GB",
    "DOTPRODUCT",
    "RFLCT_SPEC_CONST",
];

/// The comparison of the alpha test: keep the fragment where round(255 a) stands in this
/// relation to the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum AlphaTest {
    Never = 0,
    Less = 1,
    Equal = 2,
    LessOrEqual = 3,
    Greater = 4,
    NotEqual = 5,
    GreaterOrEqual = 6,
    /// Also the form of a disabled test.
    Always = 7,
}

impl AlphaTest {
    /// All eight, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Never,
        Self::Less,
        Self::Equal,
        Self::LessOrEqual,
        Self::Greater,
        Self::NotEqual,
        Self::GreaterOrEqual,
        Self::Always,
    ];

    /// Whether a fragment with this alpha in 0..=255 is kept.
    #[must_use]
    pub fn keeps(self, alpha: u32, reference: u32) -> bool {
        match self {
            Self::Never => false,
            Self::Less => alpha < reference,
            Self::Equal => alpha == reference,
            Self::LessOrEqual => alpha <= reference,
            Self::Greater => alpha > reference,
            Self::NotEqual => alpha != reference,
            Self::GreaterOrEqual => alpha >= reference,
            Self::Always => true,
        }
    }
}

/// Where register FOG's alpha comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fog {
    /// The factor is 1.
    Disabled,
    /// The interpolated factor, clamped to [0, 1].
    Interpolated,
}

/// The compile-time state around a program. Depth stays with the fixed functions: no
/// admitted state writes it from the fragment program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shell {
    /// The texture stages' modes.
    pub textures: [TextureMode; TEXTURE_STAGES],
    /// Where FOG's alpha comes from.
    pub fog: Fog,
    /// The alpha test. Its reference is data.
    pub alpha_test: AlphaTest,
}

impl Shell {
    /// No textures, no fog, no alpha test.
    pub const PLAIN: Self = Self {
        textures: [TextureMode::None; TEXTURE_STAGES],
        fog: Fog::Disabled,
        alpha_test: AlphaTest::Always,
    };

    /// The shell in 41 bits: modes in 19:0 (five each), compare bits in 35:20 (four each),
    /// fog in 36, alpha test in 39:37. It is the shell's identity.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        let mut bits = 0;
        for (i, mode) in self.textures.into_iter().enumerate() {
            bits |= u64::from(mode.number()) << (5 * i);
            if let TextureMode::ClipPlane { compares } = mode {
                bits |= u64::from(compares & 0xF) << (20 + 4 * i);
            }
        }
        bits | u64::from(self.fog == Fog::Interpolated) << 36 | (self.alpha_test as u64) << 37
    }

    /// Texture registers whose value is not known: those of clip-plane stages.
    pub(crate) fn unknown_registers(self) -> u16 {
        let mut unknown = 0;
        for (i, mode) in self.textures.into_iter().enumerate() {
            if matches!(mode, TextureMode::ClipPlane { .. }) {
                unknown |= 1 << (Register::T0 as u16 + i as u16);
            }
        }
        unknown
    }
}
