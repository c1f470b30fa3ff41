//! Everyday work in a project, and how often it asks.

use serde_json::{Value, json};

use super::{OPEN, strangers};
use crate::home::Home;
use crate::loopback_service::LoopbackService;
use crate::scripted_model::{Line, ScriptedModel};

/// The steps of one feature: look something up, read, write, test.
fn steps(docs: &LoopbackService, round: usize) -> Vec<(&'static str, Value)> {
    let fetch = |path: &str| ("web_fetch", json!({"url": docs.url(path)}));
    let file = |name: &str| json!({"path": format!("{name}{round}.txt")});
    let write = |name: &str, text: &str| {
        ("write_file", json!({"path": format!("{name}{round}.txt"), "content": text}))
    };
    vec![
        ("memory_search", json!({"query": "style"})),
        ("web_search", json!({"query": format!("parser combinators part {round}")})),
        fetch("/guide"),
        ("list_files", json!({"path": "."})),
        ("read_file", json!({"path": "README.txt"})),
        write("part", "first\n"),
        ("read_file", file("part")),
        ("execute_shell_command", json!({"command": "cat README.txt"})),
        fetch("/reference"),
        write("part", "second\n"),
        ("read_file", file("part")),
        ("execute_shell_command", json!({"command": "test -s README.txt"})),
    ]
}

/// A project with a file, a memory of its owner, and tools for all steps.
fn project(home: &Home, docs: &LoopbackService, script: Vec<Line>) -> ScriptedModel {
    let workspace = home.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    std::fs::write(workspace.join("README.txt"), "A parser.\n").unwrap();
    let model = ScriptedModel::starts(script);
    let more = format!(
        "{OPEN}[policy]\npreset = \"open\"\n[agent.default.limits]\niterations = 200\n\
         [search.searxng]\nurl = \"{}\"\n[search]\nproviders = [\"searxng\"]\n",
        docs.url("/")
    );
    model.is_set_up_in(home.path(), &more);
    home.run(&["tools", "enable", "execute_shell_command"]).ended(0);
    home.run(&["call", "memory_store", "key=style", "content=prefers short functions", "--yes"]).ended(0);
    model
}

/// Answers all questions until the conversation has ended. Returns the tools that the guard asked about.
fn questions_of(home: &Home) -> Vec<String> {
    let mut asked = Vec::new();
    let mut ran = home.run(&["chat", "build it", "--json"]);
    while ran.code == 4 {
        let waiting = home.run(&["approvals", "list", "--json"]).ended(0).json();
        for question in waiting.as_array().unwrap() {
            assert_eq!(question["rule"], "provenance.third", "{question}");
            asked.push(question["tool"].as_str().unwrap().to_owned());
            home.run(&["approvals", "approve", question["call_id"].as_str().unwrap()]).ended(0);
        }
        ran = home.run(&["runs", "resume", "last", "--json"]);
    }
    assert!(ran.out.contains("All done."), "{ran:?}");
    asked
}

#[test]
fn sixty_steps_of_everyday_work_ask_once_for_each_destination() {
    let (home, docs) = (Home::new(), strangers());
    let calls: Vec<_> = (0..5).flat_map(|round| steps(&docs, round)).collect();
    assert_eq!(calls.len(), 60);
    let script = calls.into_iter().map(|(tool, arguments)| Line::Calls(tool, arguments));
    let _model = project(&home, &docs, script.chain([Line::says("All done.")]).collect());
    // The host of the documentation and the search provider: two destinations.
    let asked = questions_of(&home);
    assert_eq!(asked, ["builtin:web_fetch", "builtin:web_search"]);
}
