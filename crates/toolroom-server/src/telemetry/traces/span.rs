//! A span: something that took time.

use std::borrow::Cow;

use toolroom::clock::Timestamp;

use super::context::{SpanContext, SpanId};

/// Something that took time. It holds names, ids and numbers: nothing that was said.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) context: SpanContext,
    pub(super) parent: Option<SpanId>,
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    pub(super) has_failed: bool,
}

/// Which side of a conversation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something of our own.
    Internal,
    /// We were asked.
    Server,
    /// We asked somebody.
    Client,
}

/// What is known about it.
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
