//! Standing answers, ready to be asked.

use std::collections::HashMap;
use std::sync::Arc;

use super::facts::{Case, PROVENANCE_ROOT};
use super::rule::MAX_REASON_CHARS;
use super::tool_pattern::is_wildcard;
use super::{Condition, ConditionError, Facts, Finding, RuleText, Ruling};
use crate::ledger::{Answerer, StandingAnswer};

/// The standing answers of a project.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    answers: Vec<ReadAnswer>,
    by_tool: HashMap<Arc<str>, Vec<usize>>,
    by_destination: HashMap<Arc<str>, Vec<usize>>,
}

/// An answer whose condition was read; if that was not possible, it says why.
#[derive(Debug, Clone)]
pub(super) struct ReadAnswer {
    pub(super) answer: StandingAnswer,
    condition: Result<Option<Condition>, ConditionError>,
}

impl Answers {
    /// Reads their conditions once.
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
        Self { answers: answers.into_iter().map(ReadAnswer::new).collect(), by_tool, by_destination }
    }

    /// Whether one of them has a condition on what was read and sent before.
    pub(crate) fn look_at_provenance(&self) -> bool {
        self.answers.iter().any(|read| read.mentions(PROVENANCE_ROOT))
    }

    /// The answers as they are kept.
    pub fn iter(&self) -> impl Iterator<Item = &StandingAnswer> {
        self.answers.iter().map(|read| &read.answer)
    }

    /// The answer that lifts a question which is asked outside the policy, by the tool itself, and which `by` has to
    /// answer.
    #[must_use]
    pub fn lifting(&self, rule: &str, by: Answerer, facts: &Facts<'_>) -> Option<&StandingAnswer> {
        // Whatever was said, wherever its tool was not known: of this one every call is asked about.
        if facts.spec.single_answers {
            return None;
        }
        let case = Case::new(facts);
        let lifts = |read: &&ReadAnswer| {
            let answer = &read.answer;
            answer.effect == Ruling::Allow
                && answer.lifts.as_deref() == Some(rule)
                && answer.by.may_answer_for(by)
                && read.elsewhere(facts).is_none()
                && read.is_about_definition(facts)
                && read.holds_in(&case) == Ok(true)
        };
        self.by_tool(facts.spec.id.as_str()).find(lifts).map(|read| &read.answer)
    }

    /// Those about the tool of a call, and about where it sends something.
    pub(super) fn about(&self, facts: &Facts<'_>) -> impl Iterator<Item = &ReadAnswer> {
        let sent_to = facts.destination.and_then(|destination| self.by_destination.get(destination));
        self.by_tool(facts.spec.id.as_str()).chain(self.at(sent_to))
    }

    fn by_tool(&self, tool: &str) -> impl Iterator<Item = &ReadAnswer> {
        self.at(self.by_tool.get(tool))
    }

    fn at(&self, places: Option<&Vec<usize>>) -> impl Iterator<Item = &ReadAnswer> {
        let places = places.map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| self.answers.get(*place))
    }
}

impl ReadAnswer {
    fn new(answer: StandingAnswer) -> Self {
        let condition = answer.when.as_deref().map(Condition::parse).transpose();
        Self { answer, condition }
    }

    /// Why an answer about the tool is not about this call, whatever its condition says.
    pub(super) fn elsewhere(&self, facts: &Facts<'_>) -> Option<Finding> {
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

    /// Whether it was said of the definition the tool has now.
    pub(super) fn is_about_definition(&self, facts: &Facts<'_>) -> bool {
        self.answer.definition.as_deref().is_none_or(|definition| definition == facts.definition)
    }

    pub(super) fn mentions(&self, root: &str) -> bool {
        matches!(&self.condition, Ok(Some(condition)) if condition.mentions(root))
    }

    /// Whether its condition holds; an error is in words for a person.
    pub(super) fn holds_in(&self, case: &Case<'_>) -> Result<bool, String> {
        match &self.condition {
            Ok(None) => Ok(true),
            Ok(Some(condition)) => condition.holds_in(case).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A standing answer in the form of a rule, to be listed and exported. That a yes is about one rule's question, one
/// definition or one conversation has no place in a rule; the reason says it.
#[must_use]
pub fn rule_text_of(answer: &StandingAnswer) -> RuleText {
    let mut when = vec![format!("caller.project == {}", literal(answer.scope.project.as_str()))];
    when.extend(answer.scope.user.iter().map(|user| format!("caller.user == {}", literal(user.as_str()))));
    if answer.tool.contains(is_wildcard) {
        when.push(format!("tool.id == {}", literal(&answer.tool)));
    }
    when.extend(answer.when.iter().map(|condition| format!("({condition})")));

    let mut reason = format!("said by the {} about call `{}`", answer.by.as_str(), answer.call);
    let mut say = |what: &str, value: &str| reason.push_str(&format!(", {what} `{value}`"));
    answer.lifts.iter().for_each(|rule| say("to the question of rule", rule));
    answer.definition.iter().for_each(|definition| say("for the definition", definition));
    answer.destination.iter().for_each(|destination| say("for sending to", destination));
    answer.thread.iter().for_each(|thread| say("in the conversation", thread));
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

/// A text as an expression writes it.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
