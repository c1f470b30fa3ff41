//! Verdicts: may this call run, does it ask, is it forbidden?
//!
//! Everything here is a pure function from facts to a [`Verdict`] with the rule that fired; nothing is read or
//! written. Rules, presets and provenance are planned; until they are here the policy allows every call and
//! only a tool's own [`Judgement`] makes it stricter.

mod answers;
mod preset;
mod provenance;
mod rule_text;
mod verdict;

pub use answers::Answers;
pub use preset::Preset;
pub use provenance::Provenance;
pub use rule_text::{Example, ExampleCaller, RuleText};
pub use verdict::{Judgement, Ruling, Verdict};

use crate::tool::{Arguments, ToolSpec};

/// The id of the rule that lets through what no other rule is about.
pub const DEFAULT_RULE: &str = "default";

/// The policy's verdict on a call.
#[must_use]
pub fn verdict(spec: &ToolSpec, arguments: &Arguments) -> Verdict {
    let _ = (spec, arguments);
    Verdict::allow(DEFAULT_RULE)
}
