//! Real captures with bytes flipped, cut and moved: whatever comes of them, the reader ends, with
//! memory bounded by what is there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at what fails"
)]

mod made;

use made::{HEADER, old_captures, testdata};
use standin_foz::{Database, Recorder, Tag, Writer, writer::Encoding};
use std::io::Cursor;
use std::path::PathBuf;

/// SplitMix64, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// One of: a flipped bit, a changed byte, a cut, a piece moved over another.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let at = self.below(bytes.len());
        match self.below(4) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.next() as u8,
            2 => bytes.truncate(at),
            _ => {
                let from = self.below(bytes.len());
                let most = bytes.len() - from.max(at);
                let length = self.below(most.min(64) + 1);
                bytes.copy_within(from..from + length, at);
            }
        }
    }
}

/// Reads everything that there is, every way that there is. What becomes a recipe is recorded
/// and has the same exact key when it is read again.
fn read_all(bytes: Vec<u8>) -> usize {
    let input = [(PathBuf::from("mutated.foz"), Cursor::new(bytes))];
    let Ok(mut db) = Database::from_readers(input) else {
        return 0;
    };
    let entries: u64 = db.summary().entries.values().sum();
    db.verify();
    db.recompute_keys(|_, _| ());
    db.others(|_, _| ());
    let mut recorder = Recorder::new(Writer::create(Vec::new(), Encoding::Plain).unwrap());
    for info in db.application_infos() {
        let _refused = info.application.map(|info| recorder.application(&info));
    }
    let mut keys = std::collections::HashMap::new();
    let mut made = 0;
    for (_, recipe) in db.pipelines().flatten() {
        made += 1;
        if let Ok(entry) = recorder.pipeline(&recipe) {
            keys.entry(entry).or_insert_with(|| recipe.exact_key());
        }
    }
    // Each damaged entry is named once.
    assert!(db.summary().damaged.len() as u64 <= entries + 1);
    let output = recorder.finish().unwrap();
    let input = [(PathBuf::from("recorded.foz"), Cursor::new(output))];
    for item in Database::from_readers(input).unwrap().pipelines() {
        let (entry, recipe) = item.unwrap();
        assert_eq!(keys.get(&entry), Some(&recipe.exact_key()), "{entry}");
    }
    made
}

fn small_captures() -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<u8>> = old_captures()
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .filter(|bytes| bytes.len() < 8000)
        .collect();
    files.push(std::fs::read(testdata().join("vkcube.foz")).unwrap());
    files
}

#[test]
fn mutated_files_are_read_to_their_end() {
    let mut random = Random(1);
    let mut made = 0;
    for file in small_captures() {
        for _ in 0..40 {
            let mut bytes = file.clone();
            for _ in 0..=random.below(3) {
                random.mutate(&mut bytes);
            }
            made += read_all(bytes);
        }
    }
    assert!(made > 0, "some survive");
}

/// Below compression and checksum, so that the JSON and the SPIR-V are reached.
#[test]
fn mutated_payloads_are_read_to_their_end() {
    let mut random = Random(2);
    let mut made = 0;
    for file in small_captures() {
        let input = [(PathBuf::from("whole.foz"), Cursor::new(file))];
        let mut db = Database::from_readers(input).unwrap();
        let payloads: Vec<_> = db
            .entries_of(&Tag::ALL)
            .into_iter()
            .map(|entry| (entry, db.payload(entry).unwrap().unwrap()))
            .collect();
        for _ in 0..60 {
            let mut writer = Writer::create(Vec::new(), Encoding::Plain).unwrap();
            let chosen = random.below(payloads.len());
            for (index, (entry, payload)) in payloads.iter().enumerate() {
                let mut payload = payload.clone();
                if index == chosen || random.below(8) == 0 {
                    random.mutate(&mut payload);
                }
                writer.write(*entry, &payload).unwrap();
            }
            made += read_all(writer.finish().unwrap());
        }
    }
    assert!(made > 0, "some survive");
}

#[test]
fn random_bytes_behind_a_header_are_read_to_their_end() {
    let mut random = Random(3);
    for _ in 0..300 {
        let mut bytes = HEADER.to_vec();
        let length = random.below(400);
        bytes.extend((0..length).map(|_| random.next() as u8));
        assert_eq!(read_all(bytes), 0);
    }
}
