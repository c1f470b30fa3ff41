//! The row of a call.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ArtifactId;
use crate::call::size_chars;
use crate::clock::seconds;
use crate::clock::{Clock, Timestamp, Uuid};
use crate::scope::Scope;
use crate::text_id::text_id;
use crate::tool::{Effect, ErrorKind, Offer};

text_id! {
    /// A call's id: `call_` and 32 hexadecimal digits that sort by time.
    CallId
}

impl CallId {
    /// A fresh id.
    #[must_use]
    pub fn fresh(clock: &dyn Clock) -> Self {
        let id = clock.ordered_id().simple();
        Self::new(&["call_", id.encode_lower(&mut Uuid::encode_buffer())].concat())
    }
}

/// The status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Written before the tool starts.
    Begun,
    /// The tool returned a result.
    Done,
    /// The tool, or a check before it, returned an error.
    Failed,
    /// Switched off, forbidden by a rule, or refused by a person.
    Denied,
    /// Waits for a person's answer.
    Pending,
    /// Stopped by the caller before it had an effect.
    Cancelled,
    /// Began, and its outcome is unknown: its process died, or it was stopped in the middle of a write.
    Unknown,
}

impl CallStatus {
    /// Every status, in the order of a call's life.
    pub const ALL: [Self; 7] =
        [Self::Begun, Self::Done, Self::Failed, Self::Denied, Self::Pending, Self::Cancelled, Self::Unknown];

    /// Whether nothing can follow. An unknown call may still turn out to have ended in some way.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Denied | Self::Cancelled)
    }

    /// The name used in records and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Pending => "pending",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

impl fmt::Display for CallStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The row of one call. Arguments are as the caller sent them after defaults were filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallRecord {
    /// The call.
    pub id: CallId,
    /// Whose call it is.
    #[serde(flatten)]
    pub scope: Scope,
    /// The tool's full id; for a tool that does not exist, the name that was asked for.
    pub tool: Arc<str>,
    /// Which entrance it came through: `cli`, `mcp`, `http`, `agent`, or the embedder's own word.
    pub entrance: Arc<str>,
    /// Hash of the tool's definition at the time of the call; absent for a tool that does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<Arc<str>>,
    /// What the tool may have done; absent for a tool that does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Its status.
    pub status: CallStatus,
    /// Kind of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
    /// The arguments; text that is not a JSON object is stored as a JSON string.
    pub arguments: Arc<Value>,
    /// Size of the arguments as JSON text.
    pub arguments_bytes: u64,
    /// The result as the caller got it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Arc<Value>>,
    /// Size of the result before it was shortened.
    pub result_chars: u64,
    /// Where the whole result is, if this one was shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
    /// A sentence the tool added to its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What its client was asked to do: open an address, show or save a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Offer>,
    /// The error as a model may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The error as the operator may read it, with all its sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Cow<'static, str>>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<Arc<str>>,
    /// The run inside the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Arc<str>>,
    /// The model's own id of the call; with the run it is unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_call: Option<Arc<str>>,
    /// When the call arrived.
    pub asked_at: Timestamp,
    /// When the tool was let through all guards; absent if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun_at: Option<Timestamp>,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// From arrival to close, on a steady clock.
    pub duration_us: u64,
}

impl CallRecord {
    /// Whether the stored result is shortened. The whole result may be an artifact, or gone.
    #[must_use]
    pub fn is_shortened(&self) -> bool {
        let kept = self.result.as_deref().map_or(0, size_chars);
        self.artifact.is_some() || (kept as u64) < self.result_chars
    }

    /// The row of a call that has just arrived.
    #[must_use]
    pub fn arrived(id: CallId, scope: Scope, tool: &str, asked_at: Timestamp) -> Self {
        Self {
            id,
            scope,
            tool: tool.into(),
            entrance: "embedded".into(),
            definition: None,
            effect: None,
            status: CallStatus::Failed,
            kind: None,
            arguments: Arc::clone(&NONE),
            arguments_bytes: 0,
            result: None,
            result_chars: 0,
            artifact: None,
            message: None,
            offers: Vec::new(),
            error: None,
            detail: None,
            rule: None,
            thread: None,
            run: None,
            model_call: None,
            asked_at,
            begun_at: None,
            ended_at: None,
            duration_us: 0,
        }
    }
}

/// No arguments; one for all calls that have none.
static NONE: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(Value::Object(Map::new())));

/// Which calls to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Only this tool (full id).
    pub tool: Option<String>,
    /// Only this status.
    pub status: Option<CallStatus>,
    /// Only calls that arrived at or after this instant.
    pub since: Option<Timestamp>,
    /// Only calls of this run.
    pub run: Option<String>,
    /// Only calls older than this one, for paging.
    pub before: Option<CallId>,
    /// Only calls whose id ends so: what a person copies from a short listing.
    pub id_suffix: Option<String>,
    /// At most this many; [`CallFilter::DEFAULT_LIMIT`] by default.
    pub limit: Option<u32>,
}

impl CallFilter {
    /// How many calls a listing shows by default.
    pub const DEFAULT_LIMIT: u32 = 100;
}

/// How much a tool is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUsage {
    /// The tool's full id.
    pub tool: Arc<str>,
    /// How many of its calls were let run.
    pub calls: u64,
    /// When the last of them began.
    pub last_at: Timestamp,
}

/// Whose calls a rate limit counts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateKey {
    /// Each user of a project on their own.
    User,
    /// All users of a project together.
    Project,
}

/// At most `max` calls of a tool that began within the last `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RateLimit {
    /// How many.
    pub max: u32,
    /// In which span.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub per: Duration,
    /// Counted for whom.
    pub key: RateKey,
}

impl RateLimit {
    /// `max` calls an hour for each user.
    #[must_use]
    pub const fn per_hour(max: u32) -> Self {
        Self { max, per: Duration::from_secs(3600), key: RateKey::User }
    }

    /// `max` calls a minute for each user.
    #[must_use]
    pub const fn per_minute(max: u32) -> Self {
        Self { max, per: Duration::from_secs(60), key: RateKey::User }
    }

    /// Which calls count against one that begins at `begun_at`.
    #[must_use]
    pub fn window(&self, begun_at: Timestamp) -> RateWindow {
        RateWindow { since: begun_at.before(self.per), until: begun_at.after(self.per) }
    }
}

/// The calls that lie in one span of a [`RateLimit`] with another call. Others may have begun a moment later and been
/// written before it; what lies further ahead began while a clock was wrong and must not lock the tool until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateWindow {
    /// They began after this.
    pub since: Timestamp,
    /// They began before this.
    pub until: Timestamp,
}

impl RateWindow {
    /// Whether a call that began then counts.
    #[must_use]
    pub fn holds(self, begun_at: Timestamp) -> bool {
        self.since < begun_at && begun_at < self.until
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.per.as_secs() {
            3600 => write!(formatter, "{} calls an hour", self.max),
            60 => write!(formatter, "{} calls a minute", self.max),
            seconds => write!(formatter, "{} calls in {seconds} s", self.max),
        }
    }
}
