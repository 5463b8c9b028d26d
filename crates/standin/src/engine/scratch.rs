//! Where the scratch of acceleration-structure builds lies.
//!
//! One arena belongs to one submission context. It starts at the first build's aligned
//! requirement and doubles with what a batch asks for, up to a target; a single requirement
//! above the target is met exactly. Growing takes a new buffer and retains the old one, which
//! builds that are already recorded still refer to. At the target the arena wraps instead, and
//! a barrier must stand between the builds on either side of a wrap. When the submission has
//! completed, the arena keeps the largest buffer: its earned capacity.
//!
//! This module decides and does not touch a GPU; `standin-vulkan` acts on what it says.

/// What an arena grows to before it wraps, in bytes, unless one build needs more.
pub const TARGET: u64 = 128 << 20;

/// A buffer of an arena. Never used again for another buffer of the same arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(u64);

/// What must happen before a build may use its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing: no recorded build uses these bytes.
    Nothing,
    /// Create the range's buffer, of this capacity in bytes.
    Create {
        /// Capacity of the buffer, in bytes.
        capacity: u64,
    },
    /// Record a barrier from acceleration-structure builds to acceleration-structure builds:
    /// earlier ones of this submission used these bytes.
    Barrier,
}

/// Scratch for one build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte, a multiple of the alignment.
    pub offset: u64,
    /// Length in bytes, a multiple of the alignment and at least what was asked for.
    pub size: u64,
    /// What must happen first.
    pub before: Before,
}

/// A build needs more scratch than an offset can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a build asks for {size} bytes of scratch, more than can be addressed")]
pub struct TooLarge {
    /// What was asked for, in bytes.
    pub size: u64,
}

#[derive(Debug, Clone, Copy)]
struct Buffer {
    id: BufferId,
    capacity: u64,
    next: u64,
}

/// The scratch arena of one submission context.
#[derive(Debug)]
pub struct Arena {
    alignment: u64,
    target: u64,
    ids: u64,
    current: Option<Buffer>,
    retained: Vec<BufferId>,
}

impl Arena {
    /// An empty arena. `alignment` is the device's
    /// `minAccelerationStructureScratchOffsetAlignment`, a power of two (Vulkan specification,
    /// VkPhysicalDeviceAccelerationStructurePropertiesKHR); `target` is usually [`TARGET`].
    #[must_use]
    pub fn new(alignment: u64, target: u64) -> Self {
        Self {
            alignment: alignment.max(1),
            target,
            ids: 0,
            current: None,
            retained: Vec::new(),
        }
    }

    /// Scratch for one build of this submission.
    ///
    /// # Errors
    /// The size cannot be rounded up to the alignment.
    pub fn reserve(&mut self, size: u64) -> Result<Range, TooLarge> {
        let size = size
            .max(1)
            .checked_next_multiple_of(self.alignment)
            .ok_or(TooLarge { size })?;
        if let Some(buffer) = &mut self.current {
            if buffer.capacity - buffer.next >= size {
                let offset = buffer.next;
                buffer.next += size;
                return Ok(Range {
                    buffer: buffer.id,
                    offset,
                    size,
                    before: Before::Nothing,
                });
            }
            let at_target = buffer.capacity >= self.target.max(self.alignment);
            if at_target && buffer.capacity >= size {
                buffer.next = size;
                return Ok(Range {
                    buffer: buffer.id,
                    offset: 0,
                    size,
                    before: Before::Barrier,
                });
            }
        }
        Ok(self.grow(size))
    }

    /// The submission has completed. The buffers returned are referred to by nothing any more
    /// and can be destroyed; the current one stays, whole.
    pub fn complete(&mut self) -> Vec<BufferId> {
        if let Some(buffer) = &mut self.current {
            buffer.next = 0;
        }
        std::mem::take(&mut self.retained)
    }

    /// Capacity of the current buffer in bytes.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.current.map_or(0, |buffer| buffer.capacity)
    }

    /// Every buffer that exists, the current one last.
    pub fn buffers(&self) -> impl Iterator<Item = BufferId> {
        let current = self.current.map(|buffer| buffer.id);
        self.retained.iter().copied().chain(current)
    }

    fn grow(&mut self, size: u64) -> Range {
        let doubled = self
            .capacity()
            .saturating_mul(2)
            .min(self.target.next_multiple_of(self.alignment));
        let capacity = doubled.max(size);
        if let Some(old) = self.current.take() {
            self.retained.push(old.id);
        }
        let id = BufferId(self.ids);
        self.ids += 1;
        self.current = Some(Buffer {
            id,
            capacity,
            next: size,
        });
        Range {
            buffer: id,
            offset: 0,
            size,
            before: Before::Create { capacity },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_starts_at_the_aligned_requirement_and_doubles() {
        let mut arena = Arena::new(256, TARGET);
        let first = arena.reserve(1000).unwrap();
        assert_eq!(first.before, Before::Create { capacity: 1024 });
        let second = arena.reserve(1).unwrap();
        assert_eq!(second.before, Before::Create { capacity: 2048 });
        assert_ne!(first.buffer, second.buffer);
        assert_eq!(arena.reserve(1).unwrap().offset, 256);
        // The first build is recorded and still refers to its buffer.
        assert_eq!(arena.complete(), [first.buffer]);
        assert_eq!(arena.capacity(), 2048);
        // Earned capacity: the next batch creates nothing.
        assert_eq!(arena.reserve(2048).unwrap().before, Before::Nothing);
    }

    #[test]
    fn at_the_target_it_wraps_behind_a_barrier() {
        let mut arena = Arena::new(64, 1024);
        arena.reserve(1024).unwrap();
        let wrapped = arena.reserve(512).unwrap();
        assert_eq!((wrapped.offset, wrapped.before), (0, Before::Barrier));
        // The bytes behind it were used before the same barrier.
        let beside = arena.reserve(512).unwrap();
        assert_eq!((beside.offset, beside.before), (512, Before::Nothing));
        // One build above the target gets what it needs, exactly.
        let large = arena.reserve(5000).unwrap();
        assert_eq!(large.before, Before::Create { capacity: 5056 });
        assert!(arena.reserve(u64::MAX).is_err());
    }

    proptest! {
        /// Ranges between two barriers are disjoint, aligned and inside their buffer; no
        /// buffer is released before the submission that refers to it completes; capacity
        /// stays within the target or the largest single requirement.
        #[test]
        fn ranges_are_disjoint(
            alignment in (0..10u32).prop_map(|bit| 1u64 << bit),
            target in 1..100_000u64,
            batches in prop::collection::vec(prop::collection::vec(0..50_000u64, 0..40), 1..6),
        ) {
            let mut arena = Arena::new(alignment, target);
            let mut capacities = BTreeMap::new();
            let mut largest = target.next_multiple_of(alignment);
            for batch in batches {
                let mut since_barrier: Vec<Range> = Vec::new();
                let mut referred = Vec::new();
                for size in batch {
                    let range = arena.reserve(size).unwrap();
                    largest = largest.max(range.size);
                    match range.before {
                        Before::Create { capacity } => {
                            prop_assert!(capacities.insert(range.buffer, capacity).is_none());
                            prop_assert!(capacity <= largest);
                        }
                        Before::Barrier => since_barrier.clear(),
                        Before::Nothing => {}
                    }
                    prop_assert!(range.size >= size);
                    prop_assert_eq!(range.offset % alignment, 0);
                    prop_assert!(range.offset + range.size <= capacities[&range.buffer]);
                    for other in &since_barrier {
                        let apart = range.offset >= other.offset + other.size
                            || other.offset >= range.offset + range.size;
                        prop_assert!(other.buffer != range.buffer || apart);
                    }
                    since_barrier.push(range);
                    referred.push(range.buffer);
                    let alive: Vec<BufferId> = arena.buffers().collect();
                    prop_assert!(referred.iter().all(|buffer| alive.contains(buffer)));
                }
                let earned = arena.capacity();
                arena.complete();
                prop_assert_eq!(arena.capacity(), earned);
                prop_assert_eq!(arena.buffers().count(), usize::from(earned > 0));
            }
        }
    }
}
