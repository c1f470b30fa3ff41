//! `toolroom serve` through its real door: HTTP on loopback.

mod answers;
mod calls;
mod crowd;
mod described;
mod doors;
mod examined;
mod keys;
mod killed;
mod log;
mod machine;
mod matrix;
mod pacing;
mod promised;
mod reloaded;
mod repeated;
mod resources;
mod runs;
pub(crate) mod served;
mod slow;
pub(crate) mod stream;
mod traces;
pub(crate) mod wire;

pub(crate) use served::Served;
