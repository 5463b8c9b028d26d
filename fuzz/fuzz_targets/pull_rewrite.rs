//! Any bytes: a pulled module or a named refusal, in both ways of reaching block and data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standin_pull::capture::capture_outputs;
use standin_pull::{BlockPlace, DataPath, Options, hold_positions, rewrite, words_from_bytes};

fuzz_target!(|bytes: &[u8]| {
    let Ok(words) = words_from_bytes(bytes) else { return };
    let buffers = DataPath::StorageBuffers { set: 2, binding: 1 };
    for (block, data) in [
        (BlockPlace::Uniform { set: 2, binding: 0 }, DataPath::DeviceAddress),
        (BlockPlace::PushConstant { offset: 0 }, buffers),
    ] {
        let options = Options { block, data, ..Options::default() };
        if let Err(declined) = rewrite(&words, &options) {
            assert!(!declined.reason().is_empty());
        }
    }
    let _ = hold_positions(&words, None);
    let _ = capture_outputs(&words, None, (0, 0), 3);
});
