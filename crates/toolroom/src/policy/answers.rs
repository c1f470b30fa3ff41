//! Standing answers with their conditions parsed, indexed by tool and destination.

use std::collections::HashMap;
use std::sync::Arc;

use super::facts::{EvaluationContext, PROVENANCE_ROOT};
use super::rule::MAX_REASON_CHARS;
use super::tool_pattern::is_wildcard;
use super::{Condition, ConditionError, Facts, Finding, RuleText, Ruling};
use crate::ledger::{Answerer, StandingAnswer};

/// The standing answers of a project.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    answers: Vec<ParsedAnswer>,
    by_tool: HashMap<Arc<str>, Vec<usize>>,
    by_destination: HashMap<Arc<str>, Vec<usize>>,
}

/// A standing answer with its condition, or why that cannot be parsed.
#[derive(Debug, Clone)]
pub(super) struct ParsedAnswer {
    pub(super) answer: StandingAnswer,
    condition: Result<Option<Condition>, ConditionError>,
}

impl Answers {
    /// Parses the conditions.
    #[must_use]
    pub fn new(answers: Vec<StandingAnswer>) -> Self {
        let (mut by_tool, mut by_destination): (HashMap<_, Vec<_>>, HashMap<_, Vec<_>>) = Default::default();
        for (index, answer) in answers.iter().enumerate() {
            let list = match &answer.destination {
                Some(destination) => by_destination.entry(Arc::clone(destination)).or_default(),
                None => by_tool.entry(Arc::clone(&answer.tool)).or_default(),
            };
            list.push(index);
        }
        Self { answers: answers.into_iter().map(ParsedAnswer::new).collect(), by_tool, by_destination }
    }

    /// Whether a condition mentions provenance.
    pub(crate) fn look_at_provenance(&self) -> bool {
        self.answers.iter().any(|parsed| parsed.mentions(PROVENANCE_ROOT))
    }

    /// The answers as they are stored.
    pub fn iter(&self) -> impl Iterator<Item = &StandingAnswer> {
        self.answers.iter().map(|parsed| &parsed.answer)
    }

    /// The answer that lifts a question of the tool itself, which `by` has to answer.
    #[must_use]
    pub fn lifting(&self, rule: &str, by: Answerer, facts: &Facts<'_>) -> Option<&StandingAnswer> {
        // The answer may be older than the tool's declaration.
        if facts.spec.single_answers {
            return None;
        }
        let context = EvaluationContext::new(facts);
        let lifts = |parsed: &&ParsedAnswer| {
            let answer = &parsed.answer;
            answer.effect == Ruling::Allow
                && answer.lifts.as_deref() == Some(rule)
                && answer.by.may_answer_for(by)
                && parsed.mismatch(facts).is_none()
                && parsed.is_about_definition(facts)
                && parsed.holds_in(&context) == Ok(true)
        };
        self.by_tool(facts.spec.id.as_str()).find(lifts).map(|parsed| &parsed.answer)
    }

    /// The answers about the tool of a call, and about its destination.
    pub(super) fn for_call(&self, facts: &Facts<'_>) -> impl Iterator<Item = &ParsedAnswer> {
        let sent_to = facts.destination.and_then(|destination| self.by_destination.get(destination));
        self.by_tool(facts.spec.id.as_str()).chain(self.at(sent_to))
    }

    fn by_tool(&self, tool: &str) -> impl Iterator<Item = &ParsedAnswer> {
        self.at(self.by_tool.get(tool))
    }

    fn at(&self, indexes: Option<&Vec<usize>>) -> impl Iterator<Item = &ParsedAnswer> {
        let indexes = indexes.map(Vec::as_slice).unwrap_or_default();
        indexes.iter().filter_map(|index| self.answers.get(*index))
    }
}

impl ParsedAnswer {
    fn new(answer: StandingAnswer) -> Self {
        let condition = answer.when.as_deref().map(Condition::parse).transpose();
        Self { answer, condition }
    }

    /// Why an answer about the tool is not about this call, regardless of its condition.
    pub(super) fn mismatch(&self, facts: &Facts<'_>) -> Option<Finding> {
        let is_here = |thread: &Arc<str>| match self.answer.destination {
            Some(_) => facts.origin == Some(&**thread),
            None => facts.thread == Some(&**thread),
        };
        if !self.answer.scope.covers(facts.scope) {
            Some(Finding::OtherCaller)
        } else if self.answer.thread.as_ref().is_some_and(|thread| !is_here(thread)) {
            Some(Finding::OtherConversation)
        } else {
            None
        }
    }

    /// Whether it was given for the definition the tool has now.
    pub(super) fn is_about_definition(&self, facts: &Facts<'_>) -> bool {
        self.answer.definition.as_deref().is_none_or(|definition| definition == facts.definition)
    }

    pub(super) fn mentions(&self, root: &str) -> bool {
        matches!(&self.condition, Ok(Some(condition)) if condition.mentions(root))
    }

    /// Whether its condition holds.
    pub(super) fn holds_in(&self, context: &EvaluationContext<'_>) -> Result<bool, String> {
        match &self.condition {
            Ok(None) => Ok(true),
            Ok(Some(condition)) => condition.holds_in(context).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A standing answer in the form of a rule, to be listed and exported. The question, definition or conversation it is
/// limited to has no field in a rule, so the reason names it.
#[must_use]
pub fn rule_text_of(answer: &StandingAnswer) -> RuleText {
    let mut when = vec![format!("caller.project == {}", literal(answer.scope.project.as_str()))];
    when.extend(answer.scope.user.iter().map(|user| format!("caller.user == {}", literal(user.as_str()))));
    if answer.tool.contains(is_wildcard) {
        when.push(format!("tool.id == {}", literal(&answer.tool)));
    }
    when.extend(answer.when.iter().map(|condition| format!("({condition})")));

    let mut reason = format!("answered by the {} on call `{}`", answer.by.as_str(), answer.call);
    let mut add = |what: &str, value: &str| reason.push_str(&format!(", {what} `{value}`"));
    answer.lifts.iter().for_each(|rule| add("for the question of rule", rule));
    answer.definition.iter().for_each(|definition| add("for the definition", definition));
    answer.destination.iter().for_each(|destination| add("for sending to", destination));
    answer.thread.iter().for_each(|thread| add("in the conversation", thread));
    RuleText {
        id: answer.id.to_string(),
        effect: answer.effect,
        tool: answer.tool.to_string(),
        when: Some(when.join(" and ")),
        by: None,
        reason: Some(reason.chars().filter(|c| !c.is_control()).take(MAX_REASON_CHARS).collect()),
        matches: Vec::new(),
        not_matches: Vec::new(),
    }
}

/// A text as a literal of an expression.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
