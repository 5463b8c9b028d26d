//! The `standin` command from outside: the real binary, each test in a folder of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed step fails the test

mod archives;
mod databases;
mod doctor;
mod faults;
mod kill;
mod prebuild;
mod programs;
mod standin;
mod usage;
