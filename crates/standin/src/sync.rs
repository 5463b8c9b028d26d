//! The types that threads share, from one place, so that the model checker runs the same
//! code as a program does: with `--cfg loom` they are loom's.
//!
//! `OnceLock` is the standard one in both cases. Only its `get` and `set` are used, neither of
//! which runs foreign code or blocks, so there is nothing in it for a model to interleave.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering},
};
pub(crate) use std::sync::{Arc, OnceLock};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering},
};

/// Locks `mutex`. A thread that panicked while it held the lock poisons nothing here: every
/// critical section of this crate leaves its data whole before it calls foreign code.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
