//! `toolroom serve` through its real door: HTTP on loopback.

mod calls;
mod crowd;
mod described;
mod doors;
mod keys;
mod killed;
mod machine;
mod matrix;
mod pacing;
mod repeated;
mod resources;
mod runs;
pub(crate) mod served;
mod slow;
pub(crate) mod stream;
pub(crate) mod wire;

pub(crate) use served::Served;
