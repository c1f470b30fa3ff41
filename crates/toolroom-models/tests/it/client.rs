//! The client against a stand-in for a vendor.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::clock::SystemClock;
use toolroom::model::{
    Answer, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, SystemPrompt, ToolUse,
};
use toolroom::redact::Secret;
use toolroom_host::net::Client;
use toolroom_models::client::{Endpoint, Remote, egress_policy};
use toolroom_models::directory::{Directory, Given, KeySetting, OpenedModel, VendorSettings};
use toolroom_models::retry::{RetryPolicy, RetryingModel};
use toolroom_models::vendor::{BaseUrl, WireKind, preset};
use toolroom_models::wire::{Quirks, WireOptions};

use crate::stand_in::{StandIn, chunk, respond, stream, stream_and, until_gone};

const KEY: &str = "sk-do-not-tell-0123456789";

const CHAT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\
                    \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
const CUT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";

/// The four wires, as a vendor and a model, and each with the same whole answer.
fn wires() -> [(&'static str, WireKind, Value); 4] {
    [
        (
            "openai/gpt-4o",
            WireKind::OpenaiChat,
            json!({"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]}),
        ),
        (
            "openai/gpt-4o",
            WireKind::OpenaiResponses,
            json!({"object": "response", "status": "completed", "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
            ]}),
        ),
        (
            "anthropic/claude-haiku-4-5",
            WireKind::Anthropic,
            json!({"type": "message", "model": "claude", "content": [{"type": "text", "text": "Hello"}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 1}}),
        ),
        (
            "gemini/gemini-2.5-flash",
            WireKind::Gemini,
            json!([{"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]}]),
        ),
    ]
}

pub(crate) fn settings(url: &str, wire: WireKind) -> VendorSettings {
    let from = "the test".to_owned();
    VendorSettings {
        base_url: Some(Given { value: url.to_owned(), from: from.clone() }),
        key: Some(KeySetting::Given(Given { value: Secret::new("key", KEY), from })),
        wire: Some(wire),
        ..VendorSettings::default()
    }
}

pub(crate) fn opened(model: &str, settings: VendorSettings) -> OpenedModel {
    let name = model.parse().unwrap();
    let settings = BTreeMap::from([(model.split_once('/').unwrap().0.to_owned(), settings)]);
    Directory::new(settings, Arc::new(SystemClock)).open(&name).unwrap()
}

pub(crate) fn question(text: &str) -> ModelRequest {
    ModelRequest {
        system: SystemPrompt { lasting: "Be kind.".into(), changing: "".into() },
        messages: vec![Arc::new(Message::user(text))],
        tools: [].into(),
        tool_use: ToolUse::Free,
        max_tokens: None,
        temperature: None,
    }
}

pub(crate) type Heard = (Vec<ModelEvent>, Result<Answer, ModelError>);

pub(crate) async fn ask(model: &dyn Model, request: &ModelRequest) -> Heard {
    let mut told = Vec::new();
    let answered = model.ask(request, &mut |event| told.push(event), &CancellationToken::new()).await;
    (told, answered)
}

async fn chat(server: &StandIn) -> Heard {
    let opened = opened("openai/gpt-4o", settings(&server.url(), WireKind::OpenaiChat));
    ask(&*opened.model, &question("hi")).await
}

fn text(answer: Answer) -> String {
    answer.into_message().text()
}

#[tokio::test]
async fn words_are_told_as_they_come_and_the_key_is_in_its_header() {
    let server = StandIn::start(vec![stream(CHAT)]);
    let (told, answered) = chat(&server).await;
    assert_eq!(told, [ModelEvent::Text("Hel".to_owned()), ModelEvent::Text("lo".to_owned())]);
    assert_eq!(text(answered.unwrap()), "Hello");
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/chat/completions "), "{}", asked.head);
    assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(asked.header("accept-encoding"), Some("identity"));
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!((&body["model"], &body["stream"]), (&json!("gpt-4o"), &json!(true)));
}

#[tokio::test]
async fn each_wire_has_its_own_way_in_and_takes_an_answer_that_is_not_streamed() {
    for (model, wire, whole) in wires() {
        let json = [("content-type", "application/json; charset=utf-8")];
        let server = StandIn::start(vec![respond("200 OK", &json, &whole.to_string())]);
        let opened = opened(model, settings(&server.url(), wire));
        let (told, answered) = ask(&*opened.model, &question("hi")).await;
        assert_eq!(text(answered.unwrap()), "Hello", "{wire:?}");
        assert_eq!(told, [ModelEvent::Text("Hello".to_owned())], "{wire:?}");
        let asked = &server.asked()[0];
        let (path, header, value) = match wire {
            WireKind::OpenaiChat => ("/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
            WireKind::OpenaiResponses => ("/v1/responses", "authorization", format!("Bearer {KEY}")),
            WireKind::Anthropic => ("/v1/messages", "x-api-key", KEY.to_owned()),
            WireKind::Gemini => (
                "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
                "x-goog-api-key",
                KEY.to_owned(),
            ),
        };
        assert!(asked.head.starts_with(&format!("POST {path} ")), "{}", asked.head);
        assert_eq!(asked.header(header), Some(value.as_str()));
        assert_eq!(asked.header("anthropic-version").is_some(), wire == WireKind::Anthropic);
    }
}

#[tokio::test]
async fn azure_has_deployments_a_version_and_a_header_of_its_own() {
    let server = StandIn::start(vec![stream(CHAT)]);
    let opened = opened("azure/my-model", settings(&server.url(), WireKind::OpenaiChat));
    let (_, answered) = ask(&*opened.model, &question("hi")).await;
    assert_eq!(text(answered.unwrap()), "Hello");
    let asked = &server.asked()[0];
    let path = "POST /openai/deployments/my-model/chat/completions?api-version=2024-10-21 ";
    assert!(asked.head.starts_with(path), "{}", asked.head);
    assert_eq!((asked.header("api-key"), asked.header("authorization")), (Some(KEY), None));
}

#[tokio::test]
async fn a_stream_that_is_cut_is_an_error_and_another_try_voids_what_was_told() {
    // Once with the connection gone in the middle of a piece, once with an end that comes too early.
    let cut = stream_and(CUT, |stream| drop(stream.write_all(b"40\r\ndata: {\"cho")));
    let ended = stream(CUT);
    let server = StandIn::start(vec![cut, ended, stream(CHAT)]);
    let opened = opened("openai/gpt-4o", settings(&server.url(), WireKind::OpenaiChat));
    for _ in 0..2 {
        let (told, answered) = ask(&*opened.model, &question("hi")).await;
        assert_eq!(told, [ModelEvent::Text("Hel".to_owned())]);
        let error = answered.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Network, "{error}");
    }
    let server = StandIn::start(vec![stream(CUT), stream(CHAT)]);
    let opened = self::opened("openai/gpt-4o", settings(&server.url(), WireKind::OpenaiChat));
    let quick = RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() };
    let (told, answered) = ask(&RetryingModel::with(opened.model, quick), &question("hi")).await;
    assert_eq!(text(answered.unwrap()), "Hello");
    assert!(
        matches!(
            &told[..],
            [ModelEvent::Text(_), ModelEvent::Again { .. }, ModelEvent::Text(_), ModelEvent::Text(_)]
        ),
        "{told:?}"
    );
}

#[tokio::test]
async fn silence_ends_in_a_timeout_before_and_within_an_answer() {
    for reply in [stream_and(CUT, until_gone), Box::new(until_gone) as _] {
        let server = StandIn::start(vec![reply]);
        let silence = Some(Duration::from_millis(300));
        let settings = VendorSettings { idle: silence, ..settings(&server.url(), WireKind::OpenaiChat) };
        let opened = opened("openai/gpt-4o", settings);
        let (_, answered) =
            tokio::time::timeout(Duration::from_secs(60), ask(&*opened.model, &question("hi")))
                .await
                .unwrap();
        let error = answered.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Timeout, "{error}");
        assert_eq!(error.message, "nothing arrived from OpenAI for 0.3 s");
    }
}

#[tokio::test]
async fn an_answer_that_is_complete_is_not_waited_for() {
    let server = StandIn::start(vec![stream_and(CHAT, until_gone)]);
    let (_, answered) = chat(&server).await;
    assert_eq!(text(answered.unwrap()), "Hello");
}

#[tokio::test]
async fn a_stream_without_end_is_given_up() {
    let comment = chunk(&format!(":{}\n", " ".repeat(1 << 20)));
    let endless =
        move |stream: &mut std::net::TcpStream| while stream.write_all(comment.as_bytes()).is_ok() {};
    let server = StandIn::start(vec![stream_and(CUT, endless)]);
    let (_, answered) = chat(&server).await;
    let error = answered.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Endless);
    assert!(!error.kind.is_transient(), "it would be paid for three times");
    assert!(error.message.contains("exceeds the limit"), "{error}");
}

#[tokio::test]
async fn an_answer_that_says_too_much_is_given_up() {
    let words = json!({ "choices": [{ "delta": { "content": "x".repeat(1 << 20) } }] });
    let piece = format!("data: {words}\n\n");
    let server = StandIn::start(vec![stream(&format!("{}{CHAT}", piece.repeat(5)))]);
    let (_, answered) = chat(&server).await;
    let error = answered.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Endless);
    assert!(error.message.contains("exceeds the limit"), "{error}");
}

#[tokio::test]
async fn what_a_vendor_says_about_waiting_is_kept() {
    let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
    for (headers, seconds) in [
        (vec![("retry-after", "7")], 7.0),
        (vec![("retry-after", "7"), ("retry-after-ms", "1500")], 1.5),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:28:12 GMT"), date], 12.0),
    ] {
        let body = "{\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\"}}";
        let server = StandIn::start(vec![respond("429 Too Many Requests", &headers, body)]);
        let error = chat(&server).await.1.unwrap_err();
        assert_eq!(
            (error.kind, error.status, error.message.as_str()),
            (ModelErrorKind::RateLimit, Some(429), "slow down")
        );
        assert_eq!(error.retry_after, Some(Duration::from_secs_f64(seconds)));
    }
}

#[tokio::test]
async fn refusals_have_their_kind_and_never_the_key() {
    let wrong_key = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}.\"}}}}");
    for (status, body, kind) in [
        ("401 Unauthorized", wrong_key.as_str(), ModelErrorKind::Auth),
        ("529 Overloaded", "", ModelErrorKind::Overloaded),
        ("500 Oh", "<html>", ModelErrorKind::Server),
        ("404 Not Found", "{\"error\":\"no such model\"}", ModelErrorKind::NotFound),
    ] {
        let server = StandIn::start(vec![respond(status, &[], body)]);
        let error = chat(&server).await.1.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
    }
    // Long texts are cut, and a key must not be cut with them.
    let long = format!("{{\"error\":{{\"message\":\"{}{KEY}\"}}}}", "x".repeat(990));
    let server = StandIn::start(vec![respond("401 Unauthorized", &[], &long)]);
    let error = chat(&server).await.1.unwrap_err();
    let beginning: String = KEY.chars().take(6).collect();
    assert!(!error.message.contains(&beginning), "{error:?}");
    let body = "{\"error\":{\"message\":\"This model's maximum context length is 4096 tokens.\"}}";
    let server = StandIn::start(vec![respond("400 Bad Request", &[], body)]);
    let error = chat(&server).await.1.unwrap_err();
    assert_eq!((error.kind, error.window), (ModelErrorKind::ContextOverflow, Some(4_096)));
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_no_other_host_gets_the_key() {
    let other = StandIn::start(vec![stream(CHAT)]);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("{}/v1/chat/completions", other.url());
        let server = StandIn::start(vec![respond(status, &[("location", &location)], "")]);
        let error = chat(&server).await.1.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::NotFound);
        assert!(error.message.contains("redirects to `127.0.0.1`"), "{error}");
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_cancelled_request_closes_the_connection_at_once() {
    let (gone, noticed) = mpsc::channel();
    let gone = Mutex::new(gone);
    let server = StandIn::start(vec![stream_and(CUT, move |stream| {
        until_gone(stream);
        gone.lock().unwrap().send(()).unwrap();
    })]);
    let opened = opened("openai/gpt-4o", settings(&server.url(), WireKind::OpenaiChat));
    let cancellation = CancellationToken::new();
    let request = question("hi");
    // Stopped as soon as a word was heard.
    let mut heard = |_| cancellation.cancel();
    let error = opened.model.ask(&request, &mut heard, &cancellation).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Cancelled);
    let waited = tokio::task::spawn_blocking(move || noticed.recv_timeout(Duration::from_secs(60)));
    waited.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_no_answer_says_what_to_look_at() {
    let html = [("content-type", "text/html")];
    let server = StandIn::start(vec![respond("200 OK", &html, "<html>Welcome</html>")]);
    let error = chat(&server).await.1.unwrap_err();
    assert!(error.message.contains("answers with a web page; set the base URL"), "{error}");
    let unreachable = "http://127.0.0.1:1";
    let opened = opened("ollama/qwen3", settings(unreachable, WireKind::OpenaiChat));
    let error = ask(&*opened.model, &question("hi")).await.1.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.contains("ollama serve"), "{error}");
}

#[tokio::test]
async fn an_unconfigured_address_stays_closed() {
    let server = StandIn::start(vec![stream(CHAT)]);
    let preset = preset("openai").unwrap();
    let endpoint = Endpoint {
        title: "OpenAI".to_owned(),
        wire: WireKind::OpenaiChat,
        base: BaseUrl::read(&server.url(), preset, WireKind::OpenaiChat).unwrap(),
        auth: preset.auth,
        key: Some(Secret::new("key", KEY)),
        api_version: None,
        hint: None,
    };
    let options = WireOptions { model: "m".to_owned(), owner: "openai".into(), quirks: Quirks::default() };
    let http = Arc::new(Client::new(egress_policy(None)));
    let model = Remote::new(
        "openai/m".parse().unwrap(),
        endpoint,
        options,
        Duration::from_secs(60),
        http,
        Arc::new(SystemClock),
    );
    assert!(!format!("{model:?}").contains(KEY));
    let error = ask(&model, &question("hi")).await.1.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NotFound);
    assert!(error.message.contains("is refused"), "{error}");
    assert!(server.asked().is_empty());
}
