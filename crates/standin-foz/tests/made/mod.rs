//! Databases made byte by byte, from the layout in `docs/foz.md`.
#![allow(dead_code, reason = "each test file uses its part")]

use standin_foz::{Database, EntryKey, Tag};
use std::io::Cursor;
use std::path::{Path, PathBuf};

pub(crate) const HEADER: [u8; 16] = *b"\x81FOSSILIZEDB\0\0\0\x06";

pub(crate) fn head(tag: u64, key: u64, stored: u32, format: u32, crc: u32, size: u32) -> Vec<u8> {
    let mut bytes = format!("{tag:024x}{key:016x}").into_bytes();
    for word in [stored, format, crc, size] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// An entry as it is stored, without a checksum.
pub(crate) fn stored(tag: Tag, key: u64, payload: &str) -> Vec<u8> {
    let size = payload.len() as u32;
    let mut bytes = head(u64::from(tag.number()), key, size, 1, 0, size);
    bytes.extend_from_slice(payload.as_bytes());
    bytes
}

pub(crate) fn file(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    bytes.extend(entries.iter().flatten());
    bytes
}

pub(crate) fn open(bytes: Vec<u8>) -> Database<Cursor<Vec<u8>>> {
    Database::from_readers([(PathBuf::from("made.foz"), Cursor::new(bytes))]).unwrap()
}

pub(crate) const LAYOUT: u64 = 0x10;
pub(crate) const MODULE: u64 = 0x20;

pub(crate) fn layout() -> Vec<u8> {
    let text = r#"{"version":6,"pipelineLayouts":{"0000000000000010":{"flags":0,"pushConstantRanges":[],"setLayouts":[]}}}"#;
    stored(Tag::PipelineLayout, LAYOUT, text)
}

/// The older encoding: two words in base64.
pub(crate) fn module() -> Vec<u8> {
    let text = r#"{"version":5,"shaderModules":{"0000000000000020":{"flags":0,"codeSize":8,"code":"AwIjBwAAAQA="}}}"#;
    stored(Tag::ShaderModule, MODULE, text)
}

pub(crate) fn compute_text(key: u64, extra: &str) -> String {
    compute_of(key, MODULE, 0, extra)
}

pub(crate) fn compute_of(key: u64, module: u64, base: u64, extra: &str) -> String {
    let flags = if base == 0 { 0 } else { 4 };
    format!(
        r#"{{"version":6,"computePipelines":{{"{key:016x}":{{"flags":{flags},"layout":"{LAYOUT:016x}","basePipelineHandle":"{base:016x}","basePipelineIndex":-1,"stage":{{"flags":0,"stage":32,"module":"{module:016x}","name":"main"{extra}}}}}}}}}"#
    )
}

pub(crate) fn compute(key: u64, extra: &str) -> Vec<u8> {
    stored(Tag::ComputePipeline, key, &compute_text(key, extra))
}

pub(crate) fn pipeline(key: u64) -> EntryKey {
    EntryKey::new(Tag::ComputePipeline, key)
}

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foz")
}

/// The captures of 2020, each by itself.
pub(crate) fn old_captures() -> Vec<PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(testdata().join("mesa-shader-db"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}
