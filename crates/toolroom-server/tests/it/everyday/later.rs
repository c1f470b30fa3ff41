//! Offers can be fetched later, through another interface.

use serde_json::{Value, json};

use crate::home::Home;
use crate::scripted_model::{Line, ScriptedModel};
use crate::serve::Served;
use crate::serve::stream::events;

/// Sending a file needs approval.
const ASKS: &str =
    "[[rule]]\nid = \"see\"\neffect = \"ask\"\ntool = \"builtin:send_file\"\nreason = \"to see\"\n";

const BYTES: &[u8] = b"\xff\xfe not a text \0";

fn served(script: impl IntoIterator<Item = Line>, config: &str) -> (Served, ScriptedModel) {
    let (home, model) = (Home::new(), ScriptedModel::starts(script));
    model.is_set_up_in(home.path(), config);
    std::fs::create_dir_all(home.path().join("workspace")).unwrap();
    std::fs::write(home.path().join("workspace/data.bin"), BYTES).unwrap();
    (Served::at(home), model)
}

/// The only offer of a call, which is to save the file.
#[track_caller]
fn offer(call: &Value) -> &Value {
    let offers = call["offers"].as_array().unwrap_or_else(|| panic!("{call}"));
    assert_eq!((offers.len(), &offers[0]["type"]), (1, &json!("save_file")), "{call}");
    &offers[0]
}

/// Whether a folder has the file, and no other file of that name.
fn saved(home: &Home, words: &[&str]) -> crate::home::Ran {
    crate::home::ran(home.command(words).current_dir(home.path()).output().unwrap())
}

#[test]
fn a_call_that_waited_for_approval_is_shown_with_its_offers_and_its_file_is_saved() {
    let (served, _model) = served([], ASKS);
    let key = served.key("local", "read,call,approve");
    let parked = served.call(&key, "send_file", &json!({"path": "data.bin"})).is(202).json();
    let id = parked["call_id"].as_str().unwrap();
    let row = || served.get(&format!("/v1/calls/{id}"), &key).is(200).json();
    assert_eq!(row().get("offers"), None);
    served.home.run(&["approvals", "approve", id]).ended(0);
    served.send("POST", &format!("/v1/calls/{id}/resume"), &key, &json!({})).is(200);
    let kept = row();
    let artifact = offer(&kept)["artifact"].as_str().unwrap();
    let home = &served.home;
    assert_eq!(home.run(&["log", id, "--json"]).ended(0).json()["offers"], kept["offers"]);
    let shown = home.run(&["log", id]).ended(0).out;
    assert!(shown.contains(&format!("toolroom artifacts save {artifact}")), "{shown}");

    let listed = home.run(&["artifacts", "list", "--json"]).ended(0).json();
    let [only] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&only["id"], &only["call"]), (&json!(artifact), &json!(id)), "{listed}");
    assert_eq!((&only["name"], &only["bytes"]), (&json!("data.bin"), &json!(BYTES.len())), "{listed}");
    assert!(home.run(&["artifacts", "list"]).ended(0).out.contains(artifact));

    let told = saved(home, &["artifacts", "save", artifact, "--json"]).ended(0).json();
    assert_eq!((&told["file"], &told["bytes"]), (&json!("data.bin"), &json!(BYTES.len())), "{told}");
    let place = home.path().join("data.bin");
    assert_eq!(std::fs::read(&place).unwrap(), BYTES);
    // Existing files are not overwritten.
    std::fs::write(&place, "mine").unwrap();
    let refused = saved(home, &["artifacts", "save", artifact]).ended(2);
    assert!(
        refused.err.contains("`data.bin` already exists") && refused.err.contains("`--force`"),
        "{refused:?}"
    );
    assert_eq!(std::fs::read(&place).unwrap(), b"mine");
    saved(home, &["artifacts", "save", artifact, "--force"]).ended(0);
    assert_eq!(std::fs::read(&place).unwrap(), BYTES);
    saved(home, &["artifacts", "save", artifact, "other.bin"]).ended(0);
    assert_eq!(std::fs::read(home.path().join("other.bin")).unwrap(), BYTES);
    for place in ["nowhere/x.bin", "workspace"] {
        let refused = saved(home, &["artifacts", "save", artifact, place]).ended(2);
        assert!(refused.err.contains(&format!("`{place}`")), "{refused:?}");
    }
}

#[test]
fn a_long_result_is_saved_under_its_id() {
    let home = Home::new();
    let text = "line\n".repeat(30_000);
    std::fs::create_dir_all(home.path().join("workspace")).unwrap();
    std::fs::write(home.path().join("workspace/long.txt"), &text).unwrap();
    assert!(saved(&home, &["artifacts", "save", "last"]).ended(5).err.contains("no artifacts stored yet"));
    let done = home.run(&["call", "fs-read", "path=long.txt", "--json"]).ended(0).json();
    let artifact = done["artifact"].as_str().unwrap_or_else(|| panic!("{done}"));
    let told = saved(&home, &["artifacts", "save", "last"]).ended(0).out;
    let name = told.trim();
    assert!(name == format!("{artifact}.json"), "{told}");
    let whole: Value = serde_json::from_slice(&std::fs::read(home.path().join(name)).unwrap()).unwrap();
    assert_eq!(whole["content"], text);
}

#[test]
fn an_openai_client_is_told_where_the_file_is() {
    let script = || [Line::Calls("send_file", json!({"path": "data.bin"})), Line::says("There.")];
    let ask = json!({"model": "default", "messages": [{"role": "user", "content": "the file, please"}]});
    let (served_whole, _model) = served(script(), "");
    let key = served_whole.key("local", "read,chat");
    let answer = served_whole.send("POST", "/v1/chat/completions", &key, &ask).is(200).json();
    let message = &answer["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &offer(message)["name"]),
        (&json!("There."), &json!("data.bin")),
        "{answer}"
    );
    let href = offer(message)["href"].as_str().unwrap();
    let part = crate::serve::wire::Asked::new("GET", href).key(&key).header("Range", "bytes=3-12");
    assert_eq!(served_whole.ask(&part).is(206).body, "not a text");

    let (served, _model) = served(script(), "");
    let key = served.key("local", "read,chat");
    let mut ask = ask;
    ask["stream"] = json!(true);
    let told = served.send("POST", "/v1/chat/completions", &key, &ask).is(200).body;
    let offers = told.matches("\"offers\":[{\"type\":\"save_file\",\"name\":\"data.bin\"").count();
    assert_eq!(offers, 1, "{told}");
}

#[test]
fn a_run_started_elsewhere_and_resumed_here_reports_its_offers() {
    let script = [Line::Calls("send_file", json!({"path": "data.bin"})), Line::says("There.")];
    let (served, _model) = served(script, ASKS);
    let key = served.key("local", "read,chat");
    let body = json!({"message": "the file, please", "wait": true});
    let run = served.send("POST", "/v1/runs", &key, &body).is(200).json();
    assert_eq!(run["state"], "waiting", "{run}");
    let call = run["waiting"][0].as_str().unwrap_or_else(|| panic!("{run}"));
    served.home.run(&["approvals", "approve", call]).ended(0);
    let id = run["id"].as_str().unwrap();
    let told = served.home.run(&["runs", "resume", id, "--json"]).ended(0).json();
    assert_eq!((&told["text"], &told["calls"][0]["outcome"]), (&json!("There."), &json!("done")), "{told}");
    assert_eq!(offer(&told["calls"][0])["name"], "data.bin");
    let path = format!("/v1/runs/{id}/events");
    assert!(events(&served.get(&path, &key).is(200).body).iter().any(|told| told.event["offers"].is_array()));
}

#[test]
fn a_file_with_a_misleading_name_is_not_saved_under_it() {
    let (served, _model) = served([], "");
    let key = served.key("local", "read,call");
    let folder = served.home.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let save =
        |words: &[&str]| crate::home::ran(served.home.command(words).current_dir(&folder).output().unwrap());
    for name in ["toolroom.toml", "-"] {
        std::fs::write(served.home.path().join("workspace").join(name), "x = 1").unwrap();
        served.call(&key, "send_file", &json!({"path": name})).is(200);
        let refused = save(&["artifacts", "save", "last"]).ended(2);
        assert!(refused.err.contains(&format!("the artifact is named `{name}`")), "{refused:?}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
    save(&["artifacts", "save", "last", "dash"]).ended(0);
    assert_eq!(std::fs::read(folder.join("dash")).unwrap(), b"x = 1");
}

#[test]
fn a_saved_file_never_replaces_a_file_of_ours() {
    let home = Home::new();
    let text = "line\n".repeat(30_000);
    std::fs::create_dir_all(home.path().join("workspace")).unwrap();
    std::fs::write(home.path().join("workspace/long.txt"), &text).unwrap();
    let done = home.run(&["call", "fs-read", "path=long.txt", "--json"]).ended(0).json();
    let artifact = done["artifact"].as_str().unwrap_or_else(|| panic!("{done}"));
    let none = home.run(&["artifacts", "list", "--limit", "0"]).ended(2);
    assert!(none.err.contains("--limit"), "{none:?}");

    std::fs::create_dir(home.path().join("inbox")).unwrap_or_default();
    std::fs::create_dir(home.path().join("folder")).unwrap();
    std::fs::hard_link(home.path().join("toolroom.db"), home.path().join("same")).unwrap();
    std::fs::write(home.path().join("mine"), "mine").unwrap();
    std::os::unix::fs::symlink("mine", home.path().join("link")).unwrap();
    let whole = home.path().join("toolroom.db");
    for (place, why) in [
        ("toolroom.db", "belongs to Toolroom"),
        ("workspace/../toolroom.db-wal", "belongs to Toolroom"),
        (whole.to_str().unwrap(), "belongs to Toolroom"),
        ("toolroom.toml", "belongs to Toolroom"),
        ("master.key", "belongs to Toolroom"),
        ("same", "belongs to Toolroom"),
        ("inbox/x", "belongs to Toolroom"),
        ("folder", "is a folder; give a file"),
        ("link", "is a symbolic link"),
    ] {
        for force in [&["--force"][..], &[]] {
            let words = [&["artifacts", "save", artifact, place], force].concat();
            let refused = saved(&home, &words).ended(2);
            assert!(refused.err.contains(&format!("`{place}` {why}")), "{place}: {refused:?}");
        }
    }
    let taken = saved(&home, &["artifacts", "save", artifact, "mine"]).ended(2);
    assert_eq!(taken.err.matches("another file").count(), 1, "{taken:?}");
    assert_eq!(std::fs::read(home.path().join("mine")).unwrap(), b"mine");
    assert!(!home.path().join("master.key").exists() && !home.path().join("toolroom.toml").exists());
    home.run(&["log"]).ended(0);

    let printed = saved(&home, &["artifacts", "save", artifact, "-"]).ended(0).out;
    let whole: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(whole["content"], text);
    assert!(!home.path().join("-").exists());
    let both = saved(&home, &["artifacts", "save", artifact, "-", "--json"]).ended(2);
    assert!(
        both.err.contains("cannot be combined with `--json`")
            || both.out.contains("cannot be combined with `--json`"),
        "{both:?}"
    );
}
