//! `[log]`: what `toolroom serve` writes to standard error about its work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[log]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogKeys {
    /// How a line is written: `text` for people, `json` for programs, `auto` for text on a terminal and JSON elsewhere.
    pub format: LogFormat,
    /// How much is told: `info` is a line for each request, the others more or less than that.
    pub level: LogLevel,
}

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// For people.
    Text,
    /// One JSON object in each line.
    Json,
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// What failed.
    Error,
    /// And what is odd.
    Warn,
    /// And each request.
    #[default]
    Info,
    /// And what was tried.
    Debug,
    /// And everything else.
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
