//! Spans.

use std::borrow::Cow;

use toolroom::clock::Timestamp;

use super::context::{SpanContext, SpanId};

/// A span. Holds names, ids and numbers, and no content.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) context: SpanContext,
    pub(super) parent: Option<SpanId>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    pub(super) has_failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    Internal,
    Server,
    Client,
}

#[derive(Debug, Clone)]
pub(super) enum Attribute {
    Text(Cow<'static, str>),
    Whole(u64),
}

impl From<&'static str> for Attribute {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}
