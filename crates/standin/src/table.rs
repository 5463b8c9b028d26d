//! A dense table that many threads read without a lock while it grows.
//!
//! Entries never move, so a reference lasts as long as the borrow of the table. Whoever has the
//! table to itself may also change and remove them.
//!
//! A place has a hot part that is always there, in front and on a cache line of its own, and an
//! entry that may be missing: the hot path reads one line and asks for nothing else.

use crate::sync::{Mutex, OnceLock, lock};

/// Entries in the first chunk; each further chunk is twice as long.
const FIRST: usize = 1024;
/// With the doubling, more entries than an index can name.
const CHUNKS: usize = 23;

#[repr(C, align(64))]
struct Place<H, T> {
    hot: H,
    entry: OnceLock<T>,
}

type Chunk<H, T> = Box<[Place<H, T>]>;

pub(crate) struct Table<H, T> {
    chunks: [OnceLock<Chunk<H, T>>; CHUNKS],
    growth: Mutex<Growth>,
}

#[derive(Default)]
struct Growth {
    next: u32,
    vacant: Vec<u32>,
}

/// The chunk of an index, and the place in it.
#[inline]
fn locate(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST;
    let chunk = (shifted.ilog2() - FIRST.ilog2()) as usize;
    (chunk, shifted - (FIRST << chunk))
}

impl<H: Default, T> Table<H, T> {
    pub(crate) fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            growth: Mutex::new(Growth::default()),
        }
    }

    #[inline]
    fn place(&self, index: u32) -> Option<&Place<H, T>> {
        let (chunk, place) = locate(index);
        self.chunks.get(chunk)?.get()?.get(place)
    }

    fn place_mut(&mut self, index: u32) -> Option<&mut Place<H, T>> {
        let (chunk, place) = locate(index);
        self.chunks.get_mut(chunk)?.get_mut()?.get_mut(place)
    }

    /// The hot part, whether or not there is an entry.
    #[inline]
    pub(crate) fn hot(&self, index: u32) -> Option<&H> {
        Some(&self.place(index)?.hot)
    }

    pub(crate) fn get(&self, index: u32) -> Option<(&H, &T)> {
        let place = self.place(index)?;
        Some((&place.hot, place.entry.get()?))
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<(&mut H, &mut T)> {
        let place = self.place_mut(index)?;
        Some((&mut place.hot, place.entry.get_mut()?))
    }

    /// Puts an entry where there is room. Needs no exclusive access: places that are vacant
    /// have no readers. `None` when four thousand million places are taken.
    pub(crate) fn insert(&self, make: impl FnOnce(u32, &H) -> T) -> Option<u32> {
        let index = {
            let mut growth = lock(&self.growth);
            match growth.vacant.pop() {
                Some(index) => index,
                None => {
                    let index = growth.next;
                    let (chunk, _) = locate(index);
                    // Made under the lock, so that no chunk is made twice.
                    let chunk_place = self.chunks.get(chunk)?;
                    if chunk_place.get().is_none() {
                        let fresh = (0..FIRST << chunk)
                            .map(|_| Place {
                                hot: H::default(),
                                entry: OnceLock::new(),
                            })
                            .collect();
                        // Only this thread makes chunks while it holds the lock.
                        let _ = chunk_place.set(fresh);
                    }
                    growth.next += 1;
                    index
                }
            }
        };
        let place = self.place(index)?;
        place
            .entry
            .set(make(index, &place.hot))
            .is_ok()
            .then_some(index)
    }

    /// Takes an entry out; its place will be used again.
    pub(crate) fn remove(&mut self, index: u32) -> Option<(H, T)> {
        let place = self.place_mut(index)?;
        let entry = place.entry.take()?;
        let hot = std::mem::take(&mut place.hot);
        lock(&self.growth).vacant.push(index);
        Some((hot, entry))
    }

    /// Entries.
    pub(crate) fn len(&self) -> usize {
        let growth = lock(&self.growth);
        growth.next as usize - growth.vacant.len()
    }

    /// Places ever used: an upper bound for indices.
    pub(crate) fn places(&self) -> u32 {
        lock(&self.growth).next
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &H, &T)> {
        (0..self.places()).filter_map(|index| {
            let (hot, entry) = self.get(index)?;
            Some((index, hot, entry))
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{FIRST, Table, locate};

    #[test]
    fn indices_map_to_distinct_places_in_order() {
        let mut expected = (0, 0);
        for index in 0..20_000 {
            assert_eq!(locate(index), expected, "index {index}");
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn a_vacated_place_is_used_again() {
        let mut table = Table::<u8, _>::new();
        for value in 0..3000_u32 {
            assert_eq!(table.insert(|index, _| (index, value)), Some(value));
        }
        assert_eq!(table.remove(7), Some((0, (7, 7))));
        assert_eq!(table.get(7), None);
        assert_eq!(table.insert(|index, _| (index, 99)), Some(7));
        assert_eq!(table.get(7), Some((&0, &(7, 99))));
        assert_eq!(table.iter().count(), 3000);
    }
}
