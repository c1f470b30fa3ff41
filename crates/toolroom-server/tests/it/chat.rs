//! `toolroom chat` with a message: one answer, for people and for programs.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::approvals::{Desk, OPERATORS};
use crate::home::{Home, Ran, finished, ran};
use crate::scripted_model::{Line, ScriptedModel};

fn home(script: impl IntoIterator<Item = Line>) -> (Home, ScriptedModel) {
    let (home, model) = (Home::new(), ScriptedModel::starts(script));
    model.is_set_up_in(home.path(), "");
    (home, model)
}

/// What the person said in a request, the last time.
fn said(request: &Value) -> &str {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().rev().find(|message| message["role"] == "user").unwrap()["content"].as_str().unwrap()
}

fn calculates() -> [Line; 2] {
    [Line::Calls("calculator", json!({"expression": "17*23"})), Line::says("It is **391**.")]
}

#[test]
fn a_message_gets_an_answer_and_nothing_else_on_standard_output() {
    let (home, model) = home(calculates());
    let ran = home.run(&["chat", "what is 17*23?"]).ended(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("It is **391**.\n", ""));
    let asked = model.asked();
    assert_eq!(said(&asked[0]), "what is 17*23?");
    let result = asked[1]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("call_calculator")));
    assert!(result["content"].as_str().unwrap().contains("391"), "{result}");
    assert_eq!(home.journal()[0]["tool"], "builtin:calculator");
}

#[test]
fn what_is_piped_in_belongs_to_the_message() {
    let (home, model) = home([Line::says("one"), Line::says("two"), Line::says("three")]);
    home.run_with_stdin(&["chat", "what changes here?", "-"], "-a\n+b\n").ended(0);
    home.run_with_stdin(&["chat"], "all of it").ended(0);
    home.run_with_stdin(&["chat", "-"], "with a dash").ended(0);
    let asked = model.asked();
    let all: Vec<&str> = asked.iter().map(said).collect();
    assert_eq!(all, ["what changes here?\n\n-a\n+b", "all of it", "with a dash"]);
}

#[test]
fn an_idle_pipe_is_not_waited_for() {
    let (home, model) = home([Line::says("one")]);
    let mut child = home.command(&["chat", "hello"]).stdin(Stdio::piped()).spawn().unwrap();
    let _open_to_the_end = child.stdin.take().unwrap();
    assert_eq!(finished(child).ended(0).out, "one\n");
    assert_eq!(said(&model.asked()[0]), "hello");
}

#[test]
fn programs_get_one_document_or_every_event() {
    let (home, _model) = home(calculates().into_iter().chain(calculates()));
    let document = home.run(&["chat", "what is 17*23?", "--json"]).ended(0).json();
    assert_eq!((&document["state"], &document["text"]), (&json!("done"), &json!("It is **391**.")));
    let call = &document["calls"][0];
    assert_eq!((&call["tool"], &call["outcome"]), (&json!("builtin:calculator"), &json!("done")));
    assert_eq!(call["arguments"], json!({"expression": "17*23"}));
    assert_eq!((&document["usage"]["input"], &document["model"]), (&json!(200), &json!("lab/m")));
    assert!(document["run"].as_str().unwrap().starts_with("run_"), "{document}");
    assert!(document["conversation"].as_str().unwrap().starts_with("conv_"), "{document}");
    let lines = home.run(&["chat", "what is 17*23?", "--jsonl"]).ended(0).out;
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"started"));
    assert_eq!(kinds.last(), Some(&"done"));
    for kind in ["asking", "text", "answered", "call_began", "call_ended"] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
    let places: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(places, (0..u64::try_from(events.len()).unwrap()).collect::<Vec<_>>());
}

#[test]
fn a_conversation_goes_on_where_it_was() {
    let (home, model) = home(["one", "two", "three", "four"].map(Line::says));
    let first = home.run(&["chat", "first", "--json"]).ended(0).json();
    let id = first["conversation"].as_str().unwrap();
    let second = home.run(&["chat", "second", "--continue", "--json"]).ended(0).json();
    assert_eq!(second["conversation"], first["conversation"]);
    home.run(&["chat", "elsewhere"]).ended(0);
    home.run(&["chat", "third", &format!("--continue={}", &id[id.len() - 8..])]).ended(0);
    let last = &model.asked()[3];
    let messages = last["messages"].as_array().unwrap().iter().filter(|message| message["role"] != "system");
    let said: Vec<&str> = messages.map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["first", "one", "second", "two", "third"]);
}

#[test]
fn what_makes_no_sense_is_told_and_nothing_is_sent() {
    let (home, model) = home([]);
    let check = |arguments: &[&str], code: i32, says: &str| {
        let ran = home.run(arguments).ended(code);
        assert!(ran.err.contains(says), "{arguments:?}: {ran:?}");
    };
    check(&["chat"], 2, "no message given");
    check(&["chat", ""], 2, "no message given");
    check(&["chat", "how", "are", "you?"], 2, "put it in quotes");
    check(&["chat", "hi", "--model", "nonsense"], 2, "--model:");
    check(&["chat", "hi", "--model", "nobody/knows"], 2, "unknown vendor `nobody`");
    check(&["chat", "hi", "--agent", "nobody"], 5, "there is no agent `nobody`");
    check(&["chat", "hi", "--continue"], 5, "no conversation to continue");
    check(&["chat", "hi", "--continue=nothing"], 5, "no conversation `nothing`");
    check(&["chat", "hi", "--continue="], 2, "no conversation is named");
    check(&["chat", "hi", "--context", "wrong"], 2, "--context: `wrong`");
    check(&["chat", "hi", "--image", "/nowhere.png"], 2, "no file `/nowhere.png`");
    check(&["chat", "hi", "--image", "/dev/zero"], 2, "is not a regular file");
    check(&["chat", "hi", "--json", "--jsonl"], 2, "cannot be used with");
    let mut child = home.command(&["chat", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"abc\xff\xfe").unwrap();
    let ran = finished(child).ended(2);
    assert!(ran.err.contains("standard input is not UTF-8 from byte 4 on"), "{ran:?}");
    let mut child = home.command(&["chat"]).stdin(Stdio::piped()).spawn().unwrap();
    // It stops reading long before that.
    drop(child.stdin.take().unwrap().write_all(&vec![b'x'; 10_000_000]));
    let ran = finished(child).ended(2);
    assert!(ran.err.contains("the message is longer than 1 MiB"), "{ran:?}");
    assert!(model.asked().is_empty());
    assert_eq!(home.run(&["conversations", "--json"]).json(), json!([]));
}

#[test]
fn without_a_model_simple_rules_answer() {
    let home = Home::new();
    let answer = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OLLAMA_HOST"] {
            command.env_remove(name);
        }
        ran(command.output().unwrap()).ended(0).out
    };
    assert!(answer(&["chat", "what is 17*23?"]).contains("391"));
    assert!(answer(&["chat", "/calculator expression=6*7"]).contains("42"));
    assert!(answer(&["chat", "who was the first person on the moon?"]).contains("OPENAI_API_KEY"));
}

#[test]
fn plain_sentences_find_the_tools_that_are_there() {
    let home = Home::new();
    for (sentence, tool) in [
        ("what is 17*23?", "builtin:calculator"),
        ("how much is 20% of 350", "builtin:calculator"),
        ("what's the date today?", "builtin:get_local_time"),
        ("what time is it in Tokyo?", "builtin:get_local_time"),
        ("list the files", "builtin:list_files"),
        ("show me notes.txt", "builtin:read_file"),
        ("what did this cost so far?", "builtin:cost_status"),
    ] {
        let before = home.journal().len();
        let ran = home.run(&["chat", sentence]).ended(0);
        let journal = home.journal();
        assert_eq!(journal.len(), before + 1, "{sentence}: {}", ran.out);
        assert_eq!(journal[0]["tool"], tool, "{sentence}: {}", ran.out);
    }
    let calls = home.journal().len();
    for sentence in ["delete all my files", "tell me a joke", "hello", "send a mail to Bob"] {
        home.run(&["chat", sentence]).ended(0);
    }
    assert_eq!(home.journal().len(), calls);
}

/// The names of the tools in a request.
fn offered(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_model_with_a_small_window_is_shown_fewer_tools_and_can_call_the_others() {
    let shown = |window: u32| {
        let script = [
            Line::Calls("builtin__calculator", json!({"expression": "17*23"})),
            Line::Calls("builtin__get_local_time", json!({})),
            Line::says("It is 391, and late."),
        ];
        let (home, model) = (Home::new(), ScriptedModel::starts(script));
        model.is_set_up_with_window(home.path(), window, "");
        let ran = home.run(&["chat", "what is 17*23? calculate it"]).ended(0);
        assert_eq!(ran.out, "It is 391, and late.\n");
        let ends: Vec<Value> = home.journal().iter().map(|row| row["status"].clone()).collect();
        assert_eq!(ends, ["done", "done"], "{:?}", home.journal());
        let asked = model.asked();
        let size = asked[0]["tools"].to_string().len();
        (offered(&asked[0]), size)
    };
    let (all, whole) = shown(32_000);
    let (few, size) = shown(8_000);
    for name in
        ["builtin__calculator", "builtin__get_local_time", "builtin__web_search", "builtin__write_file"]
    {
        assert!(all.iter().any(|shown| shown == name), "{all:?}");
    }
    assert!(few.len() < all.len() / 2, "{few:?}");
    for name in ["builtin__calculator", "builtin__search"] {
        assert!(few.iter().any(|shown| shown == name), "{few:?}");
    }
    // At four characters to a token: all of them would not leave room to talk, these do.
    assert!(whole / 4 > 8_000 / 3 && size / 4 <= 8_000 / 3, "{whole} and {size}");
}

#[test]
fn a_small_model_looks_over_the_tools_where_one_is_set() {
    let (home, model) =
        (Home::new(), ScriptedModel::starts([Line::says("builtin__list_files"), Line::says("None.")]));
    model.is_set_up_in(
        home.path(),
        "[agent.default]\nranker = \"lab/small\"\n[agent.default.limits]\ntool_tokens = 900\n",
    );
    let ran = home.run(&["chat", "which files are in the folder?"]).ended(0);
    assert_eq!(ran.out, "None.\n");
    let asked = model.asked();
    assert_eq!((asked[0]["model"].as_str(), offered(&asked[0])), (Some("small"), Vec::new()));
    assert!(said(&asked[0]).contains("- builtin__read_file: "), "{}", asked[0]);
    assert_eq!(asked[1]["model"], "m");
    assert_eq!(offered(&asked[1]), ["builtin__list_files", "builtin__search"]);
}

#[test]
fn an_unconfigured_model_falls_back_to_the_next_one() {
    let home = Home::new();
    let asks = |models: &[&str]| {
        let models = models.iter().flat_map(|model| ["--model", model]);
        home.run(&["chat", "what is 17*23?"].into_iter().chain(models).collect::<Vec<_>>())
    };
    let ran = asks(&["openai/gpt-4o", "offline/toolroom"]).ended(0);
    assert_eq!(ran.out.trim_end(), "17*23 = 391");
    assert!(ran.err.contains("`openai/gpt-4o` is passed over: OpenAI needs a key"), "{ran:?}");
    let ran = asks(&["openai/gpt-4o", "groq/x"]).ended(2);
    assert!(ran.err.contains("OpenAI needs a key"), "{ran:?}");
    home.run(&["agents", "set", "default", "--ranker", "openai/gpt-4o"]).ended(0);
    let ran = asks(&["offline/toolroom"]).ended(0);
    assert!(ran.err.contains("`openai/gpt-4o` is passed over"), "{ran:?}");
}

#[test]
fn a_run_can_be_ended_when_its_model_is_gone() {
    let home = Home::new();
    home.run(&["agents", "set", "cook", "--model", "offline/toolroom"]).ended(0);
    let asked = ["chat", "--agent", "cook", "--no-input", "/write_file path=a.txt content=hello"];
    home.run(&asked).ended(4);
    home.run(&["agents", "set", "cook", "--model", "openai/gpt-4o"]).ended(0);
    home.run(&["runs", "cancel", "last"]).ended(0);
    assert_eq!(home.run(&["runs", "show", "last", "--json"]).json()["run"]["state"], "cancelled");
}

#[test]
fn a_refusal_is_told_as_what_it_is() {
    let (home, _model) = home([Line::Refuses(400), Line::Refuses(400)]);
    let failed = home.run(&["chat", "hi", "--json"]).ended(1).json();
    assert_eq!((&failed["state"], &failed["text"]), (&json!("failed"), &json!("")));
    assert!(failed["failure"]["message"].as_str().unwrap().contains("the script says no"), "{failed}");
    let told = home.run(&["chat", "hi"]).ended(1);
    assert!(told.out.is_empty() && told.err.contains("error: lab/m: "), "{told:?}");
}

#[test]
fn a_picture_is_shown_to_the_model() {
    let (home, model) = home([Line::says("a dot")]);
    let path = home.path().join("dot.png");
    std::fs::write(&path, b"\x89PNG\r\n\x1a\nrest").unwrap();
    home.run(&["chat", "what is this?", "--image", path.to_str().unwrap()]).ended(0);
    assert!(
        model.asked()[0].to_string().contains("data:image/png;base64,iVBORw0KGgpyZXN0"),
        "{:?}",
        model.asked()
    );
}

/// A desk whose model wants to publish something and then says that it has.
fn publishing(config: &str) -> (Desk, ScriptedModel) {
    let desk = Desk::new();
    let call = Line::Calls("publish_note", json!({"path": desk.notes, "text": "hello"}));
    let model = ScriptedModel::starts([call, Line::says("published")]);
    model.is_set_up_in(desk.home.path(), config);
    (desk, model)
}

#[test]
fn a_run_that_has_to_be_approved_waits_and_goes_on_later() {
    let (desk, _model) = publishing("");
    let waiting = desk.run(&["chat", "publish hello", "--json"]).ended(4).json();
    let call = waiting["waiting"][0].as_str().unwrap();
    assert_eq!(waiting["calls"][0]["outcome"], "pending");
    assert!(desk.effects().is_empty());
    let refused = desk.run(&["chat", "--continue", "and now?"]).ended(3);
    assert!(refused.err.contains("toolroom runs resume run_"), "{refused:?}");
    desk.run(&["runs", "resume", "last", "--no-input"]).ended(4);
    desk.run(&["approvals", "approve", call]).ended(0);
    let ran = desk.run(&["runs", "resume", "last"]).ended(0);
    assert_eq!(ran.out, "published\n");
    assert_eq!(desk.effects(), ["hello"]);
    desk.run(&["runs", "resume", "last"]).ended(3);
}

#[test]
fn a_run_goes_on_with_the_model_it_was_begun_with() {
    let (desk, model) = publishing("");
    let said = format!("/publish_note path={} text=hello", desk.notes.display());
    desk.run(&["chat", "--model", "offline/toolroom", "--no-input", &said]).ended(4);
    desk.run(&["approvals", "approve", "last"]).ended(0);
    let ran = desk.run(&["runs", "resume", "last", "--json"]).ended(0).json();
    assert_eq!(ran["model"], "offline/toolroom", "{ran}");
    assert_eq!(desk.effects(), ["hello"]);
    assert!(model.asked().is_empty(), "{:?}", model.asked());
}

#[test]
fn yes_answers_for_the_caller_and_not_for_the_operator() {
    let (desk, _model) = publishing("");
    assert_eq!(desk.run(&["chat", "publish hello", "--yes"]).ended(0).out, "published\n");
    assert_eq!(desk.effects(), ["hello"]);
    let (desk, _model) = publishing(OPERATORS);
    let ran = desk.run(&["chat", "publish hello", "--yes"]).ended(4);
    assert!(ran.err.contains("toolroom approvals approve call_"), "{ran:?}");
    assert!(desk.effects().is_empty());
    let cancelled: Ran = desk.run(&["runs", "cancel", "last"]).ended(0);
    assert!(cancelled.err.contains("Stopped; the conversation is kept"), "{cancelled:?}");
    let run = desk.run(&["runs", "show", "last", "--json"]).ended(0).json();
    assert_eq!(run["run"]["state"], "cancelled");
    assert!(desk.effects().is_empty());
}
