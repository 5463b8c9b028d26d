//! A dense table that many threads read without a lock while it grows.
//!
//! Entries never move, so a reference lasts as long as the borrow of the table. Whoever has the
//! table to itself may also change and remove them.

use crate::sync::{Mutex, OnceLock, lock};

/// Entries in the first chunk; each further chunk is twice as long.
const FIRST: usize = 1024;
/// With the doubling, more entries than an index can name.
const CHUNKS: usize = 23;

type Chunk<T> = Box<[OnceLock<T>]>;

pub(crate) struct Table<T> {
    chunks: [OnceLock<Chunk<T>>; CHUNKS],
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

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            growth: Mutex::new(Growth::default()),
        }
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        let (chunk, place) = locate(index);
        self.chunks.get(chunk)?.get()?.get(place)?.get()
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        let (chunk, place) = locate(index);
        self.chunks
            .get_mut(chunk)?
            .get_mut()?
            .get_mut(place)?
            .get_mut()
    }

    /// Puts an entry where there is room. Needs no exclusive access: places that are vacant
    /// have no readers. `None` when four thousand million places are taken.
    pub(crate) fn insert(&self, make: impl FnOnce(u32) -> T) -> Option<u32> {
        let index = {
            let mut growth = lock(&self.growth);
            match growth.vacant.pop() {
                Some(index) => index,
                None => {
                    let index = growth.next;
                    let (chunk, _) = locate(index);
                    // Made under the lock, so that no chunk is made twice.
                    let slot = self.chunks.get(chunk)?;
                    if slot.get().is_none() {
                        let fresh = (0..FIRST << chunk).map(|_| OnceLock::new()).collect();
                        // Only this thread makes chunks while it holds the lock.
                        let _ = slot.set(fresh);
                    }
                    growth.next += 1;
                    index
                }
            }
        };
        let (chunk, place) = locate(index);
        let cell = self.chunks.get(chunk)?.get()?.get(place)?;
        cell.set(make(index)).is_ok().then_some(index)
    }

    /// Takes an entry out; its place will be used again.
    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let (chunk, place) = locate(index);
        let entry = self
            .chunks
            .get_mut(chunk)?
            .get_mut()?
            .get_mut(place)?
            .take()?;
        lock(&self.growth).vacant.push(index);
        Some(entry)
    }

    /// Places ever used: an upper bound for indices.
    pub(crate) fn places(&self) -> u32 {
        lock(&self.growth).next
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..self.places()).filter_map(|index| Some((index, self.get(index)?)))
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
        let mut table = Table::new();
        for value in 0..3000_u32 {
            assert_eq!(table.insert(|index| (index, value)), Some(value));
        }
        assert_eq!(table.remove(7), Some((7, 7)));
        assert_eq!(table.get(7), None);
        assert_eq!(table.insert(|index| (index, 99)), Some(7));
        assert_eq!(table.get(7), Some(&(7, 99)));
        assert_eq!(table.iter().count(), 3000);
    }
}
