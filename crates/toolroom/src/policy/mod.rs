//! Verdicts: whether a call is allowed, asks or is denied.
//!
//! A [`Policy`] is a [`Preset`] and [`Rule`]s. Its verdict is a pure function of the policy, the [`Facts`] of a call
//! (caller, tool, arguments, provenance) and the standing [`Answers`]. A [`Verdict`] names the rule that fired;
//! [`Policy::trace`] also lists the findings of all others.
//!
//! # How it is decided
//!
//! *Deny* is before *ask* is before *allow*:
//!
//! 1. **Deny.** The first rule that denies; a rule of any effect whose condition cannot be evaluated, because a guard
//!    that errors denies; a person's *never*.
//! 2. **Ask.** Questions about the call come from
//!    - rules that ask;
//!    - the preset, unless a rule allows the call;
//!    - guards, unless a rule allows the call whose condition shows that it was written with the guard in mind.
//!
//!    A question to which a person has said *yes* before is lifted: it counts as not asked. Of the others the operator's
//!    come before the caller's, then rules before the preset before guards, then the order of rules. The question
//!    that is asked also gives the reasons of preset and guards.
//! 3. **Allow.** By the first rule that allows, else by the answer that lifted the question, else by `default`.
//!
//! # Rules
//!
//! | field | |
//! |---|---|
//! | `id` | up to 100 of the letters a to z, digits, `.`, `_`, `-`; the journal names the rule that decided |
//! | `effect` | `allow`, `ask` or `deny` |
//! | `tool` | an id, a bare name, a family, or a [pattern](ToolPattern) with `*` and `?`. A bare name matches the tools of every source: a rule that allows should give the whole id |
//! | `when` | an [expression](crate::expression) that is true or false; without one the rule always applies |
//! | `by` | who may answer what it asks: `caller` (the default) or `operator` |
//! | `reason` | one line for the person who is asked or the model that is refused |
//! | `match`, `not_match` | calls the rule has to be about and calls it must not be about, tried when it is loaded |
//!
//! A condition sees:
//!
//! | name | members |
//! |---|---|
//! | `args` | the arguments, with defaults filled in |
//! | `caller` | `project`, `user` (or null), `entrance` |
//! | `provenance` | `private`, `untrusted`, `outward`: what the run has done before this call |
//! | `tool` | `id`, `name`, `family` (or null), `source`, `effect`, `risk`, `capabilities`, `requires_confirmation` |
//!
//! All conditions of one verdict share 50,000 steps of [evaluation](crate::expression), so that no rule file can block a
//! call for long. A condition that exceeds them cannot be evaluated.
//!
//! # Presets
//!
//! | rule | asks before a tool that | `open` | `balanced` | `careful` |
//! |---|---|---|---|---|
//! | `default.confirmation` | wants to be confirmed | always | always | always |
//! | `default.destructive` | may destroy something, or does not say what it does | always | always | always |
//! | `default.exec` | starts programs | never | always | always |
//! | `default.write` | changes something | never | medium or high risk | always |
//! | `default.egress` | sends something outward | never | medium or high risk | always |
//!
//! A preset asks one question about a tool. It counts as the first of these rules that applies and gives the reasons of all of them.
//!
//! # The guard of three
//!
//! `provenance.third` asks before the call with which a run has read private data, has read untrusted content and can
//! send outward, and before each sending from then on ([`Provenance::asks_before`]). A rule that allows lifts it only if
//! its condition mentions `provenance`, a person only for one conversation.
//!
//! # Standing answers
//!
//! A *yes* is about one tool, one rule's question, the definition of the tool that was asked about, the caller or the
//! whole project, and for *session* one conversation. It lifts that question and no other: if the preset or another rule
//! has a question too, that one is asked next; otherwise a rule that only asks could let a call run. A caller's yes does not lift what the operator has to answer. A *yes* that cannot be read
//! lifts nothing; a *never* that cannot be read denies.
//!
//! # Narrowing
//!
//! [`Policy::narrowed_by`] takes only a stricter preset and rules that ask or deny, so it never allows more than before.

mod answers;
mod built_in;
mod condition;
mod error;
mod facts;
#[expect(clippy::module_inception, reason = "the module is named after its main type")]
mod policy;
mod preset;
mod provenance;
mod repeat;
mod rule;
mod rule_text;
#[cfg(test)]
mod tests;
mod tool_choice;
mod tool_pattern;
mod trace;
mod verdict;
mod verdict_builder;

pub use answers::{Answers, rule_text_of};
pub use built_in::{BuiltInRule, asks_each_time};
pub use condition::{Condition, ConditionError};
pub use error::{ExampleError, RuleError};
pub use facts::Facts;
pub use policy::{Policy, VerdictPreview};
pub use preset::Preset;
pub use provenance::Provenance;
pub use repeat::{CalledWith, RepeatGuard, Repetition};
pub use rule::{Rule, TriedExample};
pub use rule_text::{Example, ExampleCaller, RuleText};
pub use tool_choice::{CHOICE_RULE, ToolChoice};
pub use tool_pattern::{PatternError, ToolPattern};
pub use trace::{Finding, Trace, Tried};
pub use verdict::{JUDGE_RULE, Judgement, Ruling, Verdict};

/// The id of the rule that allows calls no other rule decides.
pub const DEFAULT_RULE: &str = "default";
