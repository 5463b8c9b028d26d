//! Writing the container.

use crate::entry::EntryKey;
use crate::stream::{
    DEFLATE, End, HEADER_LEN, HeaderError, MAGIC, MAX_PAYLOAD, Name, STORED, Stream, VERSION,
};
use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// How payloads are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// As the recording layer does: links stored, everything else deflated at the fastest level,
    /// all with a checksum.
    #[default]
    Layer,
    /// Everything stored, without checksums, as `fossilize-synth` does.
    Plain,
}

/// An entry cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
    /// The payload is larger than a reader takes.
    #[error("{entry} has {size} bytes, more than a payload may have")]
    Size {
        /// The entry.
        entry: EntryKey,
        /// Its size in bytes.
        size: usize,
    },
}

/// Whether an entry was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It was.
    New,
    /// The file has one of this tag and key: the first wins.
    AlreadyThere,
}

/// Writes a database, each entry once.
pub struct Writer<W> {
    output: W,
    encoding: Encoding,
    entries: HashSet<EntryKey>,
}

impl<W> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("encoding", &self.encoding)
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

impl<W: Write> Writer<W> {
    /// Writes the header of a new database.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn create(mut output: W, encoding: Encoding) -> io::Result<Self> {
        let mut header = [0; HEADER_LEN];
        header[..12].copy_from_slice(&MAGIC);
        header[15] = VERSION;
        output.write_all(&header)?;
        Ok(Self {
            output,
            encoding,
            entries: HashSet::new(),
        })
    }

    /// Writes an entry: its head and payload in one write.
    ///
    /// # Errors
    /// The payload is too large or the output cannot be written.
    pub fn write(&mut self, entry: EntryKey, payload: &[u8]) -> Result<Written, WriteError> {
        if self.entries.contains(&entry) {
            return Ok(Written::AlreadyThere);
        }
        let too_large = WriteError::Size {
            entry,
            size: payload.len(),
        };
        let size = match u32::try_from(payload.len()) {
            Ok(size) if size <= MAX_PAYLOAD => size,
            _ => return Err(too_large),
        };
        let link = entry.tag == crate::entry::Tag::ApplicationBlobLink;
        let compressed;
        let (format, stored) = if link || self.encoding == Encoding::Plain {
            (STORED, payload)
        } else {
            compressed = miniz_oxide::deflate::compress_to_vec_zlib(payload, 1);
            (DEFLATE, &compressed[..])
        };
        let Ok(stored_size) = u32::try_from(stored.len()) else {
            return Err(too_large);
        };
        let crc = match self.encoding {
            Encoding::Layer => crc32fast::hash(stored),
            Encoding::Plain => 0,
        };
        let tag = entry.tag.number();
        let mut bytes = format!("{tag:024x}{}", entry.key).into_bytes();
        for word in [stored_size, format, crc, size] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(stored);
        self.output.write_all(&bytes)?;
        self.entries.insert(entry);
        Ok(Written::New)
    }

    /// Flushes the output and returns it.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

impl<W: Read + Write + Seek> Writer<W> {
    /// Goes on writing a database: an empty one gets its header, and a broken entry at the end is
    /// written over. The output should be cut at its final position if it may end up shorter,
    /// which [`Writer::append_file`] does.
    ///
    /// # Errors
    /// The file is not a database, or cannot be read or written.
    pub fn append(mut output: W, encoding: Encoding) -> Result<Self, HeaderError> {
        if output.seek(SeekFrom::End(0))? == 0 {
            return Ok(Self::create(output, encoding)?);
        }
        let mut entries = HashSet::new();
        let mut stream = Stream::open(&mut output)?;
        while let Some(head) = stream.next_head()? {
            if let Name::Entry(entry) = head.name {
                entries.insert(entry);
            }
        }
        let end = stream.end();
        match end {
            Some(End::Truncated { at, .. }) => output.seek(SeekFrom::Start(at))?,
            _ => output.seek(SeekFrom::End(0))?,
        };
        Ok(Self {
            output,
            encoding,
            entries,
        })
    }
}

impl Writer<std::fs::File> {
    /// Goes on writing this file; see [`Writer::append`]. A broken entry at its end is cut off.
    ///
    /// # Errors
    /// The file is not a database, or cannot be read or written.
    pub fn append_file(
        path: impl AsRef<std::path::Path>,
        encoding: Encoding,
    ) -> Result<Self, HeaderError> {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut writer = Self::append(file, encoding)?;
        let end = writer.output.stream_position()?;
        writer.output.set_len(end)?;
        Ok(writer)
    }
}
