//! Lints: valid rules that most likely do not do what was intended.

use std::sync::Arc;

use serde_json::Value;
use toolroom::catalog::Entry;
use toolroom::nearest::nearest_one;
use toolroom::policy::{Condition, Ruling, ToolPattern};
use toolroom::tool::{Capability, ToolSpec};

use super::rules::RuleStatus;
use crate::config::{ConfigRule, Problem};

pub(super) struct Lint {
    pub(super) name: &'static str,
    pub(super) problem: Problem,
}

/// A rule with its parsed pattern and condition.
struct ParsedRule<'a> {
    rule: &'a ConfigRule,
    pattern: ToolPattern,
    condition: Option<Condition>,
    /// The tools it matches.
    tools: Vec<&'a ToolSpec>,
}

/// Returns messages that continue a sentence starting with the rule.
type LintCheck = fn(&ParsedRule<'_>, &LintContext<'_>) -> Vec<String>;

/// What a rule is compared with.
struct LintContext<'a> {
    /// Rules tried before it.
    before: &'a [ParsedRule<'a>],
    /// Rules tried after it.
    after: &'a [ParsedRule<'a>],
    every_tool: &'a [Arc<Entry>],
}

const CHECKS: [(&str, LintCheck); 5] = [
    ("fits_no_tool", fits_no_tool),
    ("unknown_argument", unknown_argument),
    ("never_decides", never_decides),
    ("exec_without_when", exec_without_when),
    ("no_examples", no_examples),
];

/// Lints of the rules, given in the order in which they are tried. Skips invalid rules.
pub(super) fn lints(rules: &[&ConfigRule], tools: &[Arc<Entry>]) -> Vec<Lint> {
    let read: Vec<ParsedRule<'_>> = rules.iter().filter_map(|rule| ParsedRule::new(rule, tools)).collect();
    let mut lints = Vec::new();
    for (index, rule) in read.iter().enumerate() {
        let context = LintContext {
            before: read.get(..index).unwrap_or_default(),
            after: read.get(index + 1..).unwrap_or_default(),
            every_tool: tools,
        };
        if RuleStatus::new(rule.rule) == RuleStatus::Ignored {
            let message = "is ignored because its file is not trusted; see `toolroom trust`".to_owned();
            lints.push(Lint { name: "not_trusted", problem: rule.problem(message) });
            continue;
        }
        for (name, check) in CHECKS {
            let messages = check(rule, &context).into_iter();
            lints.extend(messages.map(|message| Lint { name, problem: rule.problem(message) }));
        }
    }
    lints
}

impl<'a> ParsedRule<'a> {
    fn new(rule: &'a ConfigRule, tools: &'a [Arc<Entry>]) -> Option<Self> {
        let pattern = ToolPattern::parse(&rule.text.tool).ok()?;
        let condition = rule.text.when.as_deref().map(Condition::parse).transpose().ok()?;
        let specs = tools.iter().map(|entry| entry.spec());
        let tools = specs.filter(|spec| pattern.matches(spec)).collect();
        Some(Self { rule, pattern, condition, tools })
    }

    fn problem(&self, message: String) -> Problem {
        let key = format!("rule.{}", self.rule.text.id);
        Problem { origin: self.rule.origin.clone(), line: self.rule.line, key, message }
    }

    fn denies_all_of(&self, other: &Self) -> bool {
        self.rule.text.effect == Ruling::Deny
            && self.condition.is_none()
            && self.pattern.covers(&other.pattern)
    }
}

fn fits_no_tool(read: &ParsedRule<'_>, context: &LintContext<'_>) -> Vec<String> {
    if !read.tools.is_empty() {
        return Vec::new();
    }
    let written = &read.rule.text.tool;
    let specs = context.every_tool.iter().map(|entry| entry.spec());
    let names = specs.flat_map(|spec| {
        let family = spec.family.as_ref().map(|family| family.name.as_str());
        [Some(spec.id.bare()), Some(spec.id.as_str()), family].into_iter().flatten()
    });
    let near = read.pattern.is_exact().then(|| nearest_one(written, names)).flatten();
    let remedy =
        near.map_or("see `toolroom tools --all`".to_owned(), |near| format!("did you mean `{near}`?"));
    vec![format!("matches no tool: unknown tool `{written}`; {remedy}")]
}

/// A condition on an unknown argument is never true, or fails and denies.
fn unknown_argument(read: &ParsedRule<'_>, _: &LintContext<'_>) -> Vec<String> {
    let taken: Option<Vec<Vec<&str>>> = read.tools.iter().map(|spec| taken_by(spec)).collect();
    let (Some(condition), Some(taken)) = (&read.condition, taken) else { return Vec::new() };
    let known: Vec<&str> = taken.into_iter().flatten().collect();
    if read.tools.is_empty() {
        return Vec::new();
    }
    let unknown = condition.arguments().into_iter().filter(|name| !known.contains(name));
    let messages = unknown.map(|name| {
        let near = nearest_one(name, known.iter().copied());
        let remedy = near.map(|near| format!("; did you mean `args.{near}`?")).unwrap_or_default();
        format!("uses `args.{name}`, which is no argument of {}{remedy}", names_of(&read.tools))
    });
    messages.collect()
}

/// The arguments a tool takes; `None` if its schema is open.
fn taken_by(spec: &ToolSpec) -> Option<Vec<&str>> {
    let schema = spec.parameters.as_object()?;
    let opens = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"];
    let takes_others = schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
    if takes_others || opens.iter().any(|keyword| schema.contains_key(*keyword)) {
        return None;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    Some(properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect())
}

/// The first of several deny rules decides; other rules have no effect next to it.
fn never_decides(read: &ParsedRule<'_>, context: &LintContext<'_>) -> Vec<String> {
    let stronger_later = read.rule.text.effect != Ruling::Deny;
    let later = context.after.iter().filter(|_| stronger_later);
    let stronger = context.before.iter().chain(later).find(|other| other.denies_all_of(read));
    let messages = stronger.map(|other| {
        format!(
            "never decides: rule `{}` denies every call it matches; remove one of them",
            other.rule.text.id
        )
    });
    messages.into_iter().collect()
}

fn exec_without_when(read: &ParsedRule<'_>, _: &LintContext<'_>) -> Vec<String> {
    if read.rule.text.effect != Ruling::Allow || read.condition.is_some() {
        return Vec::new();
    }
    let starts_programs = |spec: &&ToolSpec| spec.effective_capabilities().has(Capability::Exec);
    let tools: Vec<&ToolSpec> = read.tools.iter().copied().filter(starts_programs).collect();
    match tools.is_empty() {
        true => Vec::new(),
        false => vec![format!("lets {} run any program; add a `when`", names_of(&tools))],
    }
}

fn no_examples(read: &ParsedRule<'_>, _: &LintContext<'_>) -> Vec<String> {
    let text = &read.rule.text;
    match text.matches.is_empty() && text.not_matches.is_empty() {
        true => {
            vec!["has no examples; add matching calls as `match` and other calls as `not_match`".to_owned()]
        }
        false => Vec::new(),
    }
}

/// The name of a tool, or of the first of several.
fn names_of(tools: &[&ToolSpec]) -> String {
    match tools {
        [] => "no tool".to_owned(),
        [only] => format!("`{}`", only.id.bare()),
        [first, rest @ ..] => format!("`{}` (and {} more)", first.id.bare(), rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use toolroom::call::CallContext;
    use toolroom::catalog::Catalog;
    use toolroom::scope::ProjectId;
    use toolroom::tool::{Effect, NoArguments, ToolError, tool_fn};

    use super::*;
    use crate::config::{Layer, load};

    async fn nothing(_: CallContext, _: NoArguments) -> Result<bool, ToolError> {
        Ok(true)
    }

    /// Lint names of the rules, with a tool that starts programs, one without metadata, and one with an open schema.
    fn names(rules: &str) -> Vec<&'static str> {
        let catalog = Catalog::default();
        let tool = |id: &str| tool_fn(id, "", nothing).unwrap();
        let able =
            |list: &'static [Capability]| move |spec: ToolSpec| spec.effect(Effect::Read).capabilities(list);
        catalog.register(tool("app:shell").with(able(&[Capability::Exec]))).unwrap();
        catalog.register(tool("app:mute")).unwrap();
        let open = serde_json::json!({"type": "object", "additionalProperties": true});
        catalog.register(tool("app:open").with(able(&[])).with(move |spec| spec.parameters(open))).unwrap();
        let loaded = load(&[Layer::User { path: "x".into(), text: rules.to_owned() }]).unwrap();
        let rules: Vec<&ConfigRule> = loaded.config.rules.iter().collect();
        let found = lints(&rules, &catalog.list(&ProjectId::default()));
        found.into_iter().map(|lint| lint.name).filter(|name| *name != "no_examples").collect()
    }

    fn rule(id: &str, effect: &str, tool: &str, when: &str) -> String {
        let when = if when.is_empty() { String::new() } else { format!("when = \"{when}\"\n") };
        format!("[[rule]]\nid = '{id}'\neffect = '{effect}'\ntool = '{tool}'\n{when}")
    }

    #[test]
    fn an_unconditional_allow_of_programs_is_linted() {
        assert_eq!(names(&rule("x", "allow", "shell", "")), ["exec_without_when"]);
        assert_eq!(
            names(&rule("x", "allow", "mute", "")),
            ["exec_without_when"],
            "no metadata counts as every capability"
        );
        assert_eq!(names(&rule("x", "allow", "app:*", "")), ["exec_without_when"]);
        assert_eq!(names(&rule("x", "allow", "open", "")), [""; 0]);
        assert_eq!(names(&rule("x", "allow", "shell", "caller.user == 'ann'")), [""; 0]);
        assert_eq!(names(&rule("x", "ask", "shell", "")), [""; 0]);
    }

    #[test]
    fn an_argument_is_unknown_only_if_no_tool_of_the_rule_could_take_it() {
        assert_eq!(names(&rule("x", "deny", "shell", "args.a == 1 or args.b == 2")), ["unknown_argument"; 2]);
        assert_eq!(names(&rule("x", "deny", "open", "args.a == 1")), [""; 0]);
        assert_eq!(names(&rule("x", "deny", "app:*", "args.a == 1")), [""; 0], "the open one may take it");
        assert_eq!(names(&rule("x", "deny", "shell", "len(args) > 1")), [""; 0]);
        assert_eq!(names(&rule("x", "deny", "gone", "args.a == 1")), ["fits_no_tool"]);
    }

    #[test]
    fn a_rule_never_decides_beside_a_wider_deny_without_a_condition() {
        let check = |first: (&str, &str, &str), second: (&str, &str, &str), expected: &[&str]| {
            let text = rule("a", first.0, first.1, first.2) + &rule("b", second.0, second.1, second.2);
            assert_eq!(names(&text), expected, "{text}");
        };
        let dead = &["never_decides"];
        check(("ask", "app:open", ""), ("deny", "app:*", ""), dead);
        check(("deny", "app:*", ""), ("deny", "app:open", "args.a == 1"), dead);
        check(("deny", "open", ""), ("deny", "open", ""), dead);
        check(("deny", "app:open", ""), ("deny", "app:*", ""), &[]);
        check(("ask", "app:open", ""), ("deny", "app:*", "args.a == 1"), &[]);
        check(("ask", "app:*", ""), ("deny", "app:open", ""), &[]);
        check(("allow", "open", ""), ("ask", "open", ""), &[]);
    }
}
