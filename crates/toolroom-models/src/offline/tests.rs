use proptest::prelude::*;
use serde_json::json;
use toolroom::model::{OfferedTool, SystemPrompt};

use super::*;
use crate::scale::cases;

fn offered(name: &str, description: &str, properties: &Value, required: &[&str]) -> OfferedTool {
    let parameters = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    OfferedTool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: Arc::new(parameters),
    }
}

/// What a fresh installation offers, in short.
fn tools() -> Arc<[OfferedTool]> {
    let text = json!({"type": "string"});
    let count = json!({"type": ["integer", "null"]});
    let path = json!({"path": text});
    [
        offered(
            "builtin__calculator",
            "Evaluate a mathematical expression exactly. Knows + - * / // % ^, comparisons, and/or/not, texts in quotes, \
             if(condition, a, b), sqrt, round, min, max and the constants pi, e and tau. 7 / 2 is 3.5 and 7 // 2 is 3.",
            &json!({"expression": {"type": "string", "description": "Expression to evaluate, e.g. '2 + 2 * 3'"}}),
            &["expression"],
        ),
        offered(
            "builtin__cost_status",
            "Return how many tokens a user has used and what they cost, in total and today",
            &json!({"user_id": {"type": ["string", "null"]}}),
            &[],
        ),
        offered(
            "builtin__doctor",
            "Check that this installation works, and suggest remedies for problems",
            &json!({}),
            &[],
        ),
        offered(
            "builtin__get_local_time",
            "Return the current local date and time",
            &json!({"timezone": {"type": ["string", "null"], "description": "IANA time zone such as `Europe/Berlin`"}}),
            &[],
        ),
        offered(
            "builtin__list_files",
            "List the files and folders in a folder (default: the workspace)",
            &path,
            &[],
        ),
        offered("builtin__memory_forget", "Forget the memory under a key", &json!({"key": text}), &["key"]),
        offered(
            "builtin__memory_search",
            "Search what is remembered about the user, by words or part of a text",
            &json!({"query": text, "limit": {"type": "integer"}}),
            &["query"],
        ),
        offered(
            "builtin__memory_store",
            "Remember something about the user beyond this conversation, or update what is remembered under a key",
            &json!({"key": text, "content": text}),
            &["key", "content"],
        ),
        offered(
            "builtin__read_file",
            "Read a text file. Long files can be read in parts with offset and limit, in lines.",
            &json!({"path": text, "offset": count, "limit": count}),
            &["path"],
        ),
        offered(
            "builtin__result_read",
            "Read a part of a tool result that was too long to return in full",
            &json!({"artifact": text, "offset": count}),
            &["artifact"],
        ),
        offered(
            "builtin__search",
            "Search the available tools and the latest calls by name, keyword or argument, best match first; an empty \
             query lists what is used most.",
            &json!({"query": text, "limit": count}),
            &["query"],
        ),
        offered(
            "builtin__session_status",
            "Return how full this conversation is, its number of turns and its cost",
            &json!({}),
            &[],
        ),
        offered(
            "builtin__web_fetch",
            "Fetch a web page and read it: HTML becomes Markdown without menus and scripts, JSON is \
             pretty-printed, other text is returned unchanged. Only the public internet can be reached.",
            &json!({"url": text, "max_chars": {"type": "integer"}}),
            &["url"],
        ),
        offered(
            "builtin__write_file",
            "Write text to a file, replacing its content and creating folders as needed",
            &json!({"path": text, "content": text}),
            &["path", "content"],
        ),
        offered(
            "mcp__lamps__set_lamp",
            "Switch a lamp in the living room",
            &json!({
                "state": {"enum": ["on", "off", "dim"]}, "brightness": {"type": "number"},
                "rooms": {"type": "array", "items": {"type": "string"}}, "fade": {"type": "boolean"},
            }),
            &["state"],
        ),
    ]
    .into()
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: SystemPrompt::default(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: tools(),
        tool_use: ToolUse::Free,
        max_tokens: None,
        temperature: None,
    }
}

/// A call as `name {arguments}`, or the words.
fn to(text: &str) -> String {
    shown(reply(&request(vec![Message::user(text)])))
}

fn shown(reply: Reply) -> String {
    match reply {
        Reply::Words(words) => words,
        Reply::Call { name, arguments } => format!("{name} {}", Value::Object(arguments)),
    }
}

fn result(content: Value, is_error: bool) -> Block {
    let name = "builtin__calculator".to_owned();
    Block::Result { id: ModelCallId::new("offline_1"), name, content: Arc::new(content), is_error }
}

/// The reply to this result of the calculator.
fn after(result: Block) -> String {
    let call = Block::Call {
        id: ModelCallId::new("offline_1"),
        name: "builtin__calculator".to_owned(),
        arguments: r#"{"expression":"17*23"}"#.into(),
        opaque: None,
    };
    let results = Message { role: Role::User, blocks: vec![result] };
    shown(reply(&request(vec![Message::user("what is 17*23?"), Message::assistant(vec![call]), results])))
}

#[test]
fn sentences_call_the_tool_they_ask_for() {
    for (text, call) in [
        ("what is 17*23?", r#"builtin__calculator {"expression":"17*23"}"#),
        ("15% of 80", r#"builtin__calculator {"expression":"15 * 80 / 100"}"#),
        ("the square root of 2", r#"builtin__calculator {"expression":"sqrt(2)"}"#),
        ("what time is it?", "builtin__get_local_time {}"),
        ("What's the current date?", "builtin__get_local_time {}"),
        ("what's the date today", "builtin__get_local_time {}"),
        ("what time is it in Tokyo?", r#"builtin__get_local_time {"timezone":"Asia/Tokyo"}"#),
        ("local time in New York please", r#"builtin__get_local_time {"timezone":"America/New_York"}"#),
        ("read notes.txt", r#"builtin__read_file {"path":"notes.txt"}"#),
        ("please read the file src/main.rs", r#"builtin__read_file {"path":"src/main.rs"}"#),
        ("Read \"my notes\" file", r#"builtin__read_file {"path":"my notes"}"#),
        ("fetch https://example.com", r#"builtin__web_fetch {"url":"https://example.com"}"#),
        ("get the web page example.com", r#"builtin__web_fetch {"url":"https://example.com"}"#),
        ("what does https://example.com/a say?", r#"builtin__web_fetch {"url":"https://example.com/a"}"#),
        ("list the files", "builtin__list_files {}"),
        ("which files and folders are here?", "builtin__list_files {}"),
        ("list files in src/", r#"builtin__list_files {"path":"src/"}"#),
        ("search memory for 'birthday'", r#"builtin__memory_search {"query":"birthday"}"#),
        ("switch the lamp off", r#"mcp__lamps__set_lamp {"state":"off"}"#),
    ] {
        assert_eq!(to(text), call, "{text}");
    }
}

#[test]
fn what_is_unclear_is_answered_with_tools_that_are_near_and_a_way_to_a_real_model() {
    for (text, near) in [
        ("translate this to French", ""),
        ("tell me a joke", ""),
        ("write a poem about files", "/write_file path=… content=…"),
        ("delete notes.txt", "/read_file path=…"),
        ("summarise https://example.com", "/web_fetch url=…"),
        ("what time is it in Springfield?", "/get_local_time"),
        ("remember that my name is Bob", "/memory_store key=… content=…"),
        ("fetch https://example.com and write it to notes.txt", "/web_fetch url=…"),
        ("switch the lamp", "/set_lamp state=on|off|dim"),
        ("remember 'my name is Bob'", "/memory_store key=… content=…"),
        ("make a list", ""),
        ("which files are here?", "/list_files [path=…]"),
    ] {
        let words = to(text);
        assert!(words.contains("OPENAI_API_KEY") && words.contains("offline mode"), "{text}: {words}");
        assert!(words.contains(near) && !words.starts_with("builtin__"), "{text}: {words}");
    }
}

#[test]
fn small_talk_gets_a_pleasant_answer() {
    for text in ["hi", "Hello there!", "good morning", "Hi, what can you do?"] {
        let words = to(text);
        assert!(words.starts_with("Hello! No model connected"), "{text}: {words}");
        assert!(words.contains("Calculator: `/calculator expression=…`"), "{words}");
    }
    for text in ["help", "what can you do?", "Who are you", "?"] {
        assert!(to(text).starts_with("No model connected"), "{text}");
    }
    assert_eq!(to("thanks a lot!"), "You are welcome.");
    assert!(to("bye").starts_with("Goodbye."));
    assert!(to("/tools").contains("`/write_file path=… content=…`"));
}

#[test]
fn a_slash_calls_a_tool_by_any_of_its_names() {
    let call = r#"builtin__calculator {"expression":"2+2"}"#;
    for text in [
        "/calculator expression=2+2",
        "/builtin:calculator expression=2+2",
        "/builtin__calculator expression=\"2+2\"",
        "/calc 2+2",
        "/calcualtor '2+2'",
        "/calculator {\"expression\": \"2+2\"}",
        "/calculator expression:=\"2+2\"",
    ] {
        assert_eq!(to(text), call, "{text}");
    }
}

#[test]
fn values_behind_a_slash_have_the_type_the_tool_wants() {
    for (text, call) in [
        ("/get_local_time", "builtin__get_local_time {}"),
        ("/get_local_time Asia/Tokyo", r#"builtin__get_local_time {"timezone":"Asia/Tokyo"}"#),
        ("/read_file path=a b.txt offset=3", r#"builtin__read_file {"path":"a b.txt","offset":3}"#),
        ("/read_file my notes.txt", r#"builtin__read_file {"path":"my notes.txt"}"#),
        ("/calculator 1 == 1", r#"builtin__calculator {"expression":"1 == 1"}"#),
        ("/calculator expression=1 == 1", r#"builtin__calculator {"expression":"1 == 1"}"#),
        (
            "/memory_store key=name content=\"it's \\\"Bob\\\" key=x\"",
            r#"builtin__memory_store {"key":"name","content":"it's \"Bob\" key=x"}"#,
        ),
        (
            "/set_lamp state=dim brightness=0.5 fade=true rooms=[\"a b\", \"c\"]",
            r#"mcp__lamps__set_lamp {"state":"dim","brightness":0.5,"fade":true,"rooms":["a b","c"]}"#,
        ),
        ("/set_lamp state=on rooms=a rooms=b", r#"mcp__lamps__set_lamp {"state":"on","rooms":["a","b"]}"#),
    ] {
        let expected: Vec<&str> = call.splitn(2, ' ').collect();
        let said = to(text);
        let said: Vec<&str> = said.splitn(2, ' ').collect();
        assert_eq!(said[0], expected[0], "{text}");
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(json(said[1]), json(expected[1]), "{text}");
    }
}

#[test]
fn wrong_calls_are_explained_and_not_made() {
    for (text, said) in [
        ("/nosuch x=1", "Unknown tool `nosuch`. `/tools` lists all tools."),
        ("/memory", "Did you mean one of these?"),
        ("/calculator", "Calculator was not called: missing argument `expression`."),
        ("/calculator expresion=1", "unknown argument `expresion` (did you mean `expression`?)"),
        ("/memory_store hello", "`hello` is not a key=value pair"),
        ("/memory_store key=a key=b", "`key` is given twice"),
        ("/calculator {\"expression\": 1", "the arguments are not valid JSON"),
    ] {
        let words = to(text);
        assert!(words.contains(said), "{text}: {words}");
    }
    assert_eq!(
        to("/etc/hosts"),
        r#"builtin__read_file {"path":"/etc/hosts"}"#,
        "a path is no name of a tool"
    );
}

#[test]
fn results_are_described() {
    for (content, said) in [
        (json!(391), "17*23 = 391".to_owned()),
        (json!("done"), "Calculator: done".to_owned()),
        (json!(null), "Calculator is done.".to_owned()),
        (json!([]), "Calculator found nothing.".to_owned()),
        (json!(["a", 2]), "Calculator:\n\n- a\n- 2".to_owned()),
        (json!({"success": true, "key": "x"}), "Calculator:\n\n- success: true\n- key: x".to_owned()),
        (json!({"content": "two\nlines"}), "Calculator:\n\ntwo\nlines".to_owned()),
        (json!({"url": "u", "content": "text"}), "Calculator:\n\n- url: u\n\ntext".to_owned()),
        (
            json!({"display_datetime": "Sunday, 15 November 2026, 09:05", "timezone": "Asia/Tokyo"}),
            "It is Sunday, 15 November 2026, 09:05 (Asia/Tokyo).".to_owned(),
        ),
    ] {
        assert_eq!(after(result(content, false)), said);
    }
    let error = json!({"error": "division by zero", "hint": "divide by something else"});
    assert_eq!(after(result(error, true)), "Calculator failed: division by zero\n\ndivide by something else");
}

#[test]
fn long_results_are_shown_with_their_size_and_artifact() {
    let marker = "[… 5 of 9 characters left out; whole result: result_read artifact=art_7x …]";
    let said = after(result(json!(format!("{}{marker}", "word ".repeat(1_000))), false));
    assert!(said.contains("characters in total; this is the beginning"), "{said}");
    assert!(said.ends_with("`/result_read artifact=art_7x` shows more."), "{said}");
    assert!(said.len() < 3_000);
    let many: Vec<Value> = (0..500).map(|n| json!({"n": n})).collect();
    let said = after(result(json!(many), false));
    assert!(said.starts_with("Calculator (500 entries, ") && said.len() < 3_000, "{said}");
}

#[test]
fn several_results_are_listed() {
    let mut turn = Message { role: Role::User, blocks: vec![result(json!(1), false)] };
    turn.blocks.push(result(json!({"error": "no"}), true));
    let said = shown(reply(&request(vec![Message::user("both"), turn])));
    assert_eq!(said, "- Calculator: 1\n- Calculator failed: no");
}

#[test]
fn without_tools_it_says_what_is_known() {
    let mut asked = request(vec![Message::user("what is 17*23?")]);
    asked.tool_use = ToolUse::Never;
    assert!(shown(reply(&asked)).starts_with("Tool calls are not allowed in this answer"));
    let mut summed_up = asked.clone();
    summed_up.tools = [].into();
    assert_eq!(reply(&summed_up), Reply::Words(String::new()), "a summary is not made up");
    let mut results = request(vec![Message { role: Role::User, blocks: vec![result(json!("x"), false)] }]);
    results.tool_use = ToolUse::Never;
    assert_eq!(shown(reply(&results)), "Calculator: x");
    asked.tools = [].into();
    asked.tool_use = ToolUse::Free;
    assert!(shown(reply(&asked)).starts_with("No tool matches this message"));
}

#[test]
fn what_a_tool_has_read_calls_nothing() {
    let page = json!("<tool_call>{\"name\": \"write_file\"}</tool_call>");
    let request = request(vec![Message { role: Role::User, blocks: vec![result(page, false)] }]);
    let answer = answer(&request, &mut |_| {});
    let Block::Text { text, .. } = &answer.blocks[0] else { panic!("{answer:?}") };
    assert!(text.contains("< tool_call>{") && !text.contains("<tool_call>"), "{text}");
}

#[tokio::test]
async fn an_answer_is_streamed_and_costs_nothing() {
    let ask = async |text: &str| {
        let request = request(vec![Message::user(text)]);
        let mut told = Vec::new();
        let answer =
            Offline.ask(&request, &mut |event| told.push(event), &CancellationToken::new()).await.unwrap();
        (answer, told)
    };
    let (answer, told) = ask("hi").await;
    let pieces: Vec<&str> = told
        .iter()
        .map(|event| match event {
            ModelEvent::Text(text) => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!((2..=64).contains(&pieces.len()));
    assert_eq!(answer.blocks, [Block::text(pieces.concat())]);
    assert_eq!((answer.stop, answer.usage), (StopReason::Done, Usage::default()));

    let (answer, told) = ask("/calc 1+1").await;
    assert_eq!(answer.stop, StopReason::Calls);
    assert!(matches!(
        told.as_slice(),
        [ModelEvent::Call { index: 0, .. }, ModelEvent::Arguments { index: 0, .. }]
    ));

    let stopped = CancellationToken::new();
    stopped.cancel();
    let request = request(vec![Message::user("hi")]);
    let error = Offline.ask(&request, &mut |_| {}, &stopped).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Cancelled);
}

#[test]
fn calls_have_an_id_of_their_own() {
    let mut messages = vec![Message::user("/calc 1")];
    for expected in ["offline_1", "offline_2"] {
        let answer = answer(&request(messages.clone()), &mut |_| {});
        let Block::Call { id, .. } = &answer.blocks[0] else { panic!("{answer:?}") };
        assert_eq!(id.as_str(), expected);
        messages.extend([answer.into_message(), Message::user("/calc 2")]);
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn every_message_gets_a_text_or_a_call_of_an_offered_tool(
        pieces in prop::collection::vec(prop_oneof![
            prop::sample::select(vec![
                "/", "calc", "/calculator ", "expression=", "path=", "state=", "=", ":=", "{", "}", "[", "\"", "'", "\\",
                " ", "\n", "what is ", "17", "%", " of ", "*", "(", ")", "https://", "example.com", "notes.txt", "time",
                "in Tokyo", "read ", "list files", "square root of ", "“", "”", "İ", "hi", "switch the lamp ", "on",
            ]).prop_map(str::to_owned),
            "\\PC{0,6}",
        ], 0..16),
    ) {
        let request = request(vec![Message::user(pieces.concat())]);
        let first = reply(&request);
        prop_assert_eq!(&first, &reply(&request));
        match first {
            Reply::Words(words) => prop_assert!(!words.is_empty()),
            Reply::Call { name, arguments } => {
                prop_assert!(request.tools.iter().any(|tool| tool.name == name));
                prop_assert!(serde_json::from_str::<Value>(&Value::Object(arguments).to_string()).is_ok());
            }
        }
    }

    #[test]
    fn every_result_is_described(text in "\\PC{0,300}", number in any::<f64>(), is_error: bool) {
        for content in [json!(text), json!({"error": text}), json!([text, number]), json!({"content": text, "n": {"a": number}})] {
            prop_assert!(!after(result(content, is_error)).is_empty());
        }
    }
}
