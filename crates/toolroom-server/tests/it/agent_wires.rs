//! The same conversations on all four wires, as the journal of the mock of four vendors tells them.

use serde_json::{Value, json};

use crate::aimock::Aimock;
use crate::wires::{GEMINI, Lab, WIRES, Wire, paired, said};

/// A model that calls two tools at once when it hears the word, and then says something.
fn calling(word: &str, answer: &str) -> [Value; 2] {
    let usage = json!({
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "input_tokens": 100, "output_tokens": 20,
        "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120,
    });
    [
        json!({"match": {"userMessage": word, "hasToolResult": true}, "chunkSize": 3,
            "response": {"content": answer, "usage": usage}}),
        json!({"match": {"userMessage": word}, "chunkSize": 5, "response": {
            "content": "Let me see.", "usage": usage, "toolCalls": [
                {"id": "call_a", "name": "builtin__calculator", "arguments": {"expression": "17*23"}},
                {"id": "call_b", "name": "builtin__get_local_time", "arguments": {"timezone": "Europe/Oslo"}},
            ],
        }}),
    ]
}

fn says(word: &str, answer: &str) -> Value {
    json!({"match": {"userMessage": word}, "chunkSize": 2, "response": {"content": answer}})
}

/// The first time only.
fn at_first(mut fixture: Value) -> Value {
    fixture["match"]["sequenceIndex"] = json!(0);
    fixture
}

/// The requests made on a wire, oldest first.
fn asked(mock: &Aimock, wire: Wire) -> Vec<Value> {
    let entries = mock.journal().into_iter().filter(|entry| entry["path"] == wire.path);
    entries.map(|entry| entry["body"].clone()).collect()
}

fn on_every_wire(check: impl Fn(Wire) + Sync) {
    std::thread::scope(|scope| {
        for wire in WIRES {
            let check = &check;
            scope.spawn(move || check(wire));
        }
    });
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn count(events: &[Value], kind: &str) -> usize {
    kinds(events).iter().filter(|one| **one == kind).count()
}

#[test]
fn a_conversation_with_tools_is_the_same_on_every_wire() {
    let [last, first] = calling("both", "It is 391, and noon.");
    let mock = Aimock::start(&[last, first, says("thanks", "You are welcome.")]);
    on_every_wire(|wire| {
        let lab = Lab::new(wire, &mock.url(), "");
        let events = lab.events(&["chat", "both, please"]);
        for (kind, least) in [("started", 1), ("asking", 2), ("text", 3), ("answered", 2), ("done", 1)] {
            assert!(count(&events, kind) >= least, "{wire:?}: {kind} in {:?}", kinds(&events));
        }
        assert_eq!((count(&events, "call_began"), count(&events, "call_ended")), (2, 2), "{wire:?}");
        let done = events.last().unwrap();
        assert_eq!((&done["type"], &done["text"]), (&json!("done"), &json!("It is 391, and noon.")));
        assert_eq!(
            (&done["usage"]["input"], &done["usage"]["output"]),
            (&json!(200), &json!(40)),
            "{wire:?}"
        );
        let second = lab.run(&["chat", "thanks", "--continue", "--json"]).ended(0).json();
        assert_eq!((&second["state"], &second["text"]), (&json!("done"), &json!("You are welcome.")));
        let third = lab.run(&["chat", "both, once more", "--continue", "--json"]).ended(0).json();
        assert_eq!(third["calls"].as_array().unwrap().len(), 2, "{wire:?}: {third}");

        let asked = asked(&mock, wire);
        assert_eq!(asked.len(), 5, "{wire:?}");
        for request in &asked {
            offers_tools(wire, request);
        }
        let threads: Vec<Vec<Value>> = asked.iter().map(said).collect();
        assert_eq!(threads[0], [json!({"role": "user", "content": "both, please"})], "{wire:?}");
        let calls = |thread: &[Value]| paired(thread).len();
        let counts: Vec<usize> = threads.iter().map(|thread| calls(thread)).collect();
        // The mock uses its ids again in the last round, and we do not.
        assert_eq!(counts, [0, 2, 2, 2, 4], "{wire:?}");
        for (before, after) in threads.iter().zip(&threads[1..]) {
            assert_eq!(after[..before.len()], before[..], "{wire:?}: what was said stays as it was said");
        }
        let results: Vec<&Value> = threads[1].iter().filter(|message| message["role"] == "tool").collect();
        let read = |place: usize| results[place]["content"].as_str().unwrap();
        assert!(read(0).contains("391") && read(1).contains("Europe/Oslo"), "{wire:?}: {results:?}");
        let news = [
            json!({"role": "assistant", "content": "It is 391, and noon."}),
            json!({"role": "user", "content": "thanks"}),
        ];
        assert_eq!(threads[2][threads[1].len()..], news, "{wire:?}");
    });
}

/// Every tool has a name that every vendor takes, a description and a schema.
fn offers_tools(wire: Wire, request: &Value) {
    let tools = request["tools"].as_array().unwrap();
    let find = |name: &str| tools.iter().map(|tool| &tool["function"]).find(|tool| tool["name"] == name);
    for tool in tools {
        let name = tool["function"]["name"].as_str().unwrap();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(name.len() <= 64 && name.chars().all(is_plain), "{wire:?}: {name}");
        assert!(!tool["function"]["description"].as_str().unwrap().is_empty(), "{wire:?}: {name}");
    }
    for (name, parameter) in [("builtin__calculator", "expression"), ("builtin__get_local_time", "timezone")]
    {
        let tool = find(name).unwrap_or_else(|| panic!("{wire:?}: {name} is missing"));
        // The mock does not know the field that Gemini has JSON Schema in.
        let has_schema = tool["parameters"]["properties"][parameter].is_object();
        assert!(has_schema || wire.name == GEMINI.name, "{wire:?}: {tool}");
    }
}

#[test]
fn a_conversation_too_long_for_the_window_is_cut_and_stays_whole_on_every_wire() {
    let summing = |word: Option<&str>, response: Value| {
        let mut fixture =
            json!({"match": {"systemMessage": "You sum up the older part"}, "response": response});
        if let Some(word) = word {
            fixture["match"]["userMessage"] = json!(word);
        }
        fixture
    };
    let refusal = json!({"error": {"message": "no", "type": "invalid_request_error"}, "status": 400});
    let [last, first] = calling("both", &"word ".repeat(100));
    let mock = Aimock::start(&[
        summing(Some("without a summary"), refusal),
        summing(None, json!({"content": "They multiplied and looked at the clock."})),
        last,
        first,
    ]);
    let long = (0..700).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    on_every_wire(|wire| {
        for (how, summarised) in [("with a summary", true), ("without a summary", false)] {
            let before = asked(&mock, wire).len();
            let lab = Lab::new(wire, &mock.url(), "window = 8000\n");
            let mut compacted = Vec::new();
            lab.events(&["chat", &format!("both, {how}, turn 0: {long}")]);
            for turn in 1..7 {
                let message = format!("both, {how}, turn {turn}: {long}");
                let events = lab.events(&["chat", "--continue", &message]);
                assert_eq!(events.last().unwrap()["type"], "done", "{wire:?}: {how}");
                compacted.extend(events.into_iter().filter(|event| event["type"] == "compacted"));
            }
            assert!(!compacted.is_empty(), "{wire:?}: {how}");
            for event in &compacted {
                assert_eq!(event["summarised"], summarised, "{wire:?}: {how}: {event}");
                assert!(event["after"].as_u64() < event["before"].as_u64(), "{wire:?}: {how}: {event}");
            }
            let asked = asked(&mock, wire).split_off(before);
            let threads = asked.iter().filter(|request| request["tools"].is_array()).map(said);
            let threads: Vec<Vec<Value>> = threads.collect();
            let most = threads.iter().map(|thread| json!(thread).to_string().len()).max().unwrap();
            assert!(most < 8000 * 3, "{wire:?}: {how}: {most}");
            for thread in &threads {
                paired(thread);
            }
            let sent = json!(threads.last().unwrap()).to_string();
            assert!(sent.contains("turn 6:") && !sent.contains("turn 0:"), "{wire:?}: {how}: {sent}");
            assert_eq!(sent.contains("They multiplied"), summarised, "{wire:?}: {how}: {sent}");
            // What was said is still there; only less of it is sent.
            let kept = lab.run(&["conversations", "export", "last", "--format", "json"]).ended(0).out;
            assert!(kept.contains("turn 0:"), "{wire:?}: {how}");
        }
    });
}

#[test]
fn what_passes_by_itself_is_asked_again_and_what_does_not_is_told_on_every_wire() {
    let refuses = |word: &str, kind: &str, status: u16| {
        json!({"match": {"userMessage": word},
            "response": {"error": {"message": word, "type": kind}, "status": status, "retryAfter": 2}})
    };
    let mut fixtures = Vec::new();
    for wire in WIRES {
        let word = |word: &str| format!("{word} on {}", wire.name);
        for (name, kind, status) in [("slow", "rate_limit_error", 429), ("busy", "overloaded_error", 529)] {
            fixtures.push(at_first(refuses(&word(name), kind, status)));
            fixtures.push(says(&word(name), "At last."));
        }
        // What was said and not answered is said together with what is said next.
        fixtures.push(says(&word("then"), "So be it."));
        fixtures.push(refuses(&word("who"), "authentication_error", 401));
    }
    let mock = Aimock::start(&fixtures);
    on_every_wire(|wire| {
        let word = |word: &str| format!("{word} on {}", wire.name);
        let lab = Lab::new(wire, &mock.url(), "");
        for name in ["slow", "busy"] {
            let before = asked(&mock, wire).len();
            let events = lab.events(&["chat", &word(name)]);
            assert_eq!(events.last().unwrap()["text"], "At last.", "{wire:?}: {name}");
            let void: Vec<&Value> = events.iter().filter(|event| event["type"] == "void").collect();
            // The mock says when to come back only to those who came too often.
            let least = if name == "slow" { 2_000 } else { 1_000 };
            assert!(void.len() == 1 && void[0]["after_ms"].as_u64() >= Some(least), "{wire:?}: {void:?}");
            let asked = asked(&mock, wire).split_off(before);
            assert!(asked.len() == 2 && asked[0] == asked[1], "{wire:?}: {name}: {asked:?}");
        }
        let before = asked(&mock, wire).len();
        let refused = lab.run(&["chat", &word("who")]).ended(1);
        assert!(refused.out.is_empty() && refused.err.contains(&word("who")), "{wire:?}: {refused:?}");
        assert!(
            refused.err.contains("hint: check the API key: `toolroom models` shows where it comes from"),
            "{wire:?}: {refused:?}"
        );
        let refused = lab.run(&["chat", "--continue", &word("who"), "--json"]).ended(1).json();
        assert_eq!((&refused["state"], &refused["failure"]["kind"]), (&json!("failed"), &json!("auth")));
        assert!(refused["hint"].as_str().unwrap().contains("toolroom models"), "{wire:?}: {refused}");
        assert_eq!(asked(&mock, wire).len(), before + 2, "{wire:?}: a wrong key is not retried");
        let after = lab.run(&["chat", "--continue", &word("then"), "--json"]).ended(0).json();
        assert_eq!(after["text"], "So be it.", "{wire:?}");
    });
}

#[test]
fn a_stream_that_is_cut_leaves_nothing_half_on_any_wire() {
    let cut = |mut fixture: Value, chunks: u32| {
        fixture["chunkSize"] = json!(2);
        fixture["latency"] = json!(1);
        fixture["truncateAfterChunks"] = json!(chunks);
        at_first(fixture)
    };
    let whole = "This is said once, and as a whole.";
    let mut fixtures = Vec::new();
    for wire in WIRES {
        let [last, calls] = calling(&format!("call on {}", wire.name), whole);
        // In one of the formats a call comes in one piece, and so does the end of it.
        let chunks = if wire.name == GEMINI.name { 3 } else { 14 };
        fixtures.extend([cut(last.clone(), 6), last, cut(calls.clone(), chunks), calls]);
    }
    let mock = Aimock::start(&fixtures);
    on_every_wire(|wire| {
        let lab = Lab::new(wire, &mock.url(), "");
        let events = lab.events(&["chat", &format!("call on {}", wire.name)]);
        assert_eq!((count(&events, "void"), count(&events, "answered")), (2, 2), "{wire:?}: {events:#?}");
        assert_eq!(events.last().unwrap()["text"], whole, "{wire:?}");
        assert_eq!(lab.home.journal().len(), 2, "{wire:?}: each tool ran once");
        let kept = lab.run(&["conversations", "export", "last", "--format", "json"]).ended(0).json();
        let entries = kept["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 4, "{wire:?}: {kept:#}");
        assert_eq!(kept.to_string().matches("This is").count(), 1, "{wire:?}: {kept:#}");
        assert_eq!(kept.to_string().matches("Let me see.").count(), 1, "{wire:?}: {kept:#}");
        let asked = asked(&mock, wire);
        assert_eq!(asked.len(), 4, "{wire:?}");
        assert!(asked[0] == asked[1] && asked[2] == asked[3], "{wire:?}: the very same is asked");
        assert_eq!(paired(&said(&asked[3])).len(), 2, "{wire:?}");
    });
}
