//! `toolroom serve` through its real door: HTTP on loopback.

mod calls;
mod described;
mod doors;
mod examined;
mod keys;
mod log;
mod machine;
mod matrix;
mod pacing;
mod reloaded;
mod repeated;
mod resources;
mod runs;
pub(crate) mod served;
mod traces;
pub(crate) mod wire;

pub(crate) use served::Served;
