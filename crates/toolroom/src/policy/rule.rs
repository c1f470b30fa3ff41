//! A rule that has been read and has passed its examples.

use super::facts::Case;
use super::{
    Condition, DEFAULT_RULE, Example, ExampleError, Facts, RuleError, RuleText, Ruling, ToolPattern,
};
use crate::expression::ExpressionError;
use crate::ledger::Answerer;
use crate::scope::{LOCAL_PROJECT, ProjectId, Scope, UserId};
use crate::tool::{IdError, ToolSpec};

/// Long enough for a sentence of a name, short enough for a journal row.
const MAX_ID_CHARS: usize = 100;

/// A reason is read in a prompt.
pub(super) const MAX_REASON_CHARS: usize = 500;

/// What stands before the dot in the names of the rules that are part of Toolroom.
const OWN_FAMILIES: [&str; 8] =
    [DEFAULT_RULE, "provenance", "tool", "feature", "context", "switches", "secrets", "approval"];

/// Room for a dot and the number that tells two rules of one name apart.
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

/// One example of a rule, and whether the rule does with it what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedExample {
    /// `match` or `not_match`.
    pub list: &'static str,
    /// Which of the list, counted from 1.
    pub number: usize,
    /// How they disagree, if they do.
    pub result: Result<(), ExampleError>,
}

/// What a rule has to do with a call.
pub(super) enum Fit {
    OtherTool,
    ConditionFalse,
    Applies,
}

impl Rule {
    /// Reads a rule and judges its examples.
    ///
    /// # Errors
    /// When something in it cannot be used, or it does not do with an example what the example says.
    pub fn new(text: RuleText) -> Result<Self, RuleError> {
        let rule = Self::read(text)?;
        let failed = rule.examples().find_map(|TriedExample { list, number, result }| {
            let source = result.err()?;
            Some(RuleError::Example { rule: rule.text.id.clone(), list, number, source })
        });
        failed.map_or(Ok(rule), Err)
    }

    /// Tries every example of a rule that could be used but for them.
    ///
    /// # Errors
    /// When something else in it cannot be used.
    pub fn try_examples(text: RuleText) -> Result<Vec<TriedExample>, RuleError> {
        Ok(Self::read(text)?.examples().collect())
    }

    fn read(text: RuleText) -> Result<Self, RuleError> {
        let rule = || text.id.clone();
        if let Some(why) = unfit_id(&text.id) {
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
        if let Some(why) = text.reason.as_deref().and_then(unfit_reason) {
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
        Ok(matches!(self.fit(&Case::new(facts))?, Fit::Applies))
    }

    /// Whether it is about the tool of this call.
    pub(super) fn is_about(&self, case: &Case<'_>) -> bool {
        match self.text.effect {
            Ruling::Allow => self.pattern.fits_trustworthy(&case.names),
            Ruling::Ask | Ruling::Deny => self.pattern.fits(&case.names),
        }
    }

    pub(super) fn fit(&self, case: &Case<'_>) -> Result<Fit, ExpressionError> {
        if !self.is_about(case) {
            return Ok(Fit::OtherTool);
        }
        match &self.condition {
            Some(condition) if !condition.holds_in(case)? => Ok(Fit::ConditionFalse),
            _ => Ok(Fit::Applies),
        }
    }

    pub(super) fn by(&self) -> Answerer {
        self.text.by.unwrap_or(Answerer::Caller)
    }

    /// Why, in the rule's words or in ours.
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

    /// The same rule under a free name.
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
                let result = self.fit_of(example).and_then(|fit| match (list, fit) {
                    ("match", Fit::Applies) | ("not_match", Fit::OtherTool | Fit::ConditionFalse) => Ok(()),
                    (_, Fit::Applies) => Err(ExampleError::Applies),
                    (_, Fit::ConditionFalse) => Err(ExampleError::ConditionFalse),
                    (_, Fit::OtherTool) => {
                        Err(ExampleError::OtherTool { tool: example.tool.clone().unwrap_or_default() })
                    }
                });
                TriedExample { list, number: index + 1, result }
            })
        })
    }

    fn fit_of(&self, example: &Example) -> Result<Fit, ExampleError> {
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
        Ok(self.fit(&Case::new(&facts))?)
    }
}

/// A tool of that id, that bare name, or, if no tool can have such a name, that family.
fn spec_named(name: &str) -> Result<ToolSpec, IdError> {
    let spec = ToolSpec::new(name, "").or_else(|_| ToolSpec::new(&format!("app:{name}"), ""));
    spec.or_else(|_| ToolSpec::new("app:example", "").map(|spec| spec.family(name, true)))
}

fn unfit_id(id: &str) -> Option<&'static str> {
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-');
    let family = id.split_once('.').map(|(family, _)| family);
    if id.is_empty() {
        Some("it is empty")
    } else if id.chars().count() > MAX_ID_CHARS {
        Some("it is longer than 100 characters")
    } else if id.contains(is_odd) {
        Some("it may hold the letters a to z, digits, `.`, `_` and `-`")
    } else if id == DEFAULT_RULE || family.is_some_and(|family| OWN_FAMILIES.contains(&family)) {
        Some("Toolroom's own rules are named like that; choose another")
    } else {
        None
    }
}

fn unfit_reason(reason: &str) -> Option<&'static str> {
    if reason.chars().count() > MAX_REASON_CHARS {
        Some("is longer than 500 characters; shorten it")
    } else if reason.chars().any(char::is_control) {
        Some("holds a control character; write it in one line")
    } else {
        None
    }
}
