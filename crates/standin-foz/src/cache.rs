//! A bounded cache of what entries describe.

use crate::declined::Reason;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

struct Slot<T> {
    value: Result<Arc<T>, Reason>,
    weight: usize,
}

/// The most recently resolved values of one kind. The oldest go first.
pub(crate) struct Cache<T> {
    slots: HashMap<u64, Slot<T>>,
    order: VecDeque<u64>,
    weight: usize,
    limit: usize,
}

impl<T> Cache<T> {
    /// A cache that holds values of this total weight, and always the last one.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            slots: HashMap::new(),
            order: VecDeque::new(),
            weight: 0,
            limit,
        }
    }

    pub(crate) fn get(&self, key: u64) -> Option<Result<Arc<T>, Reason>> {
        self.slots.get(&key).map(|slot| slot.value.clone())
    }

    /// Keeps a value, unless there is one of this key: the first wins.
    pub(crate) fn insert(&mut self, key: u64, value: Result<Arc<T>, Reason>, weight: usize) {
        if self.slots.contains_key(&key) {
            return;
        }
        while self.weight.saturating_add(weight) > self.limit {
            let Some(slot) = self
                .order
                .pop_front()
                .and_then(|oldest| self.slots.remove(&oldest))
            else {
                break;
            };
            self.weight -= slot.weight;
        }
        self.weight += weight;
        self.order.push_back(key);
        self.slots.insert(key, Slot { value, weight });
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;
    use std::sync::Arc;

    #[test]
    fn the_oldest_go_first_and_the_first_of_a_key_wins() {
        let mut cache = Cache::new(2);
        cache.insert(1, Ok(Arc::new('a')), 1);
        cache.insert(1, Ok(Arc::new('b')), 1);
        cache.insert(2, Ok(Arc::new('c')), 1);
        assert_eq!(cache.get(1), Some(Ok(Arc::new('a'))));
        cache.insert(3, Ok(Arc::new('d')), 1);
        assert_eq!(cache.get(1), None);
        assert_eq!(cache.get(2), Some(Ok(Arc::new('c'))));
        // One that is too large alone is kept, and everything else goes.
        cache.insert(4, Ok(Arc::new('e')), 9);
        assert_eq!(cache.get(3), None);
        assert_eq!(cache.get(4), Some(Ok(Arc::new('e'))));
    }
}
