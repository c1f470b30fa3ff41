//! `toolroom serve` over HTTP on loopback.

mod admission;
mod answered_calls;
mod answers;
mod calls;
mod crowd;
mod described;
mod idempotency;
mod keys;
mod killed;
mod log;
mod machine;
mod matrix;
mod proxied;
mod rate_limits;
mod reload;
mod resources;
mod rights;
mod runs;
mod schemathesis;
pub(crate) mod served;
mod sinks;
mod slow;
mod stored_context;
pub(crate) mod stream;
mod traces;
pub(crate) mod wire;

pub(crate) use served::Served;
