//! A parsed rule that has passed its examples.

use super::facts::EvaluationContext;
use super::{
    Condition, DEFAULT_RULE, Example, ExampleError, Facts, RuleError, RuleText, Ruling, ToolPattern,
};
use crate::expression::ExpressionError;
use crate::ledger::Answerer;
use crate::scope::{LOCAL_PROJECT, ProjectId, Scope, UserId};
use crate::tool::{IdError, ToolSpec};

const MAX_ID_CHARS: usize = 100;

pub(super) const MAX_REASON_CHARS: usize = 500;

/// Prefixes reserved for built-in rules.
const RESERVED_PREFIXES: [&str; 8] =
    [DEFAULT_RULE, "provenance", "tool", "feature", "context", "switches", "secrets", "approval"];

/// Room for a dot and the number that makes an id unique.
const MAX_SUFFIX_CHARS: usize = 8;

/// The entrance of an example that names none.
const EXAMPLE_ENTRANCE: &str = "embedded";

/// One rule of a policy.
///
/// ```
/// use toolroom::policy::{Rule, RuleText};
///
/// let text: RuleText = serde_json::from_value(serde_json::json!({
///     "id": "large-orders", "effect": "ask", "tool": "place_order", "when": "args.amount > 100", "by": "operator",
///     "match": [{"args": {"amount": 101}}],
///     "not_match": [{"args": {"amount": 100}}, {"tool": "cancel_order", "args": {"amount": 101}}],
/// }))?;
/// assert_eq!(Rule::new(text)?.id(), "large-orders");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    text: RuleText,
    pattern: ToolPattern,
    condition: Option<Condition>,
}

/// One example of a rule, and whether it passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedExample {
    /// `match` or `not_match`.
    pub list: &'static str,
    /// Which of the list, counted from 1.
    pub number: usize,
    /// Why it fails, if it does.
    pub result: Result<(), ExampleError>,
}

/// Whether a rule applies to a call.
pub(super) enum RuleMatch {
    OtherTool,
    ConditionFalse,
    Applies,
}

impl Rule {
    /// Parses a rule and checks its examples.
    ///
    /// # Errors
    /// When a field is invalid or an example fails.
    pub fn new(text: RuleText) -> Result<Self, RuleError> {
        let rule = Self::parse(text)?;
        let failed = rule.examples().find_map(|TriedExample { list, number, result }| {
            let source = result.err()?;
            Some(RuleError::Example { rule: rule.text.id.clone(), list, number, source })
        });
        failed.map_or(Ok(rule), Err)
    }

    /// Tries every example of a rule that is otherwise valid.
    ///
    /// # Errors
    /// When a field is invalid.
    pub fn try_examples(text: RuleText) -> Result<Vec<TriedExample>, RuleError> {
        Ok(Self::parse(text)?.examples().collect())
    }

    fn parse(text: RuleText) -> Result<Self, RuleError> {
        let rule = || text.id.clone();
        if let Some(why) = id_problem(&text.id) {
            return Err(RuleError::Id { id: text.id.chars().take(MAX_ID_CHARS).collect(), why });
        }
        let pattern =
            ToolPattern::parse(&text.tool).map_err(|source| RuleError::Pattern { rule: rule(), source })?;
        let condition = text.when.as_deref().map(Condition::parse).transpose();
        let condition = condition.map_err(|source| RuleError::Condition { rule: rule(), source })?;
        if text.by.is_some() && text.effect != Ruling::Ask {
            return Err(RuleError::By { rule: rule() });
        }
        if text.by == Some(Answerer::Client) {
            return Err(RuleError::ByClient { rule: rule() });
        }
        if let Some(why) = text.reason.as_deref().and_then(reason_problem) {
            return Err(RuleError::Reason { rule: rule(), why });
        }
        Ok(Self { text, pattern, condition })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.text.id
    }

    /// The rule as it was written.
    #[must_use]
    pub fn text(&self) -> &RuleText {
        &self.text
    }

    /// Whether it is about this call.
    ///
    /// # Errors
    /// When its condition cannot be evaluated; a policy then denies the call.
    pub fn applies(&self, facts: &Facts<'_>) -> Result<bool, ExpressionError> {
        Ok(matches!(self.evaluate(&EvaluationContext::new(facts))?, RuleMatch::Applies))
    }

    /// Whether it is about the tool of this call.
    pub(super) fn is_about(&self, context: &EvaluationContext<'_>) -> bool {
        match self.text.effect {
            Ruling::Allow => self.pattern.matches_trusted(&context.names),
            Ruling::Ask | Ruling::Deny => self.pattern.matches_names(&context.names),
        }
    }

    pub(super) fn evaluate(&self, context: &EvaluationContext<'_>) -> Result<RuleMatch, ExpressionError> {
        if !self.is_about(context) {
            return Ok(RuleMatch::OtherTool);
        }
        match &self.condition {
            Some(condition) if !condition.holds_in(context)? => Ok(RuleMatch::ConditionFalse),
            _ => Ok(RuleMatch::Applies),
        }
    }

    pub(super) fn by(&self) -> Answerer {
        self.text.by.unwrap_or(Answerer::Caller)
    }

    /// Its own reason, or a default.
    pub(super) fn reason(&self) -> String {
        let own = match self.text.effect {
            Ruling::Allow => "allows it",
            Ruling::Ask => "asks first",
            Ruling::Deny => "forbids it",
        };
        self.text.reason.clone().unwrap_or_else(|| format!("rule `{}` {own}", self.text.id))
    }

    pub(super) fn mentions(&self, root: &str) -> bool {
        self.condition.as_ref().is_some_and(|condition| condition.mentions(root))
    }

    /// The rule with a unique id.
    pub(super) fn renamed(mut self, is_taken: impl Fn(&str) -> bool) -> Self {
        let stem: String = self.text.id.chars().take(MAX_ID_CHARS - MAX_SUFFIX_CHARS).collect();
        let mut number = 1_u32;
        while is_taken(&self.text.id) {
            number += 1;
            self.text.id = format!("{stem}.{number}");
        }
        self
    }

    fn examples(&self) -> impl Iterator<Item = TriedExample> {
        let lists = [("match", &self.text.matches), ("not_match", &self.text.not_matches)];
        lists.into_iter().flat_map(move |(list, examples)| {
            examples.iter().enumerate().map(move |(index, example)| {
                let result = self.evaluate_example(example).and_then(|fit| match (list, fit) {
                    ("match", RuleMatch::Applies)
                    | ("not_match", RuleMatch::OtherTool | RuleMatch::ConditionFalse) => Ok(()),
                    (_, RuleMatch::Applies) => Err(ExampleError::Applies),
                    (_, RuleMatch::ConditionFalse) => Err(ExampleError::ConditionFalse),
                    (_, RuleMatch::OtherTool) => {
                        Err(ExampleError::OtherTool { tool: example.tool.clone().unwrap_or_default() })
                    }
                });
                TriedExample { list, number: index + 1, result }
            })
        })
    }

    fn evaluate_example(&self, example: &Example) -> Result<RuleMatch, ExampleError> {
        let own = self.pattern.is_exact().then_some(self.text.tool.as_str());
        let tool = example.tool.as_deref().or(own).ok_or(ExampleError::NoTool)?;
        let mut spec = spec_named(tool)?;
        spec.effect = example.effect;
        spec.capabilities = example.capabilities;
        spec.risk = example.risk.unwrap_or_default();
        let caller = example.caller.clone().unwrap_or_default();
        let facts = Facts {
            spec: &spec,
            arguments: &example.args,
            scope: &Scope {
                project: ProjectId::new(caller.project.as_deref().unwrap_or(LOCAL_PROJECT)),
                user: caller.user.as_deref().map(UserId::new),
            },
            entrance: caller.entrance.as_deref().unwrap_or(EXAMPLE_ENTRANCE),
            thread: None,
            provenance: example.provenance,
            origin: None,
            destination: None,
            definition: "",
        };
        Ok(self.evaluate(&EvaluationContext::new(&facts))?)
    }
}

/// A tool of that id, bare name, or, if the name is no valid id, family.
fn spec_named(name: &str) -> Result<ToolSpec, IdError> {
    let spec = ToolSpec::new(name, "").or_else(|_| ToolSpec::new(&format!("app:{name}"), ""));
    spec.or_else(|_| ToolSpec::new("app:example", "").map(|spec| spec.family(name, true)))
}

fn id_problem(id: &str) -> Option<&'static str> {
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-');
    let family = id.split_once('.').map(|(family, _)| family);
    if id.is_empty() {
        Some("it is empty")
    } else if id.chars().count() > MAX_ID_CHARS {
        Some("it is longer than 100 characters")
    } else if id.contains(is_odd) {
        Some("it may hold the letters a to z, digits, `.`, `_` and `-`")
    } else if id == DEFAULT_RULE || family.is_some_and(|family| RESERVED_PREFIXES.contains(&family)) {
        Some("that prefix is reserved for built-in rules; choose another")
    } else {
        None
    }
}

fn reason_problem(reason: &str) -> Option<&'static str> {
    if reason.chars().count() > MAX_REASON_CHARS {
        Some("is longer than 500 characters; shorten it")
    } else if reason.chars().any(char::is_control) {
        Some("holds a control character; write it in one line")
    } else {
        None
    }
}
