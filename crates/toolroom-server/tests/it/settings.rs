//! `toolroom export` and `import`: what was set here is set there, without secrets, and twice is once.

use serde_json::{Value, json};

use crate::canary::Canary;
use crate::home::{Home, Ran};
use crate::pty::{Pty, Stdout};
use crate::secrets::set;

/// A toolroom in which everything that can be set is set.
fn furnished(canary: &Canary) -> Home {
    let home = Home::new();
    home.run(&["tools", "disable", "calculator"]).ended(0);
    home.run(&["switch", "off", "memory"]).ended(0);
    home.run(&["projects", "create", "shop", "--name", "The shop"]).ended(0);
    home.run(&["agents", "set", "writer", "--name", "Writer", "--prompt", "You write."]).ended(0);
    set(&home, "CANARY", &canary.value);
    let add = [
        "mcp",
        "add",
        "far",
        "--url",
        "https://example.com/mcp",
        "--header",
        "Authorization=secret:CANARY",
        "--no-start",
    ];
    home.run(&add).ended(0);
    let note = format!("path={}", home.path().join("notes").display());
    let asked = home.run_own(&["call", "publish_note", &note, "text=hello", "--json"]).ended(4);
    home.run_own(&["approvals", "approve", &asked.call_id(), "--always"]).ended(0);
    home
}

fn exported(home: &Home) -> Value {
    home.run(&["export", "-"]).ended(0).json()
}

fn imported(home: &Home, document: &Value, more: &[&str]) -> Ran {
    home.run_own_with_stdin(&[&["import", "-"], more].concat(), &document.to_string())
}

fn states(report: &Value) -> Vec<String> {
    let lines = report["settings"].as_array().unwrap().iter();
    lines
        .map(|line| format!("{} {} {}", line["state"], line["kind"], line["name"]).replace('"', ""))
        .collect()
}

#[test]
fn settings_are_taken_along_without_secrets_and_twice_is_once() {
    let canary = Canary::new("exported");
    let home = furnished(&canary);
    let document = exported(&home);
    let text = document.to_string();
    assert!(!text.contains(&canary.value), "no value leaves");
    let local =
        document["projects"].as_array().unwrap().iter().find(|project| project["id"] == "local").unwrap();
    assert_eq!(local["secrets"], json!(["CANARY"]));
    assert_eq!(
        (&local["tools"]["builtin:calculator"], &local["features"]["memory"]),
        (&json!("off"), &json!("off"))
    );
    assert_eq!(
        (local["answers"].as_array().unwrap().len(), &local["agents"][0]["name"]),
        (1, &json!("Writer"))
    );

    let there = Home::new();
    let preview = imported(&there, &document, &["--dry-run", "--json"]).ended(0).json();
    assert_eq!(preview["done"], json!(false));
    assert_eq!(preview["missing_secrets"], json!([{"project": "local", "name": "CANARY"}]));
    let new = [
        "new tool builtin:calculator",
        "new feature memory",
        "new agent writer",
        "new server far",
        "new project shop",
    ];
    for line in new {
        assert!(states(&preview).iter().any(|state| state == line), "{line}: {preview}");
    }
    assert_eq!(exported(&there)["projects"].as_array().unwrap().len(), 1, "a preview changes nothing");
    let asked = imported(&there, &document, &[]).ended(2);
    assert!(asked.err.contains("--yes"), "{asked:?}");

    let told = imported(&there, &document, &["--yes"]).ended(0);
    assert!(told.out.contains("missing  secret CANARY: toolroom secrets set CANARY"), "{told:?}");
    assert!(told.out.contains("https://example.com/mcp") && told.out.contains("allow "), "{told:?}");
    let again = imported(&there, &document, &["--yes", "--json"]).ended(0).json();
    assert!(states(&again).iter().all(|state| state.starts_with("same ")), "{again}");
    let mut copy = exported(&there);
    // The name of a secret is all there is of it; when a server was entered is not what was entered.
    let mut wanted = document.clone();
    for settings in [&mut wanted, &mut copy] {
        for project in settings["projects"].as_array_mut().unwrap() {
            project["secrets"] = json!([]);
            for server in project["servers"].as_array_mut().unwrap() {
                server["changed_at"] = json!(0);
                // A person switches it on there.
                server["is_enabled"] = json!(false);
            }
        }
    }
    assert_eq!(copy, wanted);
    let off = there.run(&["call", "calculator", "expression=1"]).ended(3);
    assert!(off.err.contains("calculator"), "{off:?}");
}

#[test]
fn what_cannot_be_read_or_makes_no_sense_changes_nothing() {
    let home = furnished(&Canary::new("kept"));
    let good = exported(&home);
    let there = Home::new();
    let local =
        good["projects"].as_array().unwrap().iter().position(|project| project["id"] == "local").unwrap();
    let refuses = |change: &dyn Fn(&mut Value), why: &str| {
        let mut document = good.clone();
        change(&mut document);
        let refused = imported(&there, &document, &["--yes"]).ended(2);
        assert!(
            refused.err.contains(why) && refused.err.contains("nothing was changed"),
            "{why}: {refused:?}"
        );
        let left = exported(&there);
        assert_eq!(left["projects"][0]["tools"], json!({}), "{why}");
    };
    refuses(&|document| document["version"] = json!(2), "use the newer Toolroom");
    refuses(&|document| document["format"] = json!("recipes"), "not a document of");
    refuses(&|document| document["rules"] = json!([]), "unknown field");
    refuses(&|document| document["projects"][1]["id"] = document["projects"][0]["id"].clone(), "twice");
    refuses(&|document| document["projects"][local]["agents"][0]["id"] = json!("no id!"), "the agent");
    refuses(&|document| document["projects"][local]["answers"][0]["when"] = json!("1 +"), "cannot be read");
    refuses(
        &|document| document["projects"][local]["answers"][0]["project"] = json!("shop"),
        "is about `shop`",
    );
    let twin = |document: &mut Value| {
        let (mut answer, other) = (document["projects"][local]["answers"][0].clone(), 1 - local);
        answer["project"] = document["projects"][other]["id"].clone();
        document["projects"][other]["answers"] = json!([answer]);
    };
    refuses(&twin, "has the id of one of");
    let mut moved = good.clone();
    twin(&mut moved);
    moved["projects"][local]["answers"] = json!([]);
    let refused = imported(&home, &moved, &["--yes"]).ended(2);
    assert!(refused.err.contains("has the id of one of `local`"), "{refused:?}");
    let header = |document: &mut Value, value: Value| {
        document["projects"][local]["servers"][0]["reached"]["headers"]["Authorization"] = value;
    };
    refuses(
        &|document| header(document, json!({"plain": "Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"})),
        "looks like a secret",
    );
    refuses(&|document| document["projects"][local]["servers"][0]["name"] = json!("a b"), "a name has");
    let over_http = |document: &mut Value| {
        header(document, json!({"secret": "kept"}));
        document["projects"][local]["servers"][0]["reached"]["url"] = json!("http://evil.example/mcp");
    };
    refuses(&over_http, "unencrypted");
    let program = |document: &mut Value, fields: Value| {
        let mut reached = json!({"transport": "stdio", "command": "/bin/true", "profile": "workspace"});
        reached.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        document["projects"][local]["servers"][0]["reached"] = reached;
    };
    refuses(
        &|document| program(document, json!({"environment": {"NODE_OPTIONS": {"plain": "-r /tmp/x.js"}}})),
        "NODE_OPTIONS",
    );
    refuses(
        &|document| program(document, json!({"arguments": ["--api-key", "abcdefgh12345678"]})),
        "looks like a secret",
    );
    for (list, why) in
        [("answers", "unknown field"), ("agents", "unknown field"), ("servers", "unknown field")]
    {
        refuses(&|document| document["projects"][local][list][0]["unheard_of"] = json!(1), why);
    }
    refuses(
        &|document| document["projects"][local]["servers"][0]["reached"]["proxy"] = json!("x"),
        "unknown field `proxy`",
    );
    for (list, twice) in
        [("answers", "the answer `ans_"), ("agents", "the agent `writer`"), ("servers", "the server `far`")]
    {
        let doubled = |document: &mut Value| {
            let one = document["projects"][local][list][0].clone();
            document["projects"][local][list].as_array_mut().unwrap().push(one);
        };
        refuses(&doubled, twice);
        refuses(&doubled, "is twice in the project `local`");
    }
    let named = |document: &mut Value, name: &str, value: Value| {
        document["projects"][local]["servers"][0]["reached"]["headers"] = json!({name: value});
    };
    for name in ["X-A\r\nX-B", "a b", "", "Host"] {
        refuses(&|document| named(document, name, json!({"plain": "1"})), "the server `far`: the header");
    }
    refuses(&|document| named(document, "X-A", json!({"plain": "1\r\nX-B: 2"})), "headers cannot hold");
    for name in ["$(id)", "a;b", "--help", ""] {
        refuses(
            &|document| document["projects"][local]["secrets"] = json!([name]),
            "the name of a secret has",
        );
        refuses(
            &|document| header(document, json!({"secret": name})),
            "the server `far`: the name of a secret",
        );
    }
    let garbage = there.run_with_stdin(&["import", "-", "--yes"], "{").ended(2);
    assert!(garbage.err.contains("not a JSON document"), "{garbage:?}");
    there.run(&["import", "/no/such/file", "--yes"]).ended(5);
}

#[test]
fn a_file_is_private_and_never_written_over() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = furnished(&Canary::new("in a file"));
    let file = home.path().join("settings.json");
    let words = ["export", file.to_str().unwrap()];
    let told = home.run(&words).ended(0);
    assert!(told.err.contains("2 projects, 2 switches, 1 standing answer, 1 agent, 1 server"), "{told:?}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    home.run(&words).ended(2);
    let same = home.run(&["import", file.to_str().unwrap(), "--json", "--yes"]).ended(0).json();
    assert!(states(&same).iter().all(|state| state.starts_with("same ")), "{same}");
}

fn local(document: &mut Value) -> &mut Value {
    let projects = document["projects"].as_array_mut().unwrap();
    projects.iter_mut().find(|project| project["id"] == "local").unwrap()
}

fn shown(home: &Home) -> Value {
    home.run(&["mcp", "show", "far", "--json"]).ended(0).json()
}

#[test]
fn a_server_at_another_address_loses_what_was_granted_and_seen_at_the_old_one() {
    let home = Home::new();
    home.run(&["mcp", "add", "far", "--url", "http://127.0.0.1:1/mcp", "--no-start"]).ended(0);
    home.run(&["mcp", "test", "far"]).ended(1);
    set(&home, "mcp.far.oauth.grant", "granted-at-the-old-address");
    let same = exported(&home);
    let granted = || home.run(&["secrets", "--json"]).ended(0).json().to_string().contains("mcp.far.oauth");
    imported(&home, &same, &["--yes"]).ended(0);
    assert!(granted() && shown(&home)["state"] == "failing", "nothing is different: {}", shown(&home));
    let mut moved = same;
    local(&mut moved)["servers"][0]["reached"]["url"] = json!("http://127.0.0.1:2/mcp");
    imported(&home, &moved, &["--yes"]).ended(0);
    assert!(!granted(), "it was for another address");
    assert!(shown(&home)["condition"]["failure"].is_null(), "{}", shown(&home));
}

#[test]
fn changes_made_during_the_prompt_are_not_undone() {
    let home = Home::new();
    home.run(&["mcp", "add", "far", "--url", "http://127.0.0.1:1/mcp", "--no-start"]).ended(0);
    let mut document = exported(&home);
    local(&mut document)["servers"][0]["timeout_seconds"] = json!(7);
    local(&mut document)["tools"]["builtin:calculator"] = json!("off");
    let file = home.path().join("settings.json");
    std::fs::write(&file, document.to_string()).unwrap();
    let import = home.command(&["import", file.to_str().unwrap()]);
    let mut sitting = Pty::new(100).starts(&import, Stdout::Terminal);
    sitting.sees("Apply changes: 2? [y/N]");
    home.run(&["mcp", "disable", "far"]).ended(0);
    sitting.types("y\n");
    sitting.leaves().ended(1).shows("was changed meanwhile");
    let left = exported(&home);
    assert_eq!(left["projects"][0]["servers"][0]["is_enabled"], false, "{left}");
    assert_eq!(left["projects"][0]["tools"], json!({}), "all of it or nothing: {left}");
}

#[test]
fn what_a_document_says_makes_no_line_of_its_own_and_shows_no_key() {
    let home = furnished(&Canary::new("shown"));
    let mut document = exported(&home);
    let key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
    for project in document["projects"].as_array_mut().unwrap() {
        if project["id"] == "local" {
            project["agents"][0]["prompt"] = json!("You write.\nsame     project all\u{1b}[2J");
            project["servers"] = json!([
                {"name": "program", "is_enabled": true, "changed_at": 0, "reached": {
                    "transport": "stdio", "command": "/bin/true", "profile": "workspace",
                    "arguments": ["-c", "one\nsame     server two"]}},
                {"name": "far", "is_enabled": true, "changed_at": 0, "reached": {
                    "transport": "http", "url": format!("https://example.com/{key}"),
                    "headers": {"X-Tenant": {"plain": "0a1b2c3d4e5f60718293"}, "X-Way": {"plain": "direct"}}}},
            ]);
        }
    }
    let there = Home::new();
    let told = imported(&there, &document, &["--dry-run"]).ended(0);
    assert!(told.out.contains("You write.\\nsame     project all\\u{1b}[2J"), "{told:?}");
    assert!(told.out.contains("-c one\\nsame     server two"), "{told:?}");
    assert!(!told.out.lines().any(|line| line.starts_with("same ") && line.contains("two")), "{told:?}");
    assert!(told.out.contains("header X-Way=direct"), "{told:?}");
    assert!(told.out.contains("header X-Tenant with a value that is not shown"), "{told:?}");
    let listed = imported(&there, &document, &["--dry-run", "--json"]).ended(0);
    for said in [&told.out, &listed.out] {
        assert!(!said.contains(key) && !said.contains("0a1b2c3d4e5f60718293"), "{said}");
    }
    for project in document["projects"].as_array_mut().unwrap() {
        project["servers"] = json!([{"name": key, "is_enabled": true, "changed_at": 0, "reached": {
            "transport": "http", "url": "https://example.com", "headers": {key: {"plain": "a\nb"}}}}]);
    }
    let refused = imported(&there, &document, &["--yes"]).ended(2);
    assert!(!refused.err.contains(key) && refused.err.lines().count() == 1, "{refused:?}");
}

#[test]
fn a_yes_that_would_not_be_taken_at_a_question_does_not_come_in() {
    let home = Home::new();
    home.run(&["tools", "enable", "execute_shell_command"]).ended(0);
    let risky = ["call", "run_command", "command=mkdir -p q; rm -rf q zz", "--no-input"];
    let asked = home.run(&[&risky[..], &["--json"]].concat()).ended(4).call_id();
    home.run(&["approvals", "approve", &asked, "--always"]).ended(2);
    let kept = home.run(&["approvals", "show", &asked, "--json"]).ended(0).json();
    let mut document = exported(&home);
    let yes = |tool: &str, lifts: &Value| {
        json!({
            "id": "ans_01a1e6b977e8753383f64fc20a106e75", "project": "local", "effect": "allow", "tool": tool,
            "lifts": lifts, "definition": kept["definition_hash"], "call": asked, "by": "operator", "at": 1,
        })
    };
    for (answer, why) in [
        (yes("builtin:run_command", &kept["rule"]), "starts programs: say which ones"),
        (yes("mcp:evil:t", &kept["rule"]), "there is no `mcp:evil:t` here to say yes to"),
        (yes("builtin:web_fetch", &json!("provenance.third")), "this question is asked each time"),
    ] {
        local(&mut document)["answers"] = json!([answer]);
        let told = imported(&home, &document, &["--yes"]).ended(0);
        assert!(told.out.contains("skipped  answer") && told.out.contains(why), "{why}: {told:?}");
        home.run(&risky).ended(4);
    }
    set(&home, "K", "supersecretvalue123");
    let mut answer = yes("builtin:calculator", &Value::Null);
    answer["when"] = json!("args.expression == 'supersecretvalue123'");
    local(&mut document)["answers"] = json!([answer]);
    let refused = imported(&home, &document, &["--yes"]).ended(2);
    assert!(refused.err.contains("holds a secret") && !refused.err.contains("supersecret"), "{refused:?}");
}

#[test]
fn a_document_that_is_too_large_is_told_as_one() {
    let home = Home::new();
    let file = home.path().join("large.json");
    let text = format!("{{\"format\": \"{}\"}}", "x".repeat(4 << 20));
    std::fs::write(&file, &text).unwrap();
    let path = file.to_str().unwrap();
    let named = home.run(&["import", path, "--yes"]).ended(2);
    assert!(named.err.contains(path) && named.err.contains("is longer than 4194304 bytes"), "{named:?}");
    let piped = home.run_with_stdin(&["import", "-", "--yes"], &text).ended(2);
    assert!(piped.err.contains("standard input is longer than 4194304 bytes"), "{piped:?}");
}
