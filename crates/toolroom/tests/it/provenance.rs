//! What was read before a call counts: for its conversation, session or caller, and for no other.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolroom::agent::{Agent, AgentRecord, Candidate, SendRequest};
use toolroom::approval::{AnswerRequest, Responder};
use toolroom::call::{CallReport, CallRequest, Outcome, ResumeRequest};
use toolroom::clock::Timestamp;
use toolroom::ledger::{Answer, CallFilter, CallStatus, Journal};
use toolroom::memory::{Memories, Remember};
use toolroom::model::{
    Answer as Said, Block, Model, ModelCallId, ModelError, ModelEvent, ModelRequest, StopReason, Usage,
};
use toolroom::policy::{Policy, Preset, Provenance};
use toolroom::provenance::CallSource;
use toolroom::scope::Scope;
use toolroom::testing::{ManualClock, MemoryConversations, MemoryLedger, MemoryMemories, NoSeal};
use toolroom::tool::{
    Arguments, Capability, Destination, Effect, FileTrace, Tool, ToolError, ToolOutput, ToolSpec, Yields,
    tool_fn,
};
use toolroom::{BoxFuture, Toolroom};

use crate::scale::cases;

/// A room with tools that read and send, and what is behind it.
struct Lab {
    room: Toolroom,
    ledger: Arc<MemoryLedger>,
    memories: Arc<MemoryMemories>,
    clock: Arc<ManualClock>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Words {
    #[serde(default)]
    text: String,
}

fn text_of(arguments: &Arguments) -> &str {
    arguments.get("text").and_then(Value::as_str).unwrap_or_default()
}

fn tool(name: &str, able: &[Capability], change: impl FnOnce(ToolSpec) -> ToolSpec) -> Arc<dyn Tool> {
    let tool = tool_fn(&format!("app:{name}"), "For tests.", |_, words: Words| async move {
        Ok::<_, ToolError>(words.text)
    });
    let tool = tool.unwrap().destination(|arguments| Some(Destination::new(text_of(arguments))));
    Arc::new(tool.with(|spec| change(spec.effect(Effect::Read).capabilities(able))))
}

/// A tool whose result is about the file that the text names.
fn file_tool(name: &str, yields: Yields, trace: fn(String) -> FileTrace) -> Arc<dyn Tool> {
    let tool = tool_fn(&format!("app:{name}"), "For tests.", move |_, words: Words| async move {
        Ok::<_, ToolError>(ToolOutput::new("content").about_file(trace(words.text)))
    });
    let able = [Capability::ReadsPrivate, Capability::ReadsUntrusted];
    Arc::new(tool.unwrap().with(|spec| spec.effect(Effect::Read).capabilities(&able).yields(yields)))
}

impl Lab {
    fn new() -> Self {
        let (ledger, clock) =
            (Arc::new(MemoryLedger::new()), Arc::new(ManualClock::at(Timestamp::from_micros(1 << 50))));
        let memories = Arc::new(MemoryMemories::new(Arc::clone(&clock) as _));
        let room = Toolroom::builder(Arc::clone(&ledger))
            .policy(Policy::new(Preset::Open, Vec::new()).unwrap())
            .clock(Arc::clone(&clock) as _)
            .memories(Arc::clone(&memories) as _)
            .seal(Arc::new(NoSeal))
            .build();
        let sends = [Capability::Egress];
        let tools = [
            tool("mail", &[Capability::ReadsPrivate], |spec| spec),
            tool("page", &[Capability::ReadsUntrusted], |spec| spec),
            tool("send", &sends, |spec| spec),
            tool("post", &sends, |spec| spec.effect(Effect::OnceOnlyWrite)),
            file_tool("read", Yields::Files, FileTrace::Read),
            file_tool("write", Yields::Stated, FileTrace::Wrote),
        ];
        room.catalog().register_all(None, tools.into()).unwrap();
        Self { room, ledger, memories, clock }
    }

    async fn call(&self, tool: &str, text: &str, source: &CallSource) -> CallReport {
        self.room.call(CallRequest::new(tool).argument("text", text).source(source.clone())).await
    }

    /// Whether a call was let through; nothing but the guard of provenance asks here.
    async fn passes(&self, tool: &str, text: &str, source: &CallSource) -> bool {
        let report = self.call(tool, text, source).await;
        match &report.outcome {
            Outcome::Done(_) => true,
            Outcome::Pending(pending) => {
                assert_eq!(pending.rule, "provenance.third");
                false
            }
            _ => panic!("{report:?}"),
        }
    }

    async fn reads_both(&self, source: &CallSource) {
        assert!(self.passes("mail", "", source).await && self.passes("page", "", source).await);
    }
}

fn session(name: &str) -> CallSource {
    CallSource::Session(name.into())
}

#[tokio::test]
async fn what_a_session_has_read_counts_for_it_alone() {
    let lab = Lab::new();
    lab.reads_both(&session("one")).await;
    assert!(!lab.passes("send", "a.example", &session("one")).await);
    assert!(lab.passes("send", "a.example", &session("two")).await);
    assert!(lab.passes("send", "a.example", &CallSource::Embedder).await);
    assert!(lab.passes("mail", "", &session("one")).await, "what only reads is never asked about");
}

#[tokio::test]
async fn what_a_caller_has_read_is_forgotten_after_its_time_with_its_answers() {
    let lab = Lab::new();
    let caller = CallSource::Caller("key:1".into());
    lab.reads_both(&caller).await;
    lab.clock.advance(Duration::from_secs(29 * 60));
    let asked = lab.call("send", "a.example", &caller).await.call_id;
    let once = AnswerRequest {
        call: asked.clone(),
        scope: Scope::default(),
        by: Responder::Approver,
        answer: Answer::Once,
        when: None,
    };
    let lift = lab.room.answer(once).await.unwrap().unwrap();
    assert_eq!(lift.destination.as_deref(), Some("a.example"));
    let resumed = lab.room.resume(ResumeRequest::new(asked, Scope::default())).await.unwrap();
    assert!(matches!(resumed.outcome, Outcome::Done(_)), "{resumed:?}");
    assert!(lab.passes("send", "a.example", &caller).await, "one answer is enough for a destination");
    assert!(!lab.passes("send", "b.example", &caller).await, "and says nothing of another one");
    lab.clock.advance(Duration::from_secs(31 * 60));
    assert!(lab.passes("send", "b.example", &caller).await, "it was forgotten");
    lab.reads_both(&caller).await;
    assert!(!lab.passes("send", "a.example", &caller).await, "and so was the answer");
}

#[tokio::test]
async fn a_file_of_ones_own_holds_what_was_known_when_it_was_written() {
    let lab = Lab::new();
    let one = session("one");
    assert!(lab.passes("write", "stamp-1", &one).await && lab.passes("read", "stamp-1", &one).await);
    assert!(lab.passes("send", "a.example", &one).await, "nothing new was read");
    assert!(lab.passes("read", "stamp-2", &one).await);
    assert!(!lab.passes("send", "a.example", &one).await, "a file that changed counts");
    let other = session("other");
    assert!(lab.passes("read", "stamp-1", &other).await);
    assert!(!lab.passes("send", "a.example", &other).await, "and so does a file of another session");
}

#[tokio::test]
async fn a_memory_counts_where_it_is_repeated_or_a_message_is_sent() {
    let lab = Lab::new();
    let remember = |content: &str, stored_under| Remember {
        key: "k".to_owned(),
        content: content.to_owned(),
        category: None,
        source: None,
        stored_under,
    };
    let own = remember("prefers black coffee without sugar", Provenance::NONE);
    lab.memories.remember(&Scope::default(), own).await.unwrap();
    let one = session("one");
    assert!(lab.passes("page", "", &one).await);
    assert!(lab.passes("send", "coffee.example", &one).await);
    assert!(!lab.passes("send", "x.example/?q=BLACK+COFFEE+WITHOUT", &one).await);
    assert!(lab.passes("post", "coffee.example", &one).await, "nothing of the user was read here");
    let told = CallRequest::new("post").argument("text", "a.example").source(one.clone());
    let told = told.context(json!({"city": "Tashkent"}).as_object().unwrap().clone());
    assert!(matches!(lab.room.call(told).await.outcome, Outcome::Pending(_)));
}

/// Wants these calls in its first answer.
struct Caller(Vec<&'static str>);

impl Model for Caller {
    fn name(&self) -> &str {
        "test/caller"
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        _told: &'a mut (dyn FnMut(ModelEvent) + Send),
        _cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Said, ModelError>> {
        let calls = self.0.iter().enumerate().map(|(place, name)| Block::Call {
            id: ModelCallId::new(&format!("c{place:02}")),
            name: format!("app__{name}"),
            arguments: r#"{"text": "a.example"}"#.into(),
            opaque: None,
        });
        let (blocks, stop) = match request.messages.len() {
            1 => (calls.collect(), StopReason::Calls),
            _ => (vec![Block::text("Done.")], StopReason::Done),
        };
        let said = Said { blocks, stop, usage: Usage::default(), model: None };
        Box::pin(async move { Ok(said) })
    }
}

/// A tool that has read mail and still works; the other end lets it go on.
fn slow_mail() -> (Arc<dyn Tool>, Arc<tokio::sync::Semaphore>) {
    let goes_on = Arc::new(tokio::sync::Semaphore::new(0));
    let waits = Arc::clone(&goes_on);
    let tool = tool_fn("app:slow_mail", "For tests.", move |context, words: Words| {
        let waits = Arc::clone(&waits);
        async move {
            context.progress("the first mail is a secret", None);
            drop(waits.acquire().await);
            Ok::<_, ToolError>(words.text)
        }
    });
    let able = [Capability::ReadsPrivate];
    (Arc::new(tool.unwrap().with(|spec| spec.effect(Effect::Read).capabilities(&able))), goes_on)
}

#[tokio::test]
async fn what_a_call_reads_counts_as_soon_as_it_can_tell_of_it() {
    let lab = Lab::new();
    let (tool, goes_on) = slow_mail();
    lab.room.catalog().register_all(None, vec![tool]).unwrap();
    let one = session("one");
    assert!(lab.passes("page", "", &one).await);
    let (told, mut tells) = tokio::sync::mpsc::unbounded_channel();
    let request = CallRequest::new("slow_mail").source(one.clone());
    let reading = tokio::spawn({
        let room = lab.room.clone();
        async move { room.call(request.progress(move |progress| told.send(progress).unwrap())).await }
    });
    assert!(tells.recv().await.is_some());
    assert!(!lab.passes("send", "a.example", &one).await);
    goes_on.add_permits(1);
    assert!(matches!(reading.await.unwrap().outcome, Outcome::Done(_)));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Which of these calls have to be asked about, by their order.
fn asked_in_order(calls: &[&str]) -> Vec<bool> {
    let mut known = Provenance::NONE;
    let asks = calls.iter().map(|name| {
        let asks = *name == "send" && known.private && known.untrusted;
        known.private |= *name == "mail";
        known.untrusted |= *name == "page";
        asks
    });
    asks.collect()
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn calls_of_one_answer_count_one_another_in_order(
        calls in prop::collection::vec(prop::sample::select(vec!["mail", "page", "send"]), 1..8)
    ) {
        runtime().block_on(async {
            let lab = Lab::new();
            let chain = [Candidate::new(Arc::new(Caller(calls.clone())))];
            let kept = Arc::new(MemoryConversations::new());
            let agent = Agent::new(lab.room.clone(), kept, AgentRecord::default(), chain).unwrap();
            agent.send(SendRequest::new("Go.")).await.unwrap();
            let mut rows = lab.ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap();
            rows.sort_by_key(|row| row.model_call.clone());
            let asked: Vec<bool> = rows.iter().map(|row| row.status == CallStatus::Pending).collect();
            assert_eq!(asked, asked_in_order(&calls), "{calls:?}");
        });
    }

    #[test]
    fn calls_of_a_session_are_judged_by_what_was_read_before_each(
        calls in prop::collection::vec(prop::sample::select(vec!["mail", "page", "send"]), 1..12)
    ) {
        runtime().block_on(async {
            let (lab, one) = (Lab::new(), session("one"));
            let mut asked = Vec::new();
            for call in &calls {
                asked.push(!lab.passes(call, "a.example", &one).await);
            }
            assert_eq!(asked, asked_in_order(&calls), "{calls:?}");
        });
    }
}
