//! The log, with a line for each request, and traces for a collector.
//!
//! Neither holds anything a client sent: no arguments, results, messages or headers. Log lines are also redacted, since an
//! error may quote its input.

mod current_request;
mod log;
mod log_line;
mod traces;
mod writer;

pub(crate) use current_request::{CurrentRequest, current_request, in_current_request, set_caller};
pub(crate) use log::Log;
pub(crate) use log_line::RequestLine;
pub(crate) use traces::{Collector, RequestEnd, RequestTrace, RunTrace, Tracer};

/// Redacts a text.
pub(crate) type RedactFn = for<'t> fn(&'t str) -> std::borrow::Cow<'t, str>;
