//! What the server tells about its own work: a line of log for each request, and traces for a collector.
//!
//! Neither ever holds what somebody sent: no arguments, no results, no words of a conversation, no headers. Log lines
//! pass the redactor besides, since an error may repeat what it was about.

mod line;
mod log;
mod traces;
mod visit;
mod writer;

pub(crate) use line::RequestLine;
pub(crate) use log::Log;
pub(crate) use traces::{Collector, RequestEnd, RequestTrace, RunTrace, Tracer};
pub(crate) use visit::{Visit, carried, current, is_of};

/// What leaves out of a text what nobody may read there.
pub(crate) type Hide = for<'t> fn(&'t str) -> std::borrow::Cow<'t, str>;
