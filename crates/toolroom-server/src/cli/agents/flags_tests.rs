use toolroom::conversation::AgentId;

use super::*;

fn agent() -> AgentRecord {
    AgentRecord { id: AgentId::new("cook"), name: "Cook".into(), ..AgentRecord::default() }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn fields_without_a_flag_stay_unchanged() {
    let first = AgentFlags {
        prompt: Some("You cook.".into()),
        model: words(&["openai/gpt-4o", "ollama/llama3:8b"]),
        allow: words(&["web_*", "builtin:calculator"]),
        budget: Some("1.5".into()),
        max_tokens: Some("900".into()),
        on_disconnect: Some("cancel".into()),
        ..AgentFlags::default()
    };
    let cook = apply_flags(agent(), &first).unwrap();
    assert_eq!((cook.name.as_str(), cook.prompt.as_str()), ("Cook", "You cook."));
    assert_eq!((cook.models.len(), cook.allow.len(), cook.limits.daily_budget_usd), (2, 2, Some(1.5)));
    assert_eq!(cook.on_disconnect, OnDisconnect::Cancel);
    assert_eq!(apply_flags(cook.clone(), &AgentFlags::default()).unwrap(), cook);
    let second = AgentFlags {
        allow: words(&[""]),
        budget: Some("none".into()),
        max_tokens: Some("none".into()),
        iterations: Some(3),
        ..AgentFlags::default()
    };
    let after = apply_flags(cook.clone(), &second).unwrap();
    assert!(after.allow.is_empty() && after.limits.daily_budget_usd.is_none());
    assert_eq!((after.limits.iterations, after.limits.max_tokens), (3, None));
    assert_eq!(after.models, cook.models);
}

#[test]
fn invalid_values_are_refused_with_a_reason() {
    let check = |flags: AgentFlags, says: &str| {
        let error = apply_flags(agent(), &flags).unwrap_err();
        assert!(error.contains(says), "{flags:?}: {error}");
    };
    let flags = AgentFlags::default;
    check(AgentFlags { name: Some(" ".into()), ..flags() }, "one line");
    check(AgentFlags { name: Some("a\nb".into()), ..flags() }, "one line");
    check(AgentFlags { prompt: Some("x".repeat(20_001)), ..flags() }, "20000");
    check(AgentFlags { model: words(&["gpt-4o"]), ..flags() }, "vendor and model");
    check(AgentFlags { model: words(&["openai/"]), ..flags() }, "vendor and model");
    check(AgentFlags { model: words(&["open ai/x"]), ..flags() }, "no name of a vendor");
    check(AgentFlags { model: vec!["openai/x".into(); 9], ..flags() }, "8 models");
    check(AgentFlags { allow: vec!["x".into(); 101], ..flags() }, "100 allowed tools");
    check(AgentFlags { deny: words(&["a\tb"]), ..flags() }, "fits no tool");
    check(AgentFlags { iterations: Some(0), ..flags() }, "from 1 to 1000");
    check(AgentFlags { parallel: Some(0), ..flags() }, "from 1 to 64");
    check(AgentFlags { parallel: Some(65), ..flags() }, "from 1 to 64");
    check(AgentFlags { tool_tokens: Some(1_000_001), ..flags() }, "from 0");
    for budget in ["-1", "NaN", "inf"] {
        check(AgentFlags { budget: Some(budget.into()), ..flags() }, "0 or more");
    }
    check(AgentFlags { budget: Some("much".into()), ..flags() }, "`none`");
    check(AgentFlags { max_tokens: Some("0".into()), ..flags() }, "from 1");
    for id in ["", "a b", "ä", &"x".repeat(65)] {
        let odd = AgentRecord { id: AgentId::new(id), ..agent() };
        assert!(apply_flags(odd, &flags()).unwrap_err().contains("id"), "{id}");
    }
}

#[test]
fn a_file_is_json_or_toml_and_its_id_must_match() {
    let toml = "prompt = 'You cook.'\nmodels = ['openai/gpt-4o']\n[limits]\ndaily_budget_usd = 2.0\n";
    let json = r#"{"id": "cook", "prompt": "You cook.", "models": ["openai/gpt-4o"], "limits": {"daily_budget_usd": 2}}"#;
    let record = read_record("cook", toml).unwrap();
    assert_eq!(record, read_record("cook", json).unwrap());
    assert_eq!((record.id.as_str(), record.name.as_str()), ("cook", "cook"));
    assert_eq!((record.limits.daily_budget_usd, record.limits.iterations), (Some(2.0), 15));
    let check = |text: &str, says: &str| {
        let error = read_record("cook", text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    };
    check("{", "not valid JSON");
    check("prompt = ", "not valid TOML");
    check("id = 'baker'", "`cook`");
    check("promt = 'x'", "promt");
    check("limits = 7", "not a valid agent");
}
