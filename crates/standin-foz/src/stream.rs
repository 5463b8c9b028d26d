//! The container: header, entries one after another, payloads. `docs/foz.md` has the layout.

use crate::entry::{EntryKey, FozKey, Tag};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use std::io::{self, Read, Seek, SeekFrom};

/// Length of a file's header in bytes.
pub const HEADER_LEN: usize = 16;
/// Length of an entry's head in bytes.
pub const HEAD_LEN: usize = 56;
/// The version that is written.
pub const VERSION: u8 = 6;
/// The oldest version that is read.
pub const OLDEST_VERSION: u8 = 5;
/// The largest payload that is read, in bytes after decompression. The largest shader modules in
/// use are a few megabytes.
pub const MAX_PAYLOAD: u32 = 64 << 20;

pub(crate) const MAGIC: [u8; 12] = *b"\x81FOSSILIZEDB";
pub(crate) const STORED: u32 = 1;
pub(crate) const DEFLATE: u32 = 2;
/// Deflate expands by less than this, so a larger claim is a lie.
const DEFLATE_MAX_RATIO: u64 = 1032;

/// A file is not a database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is shorter than a header.
    #[error("{0} bytes are too short for a Fossilize database")]
    Short(u64),
    /// It begins with other bytes.
    #[error("not a Fossilize database")]
    Magic,
    /// A reserved byte of the header is not 0.
    #[error("a reserved byte of the header is not 0")]
    Reserved,
    /// The version is not 5 or 6.
    #[error("version {0} of the format is not known (5 and 6 are)")]
    Version(u8),
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// Its name is not hexadecimal.
    #[error("the entry's name is not hexadecimal")]
    Name,
    /// It cannot be read.
    #[error("the payload cannot be read: {0}")]
    Io(String),
    /// The format is neither stored nor deflate.
    #[error("payload format {0} is not known")]
    Format(u32),
    /// The checksum differs.
    #[error("the payload's checksum is {found:08x}, not {expected:08x}")]
    Checksum {
        /// What the head says.
        expected: u32,
        /// What the payload has.
        found: u32,
    },
    /// The decompressed size is above [`MAX_PAYLOAD`], or above what the stored bytes can hold.
    #[error("a decompressed size of {size} bytes from {stored} is not credible")]
    Size {
        /// What the head says.
        size: u32,
        /// Bytes stored.
        stored: u32,
    },
    /// The payload has another size than the head says.
    #[error("the payload does not have the {expected} bytes that its head says")]
    Length {
        /// What the head says.
        expected: u32,
    },
    /// The payload is not a deflate stream.
    #[error("the payload does not decompress")]
    Deflate,
    /// The payload is not the JSON that the tag asks for.
    #[error("the payload is malformed: {0}")]
    Json(String),
    /// A module's SPIR-V cannot be decoded.
    #[error("the SPIR-V cannot be decoded: {0}")]
    Code(&'static str),
}

/// What an entry's name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// A known tag, and a key.
    Entry(EntryKey),
    /// A tag that this version of the format does not have. The entry is skipped.
    HigherTag(u64, FozKey),
    /// Not hexadecimal.
    Bad,
}

/// The head of an entry. No number in it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Where the entry begins, in bytes from the start of the file.
    pub offset: u64,
    /// Its name.
    pub name: Name,
    /// Bytes of payload in the file.
    pub stored: u32,
    /// 1 for stored, 2 for deflate.
    pub format: u32,
    /// CRC-32 of the stored bytes, 0 for none.
    pub crc: u32,
    /// Bytes of payload after decompression.
    pub size: u32,
}

impl Head {
    fn parse(offset: u64, bytes: &[u8; HEAD_LEN]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let name = match (hex16(&bytes[8..24]), hex16(&bytes[24..40])) {
            (Some(tag), Some(key)) => Tag::from_number(tag)
                .map_or(Name::HigherTag(tag, FozKey(key)), |tag| {
                    Name::Entry(EntryKey::new(tag, key))
                }),
            _ => Name::Bad,
        };
        Self {
            offset,
            name,
            stored: word(40),
            format: word(44),
            crc: word(48),
            size: word(52),
        }
    }
}

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With its last entry.
    Complete,
    /// Within an entry: everything from `at` on is lost.
    Truncated {
        /// Where the broken entry begins, in bytes.
        at: u64,
        /// Bytes from there to the end of the file.
        lost: u64,
    },
}

/// One database, read entry by entry.
///
/// The forward pass keeps nothing; memory is bounded by the largest payload asked for.
pub struct Stream<R> {
    input: R,
    length: u64,
    /// Where the input is, if that is known.
    at: Option<u64>,
    next: u64,
    version: u8,
    end: Option<End>,
    stored: Vec<u8>,
    inflater: Box<DecompressorOxide>,
}

impl<R> std::fmt::Debug for Stream<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("length", &self.length)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl<R: Read + Seek> Stream<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// The input is not a database of a known version.
    pub fn open(mut input: R) -> Result<Self, HeaderError> {
        let length = input.seek(SeekFrom::End(0))?;
        if length < HEADER_LEN as u64 {
            return Err(HeaderError::Short(length));
        }
        input.seek(SeekFrom::Start(0))?;
        let mut header = [0; HEADER_LEN];
        input.read_exact(&mut header)?;
        let version = check_header(&header)?;
        Ok(Self {
            input,
            length,
            at: Some(HEADER_LEN as u64),
            next: HEADER_LEN as u64,
            version,
            end: None,
            stored: Vec::new(),
            inflater: Box::default(),
        })
    }

    /// The file's version, 5 or 6.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// How the file ends, once the forward pass is through.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// The head of the next entry in the forward pass, or none at the end. Payloads may be read
    /// in between.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn next_head(&mut self) -> io::Result<Option<Head>> {
        if self.end.is_some() {
            return Ok(None);
        }
        let left = self.length.saturating_sub(self.next);
        if left == 0 {
            self.end = Some(End::Complete);
            return Ok(None);
        }
        let truncated = End::Truncated {
            at: self.next,
            lost: left,
        };
        if left < HEAD_LEN as u64 {
            self.end = Some(truncated);
            return Ok(None);
        }
        let head = self.head_at(self.next)?;
        if u64::from(head.stored) > left - HEAD_LEN as u64 {
            self.end = Some(truncated);
            return Ok(None);
        }
        self.next += HEAD_LEN as u64 + u64::from(head.stored);
        Ok(Some(head))
    }

    /// The head of the entry at this offset.
    ///
    /// # Errors
    /// The input cannot be read there.
    pub fn head_at(&mut self, offset: u64) -> io::Result<Head> {
        let mut bytes = [0; HEAD_LEN];
        self.go_to(offset)?;
        self.input.read_exact(&mut bytes)?;
        self.at = offset.checked_add(HEAD_LEN as u64);
        Ok(Head::parse(offset, &bytes))
    }

    /// Moves the input, by the distance where it can be: a buffered input keeps its buffer then.
    /// Where the input is afterwards is for the caller to say, once it has read.
    fn go_to(&mut self, offset: u64) -> io::Result<()> {
        match self.at.take() {
            Some(at) if at == offset => Ok(()),
            Some(at) if at.max(offset) <= i64::MAX as u64 => {
                self.input.seek_relative(offset as i64 - at as i64)
            }
            _ => self.input.seek(SeekFrom::Start(offset)).map(|_| ()),
        }
    }

    /// The payload of an entry, checked and decompressed, in place of what `payload` holds.
    ///
    /// # Errors
    /// The payload is damaged.
    pub fn payload(&mut self, head: &Head, payload: &mut Vec<u8>) -> Result<(), Damage> {
        payload.clear();
        let implausible = Damage::Size {
            size: head.size,
            stored: head.stored,
        };
        if head.size > MAX_PAYLOAD || head.stored > MAX_PAYLOAD {
            return Err(implausible);
        }
        let start = head.offset.saturating_add(HEAD_LEN as u64);
        if u64::from(head.stored) > self.length.saturating_sub(start) {
            return Err(implausible);
        }
        match head.format {
            STORED if head.size == head.stored => {
                self.stored_bytes(start, head)?;
                payload.extend_from_slice(&self.stored);
                Ok(())
            }
            STORED => Err(Damage::Length {
                expected: head.size,
            }),
            DEFLATE if u64::from(head.size) > u64::from(head.stored) * DEFLATE_MAX_RATIO => {
                Err(implausible)
            }
            DEFLATE => {
                self.stored_bytes(start, head)?;
                self.inflate(head.size, payload)
            }
            format => Err(Damage::Format(format)),
        }
    }

    fn stored_bytes(&mut self, start: u64, head: &Head) -> Result<(), Damage> {
        let failed = |error: io::Error| Damage::Io(error.to_string());
        self.go_to(start).map_err(failed)?;
        // At most what the file has: checked by the caller.
        self.stored.resize(head.stored as usize, 0);
        self.input.read_exact(&mut self.stored).map_err(failed)?;
        self.at = start.checked_add(u64::from(head.stored));
        if head.crc != 0 {
            let found = crc32fast::hash(&self.stored);
            if found != head.crc {
                return Err(Damage::Checksum {
                    expected: head.crc,
                    found,
                });
            }
        }
        Ok(())
    }

    /// Decompresses into a buffer that grows with what comes out, not with what is claimed.
    fn inflate(&mut self, size: u32, out: &mut Vec<u8>) -> Result<(), Damage> {
        let size = size as usize;
        let flags = TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        self.inflater.init();
        let (mut read, mut written) = (0, 0);
        out.resize(size.min(self.stored.len().saturating_mul(8).max(256)), 0);
        loop {
            let input = self.stored.get(read..).unwrap_or_default();
            let (status, consumed, produced) =
                decompress(&mut self.inflater, input, out, written, flags);
            read += consumed;
            written += produced;
            match status {
                TINFLStatus::Done if written == size => break,
                TINFLStatus::HasMoreOutput if out.len() < size => {
                    out.resize(size.min(out.len().saturating_mul(2).max(256)), 0);
                }
                TINFLStatus::Done | TINFLStatus::HasMoreOutput => {
                    return Err(Damage::Length {
                        expected: u32::try_from(size).unwrap_or(u32::MAX),
                    });
                }
                _ => return Err(Damage::Deflate),
            }
        }
        out.truncate(written);
        Ok(())
    }
}

/// Checks a header and returns the version.
pub(crate) fn check_header(header: &[u8; HEADER_LEN]) -> Result<u8, HeaderError> {
    if header[..12] != MAGIC {
        return Err(HeaderError::Magic);
    }
    if header[12..15] != [0; 3] {
        return Err(HeaderError::Reserved);
    }
    match header[15] {
        version @ OLDEST_VERSION..=VERSION => Ok(version),
        version => Err(HeaderError::Version(version)),
    }
}

fn hex16(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |value: u64, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value << 4 | u64::from(digit))
    })
}
