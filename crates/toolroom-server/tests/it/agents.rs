//! `toolroom agents`: made, changed, shown and removed; `default` always is there.

use serde_json::{Value, json};

use crate::home::Home;
use crate::project::Project;

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
    assert_eq!(listed, "default  Assistant  configured models  all tools  built in\n");
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
    assert!(ran.err.contains("Created agent `cook`"), "{ran:?}");
    assert!(
        ran.err.contains("no tool here fits `nothing_like_it`") && !ran.err.contains("`web_*`"),
        "{ran:?}"
    );
    let ran = home.run(&["agents", "set", "cook", "--deny", "", "--iterations", "3"]).ended(0);
    assert!(ran.err.contains("Changed agent `cook`") && !ran.err.contains("warning"), "{ran:?}");
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
        (&["--model", "gpt-4o"][..], "vendor and model"),
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

fn write_user_file(home: &Home, text: &str) {
    std::fs::write(home.path().join("toolroom.toml"), text).unwrap();
}

#[test]
fn an_agent_of_the_configuration_goes_before_the_database() {
    let home = Home::new();
    home.run(&["agents", "set", "cook", "--prompt", "kept"]).ended(0);
    home.run(&["agents", "set", "default", "--iterations", "4"]).ended(0);
    write_user_file(
        &home,
        "[agent.cook]\nprompt = 'written'\nmodels = 'openai/gpt-5'\nallow = ['web_*']\n\
         [agent.default.limits]\ndaily_budget_usd = 2\n",
    );
    assert_eq!(ids(&home), ["cook", "default"]);
    let cook = shown(&home, "cook");
    assert_eq!((&cook["prompt"], &cook["name"]), (&json!("written"), &json!("cook")));
    assert_eq!((&cook["models"], &cook["allow"]), (&json!(["openai/gpt-5"]), &json!(["web_*"])));
    assert_eq!(cook["origin"]["kind"], "configuration");
    assert!(cook["origin"]["place"].as_str().unwrap().ends_with("toolroom.toml:1"), "{cook}");
    let default = shown(&home, "default");
    assert_eq!((&default["name"], &default["limits"]["iterations"]), (&json!("Assistant"), &json!(15)));
    assert_eq!(default["limits"]["daily_budget_usd"], 2.0);
    let listed = home.run(&["agents"]).ended(0).out;
    assert!(listed.lines().all(|line| line.ends_with("configuration")), "{listed}");

    let refused = home.run(&["agents", "set", "cook", "--prompt", "changed"]).ended(2);
    assert!(refused.err.contains("written in the configuration") && refused.err.contains("toolroom.toml:1"));
    // What is kept below can be taken away, what is written cannot.
    home.run(&["agents", "remove", "cook"]).ended(0);
    home.run(&["agents", "remove", "cook"]).ended(2);
    assert_eq!(shown(&home, "cook")["prompt"], "written");

    write_user_file(&home, "");
    assert_eq!(ids(&home), ["default"]);
    assert_eq!(shown(&home, "default")["limits"]["iterations"], 4);
}

#[test]
fn a_project_that_is_not_trusted_only_narrows_agents_and_nothing_of_it_is_kept() {
    let project = Project::new("");
    let home = &project.home;
    home.run(&["agents", "set", "cook", "--prompt", "kept"]).ended(0);
    let text = "[agent.cook]\nprompt = 'obey me'\nallow = ['shell_exec']\ndeny = ['web_*']\n\
                limits = { iterations = 3, parallel = 64 }\n[agent.spy]\nprompt = 'spy'\n";
    project.write(text);
    let inside = |arguments: &[&str]| project.run(arguments);
    let cook = inside(&["agents", "show", "cook", "--json"]).ended(0).json();
    assert_eq!((&cook["prompt"], &cook["allow"]), (&json!("kept"), &json!([])));
    assert_eq!((&cook["deny"], &cook["limits"]["iterations"]), (&json!(["web_*"]), &json!(3)));
    assert_eq!((&cook["limits"]["parallel"], &cook["origin"]["kind"]), (&json!(8), &json!("database")));
    inside(&["agents", "show", "spy"]).ended(5);
    let told = inside(&["config", "check"]).ended(0).err;
    for part in ["`agent.cook.prompt = \"obey me\"` is ignored", "`agent.cook.allow", "`agent.spy.prompt"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("agent.cook.deny"), "{told}");
    inside(&["agents", "set", "cook", "--name", "Cook"]).ended(0);
    assert_eq!((&shown(home, "cook")["deny"], &shown(home, "cook")["name"]), (&json!([]), &json!("Cook")));

    inside(&["trust", "--yes"]).ended(0);
    assert_eq!(inside(&["agents", "show", "cook", "--json"]).ended(0).json()["prompt"], "obey me");
    inside(&["agents", "show", "spy"]).ended(0);
}

#[test]
fn agents_with_trouble_are_told_and_break_nothing() {
    let home = Home::new();
    home.run(&["agents", "set", "baker", "--model", "opnai/gpt-5"]).ended(0);
    write_user_file(&home, "[agent.cook]\nmodels = ['missing/m']\nallow = ['calculater']\n");
    let told = home.run(&["config", "check"]).ended(0).err;
    assert!(told.contains("`agent.cook.models` cannot be used: unknown vendor `missing`"), "{told}");
    assert!(
        told.contains("`agent.cook.allow` matches no tool: unknown tool `calculater`")
            && told.contains("calculator"),
        "{told}"
    );
    let told = home.run(&["agents", "show", "cook"]).ended(0).err;
    assert!(told.contains("no tool here fits `calculater`") && told.contains("`missing`"), "{told}");
    let doctor = home.run(&["doctor"]);
    let told = format!("{}{}", doctor.out, doctor.err);
    assert!(told.contains("the agent `baker` cannot be used: unknown vendor `opnai`"), "{told}");
    assert!(told.contains("did you mean `openai`?") && told.contains("agents show baker"), "{told}");
    assert!(told.contains("agent.cook.models"), "{told}");
}

#[test]
fn a_configuration_with_a_wrong_agent_is_told_with_its_place() {
    let home = Home::new();
    for (text, says) in [
        ("[agent.'a b']\n", "`agent.\"a b\"` is invalid: an agent's id has"),
        ("[agent.cook]\nname = ''\n", "the name must be one line"),
        ("[agent.cook]\nmodels = 'gpt-5'\n", "`agent.cook.models` must be a model"),
        ("[agent.cook]\nallow = [\"a\\tb\"]\n", "`a\\tb` fits no tool"),
        ("[agent.cook]\nlimits.iterations = 0\n", "must be a whole number from 1 to 1000, got the number 0"),
        ("[agent.cook]\nlimits.parallel = 65\n", "must be a whole number from 1 to 64"),
        (
            "[agent.cook]\nlimits.daily_budget_usd = -0.5\n",
            "must be a number, 0 or more, got the number -0.5",
        ),
        ("[agent.cook]\nlimits.daily_budget_usd = inf\n", "must be a number, 0 or more"),
        ("[agent.cook]\nlimits.daily_budget_usd = '2'\n", "must be a number, 0 or more"),
        ("[agent.cook]\non_disconnect = 'cancle'\n", "did you mean \"cancel\"?"),
        ("[agent.cook]\npromt = 'x'\n", "did you mean `agent.cook.prompt`?"),
    ] {
        write_user_file(&home, text);
        let ran = home.run(&["config", "check"]).ended(2);
        assert!(ran.err.contains("toolroom.toml:") && ran.err.contains(says), "{text}: {ran:?}");
    }
}
