//! The raw state words: what the guest wrote to the PGRAPH registers that a fragment
//! program is made of. `docs/combiner.md` lists them with their methods.

/// Most general combiner stages that the hardware has.
pub const MAX_STAGES: usize = 8;

/// Texture stages of the hardware.
pub const TEXTURE_STAGES: usize = 4;

/// The state words of one draw, each as the PGRAPH register holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawState {
    /// COMBINECTL: stage count, mux selector, which constants are per stage.
    pub combine_control: u32,
    /// COMBINECOLORI0..7: inputs of the RGB portions.
    pub rgb_inputs: [u32; MAX_STAGES],
    /// COMBINECOLORO0..7: outputs of the RGB portions.
    pub rgb_outputs: [u32; MAX_STAGES],
    /// COMBINEALPHAI0..7: inputs of the alpha portions.
    pub alpha_inputs: [u32; MAX_STAGES],
    /// COMBINEALPHAO0..7: outputs of the alpha portions.
    pub alpha_outputs: [u32; MAX_STAGES],
    /// COMBINEFACTOR0: constant C0 of every stage, ARGB with 8 bits each.
    pub factor0: [u32; MAX_STAGES],
    /// COMBINEFACTOR1: constant C1 of every stage.
    pub factor1: [u32; MAX_STAGES],
    /// COMBINESPECFOG0: inputs A, B, C, D of the final combiner.
    pub final_abcd: u32,
    /// COMBINESPECFOG1: inputs E, F, G of the final combiner and its flags.
    pub final_efg: u32,
    /// SPECFOGFACTOR0 and 1: the final combiner's constants.
    pub final_factors: [u32; 2],
    /// CONTROL_0: the alpha test in bits 12:0; the rest belongs to fixed functions.
    pub control_0: u32,
    /// CONTROL_3: fog enable in bit 8; the rest belongs to the vertex stage.
    pub control_3: u32,
    /// FOGCOLOR, ARGB as the register holds it (the method's word is ABGR).
    pub fog_colour: u32,
    /// SHADERPROG: four texture modes of five bits.
    pub shader_program: u32,
    /// SHADERCTL: dot mappings and input textures of the dependent modes.
    pub shader_control: u32,
    /// SHADERCLIPMODE: per texture stage four compare bits for the clip-plane mode.
    pub shader_clip_mode: u32,
    /// TEXCTL0: per texture stage the colour key in bits 1:0 and alpha kill in bit 2;
    /// the rest belongs to the sampler.
    pub texture_control: [u32; TEXTURE_STAGES],
}

/// One state word: a field of [`RawState`] and, where the field is a bank, its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// COMBINECTL.
    CombineControl,
    /// COMBINECOLORI of a stage below 8.
    RgbInput(u8),
    /// COMBINECOLORO of a stage below 8.
    RgbOutput(u8),
    /// COMBINEALPHAI of a stage below 8.
    AlphaInput(u8),
    /// COMBINEALPHAO of a stage below 8.
    AlphaOutput(u8),
    /// COMBINEFACTOR0 of a stage below 8.
    Factor0(u8),
    /// COMBINEFACTOR1 of a stage below 8.
    Factor1(u8),
    /// COMBINESPECFOG0.
    FinalAbcd,
    /// COMBINESPECFOG1.
    FinalEfg,
    /// SPECFOGFACTOR 0 or 1.
    FinalFactor(u8),
    /// CONTROL_0.
    Control0,
    /// CONTROL_3.
    Control3,
    /// FOGCOLOR.
    FogColour,
    /// SHADERPROG.
    ShaderProgram,
    /// SHADERCTL.
    ShaderControl,
    /// SHADERCLIPMODE.
    ShaderClipMode,
    /// TEXCTL0 of a texture stage below 4.
    TextureControl(u8),
}

/// What a word is part of: which of a draw's three identities changes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The combiner program: opcodes, mappings, destinations.
    Program,
    /// The shell: texture modes, fog, alpha test, clip compares.
    Shell,
    /// Data: constants, fog colour.
    Constants,
    /// CONTROL_0 holds the alpha test's function (shell) and its reference (data).
    ShellAndConstants,
}

impl Word {
    /// Every word, in the order of `docs/combiner.md`.
    pub fn all() -> impl Iterator<Item = Self> {
        let per_stage = |make: fn(u8) -> Self| (0..8).map(make);
        [Self::CombineControl]
            .into_iter()
            .chain(per_stage(Self::RgbInput))
            .chain(per_stage(Self::RgbOutput))
            .chain(per_stage(Self::AlphaInput))
            .chain(per_stage(Self::AlphaOutput))
            .chain(per_stage(Self::Factor0))
            .chain(per_stage(Self::Factor1))
            .chain([
                Self::FinalAbcd,
                Self::FinalEfg,
                Self::FinalFactor(0),
                Self::FinalFactor(1),
                Self::Control0,
                Self::Control3,
                Self::FogColour,
                Self::ShaderProgram,
                Self::ShaderControl,
                Self::ShaderClipMode,
            ])
            .chain((0..4).map(Self::TextureControl))
    }

    /// The register's name in lower case, with the stage's number where there is one:
    /// the name that a STATE file uses.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::CombineControl => "combinectl".into(),
            Self::RgbInput(i) => format!("combinecolori{i}"),
            Self::RgbOutput(i) => format!("combinecoloro{i}"),
            Self::AlphaInput(i) => format!("combinealphai{i}"),
            Self::AlphaOutput(i) => format!("combinealphao{i}"),
            Self::Factor0(i) => format!("combinefactor0_{i}"),
            Self::Factor1(i) => format!("combinefactor1_{i}"),
            Self::FinalAbcd => "combinespecfog0".into(),
            Self::FinalEfg => "combinespecfog1".into(),
            Self::FinalFactor(i) => format!("specfogfactor{i}"),
            Self::Control0 => "control_0".into(),
            Self::Control3 => "control_3".into(),
            Self::FogColour => "fogcolor".into(),
            Self::ShaderProgram => "shaderprog".into(),
            Self::ShaderControl => "shaderctl".into(),
            Self::ShaderClipMode => "shaderclipmode".into(),
            Self::TextureControl(i) => format!("texctl0_{i}"),
        }
    }

    /// The word with this name, as [`Word::name`] gives it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|word| word.name() == name)
    }

    /// Which identity the word is part of.
    #[must_use]
    pub fn part(self) -> Part {
        match self {
            Self::CombineControl
            | Self::RgbInput(_)
            | Self::RgbOutput(_)
            | Self::AlphaInput(_)
            | Self::AlphaOutput(_)
            | Self::FinalAbcd
            | Self::FinalEfg => Part::Program,
            Self::Factor0(_) | Self::Factor1(_) | Self::FinalFactor(_) | Self::FogColour => {
                Part::Constants
            }
            Self::Control0 => Part::ShellAndConstants,
            Self::Control3
            | Self::ShaderProgram
            | Self::ShaderControl
            | Self::ShaderClipMode
            | Self::TextureControl(_) => Part::Shell,
        }
    }
}

impl RawState {
    /// The value of `word`; 0 for an index that the hardware does not have.
    #[must_use]
    pub fn get(&self, word: Word) -> u32 {
        let mut copy = *self;
        copy.slot(word).map_or(0, |slot| *slot)
    }

    /// Sets `word` and says whether that changed it. An index that the hardware does not
    /// have changes nothing.
    pub fn set(&mut self, word: Word, value: u32) -> Change {
        match self.slot(word) {
            Some(slot) if *slot != value => {
                *slot = value;
                Change::Changed
            }
            _ => Change::Same,
        }
    }

    fn slot(&mut self, word: Word) -> Option<&mut u32> {
        match word {
            Word::CombineControl => Some(&mut self.combine_control),
            Word::RgbInput(i) => self.rgb_inputs.get_mut(usize::from(i)),
            Word::RgbOutput(i) => self.rgb_outputs.get_mut(usize::from(i)),
            Word::AlphaInput(i) => self.alpha_inputs.get_mut(usize::from(i)),
            Word::AlphaOutput(i) => self.alpha_outputs.get_mut(usize::from(i)),
            Word::Factor0(i) => self.factor0.get_mut(usize::from(i)),
            Word::Factor1(i) => self.factor1.get_mut(usize::from(i)),
            Word::FinalAbcd => Some(&mut self.final_abcd),
            Word::FinalEfg => Some(&mut self.final_efg),
            Word::FinalFactor(i) => self.final_factors.get_mut(usize::from(i)),
            Word::Control0 => Some(&mut self.control_0),
            Word::Control3 => Some(&mut self.control_3),
            Word::FogColour => Some(&mut self.fog_colour),
            Word::ShaderProgram => Some(&mut self.shader_program),
            Word::ShaderControl => Some(&mut self.shader_control),
            Word::ShaderClipMode => Some(&mut self.shader_clip_mode),
            Word::TextureControl(i) => self.texture_control.get_mut(usize::from(i)),
        }
    }
}

/// Whether a write changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The word had this value already.
    Same,
    /// The word has a new value.
    Changed,
}

/// Counts the changes of each part of a state, so that a draw finds out with three scalar
/// compares what it must look at again. An epoch moves only when a word's value changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epochs {
    /// Changes of the combiner program.
    pub program: u64,
    /// Changes of the shell.
    pub shell: u64,
    /// Changes of constants, fog colour and alpha reference.
    pub constants: u64,
}

/// A state that is written word by word, as a guest does, and counts what changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrackedState {
    words: RawState,
    epochs: Epochs,
}

impl TrackedState {
    /// Starts with these words, at epoch 0.
    #[must_use]
    pub fn new(words: RawState) -> Self {
        Self {
            words,
            epochs: Epochs::default(),
        }
    }

    /// The words as they stand.
    #[must_use]
    pub fn words(&self) -> &RawState {
        &self.words
    }

    /// The epochs as they stand.
    #[must_use]
    pub fn epochs(&self) -> Epochs {
        self.epochs
    }

    /// Writes one word.
    pub fn write(&mut self, word: Word, value: u32) {
        const TEST: u32 = 0x1F00;
        const REFERENCE: u32 = 0xFF;
        let before = self.words.get(word);
        if self.words.set(word, value) == Change::Same {
            return;
        }
        match word.part() {
            Part::Program => self.epochs.program += 1,
            Part::Shell => self.epochs.shell += 1,
            Part::Constants => self.epochs.constants += 1,
            Part::ShellAndConstants => {
                let changed = before ^ value;
                self.epochs.shell += u64::from(changed & TEST != 0);
                self.epochs.constants += u64::from(changed & REFERENCE != 0);
            }
        }
    }
}
