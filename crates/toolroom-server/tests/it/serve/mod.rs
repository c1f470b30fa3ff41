//! `toolroom serve` through its real door: HTTP on loopback.

mod answers;
mod calls;
mod crowd;
mod described;
mod doors;
mod examined;
mod kept_context;
mod keys;
mod killed;
mod log;
mod machine;
mod matrix;
mod pacing;
mod promised;
mod proxied;
mod reloaded;
mod repeated;
mod resources;
mod rights;
mod runs;
pub(crate) mod served;
mod sinks;
mod slow;
pub(crate) mod stream;
mod traces;
pub(crate) mod wire;

pub(crate) use served::Served;
