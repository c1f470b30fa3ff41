//! Durability of commits, and which units share one.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sqlx::Row;
use toolroom::clock::{Clock, Timestamp};
use toolroom::conversation::{
    AgentId, Content, ConversationEntry, ConversationId, Run, RunId, RunState, RunStep,
};
use toolroom::ledger::{
    Action, Answer, Answerer, Approval, Artifact, ArtifactId, Attempt, BeginCall, CallId, CallRecord,
    CallStatus, CloseCall, Decision, EditCall, Grant, ParkCall, ParkedQuestion,
};
use toolroom::model::{Message, Usage};
use toolroom::policy::Provenance;
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::ManualClock;
use toolroom::tool::Effect;

use super::batch::Batch;
use super::task::Writer;
use super::unit::{Durability, Unit, Urgency, Work};
use crate::ProcessIdentity;
use crate::sqlite::artifacts::Hashes;
use crate::sqlite::connection::{Purpose, connect};
use crate::sqlite::conversation::{LeaseChange, RunChange};
use crate::sqlite::instance::Instance;
use crate::sqlite::migrate::{MIGRATIONS, migrate};
use crate::sqlite::prune::Chunk;
use crate::sqlite::secrets::KeyNames;
use crate::sqlite::settings::Setting;
use crate::sqlite::switchboard::SwitchKind;

fn record(id: &str, effect: Option<Effect>, status: CallStatus) -> CallRecord {
    let now = Timestamp::from_micros(1);
    CallRecord {
        effect,
        status,
        begun_at: Some(now),
        ..CallRecord::arrived(CallId::new(id), Scope::default(), "t", now)
    }
}

fn begin(id: &str, effect: Effect) -> Work {
    let record = record(id, Some(effect), CallStatus::Begun);
    Work::Begin(Box::new(BeginCall { record, rates: Vec::new(), grant: None }))
}

fn close(id: &str, effect: Option<Effect>, enqueue: Vec<Action>) -> Work {
    let record = record(id, effect, CallStatus::Done);
    let question = ParkedQuestion::None;
    closing(CloseCall { record, artifacts: Vec::new(), enqueue, question })
}

fn closing(close: CloseCall) -> Work {
    let hashes = Hashes::start(&close.artifacts);
    Work::Close(Box::new(close), hashes)
}

/// The end of a pure call that was parked.
fn close_parked(id: &str, question: ParkedQuestion) -> Work {
    let record = record(id, Some(Effect::Pure), CallStatus::Denied);
    closing(CloseCall { record, artifacts: Vec::new(), enqueue: Vec::new(), question })
}

/// A pure call that uses the grant of `of`.
fn begin_granted(id: &str, of: &str) -> Work {
    let record = record(id, Some(Effect::Pure), CallStatus::Begun);
    let grant = Grant {
        call: CallId::new(of),
        arguments_hash: "a".into(),
        definition_hash: "d".into(),
        at: record.asked_at,
        attempt: Attempt::First,
    };
    Work::Begin(Box::new(BeginCall { record, rates: Vec::new(), grant: Some(grant) }))
}

fn parked(id: &str) -> ParkCall {
    let record = record(id, Some(Effect::Pure), CallStatus::Pending);
    let approval = Approval {
        call: record.id.clone(),
        arguments_hash: "a".into(),
        definition_hash: "d".into(),
        by: Answerer::Caller,
        reason: String::new(),
        expires_at: record.asked_at,
        sealed: None,
    };
    ParkCall { record, approval }
}

fn park(id: &str) -> Work {
    Work::Park(Box::new(parked(id)), KeyNames::default())
}

fn edit(of: &str, into: &str) -> Work {
    let at = Timestamp::from_micros(1);
    let (of, scope, by) = (CallId::new(of), Scope::default(), Answerer::Caller);
    Work::Edit(Box::new(EditCall { of, scope, by, at, park: parked(into) }), KeyNames::default())
}

fn decide(id: &str) -> Work {
    let at = Timestamp::from_micros(1);
    Work::Decide(Box::new(Decision {
        call: CallId::new(id),
        scope: Scope::default(),
        answer: Answer::No,
        by: Answerer::Operator,
        at,
        standing: None,
    }))
}

fn switch() -> Work {
    let project = ProjectId::default();
    Work::Set(Setting::Switch { project, kind: SwitchKind::Tool, name: "t".to_owned(), state: None })
}

/// A step with an entry of this length.
fn step(run: &str, conversation: &str, letters: usize) -> Work {
    let at = Timestamp::from_micros(1);
    let run = Run {
        id: RunId::new(run),
        conversation: ConversationId::new(conversation),
        scope: Scope::default(),
        agent: AgentId::new("default"),
        caller: None,
        entrance: "cli".into(),
        user_location: toolroom::call::UserLocation::Local,
        state: RunState::Running,
        model: None,
        provenance: Provenance::default(),
        source: toolroom::provenance::CallSource::default(),
        context: serde_json::Map::new(),
        client_tools: toolroom::tool::ClientTools::default(),
        iterations: 0,
        usage: Usage::default(),
        cost: 0.0,
        failure: None,
        started_at: at,
        ended_at: None,
    };
    let content = Content::Message(Arc::new(Message::user("a".repeat(letters))));
    let entries = vec![ConversationEntry { seq: 0, run: run.id.clone(), at, content }];
    let (events, usage, requests) = (Vec::new(), Vec::new(), Vec::new());
    Work::Run(Box::new(RunChange::step(RunStep { run, entries, events, usage, requests }).unwrap()))
}

fn take(run: &str) -> Work {
    Work::Lease(LeaseChange::Take(Scope::default(), RunId::new(run)))
}

fn delete(conversation: &str) -> Work {
    Work::Lease(LeaseChange::DeleteConversation(Scope::default(), ConversationId::new(conversation)))
}

fn unit(work: Work) -> Unit {
    Unit { work, urgency: Urgency::Awaited, reply: None }
}

/// The number of works that share the first transaction.
fn together(works: Vec<Work>) -> (usize, Durability) {
    let mut batch = Batch::default();
    for work in works {
        if batch.admit(unit(work)).is_some() {
            break;
        }
    }
    let durability = batch.durability();
    (batch.into_units().len(), durability)
}

#[test]
fn a_commit_has_the_durability_of_its_strictest_unit() {
    let check = |work: Work, expected| {
        let name = format!("{work:?}");
        assert_eq!(together(vec![close("other", None, Vec::new()), work]), (2, expected), "{name}");
    };
    for effect in Effect::ALL {
        let expected = if effect.writes() { Durability::Power } else { Durability::Process };
        check(begin("a", effect), expected);
        check(close("a", Some(effect), Vec::new()), expected);
    }
    check(close("a", None, Vec::new()), Durability::Process);
    let action = Action { kind: "webhook".to_owned(), payload: Value::Null };
    check(close("a", Some(Effect::Pure), vec![action]), Durability::Power);
    check(decide("a"), Durability::Power);
    check(switch(), Durability::Power);
    check(park("a"), Durability::Power);
    check(edit("a", "b"), Durability::Power);
    check(begin_granted("a", "a"), Durability::Power);
    for question in [ParkedQuestion::Settled, ParkedQuestion::Void, ParkedQuestion::Expired] {
        check(close_parked("a", question), Durability::Power);
    }
}

#[test]
fn only_a_begin_and_its_close_may_meet_in_one_transaction() {
    let check = |works: Vec<Work>, expected: usize| {
        let names = format!("{works:?}");
        assert_eq!(together(works).0, expected, "{names}");
    };
    let pure = Effect::Pure;
    check(vec![begin("a", pure), begin("b", pure), close("a", None, Vec::new())], 3);
    check(vec![begin("a", pure), begin("a", pure)], 1);
    check(vec![begin("a", pure), close("a", None, Vec::new()), close("a", None, Vec::new())], 2);
    check(vec![close("a", None, Vec::new()), begin("a", pure)], 1);
    check(vec![decide("a"), close("a", None, Vec::new())], 1);
    check(vec![decide("a"), decide("b"), switch(), switch()], 4);
    check(vec![begin_granted("a", "a"), close_parked("a", ParkedQuestion::Settled)], 1);
    check(vec![begin_granted("b", "a"), decide("a")], 1);
    check(vec![edit("a", "b"), decide("a")], 1);
    check(vec![edit("a", "b"), decide("b")], 1);
    check(vec![park("b"), edit("a", "b")], 1);
    check((0..2000).map(|id| begin(&id.to_string(), pure)).collect(), 1000);
}

#[test]
fn a_run_and_a_conversation_change_once_in_a_transaction() {
    let check = |works: Vec<Work>, expected: usize| {
        let names = format!("{works:?}");
        assert_eq!(together(works), (expected, Durability::Process), "{names}");
    };
    check(vec![step("r", "c", 1), step("s", "d", 1), begin("a", Effect::Pure), take("t"), delete("e")], 5);
    check(vec![step("r", "c", 1), step("r", "c", 1)], 1);
    check(vec![step("r", "c", 1), step("s", "c", 1)], 1);
    check(vec![step("r", "c", 1), step("r", "d", 1)], 1);
    check(vec![step("r", "c", 1), take("r")], 1);
    check(vec![take("r"), step("r", "c", 1)], 1);
    check(vec![delete("c"), step("r", "c", 1)], 1);
}

#[test]
fn a_transaction_has_a_bounded_size_of_entries() {
    let long = 6 << 20;
    let steps = ["a", "b", "c", "d"].map(|name| step(name, name, long));
    assert_eq!(together(steps.into()).0, 2);
    assert_eq!(together(vec![step("a", "a", 4 * long), step("b", "b", 1)]).0, 1);
}

#[test]
fn a_transaction_has_a_bounded_size_of_artifacts() {
    let with_artifact = |id: &str, bytes: usize| {
        let Work::Close(mut close, hashes) = close(id, None, Vec::new()) else { unreachable!() };
        close.artifacts = vec![Artifact {
            id: ArtifactId::new(id),
            call: close.record.id.clone(),
            scope: Scope::default(),
            media_type: Artifact::TEXT.into(),
            bytes: vec![0; bytes].into(),
            kept_at: close.record.asked_at,
        }];
        Work::Close(close, hashes)
    };
    let large = 6 << 20;
    assert_eq!(together(["a", "b", "c", "d"].map(|id| with_artifact(id, large)).into()).0, 2);
    assert_eq!(
        together(vec![with_artifact("a", 4 * large), begin("b", Effect::Pure), with_artifact("c", 1)]).0,
        1
    );
    assert_eq!(
        together(vec![with_artifact("a", large), step("b", "b", large), with_artifact("c", large)]).0,
        2
    );
    let prune = || Work::Prune(Chunk::results(&ProjectId::default(), Timestamp::from_micros(1)));
    assert_eq!(together(vec![begin("a", Effect::Pure), prune(), prune()]).0, 2);
    assert_eq!(together(vec![with_artifact("a", large), prune()]).0, 1);
}

#[tokio::test]
async fn the_connection_commits_with_the_durability_of_the_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("t.db");
    let mut connection = connect(&path, Purpose::Write).await.unwrap();
    migrate(&mut connection, &path, MIGRATIONS).await.unwrap();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(Timestamp::from_micros(1)));
    let process = ProcessIdentity {
        machine: "here".to_owned(),
        process: "me".to_owned(),
        probe: Arc::new(|_| Some(true)),
    };
    let instance = Instance::new(process, clock);
    let mut writer = Writer::new(connection, path, instance, None, None, Arc::default());
    // Several rounds: a setting that is prepared once and reused would not take effect twice.
    for round in 0..3 {
        for (effect, synchronous) in [(Effect::Pure, 1), (Effect::Destructive, 2)] {
            let mut batch = Batch::default();
            assert!(batch.admit(unit(begin(&format!("{effect} {round}"), effect))).is_none());
            writer.write(batch).await;
            let connection = writer.connection().expect("it is open");
            let row = sqlx::query("PRAGMA synchronous").fetch_one(connection).await.unwrap();
            assert_eq!(row.get::<i64, _>(0), synchronous, "{effect}, round {round}");
        }
    }
}
