//! The call service: every interface (REST, MCP over HTTP and stdio, the CLI) makes and resumes its calls here.
//!
//! [`CallService`] registers a call while it runs, so that it can be cancelled by its id, calls the kernel and exports the
//! trace. It also tracks calls that outlive the request that made them ([`DetachedCalls`]), and stops what still runs
//! when the process shuts down. Calls of an agent run are made by the kernel's loop; see `runs/`.

mod caller_limit;
mod detached;
mod running;
mod service;

pub(crate) use caller_limit::{CallerLimit, CallerPermit};
pub(crate) use detached::{DetachedCalls, TrackedCall};
pub(crate) use running::RunningCalls;
pub(crate) use service::CallService;
