//! `toolroom tools` and `toolroom switch`, in one process and across several.

use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn tools_are_listed_shown_and_switched() {
    let home = Home::new();
    let listed = home.run(&["tools"]).ended(0).out;
    assert!(listed.contains("builtin:calculator") && listed.contains("builtin:search"), "{listed}");
    assert!(listed.lines().all(|line| line.trim_end() == line), "no stray spaces");

    let show = home.run(&["tools", "show", "calculator"]).ended(0).out;
    for part in ["builtin:calculator", "expression", "required", "pure", "30s"] {
        assert!(show.contains(part), "{part}: {show}");
    }
    let spec = home.run(&["tools", "show", "calculator", "--json"]).ended(0).json();
    assert_eq!((&spec["id"], &spec["enabled"]), (&json!("builtin:calculator"), &json!(true)));
    assert_eq!(spec["parameters"]["required"], json!(["expression"]));

    home.run(&["tools", "disable", "calculator"]).ended(0);
    assert!(!home.run(&["tools"]).ended(0).out.contains("calculator"));
    assert!(home.run(&["tools"]).err.contains("6 more switched off"));
    let all: Vec<Value> =
        serde_json::from_str(&home.run(&["tools", "--all", "--json"]).ended(0).out).unwrap();
    assert_eq!((&all[0]["id"], &all[0]["enabled"]), (&json!("builtin:calculator"), &json!(false)));

    let denied = home.run(&["call", "calculator", "expression=1"]).ended(3);
    assert!(denied.err.contains("toolroom tools enable builtin:calculator"), "{denied:?}");
    assert_eq!(home.journal()[0]["status"], "denied");
    home.run(&["tools", "enable", "builtin:calculator"]).ended(0);
    home.run(&["call", "calculator", "expression=1"]).ended(0);

    home.run(&["tools", "disable", "calculator"]).ended(0);
    home.run(&["tools", "reset", "calculator"]).ended(0);
    home.run(&["call", "calculator", "expression=1"]).ended(0);

    let unknown = home.run(&["tools", "show", "calculater"]).ended(5);
    assert!(unknown.err.contains("did you mean `builtin:calculator`?"), "{unknown:?}");
    home.run(&["tools", "enable", "nonsense"]).ended(5);
}

#[test]
fn features_are_listed_and_switched() {
    let home = Home::new();
    let listed: Vec<Value> =
        serde_json::from_str(&home.run(&["switch", "list", "--json"]).ended(0).out).unwrap();
    let names: Vec<&str> = listed.iter().map(|line| line["feature"].as_str().unwrap()).collect();
    assert_eq!(names, ["email", "memory", "scheduling"]);
    assert!(listed.iter().all(|line| line["state"] == "on"));
    home.run(&["switch", "off", "memory"]).ended(0);
    assert!(home.run(&["switch"]).ended(0).out.contains("off"));
    home.run(&["switch", "reset", "memory"]).ended(0);
    assert!(!home.run(&["switch"]).ended(0).out.contains("off"));
    let unknown = home.run(&["switch", "on", "flying"]).ended(5);
    assert!(unknown.err.contains("known features: email, memory, scheduling"), "{unknown:?}");
}

#[test]
fn a_family_is_switched_by_its_name_and_the_remedy_works() {
    let home = Home::new();
    home.run_own(&["tools", "disable", "notes"]).ended(0);
    let denied = home.run_own(&["call", "append_note", "path=/dev/null", "text=x"]).ended(3);
    let remedy = denied.err.split('`').find(|part| part.starts_with("toolroom ")).unwrap().to_owned();
    let words: Vec<&str> = remedy.split(' ').skip(1).collect();
    home.run_own(&words).ended(0);
    home.run_own(&["call", "append_note", "path=/dev/null", "text=x"]).ended(0);
    home.run_own(&["tools", "disable", "append_note"]).ended(0);
    home.run_own(&["call", "append_note", "path=/dev/null", "text=x"]).ended(3);
}
