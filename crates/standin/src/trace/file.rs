//! A trace as a file. `docs/trace-format.md` has the layout.

use std::io::{self, Read, Write};

use crate::key::{ExactKey, FamilyKey};
use crate::trace::{Event, FORMAT_VERSION, RECORD_SIZE, Record, Subject};

const MAGIC: [u8; 8] = *b"STANDTRC";
const HEADER_SIZE: usize = 40;
/// The longest name that is written or read, in bytes.
const NAME_LIMIT: usize = 4096;

/// What a runtime recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceFile {
    /// In the order in which they were recorded.
    pub events: Vec<Event>,
    /// What a person calls the keys, sorted by key.
    pub names: Vec<(Subject, String)>,
    /// Events that were dropped because the buffer was full: the oldest ones.
    pub dropped: u64,
}

/// Why a trace file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file could not be read.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// Not a trace file.
    #[error("not a Standin trace: it does not begin with STANDTRC")]
    NotATrace,
    /// Written by another version.
    #[error("the trace has format {found}, this program reads format {FORMAT_VERSION}")]
    Version {
        /// The file's format.
        found: u32,
    },
    /// The file ends early.
    #[error("the trace ends within record {record}")]
    CutShort {
        /// The first record that is not there.
        record: u64,
    },
    /// A record that means nothing.
    #[error("record {record} of the trace is damaged")]
    Damaged {
        /// Its number, from 0.
        record: u64,
    },
    /// A name that means nothing.
    #[error("name {name} of the trace is damaged")]
    DamagedName {
        /// Its number, from 0.
        name: u64,
    },
}

impl TraceFile {
    /// Writes the file.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let mut header = [0; HEADER_SIZE];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&(RECORD_SIZE as u32).to_le_bytes());
        header[16..24].copy_from_slice(&(self.events.len() as u64).to_le_bytes());
        header[24..32].copy_from_slice(&(self.names.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&self.dropped.to_le_bytes());
        out.write_all(&header)?;
        for event in &self.events {
            out.write_all(&event.encode())?;
        }
        for (subject, name) in &self.names {
            let (kind, key) = match subject {
                Subject::Exact(key) => (0_u32, key.to_le_bytes()),
                Subject::Family(key) => (1, key.to_le_bytes()),
            };
            let name = &name[..name.floor_char_boundary_at(NAME_LIMIT)];
            out.write_all(&kind.to_le_bytes())?;
            out.write_all(&(name.len() as u32).to_le_bytes())?;
            out.write_all(&key)?;
            out.write_all(name.as_bytes())?;
        }
        out.flush()
    }

    /// Reads a file. The counts in its header are not trusted: nothing is allocated before
    /// the bytes are there.
    pub fn read(mut input: impl Read) -> Result<Self, TraceError> {
        let mut header = [0; HEADER_SIZE];
        if !fill(&mut input, &mut header)? || header[..8] != MAGIC {
            return Err(TraceError::NotATrace);
        }
        let small = |at: usize| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&header[at..at + 4]);
            u32::from_le_bytes(bytes)
        };
        let large = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&header[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        if small(8) != FORMAT_VERSION || small(12) != RECORD_SIZE as u32 {
            return Err(TraceError::Version { found: small(8) });
        }
        let mut file = Self {
            dropped: large(32),
            ..Self::default()
        };
        let mut record: Record = [0; RECORD_SIZE];
        for number in 0..large(16) {
            if !fill(&mut input, &mut record)? {
                return Err(TraceError::CutShort { record: number });
            }
            let event = Event::decode(&record).ok_or(TraceError::Damaged { record: number })?;
            file.events.push(event);
        }
        for number in 0..large(24) {
            let name = read_name(&mut input)?.ok_or(TraceError::DamagedName { name: number })?;
            file.names.push(name);
        }
        Ok(file)
    }
}

fn read_name(input: &mut impl Read) -> io::Result<Option<(Subject, String)>> {
    let mut head = [0; 24];
    if !fill(input, &mut head)? {
        return Ok(None);
    }
    let mut key = [0; 16];
    key.copy_from_slice(&head[8..]);
    let subject = match head[..4] {
        [0, 0, 0, 0] => Subject::Exact(ExactKey::from_le_bytes(key)),
        [1, 0, 0, 0] => Subject::Family(FamilyKey::from_le_bytes(key)),
        _ => return Ok(None),
    };
    let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    if length > NAME_LIMIT {
        return Ok(None);
    }
    let mut bytes = vec![0; length];
    if !fill(input, &mut bytes)? {
        return Ok(None);
    }
    Ok(String::from_utf8(bytes).ok().map(|name| (subject, name)))
}

/// Fills the buffer; `false` when the input ends before.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

trait FloorCharBoundary {
    fn floor_char_boundary_at(&self, limit: usize) -> usize;
}

impl FloorCharBoundary for str {
    /// The largest boundary of a character that is not past `limit`.
    fn floor_char_boundary_at(&self, limit: usize) -> usize {
        (0..=limit.min(self.len()))
            .rev()
            .find(|at| self.is_char_boundary(*at))
            .unwrap_or(0)
    }
}
