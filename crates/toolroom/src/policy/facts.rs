//! The inputs of a verdict, and the variables conditions read from them.

use std::cell::{Cell, OnceCell};

use serde_json::{Map, Value};

use super::Provenance;
use super::tool_pattern::ToolNames;
use crate::expression::{Scalar, Variables};
use crate::scope::{Scope, UserId};
use crate::tool::{Arguments, Capability, ToolSpec};

/// Evaluation steps shared by all conditions of one verdict. Enough for a thousand ordinary rules; bounds the time that a
/// project file of costly rules can take, because evaluation cannot be interrupted.
pub(super) const EVALUATION_STEPS: usize = 50_000;

/// The root name of the arguments.
pub(super) const ARGUMENTS: &str = "args";

/// The root name of the provenance.
pub(super) const PROVENANCE_ROOT: &str = "provenance";

/// The root names a condition sees.
pub(super) const ROOTS: [&str; 4] = [ARGUMENTS, "caller", PROVENANCE_ROOT, "tool"];

const CALLER: [&str; 3] = ["project", "user", "entrance"];

const PROVENANCE: [&str; 3] = ["private", "untrusted", "outward"];

const TOOL: [&str; 8] =
    ["id", "name", "family", "source", "effect", "risk", "capabilities", "requires_confirmation"];

/// The inputs of a verdict besides the policy and the standing answers.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// The arguments, filled and checked.
    pub arguments: &'a Arguments,
    /// Whose call it is.
    pub scope: &'a Scope,
    /// Which entrance it came through.
    pub entrance: &'a str,
    /// The conversation.
    pub thread: Option<&'a str>,
    /// What was read and sent before this call.
    pub provenance: Provenance,
    /// The conversation, session or caller whose answers about destinations hold.
    pub origin: Option<&'a str>,
    /// Where the call sends something.
    pub destination: Option<&'a str>,
    /// Hash of the tool's definition.
    pub definition: &'a str,
}

impl<'a> Facts<'a> {
    fn caller_member(&self, key: &str) -> Option<Scalar<'a>> {
        match key {
            "project" => Some(Scalar::Text(self.scope.project.as_str())),
            "user" => Some(self.scope.user.as_ref().map(UserId::as_str).into()),
            "entrance" => Some(Scalar::Text(self.entrance)),
            _ => None,
        }
    }

    fn provenance_member(&self, key: &str) -> Option<Scalar<'a>> {
        match key {
            "private" => Some(Scalar::Bool(self.provenance.private)),
            "untrusted" => Some(Scalar::Bool(self.provenance.untrusted)),
            "outward" => Some(Scalar::Bool(self.provenance.outward)),
            _ => None,
        }
    }

    /// An effect that is not declared counts as destructive.
    fn tool_member(&self, key: &str) -> Option<Scalar<'a>> {
        let Self { spec, .. } = self;
        match key {
            "id" => Some(Scalar::Text(spec.id.as_str())),
            "name" => Some(Scalar::Text(spec.id.bare())),
            "family" => Some(spec.family.as_ref().map(|family| family.name.as_str()).into()),
            "source" => Some(spec.id.as_str().split_once(':').map(|(source, _)| source).into()),
            "effect" => Some(Scalar::Text(spec.effective_effect().as_str())),
            "risk" => Some(Scalar::Text(spec.risk.as_str())),
            "requires_confirmation" => Some(Scalar::Bool(spec.requires_confirmation)),
            _ => None,
        }
    }
}

/// The facts of one call, and what all rules share. Most variables are read from the facts directly; the arguments are
/// never copied, and an object such as `tool` becomes JSON only when a condition reads it as a whole.
pub(super) struct EvaluationContext<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) names: ToolNames<'a>,
    /// Steps left for all conditions.
    pub(super) steps: Cell<usize>,
    caller: OnceCell<Value>,
    provenance: OnceCell<Value>,
    tool: OnceCell<Value>,
}

impl<'a> EvaluationContext<'a> {
    pub(super) fn new(facts: &'a Facts<'a>) -> Self {
        Self {
            facts,
            names: ToolNames::new(facts.spec),
            steps: Cell::new(EVALUATION_STEPS),
            caller: OnceCell::new(),
            provenance: OnceCell::new(),
            tool: OnceCell::new(),
        }
    }

    /// A root name as a JSON object.
    fn object_of(&self, name: &str, keys: &[&str]) -> Value {
        let member = |key: &&str| {
            let value = match self.member(name, key) {
                Some(scalar) => scalar.into(),
                None => self.capabilities(),
            };
            ((*key).to_owned(), value)
        };
        Value::Object(keys.iter().map(member).collect())
    }

    fn capabilities(&self) -> Value {
        self.facts.spec.effective_capabilities().iter().map(Capability::as_str).collect()
    }
}

impl Variables for EvaluationContext<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        let object = match name {
            "caller" => self.caller.get_or_init(|| self.object_of(name, &CALLER)),
            "provenance" => self.provenance.get_or_init(|| self.object_of(name, &PROVENANCE)),
            "tool" => self.tool.get_or_init(|| self.object_of(name, &TOOL)),
            _ => return None,
        };
        Some(object)
    }

    fn object(&self, name: &str) -> Option<&Map<String, Value>> {
        (name == ARGUMENTS).then_some(self.facts.arguments)
    }

    fn member(&self, name: &str, key: &str) -> Option<Scalar<'_>> {
        match name {
            "caller" => self.facts.caller_member(key),
            "provenance" => self.facts.provenance_member(key),
            "tool" => self.facts.tool_member(key),
            _ => None,
        }
    }

    fn names(&self) -> Vec<&str> {
        ROOTS.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::expression::Expression;
    use crate::tool::{Effect, Risk};

    #[test]
    fn a_condition_sees_the_call_its_caller_the_run_and_the_tool() {
        let declared = ToolSpec::new("mcp:mail:send", "").unwrap().effect(Effect::OnceOnlyWrite);
        let spec = declared.capabilities(&[Capability::Egress]).risk(Risk::High).family("mail", true);
        let arguments = Map::from_iter([("to".to_owned(), json!(["a@b.c"]))]);
        let facts = Facts {
            spec: &spec,
            arguments: &arguments,
            scope: &Scope::user("shop", "ann"),
            entrance: "cli",
            thread: None,
            provenance: Provenance { private: true, ..Provenance::NONE },
            origin: None,
            destination: None,
            definition: "",
        };
        for condition in [
            "args.to[0] == 'a@b.c' and args == args and len(args) == 1",
            "caller.project == 'shop' and caller.user == 'ann' and caller.entrance == 'cli'",
            "provenance.private and not provenance.untrusted and not provenance.outward",
            "tool.id == 'mcp:mail:send' and tool.name == 'send' and tool.family == 'mail'",
            "tool.source == 'mcp' and tool.effect == 'once_only_write' and tool.risk == 'high'",
            "tool.capabilities == ['egress'] and not tool.requires_confirmation",
        ] {
            assert_eq!(
                Expression::parse(condition).unwrap().holds(&EvaluationContext::new(&facts)),
                Ok(true),
                "{condition}"
            );
        }

        let silent = ToolSpec::new("app:silent", "").unwrap();
        let facts = Facts { spec: &silent, scope: &Scope::default(), ..facts };
        for condition in [
            "tool.effect == 'destructive' and len(tool.capabilities) == 6 and tool.family == null",
            "caller.project == 'local' and caller.user == null",
        ] {
            assert_eq!(
                Expression::parse(condition).unwrap().holds(&EvaluationContext::new(&facts)),
                Ok(true),
                "{condition}"
            );
        }
    }

    #[test]
    fn a_root_name_as_a_whole_has_the_values_of_its_members() {
        let spec = ToolSpec::new("app:note", "").unwrap().family("notes", true);
        let facts = Facts {
            spec: &spec,
            arguments: &Map::new(),
            scope: &Scope::default(),
            entrance: "cli",
            thread: None,
            provenance: Provenance::NONE,
            origin: None,
            destination: None,
            definition: "",
        };
        let context = EvaluationContext::new(&facts);
        for root in ROOTS {
            assert!(context.get(root).is_some() || context.object(root).is_some(), "{root}");
        }
        assert_eq!(
            context.get("tool"),
            Some(&json!({
                "id": "app:note",
                "name": "note",
                "family": "notes",
                "source": "app",
                "effect": "destructive",
                "risk": "low",
                "capabilities": ["reads-private", "reads-untrusted", "writes", "egress", "exec", "destructive"],
                "requires_confirmation": false,
            }))
        );
        assert_eq!(
            context.get("caller"),
            Some(&json!({"project": "local", "user": null, "entrance": "cli"}))
        );
        let nowhere = json!({"private": false, "untrusted": false, "outward": false});
        assert_eq!(context.get("provenance"), Some(&nowhere));
        for (condition, expected) in [
            (
                "tool['risk'] == tool.risk and caller['user'] == caller.user and caller.user.deeper == null",
                true,
            ),
            ("tool.unknown == null and provenance.unknown == null and caller.unknown == null", true),
            ("'family' in tool and len(caller) == 3", true),
            ("provenance == args", false),
        ] {
            assert_eq!(Expression::parse(condition).unwrap().holds(&context), Ok(expected), "{condition}");
        }
    }
}
