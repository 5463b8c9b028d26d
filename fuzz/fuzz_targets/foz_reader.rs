//! Fossilize databases: whatever the file, the reader ends, and recipes that it makes can be
//! recorded and read again with the same exact key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standin_foz::writer::Encoding;
use standin_foz::{Database, Recorder, Writer};
use std::collections::HashMap;
use std::io::Cursor;
use std::path::PathBuf;

fuzz_target!(|bytes: &[u8]| {
    let input = [(PathBuf::from("fuzzed.foz"), Cursor::new(bytes))];
    let Ok(mut db) = Database::from_readers(input) else {
        return;
    };
    db.verify();
    db.recompute_keys(|_, _| ());
    db.others(|_, _| ());
    let Ok(writer) = Writer::create(Vec::new(), Encoding::Plain) else {
        return;
    };
    let mut recorder = Recorder::new(writer);
    for info in db.application_infos() {
        let _refused = info.application.map(|info| recorder.application(&info));
    }
    let mut keys = HashMap::new();
    for (_, recipe) in db.pipelines().flatten() {
        if let Ok(entry) = recorder.pipeline(&recipe) {
            keys.entry(entry).or_insert_with(|| recipe.exact_key());
        }
    }
    let output = recorder.finish().unwrap_or_default();
    let input = [(PathBuf::from("recorded.foz"), Cursor::new(output))];
    let mut again = Database::from_readers(input).expect("what was written has a header");
    for item in again.pipelines() {
        let (entry, recipe) = item.expect("what was written is whole");
        assert_eq!(keys.get(&entry), Some(&recipe.exact_key()));
    }
});
