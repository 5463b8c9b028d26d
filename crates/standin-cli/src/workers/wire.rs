//! What the command and its worker processes say to each other, over a socket pair.
//!
//! A frame is a length (u32, little-endian) and that many bytes of postcard. Both ends are
//! the same executable, so the form has no version; the length is still not trusted.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use standin_vulkan::Robustness;
use std::io::{self, Read, Write};

/// No frame is longer: the largest holds one recipe or one pipeline's blobs.
const LONGEST_FRAME: u32 = 1 << 30;

/// Writes one frame.
pub(crate) fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let body = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(body.len())
        .ok()
        .filter(|length| *length <= LONGEST_FRAME)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "frame too long"))?;
    let mut frame = Vec::with_capacity(body.len() + 4);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&body);
    stream.write_all(&frame)
}

/// Reads one frame; `None` where the other end is gone between two frames.
pub(crate) fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    let mut filled = 0;
    while filled < length.len() {
        match stream.read(&mut length[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u32::from_le_bytes(length);
    if length > LONGEST_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "frame too long"));
    }
    let mut body = Vec::new();
    stream.take(length.into()).read_to_end(&mut body)?;
    if body.len() as u64 != u64::from(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(&body)
        .map(Some)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The robustness that a capture's program asked of its device. It changes what a pipeline
/// compiles to, so each has a logical device, and a stamp, of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum DeviceMode {
    /// None.
    Plain,
    /// `robustBufferAccess`, `robustImageAccess`.
    Robust,
    /// `robustBufferAccess2`, `robustImageAccess2` as well.
    Robust2,
}

impl DeviceMode {
    /// Every mode, each at the place of its [`index`](Self::index).
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Robust, Self::Robust2];

    /// What the device is made with.
    pub(crate) const fn robustness(self) -> Robustness {
        match self {
            Self::Plain => Robustness::Off,
            Self::Robust => Robustness::Access,
            Self::Robust2 => Robustness::Access2,
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// What a worker is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Build a pipeline.
    Build(Request),
    /// Nothing more comes for now: hand over what is still open.
    Seal,
}

/// One pipeline to build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Comes back in the answer.
    pub(crate) ticket: u64,
    /// The pipeline's exact key, as `ExactKey::to_u128`.
    pub(crate) key: u128,
    /// The device that it is for.
    pub(crate) mode: DeviceMode,
    /// The recipe's canonical bytes.
    pub(crate) recipe: Vec<u8>,
}

/// What a worker answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The first message: the device is there.
    Ready(Ready),
    /// The first and last message: this worker has no device to work on.
    Unusable(String),
    /// One request is done.
    Answer(Answer),
    /// The segment that all pipelines answered with [`Made::InSegment`] since the last of these
    /// are in, in the archive's form. None where the driver put nothing into it.
    Sealed(Option<Vec<u8>>),
}

/// What a worker says of its device.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// The device's name.
    pub(crate) device: String,
    /// Canonical bytes of the stamp of each [`DeviceMode`], in their order.
    pub(crate) stamps: Vec<Vec<u8>>,
}

/// One request's result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The request's ticket.
    pub(crate) ticket: u64,
    /// From taking the request up to the answer, in nanoseconds.
    pub(crate) busy: u64,
    /// How it went.
    pub(crate) result: Made,
}

/// How one pipeline went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Made {
    /// Built: the archive's form of the driver's blob, and the driver's time in nanoseconds.
    Built { blob: Vec<u8>, cost: u64 },
    /// Built into the worker's open segment, in this driver's time in nanoseconds.
    InSegment { cost: u64 },
    /// The device cannot make it, for this reason.
    Declined(String),
    /// The recipe or the driver's answer is wrong.
    Failed(String),
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failed read fails the test
mod tests {
    use super::{Answer, Made, Reply, receive, send};

    #[test]
    fn frames_follow_each_other_and_end_cleanly() {
        let mut bytes = Vec::new();
        for ticket in 0..3 {
            let result = Made::Declined("no tessellation".into());
            let answer = Answer {
                ticket,
                busy: 7,
                result,
            };
            send(&mut bytes, &Reply::Answer(answer)).unwrap();
        }
        let mut rest = bytes.as_slice();
        for ticket in 0..3 {
            let Some(Reply::Answer(answer)) = receive(&mut rest).unwrap() else {
                unreachable!("three answers were written");
            };
            assert_eq!(answer.ticket, ticket);
        }
        assert!(receive::<Reply>(&mut rest).unwrap().is_none());
    }

    #[test]
    fn a_cut_frame_is_an_error_wherever_it_is_cut() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Reply::Unusable("no device".into())).unwrap();
        for cut in 1..bytes.len() {
            assert!(
                receive::<Reply>(&mut &bytes[..cut]).is_err(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn a_length_is_not_trusted() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 1];
        assert!(receive::<Reply>(&mut bytes.as_slice()).is_err());
        // Within the limit but not there: no allocation of that size is made for it.
        let bytes = [0xff, 0xff, 0xff, 0x3f, 1];
        assert!(receive::<Reply>(&mut bytes.as_slice()).is_err());
    }
}
