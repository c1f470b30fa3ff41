//! What a model says, and what of it is kept and told.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolroom::agent::{Agent, AgentRecord, Candidate, RunReport, SendRequest};
use toolroom::conversation::{Conversations, NumberedEvent, RunEvent, RunState};
use toolroom::model::{
    Answer, Block, Model, ModelCallId, ModelError, ModelErrorKind, ModelEvent, ModelFacts, ModelRequest,
    Opaque, StopReason, Usage,
};
use toolroom::policy::{Policy, Preset};
use toolroom::redact::{Patterns, RedactionError, Redactions, Redactor, Secret};
use toolroom::scope::ProjectId;
use toolroom::testing::{MemoryConversations, MemoryLedger, NoSeal};
use toolroom::tool::{Effect, ToolOutput, ToolSpec};
use toolroom::{BoxFuture, Toolroom};

use crate::room::scripted;

const SECRET: &str = "sesame-open-now-42";

/// A value in the client's context that looks like a secret.
const BADGE: &str = "ghp_k7Rq2ZxW9mB4vTn1LcY8sHd3JfG6pQ5tA1b2";

struct Vault;

impl Redactions for Vault {
    fn redactor<'a>(
        &'a self,
        _project: &'a ProjectId,
        _revision: i64,
    ) -> BoxFuture<'a, Result<Arc<Redactor>, RedactionError>> {
        let redactor = Redactor::new([Secret::new("CODE", SECRET)], Patterns::Keys);
        Box::pin(async move { Ok(Arc::new(redactor)) })
    }
}

type Line = Result<Vec<Block>, ModelError>;

/// Says its lines, the last one first, and notes what it is asked.
#[derive(Clone, Default)]
struct Speaker {
    lines: Arc<Mutex<Vec<Line>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Model for Speaker {
    fn name(&self) -> &'static str {
        "lab/speaker"
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        told: &'a mut (dyn FnMut(ModelEvent) + Send),
        _cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.asked.lock().unwrap().push(format!("{request:?}"));
        let line = self.lines.lock().unwrap().pop().unwrap();
        for block in line.iter().flatten() {
            let letters = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            match block {
                Block::Text { text, .. } => {
                    letters(text).into_iter().for_each(|text| told(ModelEvent::Text(text)));
                }
                Block::Reasoning { text, .. } => {
                    letters(text).into_iter().for_each(|text| told(ModelEvent::Reasoning(text)));
                }
                Block::Call { id, name, .. } => {
                    told(ModelEvent::Call { index: 0, id: id.clone(), name: name.clone() });
                }
                _ => {}
            }
        }
        let answer = line.map(|blocks| Answer {
            blocks,
            stop: StopReason::Done,
            usage: Usage::default(),
            model: None,
        });
        Box::pin(async { answer })
    }
}

struct Talk {
    report: RunReport,
    /// What was kept, all of it.
    kept: String,
    /// The events that listeners got, in order.
    seen: String,
    /// What the model was asked.
    asked: String,
    /// What the tool was called with.
    called: Vec<String>,
}

async fn talk(mut lines: Vec<Line>) -> Talk {
    lines.reverse();
    let speaker = Speaker { lines: Arc::new(Mutex::new(lines)), ..Speaker::default() };
    let room = Toolroom::builder(Arc::new(MemoryLedger::new()))
        .policy(Policy::new(Preset::Open, Vec::new()).unwrap())
        .seal(Arc::new(NoSeal))
        .redactions(Arc::new(Vault))
        .build();
    let called = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&called);
    let spec = ToolSpec::new("app:note", "Notes something")
        .unwrap()
        .effect(Effect::Pure)
        .capabilities(&[])
        .parameters(json!({ "type": "object", "properties": { "text": { "type": "string" } } }));
    room.catalog()
        .register(scripted(spec, move |context, arguments| {
            noted.lock().unwrap().push(format!("{arguments:?} {:?}", context.client_context()));
            async { Ok(ToolOutput::new("noted")) }
        }))
        .unwrap();
    let conversations = MemoryConversations::new();
    let record = AgentRecord { prompt: format!("You know {SECRET}."), ..AgentRecord::default() };
    let facts = ModelFacts { window: 100_000, tools: true, ..ModelFacts::UNKNOWN };
    let chain = [Candidate::new(Arc::new(speaker.clone())).facts(facts)];
    let agent = Agent::new(room, Arc::new(conversations.clone()), record, chain).unwrap();
    let mut request = SendRequest::new("hello");
    request.context.insert("door".to_owned(), json!({ "code": SECRET }));
    request.context.insert("badge".to_owned(), json!(BADGE));
    let seen = Arc::new(Mutex::new(String::new()));
    let noticed = Arc::clone(&seen);
    request.listener = Some(Arc::new(move |event: &NumberedEvent| match &event.event {
        RunEvent::Text { text } | RunEvent::Reasoning { text } => noticed.lock().unwrap().push_str(text),
        other => noticed.lock().unwrap().push_str(&format!("{other:?}")),
    }));
    let report = agent.send(request).await.unwrap();
    let scope = &report.run.scope;
    let entries = conversations.entries(scope, &report.run.conversation, 0).await.unwrap();
    let events = conversations.events(scope, &report.run.id, 0).await.unwrap();
    let kept = format!("{entries:?} {events:?} {:?}", report.run.failure);
    let asked = speaker.asked.lock().unwrap().join("\n");
    let called = called.lock().unwrap().clone();
    let seen = seen.lock().unwrap().clone();
    Talk { report, kept, seen, asked, called }
}

fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::Call { id: ModelCallId::new(id), name: name.to_owned(), arguments: arguments.into(), opaque: None }
}

#[tokio::test]
async fn a_secret_that_a_model_says_is_neither_kept_nor_told_again() {
    let opaque = Opaque { owner: "lab".into(), part: Arc::new(json!({ "thoughts": SECRET })) };
    let first = vec![
        Block::Reasoning { text: format!("it is {SECRET}"), opaque: None },
        Block::Reasoning { text: String::new(), opaque: Some(opaque.clone()) },
        Block::Text { text: format!("I say {SECRET}"), opaque: Some(opaque) },
        call(&format!("id-{SECRET}"), "app__note", &json!({ "text": SECRET }).to_string()),
        call("2", &format!("tool_{SECRET}"), "{}"),
    ];
    let talk = talk(vec![Ok(first), Ok(vec![Block::text(format!("the end, {SECRET}"))])]).await;
    assert_eq!(talk.report.run.state, RunState::Done);
    assert_eq!(talk.report.text, "the end, [secret CODE]");
    assert!(talk.kept.contains("I say [secret CODE]"), "{}", talk.kept);
    assert!(talk.seen.contains("it is [secret CODE]I say [secret CODE]"), "{}", talk.seen);
    for told in [&talk.kept, &talk.seen, &talk.asked, &format!("{:?}", talk.called)] {
        assert!(!told.contains(SECRET), "{told}");
    }
}

#[tokio::test]
async fn a_secret_in_what_a_vendor_says_of_a_failure_is_not_kept() {
    let error = ModelError::new(ModelErrorKind::BadRequest, format!("no such key: {SECRET}"));
    let talk = talk(vec![Err(error)]).await;
    assert_eq!(talk.report.run.state, RunState::Failed);
    assert!(talk.kept.contains("no such key: [secret CODE]"), "{}", talk.kept);
    assert!(!talk.kept.contains(SECRET), "{}", talk.kept);
}

#[tokio::test]
async fn what_a_tool_is_to_write_stays_as_the_model_wrote_it() {
    let example = "AKIAIOSFODNN7EXAMPLE";
    let arguments = json!({ "text": example }).to_string();
    let talk = talk(vec![Ok(vec![call("1", "app__note", &arguments)]), Ok(vec![Block::text("done")])]).await;
    assert_eq!(talk.called.len(), 1, "{}", talk.kept);
    assert!(talk.called[0].contains(example), "{:?}", talk.called);
}

#[tokio::test]
async fn tools_get_the_context_of_a_client_and_nothing_that_looks_like_a_secret_is_kept_of_it() {
    let talk = talk(vec![Ok(vec![call("1", "app__note", "{}")]), Ok(vec![Block::text("done")])]).await;
    assert!(talk.called[0].contains(BADGE), "{:?}", talk.called);
    let context = serde_json::to_string(&talk.report.run.context).unwrap();
    assert_eq!(context, r#"{"door":{"code":"[secret CODE]"},"badge":"[redacted github token]"}"#);
    for told in [&talk.kept, &talk.seen, &talk.asked] {
        assert!(!told.contains(BADGE), "{told}");
    }
}

#[tokio::test]
async fn an_answer_with_too_many_calls_makes_none() {
    let printed = r#"<invoke name="app__note"><parameter name="text">x</parameter></invoke>"#.repeat(513);
    let talk = talk(vec![Ok(vec![Block::text(printed)])]).await;
    assert_eq!(talk.report.run.state, RunState::Failed);
    assert_eq!(talk.report.run.failure.unwrap().kind, "too_many_calls");
    assert!(talk.called.is_empty());
}
