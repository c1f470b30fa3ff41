//! Settings of a project that hold until a person changes them: switches, and standing answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answerer, CallId, Switches};
use crate::clock::{Clock, Timestamp};
use crate::policy::{Answers, Ruling};
use crate::scope::Scope;
use crate::text_id::text_id;

text_id! {
    /// A standing answer's id: `ans_` and 32 hexadecimal digits that sort by time.
    AnswerId
}

impl AnswerId {
    /// A fresh id.
    #[must_use]
    pub fn fresh(clock: &dyn Clock) -> Self {
        Self::new(&format!("ans_{}", clock.ordered_id().simple()))
    }
}

/// An answer that outlives its question: *session*, *always* or *never*. A rule that a person made by answering; a word in
/// it that is not known could have narrowed it, so it is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StandingAnswer {
    /// Its id; the journal names it as the rule that decided.
    pub id: AnswerId,
    /// Whose calls it is about: those of one user, or of the whole project.
    #[serde(flatten)]
    pub scope: Scope,
    /// Allow or deny.
    pub effect: Ruling,
    /// The tool's full id.
    pub tool: Arc<str>,
    /// A condition on the call, as in a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The rule whose question a yes answers: no other rule's question is answered by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifts: Option<String>,
    /// Hash of the approved definition; another definition is asked about again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<Arc<str>>,
    /// The conversation it holds in; everywhere, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<Arc<str>>,
    /// Where data may be sent, with any tool. Such an answer lifts the provenance question only, and `thread` is the
    /// conversation, session or caller it holds for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<Arc<str>>,
    /// The call that was asked about.
    pub call: CallId,
    /// As whom it was given.
    pub by: Answerer,
    /// When.
    pub at: Timestamp,
}

/// The settings of a project that calls are judged by and that can change between calls.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// Grows with every change of switches, answers and secrets.
    pub revision: i64,
    /// What is switched on and off.
    pub switches: Switches,
    /// Standing answers.
    pub answers: Answers,
}
