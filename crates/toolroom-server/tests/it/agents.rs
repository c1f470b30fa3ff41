//! `toolroom agents`: made, changed, shown and removed; `default` always is there.

use serde_json::{Value, json};

use crate::home::Home;

fn ids(home: &Home) -> Vec<String> {
    let listed = home.run(&["agents", "--json"]).ended(0).json();
    listed.as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap().to_owned()).collect()
}

fn shown(home: &Home, id: &str) -> Value {
    home.run(&["agents", "show", id, "--json"]).ended(0).json()
}

#[test]
fn there_is_always_a_default_agent() {
    let home = Home::new();
    assert_eq!(ids(&home), ["default"]);
    let listed = home.run(&["agents"]).ended(0).out;
    assert_eq!(listed, "default  Assistant  the configured models  all tools\n");
    home.run(&["agents", "set", "default", "--budget", "2.5"]).ended(0);
    assert_eq!(shown(&home, "default")["limits"]["daily_budget_usd"], 2.5);
    home.run(&["agents", "remove", "default"]).ended(0);
    assert_eq!(shown(&home, "default")["limits"]["daily_budget_usd"], Value::Null);
    assert_eq!(ids(&home), ["default"]);
}

#[test]
fn an_agent_is_made_changed_and_removed() {
    let home = Home::new();
    let made = [
        "agents",
        "set",
        "cook",
        "--prompt",
        "You cook.",
        "--model",
        "openai/gpt-4o",
        "--model",
        "ollama/llama3",
    ];
    let ran = home.run(&[&made[..], &["--allow", "web_*", "--deny", "nothing_like_it"]].concat()).ended(0);
    assert!(ran.err.contains("made the agent `cook`"), "{ran:?}");
    assert!(
        ran.err.contains("no tool here fits `nothing_like_it`") && !ran.err.contains("`web_*`"),
        "{ran:?}"
    );
    let ran = home.run(&["agents", "set", "cook", "--deny", "", "--iterations", "3"]).ended(0);
    assert!(ran.err.contains("changed the agent `cook`") && !ran.err.contains("warning"), "{ran:?}");
    let cook = shown(&home, "cook");
    assert_eq!((&cook["prompt"], &cook["name"]), (&json!("You cook."), &json!("cook")));
    assert_eq!((&cook["models"], &cook["deny"]), (&json!(["openai/gpt-4o", "ollama/llama3"]), &json!([])));
    assert_eq!((&cook["allow"], &cook["limits"]["iterations"]), (&json!(["web_*"]), &json!(3)));
    let sheet = home.run(&["agents", "show", "cook"]).ended(0).out;
    for part in ["models      openai/gpt-4o, ollama/llama3", "tools       web_*", "prompt      You cook."] {
        assert!(sheet.contains(part), "{sheet}");
    }
    let missing = home.run(&["agents", "show", "cok"]).ended(5);
    assert!(missing.err.contains("there is no agent `cok`; did you mean `cook`?"), "{missing:?}");
    home.run(&["agents", "remove", "cook"]).ended(0);
    home.run(&["agents", "remove", "cook"]).ended(5);
    assert_eq!(ids(&home), ["default"]);
}

#[test]
fn a_file_says_everything_and_flags_come_on_top() {
    let home = Home::new();
    let toml = "name = 'The cook'\nprompt = 'You cook.'\n[limits]\niterations = 5\nparallel = 2\n";
    let ran =
        home.run_with_stdin(&["agents", "set", "cook", "--file", "-", "--iterations", "7", "--json"], toml);
    let cook = ran.ended(0).json();
    assert_eq!((&cook["name"], &cook["limits"]["parallel"]), (&json!("The cook"), &json!(2)));
    assert_eq!(cook["limits"]["iterations"], 7);
    // What is shown can be given back.
    let again =
        home.run_with_stdin(&["agents", "set", "cook", "--file", "-", "--json"], &cook.to_string()).ended(0);
    assert_eq!(again.json(), cook);
}

#[test]
fn what_is_wrong_is_told_and_changes_nothing() {
    let home = Home::new();
    home.run(&["agents", "set", "cook", "--prompt", "You cook."]).ended(0);
    for (wrong, says) in [
        (&["--model", "gpt-4o"][..], "vendor/model"),
        (&["--budget=-1"], "0 or more"),
        (&["--budget", "much"], "a number or `none`"),
        (&["--iterations", "0"], "from 1 to 1000"),
        (&["--allow", "a\tb"], "fits no tool"),
        (&["--on-disconnect", "panic"], "panic"),
    ] {
        let command = [&["agents", "set", "cook", "--prompt", "changed"], wrong].concat();
        let ran = home.run(&command).ended(2);
        assert!(ran.err.contains(says), "{command:?}: {ran:?}");
    }
    home.run(&["agents", "set", "a b"]).ended(2);
    home.run(&["agents", "set", "cook", "--file", "/nowhere/cook.toml"]).ended(5);
    let ran = home.run_with_stdin(&["agents", "set", "cook", "--file", "-"], "promt = 'x'").ended(2);
    assert!(ran.err.contains("promt"), "{ran:?}");
    assert_eq!(shown(&home, "cook")["prompt"], "You cook.");
    assert_eq!(ids(&home), ["cook", "default"]);
}
