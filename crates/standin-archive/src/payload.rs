//! Payloads: how a driver's blobs lie in a row, and the check that every row carries.

use xxhash_rust::xxh3::xxh3_64;

/// Identity of a shader module, as `standin-recipe` computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleKey(pub u128);

/// One of the binaries that make up a pipeline (VK_KHR_pipeline_binary): the driver's own key
/// and data. Number and order of a pipeline's binaries are part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// The driver's key, at most 32 bytes (VK_MAX_PIPELINE_BINARY_KEY_SIZE_KHR).
    pub key: Vec<u8>,
    /// The driver's data.
    pub data: Vec<u8>,
}

/// First byte of the binaries of one pipeline.
const BINARIES: u8 = 1;

/// First byte of a segment.
const SEGMENT: u8 = 2;

/// What is kept of compiled pipelines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    /// The binaries of one pipeline, in order.
    Binaries(Vec<Binary>),
    /// The data of a VkPipelineCache that holds many pipelines.
    Segment(Vec<u8>),
}

impl Blob {
    /// The blob's bytes (`docs/archive-format.md`, Blob).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Segment(data) => {
                let mut bytes = Vec::with_capacity(1 + data.len());
                bytes.push(SEGMENT);
                bytes.extend_from_slice(data);
                bytes
            }
            Self::Binaries(binaries) => {
                let size: usize = binaries
                    .iter()
                    .map(|b| 8 + b.key.len() + b.data.len())
                    .sum();
                let mut bytes = Vec::with_capacity(1 + size);
                bytes.push(BINARIES);
                for binary in binaries {
                    for part in [&binary.key, &binary.data] {
                        // A part of 4 GiB or more cannot be a row of the store either.
                        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
                        bytes.extend_from_slice(&length.to_le_bytes());
                        bytes.extend_from_slice(part);
                    }
                }
                bytes
            }
        }
    }

    /// Reads a blob's bytes, or none where they are not a blob's.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        match *kind {
            BINARIES => {
                let mut binaries = Vec::new();
                while !rest.is_empty() {
                    let key = take_part(&mut rest)?;
                    let data = take_part(&mut rest)?;
                    binaries.push(Binary { key, data });
                }
                Some(Self::Binaries(binaries))
            }
            SEGMENT => Some(Self::Segment(rest.to_vec())),
            _ => None,
        }
    }
}

fn take_part(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (part, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(part.to_vec())
}

/// The check of a row's payload: XXH3-64 over the identity it is kept under and its bytes, so
/// that a payload which lands under another identity is found out too. SQLite's integers are
/// signed; the bits are what counts.
#[must_use]
pub fn checksum(identity: &[u8], payload: &[u8]) -> i64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(&xxh3_64(identity).to_le_bytes());
    hash.update(payload);
    i64::from_le_bytes(hash.digest().to_le_bytes())
}

/// What the check of an executable's blob covers beside the blob itself: the stamp, and for the
/// binaries of one pipeline that pipeline too. A row that points at the wrong blob, whatever
/// damaged it, is then a miss like any other damage and never another pipeline or another
/// driver's code. A segment serves many executables and is bound to the stamp alone: a driver
/// looks its pipelines up by keys of its own.
pub(crate) fn blob_identity(scope: u128, key: &[u8], second: &[u8], blob: &[u8]) -> Vec<u8> {
    let scope = scope.to_le_bytes();
    if blob.first() == Some(&BINARIES) {
        [&scope, key, second].concat()
    } else {
        scope.to_vec()
    }
}

/// What the check of a proof covers beside its verdict.
pub(crate) fn proof_identity(scope: u128, name: &[u8]) -> Vec<u8> {
    [&scope.to_le_bytes(), name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blob() -> impl Strategy<Value = Blob> {
        let part = || prop::collection::vec(any::<u8>(), 0..40);
        let binary = (part(), part()).prop_map(|(key, data)| Binary { key, data });
        prop_oneof![
            prop::collection::vec(binary, 0..5).prop_map(Blob::Binaries),
            part().prop_map(Blob::Segment),
        ]
    }

    proptest! {
        #[test]
        fn blobs_round_trip(blob in blob()) {
            prop_assert_eq!(Blob::from_bytes(&blob.to_bytes()), Some(blob));
        }

        #[test]
        fn any_bytes_are_a_blob_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(blob) = Blob::from_bytes(&bytes) {
                prop_assert_eq!(blob.to_bytes(), bytes);
            }
        }
    }

    #[test]
    fn the_check_covers_identity_and_payload() {
        let check = checksum(b"key", b"payload");
        assert_ne!(check, checksum(b"kez", b"payload"));
        assert_ne!(check, checksum(b"key", b"paylobd"));
        assert_ne!(checksum(b"ab", b"c"), checksum(b"a", b"bc"));
    }
}
