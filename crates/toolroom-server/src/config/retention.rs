//! `[retention]`: how long things are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shape::{Key, Shape};
use super::{Span, parse_span};

/// `[retention]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionKeys {
    /// Calls that have ended are deleted after this long, with their whole results. Left out, they stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "30d", "x-most" = "36500d"))]
    pub journal: Option<Span>,
    /// Whole results are deleted after this long; their calls stay. Left out, they stay as long as their calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "1h", "x-most" = "36500d"))]
    pub artifacts: Option<Span>,
    /// Conversations are deleted when nothing was said in them for this long. Left out, they stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "24h", "x-most" = "36500d"))]
    pub conversations: Option<Span>,
}

impl RetentionKeys {
    /// A span for one of these keys, wherever it is given, within the bounds that hold for it in the file.
    pub(crate) fn span(key: &str, text: &str) -> Result<Span, String> {
        let span = Span::new(parse_span(text)?);
        match Key::root().find(["retention", key]).map(|key| &key.shape) {
            Some(shape @ Shape::Span { least, most }) if !(*least..=*most).contains(&span) => {
                Err(format!("it must be {}, as `retention.{key}`", shape.expected()))
            }
            _ => Ok(span),
        }
    }
}
