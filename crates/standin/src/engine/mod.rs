//! Services for engines: configuration, feature gates, warm-up, readiness.
//!
//! An engine declares [`Feature`](feature::Feature)s: the pipelines a feature needs and the
//! [`Gate`](gate::Gate) that opens it. The configuration in force decides which gates are open;
//! what they need is built before the first frame, and the rest is warmed up in order of
//! likelihood while the game runs. A [`Readiness`](readiness::Readiness) says when what a scene
//! will draw can draw without a stall.

pub mod cold;
pub mod commands;
pub mod config;
pub mod feature;
pub mod gate;
pub mod pipelines;
pub mod readiness;
pub mod scratch;
pub mod sim;
pub mod stripping;
pub mod warmup;
