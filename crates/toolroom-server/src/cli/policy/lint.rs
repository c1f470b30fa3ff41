//! What is odd about rules that can be used: most likely they do not do what they were written for.

use std::sync::Arc;

use serde_json::Value;
use toolroom::catalog::Entry;
use toolroom::nearest::nearest_one;
use toolroom::policy::{Condition, Ruling, ToolPattern};
use toolroom::tool::{Capability, ToolSpec};

use super::rules::Standing;
use crate::config::{ConfigRule, Problem};

/// One oddity.
pub(super) struct Lint {
    pub(super) name: &'static str,
    pub(super) problem: Problem,
}

/// A rule with what is known about it.
struct Read<'a> {
    rule: &'a ConfigRule,
    pattern: ToolPattern,
    condition: Option<Condition>,
    /// The tools it is about.
    tools: Vec<&'a ToolSpec>,
}

/// What is told continues a sentence that begins with the rule.
type Check = fn(&Read<'_>, &Around<'_>) -> Vec<String>;

/// What a rule is held against.
struct Around<'a> {
    /// The rules that are tried before it.
    before: &'a [Read<'a>],
    /// Those that are tried after it.
    after: &'a [Read<'a>],
    every_tool: &'a [Arc<Entry>],
}

const CHECKS: [(&str, Check); 5] = [
    ("fits_no_tool", fits_no_tool),
    ("unknown_argument", unknown_argument),
    ("never_decides", never_decides),
    ("exec_without_when", exec_without_when),
    ("no_examples", no_examples),
];

/// Everything odd about these rules, which are given in the order in which they are tried. Those that cannot be used
/// at all are passed over.
pub(super) fn lints(rules: &[&ConfigRule], tools: &[Arc<Entry>]) -> Vec<Lint> {
    let read: Vec<Read<'_>> = rules.iter().filter_map(|rule| Read::of(rule, tools)).collect();
    let mut lints = Vec::new();
    for (place, rule) in read.iter().enumerate() {
        let around = Around {
            before: read.get(..place).unwrap_or_default(),
            after: read.get(place + 1..).unwrap_or_default(),
            every_tool: tools,
        };
        if Standing::of(rule.rule) == Standing::Ignored {
            let message = "is ignored, because its file is not trusted; see `toolroom trust`".to_owned();
            lints.push(Lint { name: "not_trusted", problem: rule.problem(message) });
            continue;
        }
        for (name, check) in CHECKS {
            let told = check(rule, &around).into_iter();
            lints.extend(told.map(|message| Lint { name, problem: rule.problem(message) }));
        }
    }
    lints
}

impl<'a> Read<'a> {
    fn of(rule: &'a ConfigRule, tools: &'a [Arc<Entry>]) -> Option<Self> {
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

fn fits_no_tool(read: &Read<'_>, around: &Around<'_>) -> Vec<String> {
    if !read.tools.is_empty() {
        return Vec::new();
    }
    let written = &read.rule.text.tool;
    let specs = around.every_tool.iter().map(|entry| entry.spec());
    let names = specs.flat_map(|spec| {
        let family = spec.family.as_ref().map(|family| family.name.as_str());
        [Some(spec.id.bare()), Some(spec.id.as_str()), family].into_iter().flatten()
    });
    let near = read.pattern.is_exact().then(|| nearest_one(written, names)).flatten();
    let remedy =
        near.map_or("see `toolroom tools --all`".to_owned(), |near| format!("did you mean `{near}`?"));
    vec![format!("is about `{written}`, and there is no such tool; {remedy}")]
}

/// A condition that asks for what is never there is never true, or fails and so denies.
fn unknown_argument(read: &Read<'_>, _: &Around<'_>) -> Vec<String> {
    let taken: Option<Vec<Vec<&str>>> = read.tools.iter().map(|spec| taken_by(spec)).collect();
    let (Some(condition), Some(taken)) = (&read.condition, taken) else { return Vec::new() };
    let known: Vec<&str> = taken.into_iter().flatten().collect();
    if read.tools.is_empty() {
        return Vec::new();
    }
    let unknown = condition.arguments().into_iter().filter(|name| !known.contains(name));
    let told = unknown.map(|name| {
        let near = nearest_one(name, known.iter().copied());
        let remedy = near.map(|near| format!("; did you mean `args.{near}`?")).unwrap_or_default();
        format!("looks at `args.{name}`, which {} does not take{remedy}", named(&read.tools))
    });
    told.collect()
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

/// Of several rules that deny the first one tells why; any other rule is silent beside them.
fn never_decides(read: &Read<'_>, around: &Around<'_>) -> Vec<String> {
    let stronger_later = read.rule.text.effect != Ruling::Deny;
    let later = around.after.iter().filter(|_| stronger_later);
    let stronger = around.before.iter().chain(later).find(|other| other.denies_all_of(read));
    let told = stronger.map(|other| {
        format!(
            "never decides: rule `{}` denies every call it is about; remove one of them",
            other.rule.text.id
        )
    });
    told.into_iter().collect()
}

fn exec_without_when(read: &Read<'_>, _: &Around<'_>) -> Vec<String> {
    if read.rule.text.effect != Ruling::Allow || read.condition.is_some() {
        return Vec::new();
    }
    let starts_programs = |spec: &&ToolSpec| spec.effective_capabilities().has(Capability::Exec);
    let tools: Vec<&ToolSpec> = read.tools.iter().copied().filter(starts_programs).collect();
    match tools.is_empty() {
        true => Vec::new(),
        false => vec![format!("lets {} run any program; add a `when`", named(&tools))],
    }
}

fn no_examples(read: &Read<'_>, _: &Around<'_>) -> Vec<String> {
    let text = &read.rule.text;
    match text.matches.is_empty() && text.not_matches.is_empty() {
        true => vec!["has no examples; add calls it is about as `match`, others as `not_match`".to_owned()],
        false => Vec::new(),
    }
}

/// One tool by its name, several by that of the first.
fn named(tools: &[&ToolSpec]) -> String {
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

    /// The names of what is odd about rules, in a room with a shell, a mute and an open tool.
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
    fn an_allow_that_starts_anything_is_odd() {
        assert_eq!(names(&rule("x", "allow", "shell", "")), ["exec_without_when"]);
        assert_eq!(
            names(&rule("x", "allow", "mute", "")),
            ["exec_without_when"],
            "silence counts as everything"
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
