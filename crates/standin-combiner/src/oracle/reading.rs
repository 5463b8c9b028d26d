//! Readings of the rules. Public implementations disagree about some; each disagreement is
//! a mutant of the oracle here, and the tests must be able to tell it from the right one.

/// How the rules are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// As the hardware and the specification have it.
    Right,
    /// The RGB portion's results are written before the alpha portion reads.
    RgbWrittenBeforeAlphaReads,
    /// Each result is written before the next one is computed.
    ResultsOneByOne,
    /// The mux takes AB where the condition holds.
    MuxReversed,
    /// The LSB mux looks at the most significant bit.
    LsbMuxIsMsb,
    /// The sum adds results after their output operation.
    SumOfOutputs,
    /// A dot product leaves the sum at 0.
    DotSuppressesSum,
    /// Every stage has its own constants whatever the flags say.
    ConstantsAlwaysPerStage,
    /// Blue goes to alpha as it is before operation and clamp.
    BlueToAlphaIsRaw,
    /// Blue never goes to alpha.
    NoBlueToAlpha,
    /// The final sum's complements are ignored.
    ComplementIgnored,
    /// A texture stage without a mode has alpha 0.
    NoneTextureAlphaIsZero,
    /// The eighth stage does not run.
    SevenStages,
    /// Negative V1 and R0 enter the final sum as they are.
    SumTermsUnclamped,
    /// The alpha test truncates.
    AlphaTestTruncates,
    /// The alpha portion's clear channel bit selects green.
    AlphaPortionReadsGreen,
}

impl Reading {
    /// Every misreading.
    pub const WRONG: [Self; 15] = [
        Self::RgbWrittenBeforeAlphaReads,
        Self::ResultsOneByOne,
        Self::MuxReversed,
        Self::LsbMuxIsMsb,
        Self::SumOfOutputs,
        Self::DotSuppressesSum,
        Self::ConstantsAlwaysPerStage,
        Self::BlueToAlphaIsRaw,
        Self::NoBlueToAlpha,
        Self::ComplementIgnored,
        Self::NoneTextureAlphaIsZero,
        Self::SevenStages,
        Self::SumTermsUnclamped,
        Self::AlphaTestTruncates,
        Self::AlphaPortionReadsGreen,
    ];

    pub(super) fn stage_limit(self) -> usize {
        if self == Self::SevenStages { 7 } else { 8 }
    }
}
