//! Traces: which request led to which run, question to a model and call of a tool, and how long each took.
//!
//! They are made of what the server sees anyway ([`Tracer::request`], [`Tracer::call`], [`RunTrace`]) and sent as
//! OTLP over HTTP with JSON, by the same guarded client as everything else. Without a collector nothing of this exists.

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
