//! The same conversations on all four wires, against the mock of four vendors.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolroom::model::{
    Block, Message, ModelErrorKind, ModelEvent, ModelRequest, OfferedTool, Role, StopReason,
};
use toolroom_models::retry::{RetryPolicy, RetryingModel};
use toolroom_models::vendor::WireKind;

use crate::aimock::Aimock;
use crate::client::{ask, opened, question, settings};

const WIRES: [(&str, WireKind); 4] = [
    ("openai/gpt-4o", WireKind::OpenaiChat),
    ("openai/gpt-4o", WireKind::OpenaiResponses),
    ("anthropic/claude-haiku-4-5", WireKind::Anthropic),
    ("gemini/gemini-2.5-flash", WireKind::Gemini),
];

fn weather() -> OfferedTool {
    OfferedTool {
        name: "get_weather".to_owned(),
        description: "The weather in a city.".to_owned(),
        parameters: Arc::new(json!({
            "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        })),
    }
}

fn asking(text: &str) -> ModelRequest {
    ModelRequest { tools: [weather()].into(), ..question(text) }
}

/// The requests a wire has made since the last look.
fn news(mock: &Aimock, seen: &mut usize) -> Vec<Value> {
    let journal = mock.journal();
    let news = journal.get(*seen..).unwrap_or_default().to_vec();
    *seen = journal.len();
    news
}

#[tokio::test]
async fn words_come_in_pieces_on_every_wire() {
    let mock = Aimock::start(&[json!({
        "match": {"userMessage": "hello"}, "chunkSize": 3, "response": {"content": "Hello to you."},
    })]);
    for (model, wire) in WIRES {
        let opened = opened(model, settings(&mock.url(), wire));
        let (told, answered) = ask(&*opened.model, &asking("hello")).await;
        let answer = answered.unwrap();
        assert_eq!(answer.stop, StopReason::Done, "{wire:?}");
        let words: String = told
            .iter()
            .map(|event| match event {
                ModelEvent::Text(text) => text.as_str(),
                other => panic!("{wire:?}: {other:?}"),
            })
            .collect();
        assert!(told.len() > 2, "{wire:?}: {told:?}");
        assert_eq!(
            (words.as_str(), answer.into_message().text().as_str()),
            ("Hello to you.", "Hello to you.")
        );
    }
    let journal = mock.journal();
    let paths: Vec<&str> = journal.iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(paths[..3], ["/v1/chat/completions", "/v1/responses", "/v1/messages"]);
    assert!(paths[3].starts_with("/v1beta/models/gemini-2.5-flash:streamGenerateContent"), "{paths:?}");
    for entry in &journal {
        let sent = entry["body"].to_string();
        for word in ["Be kind.", "hello", "get_weather", "The weather in a city."] {
            assert!(sent.contains(word), "{word} is missing in {sent}");
        }
        // The mock does not know the field that Gemini has JSON Schema in.
        assert!(sent.contains("\"city\"") || sent.contains("gemini"), "{sent}");
    }
}

#[tokio::test]
async fn parallel_calls_and_their_results_stay_paired_and_in_order_on_every_wire() {
    let call = |id: &str, city: &str| json!({"id": id, "name": "get_weather", "arguments": {"city": city}});
    let mock = Aimock::start(&[
        json!({"match": {"userMessage": "weather", "hasToolResult": true}, "response": {"content": "Wet and dry."}}),
        json!({"match": {"userMessage": "weather"},
            "response": {"toolCalls": [call("call_1", "Oslo"), call("call_2", "Bergen")]}}),
    ]);
    let mut seen = 0;
    for (model, wire) in WIRES {
        let opened = opened(model, settings(&mock.url(), wire));
        let mut request = asking("weather");
        let (told, answered) = ask(&*opened.model, &request).await;
        let answer = answered.unwrap();
        assert_eq!(answer.stop, StopReason::Calls, "{wire:?}");
        let begun = told.iter().filter(|event| matches!(event, ModelEvent::Call { .. })).count();
        let mut cities = Vec::new();
        let mut results = Vec::new();
        for block in &answer.blocks {
            let Block::Call { id, name, arguments, .. } = block else { continue };
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            cities.push(arguments["city"].as_str().unwrap().to_owned());
            let content = Arc::new(json!({"sky": format!("that of {}", arguments["city"])}));
            results.push(Block::Result { id: id.clone(), name: name.clone(), content, is_error: false });
        }
        assert_eq!((begun, &*cities), (2, &["Oslo".to_owned(), "Bergen".to_owned()][..]), "{wire:?}");
        // Results arrive in any order.
        results.reverse();
        let results = Message { role: Role::User, blocks: results };
        request.messages.extend([answer.into_message(), results].map(Arc::new));
        let (_, answered) = ask(&*opened.model, &request).await;
        assert_eq!(answered.unwrap().into_message().text(), "Wet and dry.", "{wire:?}");
        let asked = news(&mock, &mut seen);
        let sent = asked[1]["body"].to_string();
        let place =
            |word: &str| sent.find(word).unwrap_or_else(|| panic!("{wire:?}: {word} is missing in {sent}"));
        assert!(place("that of \\\\\\\"Oslo") < place("that of \\\\\\\"Bergen"), "{wire:?}: {sent}");
    }
}

#[tokio::test]
async fn refusals_mean_the_same_on_every_wire() {
    let refused = |word: &str, kind: &str, status: u16| json!({"match": {"userMessage": word}, "response": {"error": {"message": word, "type": kind}, "status": status}});
    let mut limited = refused("slow", "rate_limit_error", 429);
    limited["response"]["retryAfter"] = json!(7);
    let mock = Aimock::start(&[
        limited,
        refused("who", "authentication_error", 401),
        refused("busy", "overloaded_error", 529),
        refused("broken", "api_error", 500),
        refused("nonsense", "invalid_request_error", 400),
    ]);
    for (model, wire) in WIRES {
        let opened = opened(model, settings(&mock.url(), wire));
        for (word, kind) in [
            ("slow", ModelErrorKind::RateLimit),
            ("who", ModelErrorKind::Auth),
            ("busy", ModelErrorKind::Overloaded),
            ("broken", ModelErrorKind::Server),
            ("nonsense", ModelErrorKind::BadRequest),
        ] {
            let error = ask(&*opened.model, &asking(word)).await.1.unwrap_err();
            assert_eq!(error.kind, kind, "{wire:?}: {word}: {error}");
            assert_eq!(
                error.retry_after,
                (word == "slow").then_some(Duration::from_secs(7)),
                "{wire:?}: {word}"
            );
            assert!(error.message.contains(word), "{wire:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_retried_and_never_half_an_answer_on_any_wire() {
    let cut = |word: &str, how: &str, value: u64| {
        let mut fixture = json!({"match": {"userMessage": word}, "chunkSize": 2, "latency": 5,
            "response": {"content": "This is going to be cut off somewhere in the middle."}});
        fixture[how] = json!(value);
        fixture
    };
    let mock = Aimock::start(&[
        cut("truncate", "truncateAfterChunks", 6),
        cut("disconnect", "disconnectAfterMs", 40),
    ]);
    let mut seen = 0;
    for (model, wire) in WIRES {
        let opened = opened(model, settings(&mock.url(), wire));
        let quick = RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() };
        let patient = RetryingModel::with(opened.model, quick);
        for word in ["truncate", "disconnect"] {
            let (told, answered) = ask(&patient, &asking(word)).await;
            let error = answered.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Network, "{wire:?}: {word}: {error}");
            let voided = told.iter().filter(|event| matches!(event, ModelEvent::Again { .. })).count();
            assert_eq!(voided, 2, "{wire:?}: {word}: {told:?}");
            let asked = news(&mock, &mut seen);
            assert_eq!(asked.len(), 3, "{wire:?}: {word}");
            // Each time the very same was asked.
            assert!(asked.iter().all(|entry| entry["body"] == asked[0]["body"]), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn thoughts_come_apart_from_words() {
    let mock = Aimock::start(&[json!({
        "match": {"userMessage": "think"}, "response": {"reasoning": "Let me think.", "content": "Done."},
    })]);
    for (model, wire) in WIRES {
        // The mock lets only those think that do.
        let model = if model == "openai/gpt-4o" { "openai/gpt-5" } else { model };
        let opened = opened(model, settings(&mock.url(), wire));
        let (told, answered) = ask(&*opened.model, &asking("think")).await;
        assert_eq!(answered.unwrap().into_message().text(), "Done.", "{wire:?}");
        let thoughts: String = told
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Reasoning(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(thoughts, "Let me think.", "{wire:?}");
    }
}
