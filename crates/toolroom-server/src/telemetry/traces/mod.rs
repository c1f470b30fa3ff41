//! Traces of requests, runs, model requests and tool calls.
//!
//! Spans come from [`Tracer::request`], [`Tracer::call`] and [`RunTrace`], and are exported as OTLP over HTTP with JSON by
//! the guarded HTTP client. Without a collector there is no tracer.

mod context;
mod export;
mod otlp;
mod run;
mod settings;
mod span;
#[cfg(test)]
mod tests;
mod tracer;

pub(crate) use context::SpanContext;
pub(crate) use run::RunTrace;
pub(crate) use settings::Collector;
pub(crate) use tracer::{RequestEnd, RequestTrace, Tracer};
