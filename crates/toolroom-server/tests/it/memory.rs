//! `toolroom memory`: what tools remember is listed, shown, forgotten, exported; a promotion is agreed to and undone.

use serde_json::{Value, json};

use crate::home::Home;

/// A toolroom that remembers a city and a lesson.
fn home() -> Home {
    let home = Home::new();
    home.run(&["call", "memory_store", "key=city", "content=Lives in Tashkent."]).ended(0);
    let lesson =
        ["call", "memory_learn", "key=euros", "content=Prices in euros.\n# Always", "category=PREFERENCE"];
    home.run(&[&lesson[..], &["source=user correction"]].concat()).ended(0);
    home
}

/// The same, with the lesson reinforced to a count.
fn proved(count: usize) -> Home {
    let home = home();
    for _ in 1..count {
        home.run(&["call", "memory_reinforce", "key=euros"]).ended(0);
    }
    home
}

fn keys(home: &Home, more: &[&str]) -> Vec<String> {
    let listed = home.run(&[&["memory", "list", "--json"], more].concat()).ended(0).json();
    listed.as_array().unwrap().iter().map(|memory| memory["key"].as_str().unwrap().to_owned()).collect()
}

const PROMOTION: [&str; 4] =
    ["call", "promote_learning", "memory_key=euros", "soul_addition=Give prices in euros."];

#[test]
fn what_is_remembered_is_listed_and_shown() {
    let home = home();
    let listed = home.run(&["memory"]).ended(0).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(
        lines,
        ["euros  PREFERENCE  1×  Prices in euros.…", "city   GENERAL     1×  Lives in Tashkent."]
    );
    let shown = home.run(&["memory", "show", "euros"]).ended(0).out;
    for part in ["category  PREFERENCE", "source    user correction", "content   Prices in euros.\n# Always"]
    {
        assert!(shown.contains(part), "{shown}");
    }
    let document = home.run(&["memory", "show", "euros", "--json"]).ended(0).json();
    assert_eq!((&document["hits"], &document["category"]), (&json!(1), &json!("PREFERENCE")));
    let missing = home.run(&["memory", "show", "euro"]).ended(5);
    assert!(missing.err.contains("no memory `euro`; did you mean `euros`?"), "{missing:?}");
}

#[test]
fn forgetting_takes_all_that_is_named_or_nothing() {
    let home = home();
    home.run(&["memory", "forget", "city", "eros"]).ended(5);
    assert_eq!(keys(&home, &[]), ["euros", "city"]);
    let forgot = home.run(&["memory", "forget", "city", "--json"]).ended(0).json();
    assert_eq!(forgot, json!({"forgotten": ["city"]}));
    home.run(&["memory", "forget", "euros"]).ended(0);
    assert!(home.run(&["memory"]).ended(0).err.contains("No memories yet"));
    assert_eq!(home.run(&["memory", "export"]).ended(0).out, "# Memory\n");
}

#[test]
fn everything_is_exported_as_markdown_and_as_json() {
    let home = home();
    let expected = "# Memory\n\n## Memories\n\n- **city**: Lives in Tashkent.\n\n## Preferences\n\n\
        - **euros** (from user correction): Prices in euros.\n  # Always\n";
    assert_eq!(home.run(&["memory", "export"]).ended(0).out, expected);
    let document = home.run(&["memory", "export", "--json"]).ended(0).json();
    assert_eq!(document["memories"].as_array().unwrap().len(), 2);
    assert_eq!(document["memories"][1]["content"], "Lives in Tashkent.");
}

#[test]
fn users_have_memories_of_their_own() {
    let home = home();
    assert_eq!(keys(&home, &["--user", "anna"]), [""; 0]);
    home.run(&["memory", "forget", "city", "--user", "anna"]).ended(5);
    assert_eq!(keys(&home, &[]), ["euros", "city"]);
}

#[test]
fn a_stored_secret_is_neither_remembered_nor_shown() {
    let home = Home::new();
    home.run(&["call", "memory_store", "key=door", "content=the code is open-sesame-42"]).ended(0);
    home.run_with_stdin(&["secrets", "set", "DOOR"], "open-sesame-42").ended(0);
    let refused =
        home.run(&["call", "memory_store", "key=again", "content=the code is open-sesame-42"]).ended(1);
    assert!(refused.err.contains("contains a secret") && !refused.err.contains("sesame"), "{refused:?}");
    // What was remembered before is hidden wherever it comes up.
    for command in [
        &["memory"][..],
        &["memory", "show", "door"],
        &["memory", "export"],
        &["memory", "export", "--json"],
        &["call", "memory_search", "query=code"],
    ] {
        let ran = home.run(command).ended(0);
        assert!(!ran.out.contains("sesame") && ran.out.contains("[secret DOOR]"), "{command:?}: {ran:?}");
    }
    let agent = home.run(&["agents", "set", "porter", "--prompt", "Say open-sesame-42."]).ended(2);
    assert!(agent.err.contains("holds a secret"), "{agent:?}");
}

#[test]
fn only_the_operator_makes_a_lesson_an_instruction_and_can_undo_it() {
    let home = proved(5);
    let parked = home.run(&[&PROMOTION[..], &["--yes", "--json"]].concat()).ended(4);
    let report = parked.json();
    assert_eq!((&report["pending"]["by"], &report["rule"]), (&json!("operator"), &json!("tool.judge")));
    let call = parked.call_id();
    let refused = home.run(&["approvals", "approve", &call, "--always"]);
    assert!(refused.code != 0 && refused.err.contains("answer once"), "{refused:?}");
    assert!(keys(&home, &[]).contains(&"euros".to_owned()), "nothing has happened");
    home.run(&["approvals", "approve", &call]).ended(0);
    let done: Value = home.run(&["call", "--resume", &call]).ended(0).json();
    assert_eq!((&done["promoted_key"], &done["hit_count"]), (&json!("euros"), &json!(5)));

    assert_eq!(keys(&home, &[]), ["city"]);
    let promoted = home.run(&["memory", "promotions"]).ended(0).out;
    assert!(
        promoted.starts_with("euros  default  ") && promoted.contains("Give prices in euros."),
        "{promoted}"
    );
    assert!(home.run(&["memory", "promotions", "--agent", "cook"]).ended(0).out.is_empty());
    home.run(&["memory", "undo", "city"]).ended(5);
    let undone = home.run(&["memory", "undo", "euros", "--json"]).ended(0).json();
    assert_eq!((&undone["remembered_again"], &undone["undone"]["memory"]["hits"]), (&json!(true), &json!(5)));
    assert_eq!(keys(&home, &[]).len(), 2);
    home.run(&["memory", "undo", "euros"]).ended(5);
}

#[test]
fn four_hits_are_too_few_even_for_the_operator() {
    let home = proved(4);
    let call = home.run(&[&PROMOTION[..], &["--json"]].concat()).ended(4).call_id();
    home.run(&["approvals", "approve", &call]).ended(0);
    let refused = home.run(&["call", "--resume", &call]).ended(1);
    assert!(refused.err.contains("`euros` was confirmed 4 times, and 5 are needed"), "{refused:?}");
    assert_eq!(keys(&home, &[]), ["euros", "city"]);
}

#[test]
fn the_switch_takes_the_tools_away_and_keeps_what_is_remembered() {
    let home = home();
    let hint = home.run(&["tools", "disable", "memory_store"]);
    assert!(hint.code != 0 && hint.err.contains("switch the feature `memory`"), "{hint:?}");
    home.run(&["switch", "off", "memory"]).ended(0);
    home.run(&["call", "memory_search", "query=city"]).ended(3);
    assert_eq!(keys(&home, &[]), ["euros", "city"]);
}

#[test]
fn what_was_spent_can_be_asked_for() {
    let home = Home::new();
    let status = home.run(&["call", "session_status"]).ended(0).json();
    assert_eq!((&status["turn_count"], &status["total_cost"]), (&json!(0), &json!(0.0)));
    let costs = home.run(&["call", "cost_status", "user_id=anna"]).ended(0).json();
    assert_eq!((&costs["user_id"], &costs["total_tokens"]), (&json!("anna"), &json!(0)));
}
