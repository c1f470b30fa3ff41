//! `[log]` and `[retention]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::check::shape::{Key, Shape};
use crate::config::{Span, parse_span};

/// `[log]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogKeys {
    /// Line format: `text`, `json`, or `auto` for text on a terminal and JSON elsewhere.
    pub format: LogFormat,
    /// Log level. `info` writes a line per request.
    pub level: LogLevel,
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// Readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// Log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Failures.
    Error,
    /// Also warnings.
    Warn,
    /// Also each request.
    #[default]
    Info,
    /// Also debug messages.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for tracing::Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// `[retention]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionKeys {
    /// Delete finished calls and their stored results after this time. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "30d", "x-most" = "36500d"))]
    pub journal: Option<Span>,
    /// Delete stored results after this time; their calls stay. Default: with their calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "1h", "x-most" = "36500d"))]
    pub artifacts: Option<Span>,
    /// Delete conversations without new messages for this time. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "24h", "x-most" = "36500d"))]
    pub conversations: Option<Span>,
}

impl RetentionKeys {
    /// Parses a span for one of these keys and checks its bounds.
    pub(crate) fn span(key: &str, text: &str) -> Result<Span, String> {
        let span = Span::new(parse_span(text)?);
        match Key::root().find(["retention", key]).map(|key| &key.shape) {
            Some(shape @ Shape::Span { least, most }) if !(*least..=*most).contains(&span) => {
                Err(format!("must be {}, as `retention.{key}`", shape.expected()))
            }
            _ => Ok(span),
        }
    }
}
