//! Building pipelines in processes of their own.

pub(crate) mod hook;
pub(crate) mod journal;
pub(crate) mod machine;
pub(crate) mod pool;
pub(crate) mod priority;
pub(crate) mod shard;
pub(crate) mod signals;
pub(crate) mod wire;
pub(crate) mod worker;
