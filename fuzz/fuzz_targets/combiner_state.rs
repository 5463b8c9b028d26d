//! Any 32-bit words: a result or a reason. What is admitted evaluates to a colour in [0, 1] in
//! both profiles, gives its words back, has text that assembles to it, and makes modules.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::asm::{assemble, disassemble};
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::packet::ProgramPacket;
use standin_combiner::report::{ProfileName, evaluate_file};
use standin_combiner::specialise::specialise;
use standin_combiner::state::Word;
use standin_combiner::state_text::StateFile;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = assemble(text);
        let _ = StateFile::parse(text);
    }
    let mut file = StateFile::default();
    let mut values = bytes
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
    for (word, value) in Word::all().zip(values.by_ref()) {
        let _ = file.words.set(word, value);
    }
    let inputs = &mut file.inputs;
    let components = inputs.colours.as_flattened_mut().iter_mut();
    for (component, value) in components
        .chain(inputs.textures.as_flattened_mut())
        .zip(values)
    {
        *component = f32::from_bits(value);
    }
    let Ok(admitted) = admit(&file.words) else {
        return;
    };
    let mut back = file.words;
    admitted.program.encode_into(&mut back);
    assert_eq!(back, file.words);
    let text = disassemble(&file.words).expect("an admitted state has text");
    let again = admit(&assemble(&text).expect("its own text")).expect("the same state");
    assert_eq!(again, admitted);
    for profile in [ProfileName::Float, ProfileName::NineBit] {
        let evaluation = evaluate_file(&file, profile).expect("an admitted state evaluates");
        assert!(evaluation.colour.iter().all(|x| (0.0..=1.0).contains(x)));
    }
    let canonical = Admitted {
        program: admitted.program.canonical(),
        shell: admitted.shell,
    };
    assert_eq!(canonical.program.canonical(), canonical.program);
    let _ = ProgramPacket::new(&canonical.program);
    let _ = specialise(&canonical);
    let _ = evaluator(&canonical.shell, EvaluatorForm::default());
});
