//! Fuzz targets: plain functions, replayed over the corpus and mutations of it. `make fuzz` runs many more.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolroom::agent::{clean_input, recover_calls};
use toolroom::catalog::WireNames;
use toolroom::expression::Expression;
use toolroom::model::OfferedTool;
use toolroom::policy::{Answers, Facts, Policy, Preset, Provenance, Rule, RuleText, Ruling, ToolPattern};
use toolroom::redact::{Patterns, Redactor, Secret, Stream};
use toolroom::schema::{PatternRule, Schema, parse_object};
use toolroom::scope::Scope;
use toolroom::selector::{Selector, ToolCard};
use toolroom::tool::{Effect, ToolId, ToolSpec};

use crate::mutation::fuzz;

#[test]
fn expression() {
    fuzz("expression", |text| {
        if let Ok(expression) = Expression::parse(text) {
            // Any answer is fine; a panic, an endless loop or a stack overflow is not.
            drop(expression.evaluate(&json!({"args": {"x": 1, "list": [1, "a"]}})));
        }
    });
}

#[test]
fn argument_text() {
    fuzz("argument_text", |text| {
        if let Ok(arguments) = parse_object(text) {
            let written = Value::Object(arguments.clone()).to_string();
            assert_eq!(
                parse_object(&written).unwrap(),
                arguments,
                "what was read can be written and read again"
            );
        }
    });
}

#[test]
fn schema() {
    fuzz("schema", |text| {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return };
        for patterns in [PatternRule::Refuse, PatternRule::Relax] {
            if let Ok(schema) = Schema::new(value.clone(), patterns) {
                for instance in [json!({}), json!({"a": [1, {"b": null}], "value": "x"}), value.clone()] {
                    drop(schema.check(&instance));
                }
            }
        }
    });
}

#[test]
fn names() {
    fuzz("names", |text| {
        let ids: HashSet<&str> = text.lines().collect();
        let names = WireNames::new(ids.iter().copied());
        let wires: HashSet<&str> = ids.iter().map(|id| names.wire(id).unwrap()).collect();
        assert_eq!(wires.len(), ids.len(), "two ids never share a wire name");
        for wire in wires {
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!((1..=64).contains(&wire.len()) && wire.chars().all(allowed), "{wire}");
        }
        for id in ids {
            if let Ok(parsed) = ToolId::parse(id) {
                assert_eq!(parsed.as_str(), id);
                assert!(!parsed.bare().is_empty());
            }
        }
    });
}

#[test]
fn rule() {
    fuzz("rule", |text| {
        let Ok(rule) = serde_json::from_str::<RuleText>(text).map(Rule::new) else { return };
        let Ok(rule) = rule else { return };
        assert!(Rule::new(rule.text().clone()).is_ok(), "what was taken is taken again");
        let ruling = rule.text().effect;
        let policy = Policy::new(Preset::Open, vec![rule]).unwrap();
        for (tool, arguments) in [("app:place_order", json!({"amount": 101})), ("mcp:x:send_mail", json!({}))]
        {
            let spec = ToolSpec::new(tool, "").unwrap().effect(Effect::Pure);
            let facts = Facts {
                spec: &spec,
                arguments: arguments.as_object().unwrap(),
                scope: &Scope::default(),
                entrance: "cli",
                thread: None,
                provenance: Provenance::NONE,
                origin: None,
                destination: None,
                definition: "",
            };
            let verdict = policy.verdict(&facts, &Answers::default());
            let expected = match policy.rules()[0].applies(&facts) {
                Ok(true) => ruling,
                Ok(false) => Ruling::Allow,
                Err(_) => Ruling::Deny,
            };
            assert_eq!(verdict.ruling, expected, "{verdict:?}");
        }
    });
}

#[test]
fn redact() {
    let secrets = [Secret::new("A", "geheim/wort"), Secret::new("B", "zwei \"Wörter\"\n")];
    let redactor = Arc::new(Redactor::new(secrets, Patterns::All));
    fuzz("redact", |text| {
        let redacted = redactor.redact_text(text);
        assert!(!redacted.contains("geheim/wort") && !redacted.contains("zwei \"Wörter"), "{redacted}");
        assert_eq!(redactor.redact_text(&redacted), redacted, "hiding twice changes nothing");
        let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
        let mut stream = Stream::new(Arc::clone(&redactor));
        let chunks = stream.push(first) + &stream.push(second) + &stream.finish();
        assert_eq!(chunks, redacted, "chunks make no difference: {text:?}");
        if let Ok(mut value) = serde_json::from_str::<Value>(text) {
            redactor.redact_value(&mut value);
            assert!(!value.to_string().contains("geheim/wort"), "{value}");
        }
    });
}

#[test]
fn pattern() {
    fuzz("pattern", |text| {
        let (pattern, name) = text.split_once('\n').unwrap_or((text, text));
        let Ok(pattern) = ToolPattern::parse(pattern) else { return };
        let spec = ToolSpec::new("app:x", "").unwrap().family(name, true);
        let fits = pattern.matches(&spec);
        if pattern.is_exact() {
            assert_eq!(fits, ["app:x", "x", name].contains(&pattern.to_string().as_str()));
        }
        assert!(ToolPattern::parse("*").unwrap().matches(&spec));
        assert_eq!(ToolPattern::parse(&pattern.to_string()), Ok(pattern));
    });
}

#[test]
fn inline_calls() {
    let names = WireNames::new(["builtin:calculator", "mcp:web:search"]);
    let parameters = json!({ "properties": {
        "expression": { "type": "string" },
        "digits": { "type": "integer" },
        "values": { "type": "array" },
        "options": { "type": ["object", "null"] },
    }});
    let parameters = Arc::new(parameters);
    let tool = |(_, wire): (&str, &str)| OfferedTool {
        name: wire.to_owned(),
        description: String::new(),
        parameters: Arc::clone(&parameters),
    };
    let tools: Vec<OfferedTool> = names.iter().map(tool).collect();
    fuzz("inline_calls", |text| {
        let cleaned = clean_input(text);
        assert_eq!(clean_input(&cleaned), cleaned, "what is clean stays as it is");
        let Some(recovered) = recover_calls(text, &tools, &names) else { return };
        assert!(recovered.text.len() < text.len());
        assert!(!recovered.calls.is_empty());
        for call in recovered.calls {
            assert!(names.id(&call.name).is_some(), "only tools on offer are called: {}", call.name);
        }
    });
}

#[test]
fn select() {
    fuzz("select", |text| {
        let (message, tools) = text.split_once('\n').unwrap_or((text, text));
        let card = |line: &str| {
            let (name, description) = line.split_once(':').unwrap_or((line, line));
            let id = name.to_owned();
            let requests = description.split('.').map(str::to_owned).collect();
            ToolCard {
                name: id.clone(),
                id,
                description: description.to_owned(),
                requests,
                ..ToolCard::default()
            }
        };
        let cards: Vec<ToolCard> = tools.lines().map(card).collect();
        let ranking = Selector::new(cards.clone()).rank(message, 3);
        assert_eq!(ranking.abstained, ranking.tools.is_empty());
        assert!(ranking.tools.len() <= 3 && ranking.tools.iter().all(|ranked| ranked.score.is_finite()));
        assert!(ranking.tools.is_sorted_by(|a, b| a.score >= b.score));
        let turned = Selector::new(cards.into_iter().rev());
        assert_eq!(turned.rank(message, 3), ranking, "the order of cards makes no difference");
    });
}
