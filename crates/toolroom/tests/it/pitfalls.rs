//! Ways in which an approval or a secret once slipped through, each kept shut by a test.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;
use toolroom::approval::{AnswerError, AnswerRequest, EditError, EditRequest, Responder};
use toolroom::call::{CallContext, CallReport, CallRequest, CancellationToken, Outcome, ResumeRequest};
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, Approvals, CallFilter, CallId, CallRecord, CallStatus, Journal, Question, QuestionState,
    SwitchState,
};
use toolroom::policy::{Judgement, Provenance};
use toolroom::redact::{Patterns, RedactionError, Redactions, Redactor, Secret};
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::{ManualClock, MemoryLedger, NoSeal};
use toolroom::tool::{Arguments, Capability, Effect, Risk, Timeout, Tool, ToolOutput, ToolSpec};
use toolroom::{APPROVAL_LIFETIME, BoxFuture, Toolroom};

use crate::room::scripted;

const SECRET: &str = "sesame-open-now-42";

/// Of a secret that was cut before it was hidden, this much would be seen.
const PART: &str = "sesame";

/// Replaces text while the secrets to redact are unknown.
const UNTOLD: &str = "[not stored: the secrets to redact could not be read]";

/// Secrets that can be read, except while they are locked.
struct Vault {
    locked: Arc<AtomicBool>,
}

impl Redactions for Vault {
    fn redactor<'a>(
        &'a self,
        project: &'a ProjectId,
        _revision: i64,
    ) -> BoxFuture<'a, Result<Arc<Redactor>, RedactionError>> {
        let locked = self.locked.load(Ordering::SeqCst);
        Box::pin(async move {
            if locked {
                return Err(RedactionError::new(project.clone(), "busy"));
            }
            Ok(Arc::new(Redactor::new([Secret::new("CODE", SECRET)], Patterns::Keys)))
        })
    }
}

/// Secrets that never arrive.
struct Stalled;

impl Redactions for Stalled {
    fn redactor<'a>(
        &'a self,
        _project: &'a ProjectId,
        _revision: i64,
    ) -> BoxFuture<'a, Result<Arc<Redactor>, RedactionError>> {
        Box::pin(pending())
    }
}

/// A room with one tool, a clock and secrets that the test moves, and a count of how often the tool ran.
struct Desk {
    room: Toolroom,
    ledger: Arc<MemoryLedger>,
    clock: Arc<ManualClock>,
    locked: Arc<AtomicBool>,
    ran: Arc<AtomicUsize>,
}

impl Desk {
    fn with(spec: ToolSpec) -> Self {
        let ledger = Arc::new(MemoryLedger::new());
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_000_000)));
        let locked = Arc::new(AtomicBool::new(false));
        let room = Toolroom::builder(Arc::clone(&ledger))
            .seal(Arc::new(NoSeal))
            .clock(Arc::clone(&clock) as _)
            .redactions(Arc::new(Vault { locked: Arc::clone(&locked) }))
            .build();
        let desk = Self { room, ledger, clock, locked, ran: Arc::default() };
        let ran = Arc::clone(&desk.ran);
        desk.put(scripted(spec, move |_context, _arguments| {
            ran.fetch_add(1, Ordering::SeqCst);
            async { Ok(ToolOutput::new("done")) }
        }));
        desk
    }

    /// A desk whose tool has its own opinion about its arguments.
    fn judged(spec: ToolSpec, judge: fn(&Arguments) -> Judgement) -> Self {
        let desk = Self::with(spec.clone());
        let mut tool = scripted(spec, |_context, _arguments| async { Ok(ToolOutput::new("done")) });
        tool.judge = judge;
        desk.put(tool);
        desk
    }

    /// Puts another tool in the place of the one there is.
    fn put(&self, tool: impl Tool + 'static) {
        self.room.catalog().replace(None, "app", vec![Arc::new(tool)]).unwrap();
    }

    fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    async fn parked(&self, request: CallRequest) -> CallId {
        let report = self.room.call(request).await;
        assert!(matches!(report.outcome, Outcome::Pending(_)), "{report:?}");
        report.call_id
    }

    async fn granted(&self, request: CallRequest) -> CallId {
        let call = self.parked(request).await;
        self.room.answer(answer(&call, Answer::Once)).await.unwrap();
        call
    }

    async fn resume(&self, call: &CallId) -> CallReport {
        self.room.resume(ResumeRequest::new(call.clone(), Scope::default())).await.unwrap()
    }

    async fn row(&self, call: &CallId) -> CallRecord {
        self.ledger.call(&Scope::default(), call).await.unwrap().unwrap()
    }

    async fn rows(&self) -> Vec<CallRecord> {
        self.ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap()
    }

    async fn question(&self, call: &CallId) -> Option<Question> {
        self.ledger.question(&Scope::default(), call).await.unwrap()
    }

    /// Everything but the sealed requests that can be read at the desk later on.
    async fn kept(&self) -> String {
        let rows = self.rows().await;
        let mut kept = serde_json::to_string(&rows).unwrap();
        for row in &rows {
            if let Some(question) = self.question(&row.id).await {
                kept.push('\n');
                kept.push_str(&question.approval.reason);
            }
        }
        kept
    }
}

/// A tool that writes, and that a person is asked about.
fn note(effect: Effect) -> ToolSpec {
    ToolSpec::new("app:note", "Write a note")
        .unwrap()
        .effect(effect)
        .capabilities(&[Capability::Writes])
        .risk(Risk::Medium)
        .parameters(json!({"type": "object"}))
}

/// An answer of the caller.
fn answer(call: &CallId, answer: Answer) -> AnswerRequest {
    let (call, by) = (call.clone(), Responder::Approver);
    AnswerRequest { call, scope: Scope::default(), by, answer, when: None }
}

/// An answer about those calls only for which the condition holds.
fn answer_when(call: &CallId, kind: Answer, when: &str) -> AnswerRequest {
    AnswerRequest { when: Some(when.to_owned()), ..answer(call, kind) }
}

fn text_of(arguments: &Arguments) -> &str {
    arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_not_used_after_its_time_however_long_the_call_waited_for_a_place() {
    let narrow = note(Effect::OnceOnlyWrite).concurrency(1).timeout(Timeout::Never);
    let desk = Desk::with(narrow.clone());
    let (inside, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (entered, released, ran) = (Arc::clone(&inside), Arc::clone(&leave), Arc::clone(&desk.ran));
    desk.put(scripted(narrow, move |_context, _arguments| {
        let (entered, released) = (Arc::clone(&entered), Arc::clone(&released));
        let is_first = ran.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            entered.notify_one();
            if is_first {
                released.notified().await;
            }
            Ok(ToolOutput::new("done"))
        }
    }));
    let first = desk.granted(CallRequest::new("note")).await;
    let second = desk.granted(CallRequest::new("note")).await;

    let room = desk.room.clone();
    let request = ResumeRequest::new(first, Scope::default());
    let first = tokio::spawn(async move { room.resume(request).await });
    inside.notified().await;
    let room = desk.room.clone();
    let request = ResumeRequest::new(second.clone(), Scope::default());
    let mut waiting = tokio::spawn(async move { room.resume(request).await });
    // Paused time moves only when nothing else can, so the second call has come as far as it gets.
    timeout(Duration::from_secs(1), &mut waiting).await.unwrap_err();
    desk.clock.advance(APPROVAL_LIFETIME * 30);
    leave.notify_one();

    let first = first.await.unwrap().unwrap();
    assert!(matches!(first.outcome, Outcome::Done(_)), "{first:?}");
    let late = waiting.await.unwrap().unwrap();
    assert!(!matches!(late.outcome, Outcome::Done(_)), "ran a month after its time: {late:?}");
    assert_eq!(desk.ran(), 1, "only the first has run");
    let row = desk.row(&second).await;
    assert_eq!(row.begun_at, None, "{row:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_on_a_second_time_is_denied_if_its_tool_is_off_by_then() {
    let desk = Desk::with(note(Effect::IdempotentWrite));
    let inside = Arc::new(Notify::new());
    let (entered, ran) = (Arc::clone(&inside), Arc::clone(&desk.ran));
    desk.put(scripted(note(Effect::IdempotentWrite), move |_context, _arguments| {
        let entered = Arc::clone(&entered);
        ran.fetch_add(1, Ordering::SeqCst);
        async move {
            entered.notify_one();
            pending().await
        }
    }));
    let call = desk.granted(CallRequest::new("note")).await;
    let stop = CancellationToken::new();
    let mut request = ResumeRequest::new(call.clone(), Scope::default());
    request.cancellation = stop.clone();
    let room = desk.room.clone();
    let stopped = tokio::spawn(async move { room.resume(request).await });
    inside.notified().await;
    stop.cancel();
    stopped.await.unwrap().unwrap();
    assert_eq!(desk.row(&call).await.status, CallStatus::Unknown, "else it would not go on again");

    desk.ledger.set_tool(&ProjectId::default(), "app:note", SwitchState::Off);
    let report = desk.resume(&call).await;
    assert!(matches!(report.outcome, Outcome::Denied(_)), "{report:?}");
    assert_eq!(desk.ran(), 1);
}

#[tokio::test]
async fn a_yes_outlives_a_moment_in_which_secrets_cannot_be_read() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite));
    let call = desk.granted(CallRequest::new("note")).await;
    desk.locked.store(true, Ordering::SeqCst);
    let report = desk.resume(&call).await;
    assert!(!matches!(report.outcome, Outcome::Done(_)), "{report:?}");
    assert_eq!(desk.ran(), 0);
    desk.locked.store(false, Ordering::SeqCst);
    let report = desk.resume(&call).await;
    assert!(matches!(report.outcome, Outcome::Done(_)), "{report:?}");
    assert_eq!(desk.ran(), 1);
}

#[tokio::test]
async fn the_reason_of_a_question_holds_no_secret() {
    let harmless = note(Effect::OnceOnlyWrite).risk(Risk::Low);
    let desk =
        Desk::judged(harmless, |arguments| Judgement::Ask(format!("really send {}?", text_of(arguments))));
    let report = desk.room.call(CallRequest::new("note").argument("text", SECRET)).await;
    let question = desk.question(&report.call_id).await.unwrap();
    assert!(
        question.approval.reason.contains("really send [secret CODE]?"),
        "{:?}",
        question.approval.reason
    );

    let again = desk.resume(&report.call_id).await;
    let told = format!("{:?} {:?} {:?}", report.outcome, report.for_client(), again.for_client());
    assert!(!told.contains(SECRET), "{told}");
    let kept = desk.kept().await;
    assert!(!kept.contains(SECRET), "{kept}");
}

#[tokio::test]
async fn no_text_of_a_caller_is_kept_while_secrets_cannot_be_read() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite));
    desk.locked.store(true, Ordering::SeqCst);
    for (request, tool) in [
        (CallRequest::new("nothing").arguments_text(format!("{{\"t\":\"{SECRET}\"}}")), UNTOLD),
        (CallRequest::new("nothing").argument("t", SECRET), UNTOLD),
        (CallRequest::new("note").arguments_text(format!("no json {SECRET}")), "app:note"),
        (CallRequest::new("note").argument("t", SECRET), "app:note"),
        (CallRequest::new(SECRET), UNTOLD),
    ] {
        let call = desk.room.call(request).await.call_id;
        let row = desk.row(&call).await;
        assert_eq!(&*row.tool, tool, "a name that no tool has may be anything: {row:?}");
        assert_eq!(desk.question(&call).await, None, "a question needs a reason");
    }
    assert_eq!(desk.rows().await.len(), 5);
    let kept = desk.kept().await;
    assert!(!kept.contains(SECRET), "{kept}");
}

#[tokio::test]
async fn a_sign_of_life_is_not_cut_before_secrets_are_taken_out() {
    let spec = ToolSpec::new("app:note", "Say something")
        .unwrap()
        .effect(Effect::Pure)
        .capabilities(&[])
        .parameters(json!({"type": "object"}));
    let desk = Desk::with(spec.clone());
    let token = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5";
    // The token reaches over the end of a status line: what is left of it no longer looks like one.
    desk.put(scripted(spec, move |context: CallContext, _arguments| {
        context.progress(format!("{}{token}", "x ".repeat(235)), None);
        async { Ok(ToolOutput::new("said")) }
    }));
    let told: Arc<Mutex<String>> = Arc::default();
    let sink = Arc::clone(&told);
    let request =
        CallRequest::new("note").progress(move |progress| sink.lock().unwrap().push_str(&progress.message));
    desk.room.call(request).await;
    let told = told.lock().unwrap().clone();
    assert!(told.starts_with("x x "), "nothing was said: {told}");
    let kept = desk.kept().await;
    for seen in [told, kept] {
        assert!(!seen.contains("ghp_aB3dE5gH7"), "{seen}");
    }
}

#[tokio::test]
async fn the_name_of_an_unknown_tool_is_not_cut_before_secrets_are_taken_out() {
    let desk = Desk::with(note(Effect::Pure).risk(Risk::Low));
    // The secret reaches over the end of what is shown of a name, and of what is kept of it.
    for fill in [88, 288] {
        let report = desk.room.call(CallRequest::new(format!("{}{SECRET}", "x".repeat(fill)))).await;
        assert!(!format!("{report:?}").contains(PART), "{fill}: {report:?}");
        let row = desk.row(&report.call_id).await;
        assert!(row.tool.starts_with(&"x".repeat(fill)), "{row:?}");
        assert!(!row.tool.contains(PART), "{row:?}");
    }
    let kept = desk.kept().await;
    assert!(!kept.contains(PART), "{kept}");
}

#[tokio::test]
async fn the_reason_of_a_question_is_not_cut_before_secrets_are_taken_out() {
    let harmless = note(Effect::OnceOnlyWrite).risk(Risk::Low);
    let desk = Desk::judged(harmless, |arguments| Judgement::Ask(text_of(arguments).to_owned()));
    // Of a long text both ends stay; somewhere in here the first of them ends.
    for fill in (1_900..2_020).step_by(4) {
        let text = format!("{}{SECRET}{}", "x".repeat(fill), "y".repeat(3_000));
        let call = desk.parked(CallRequest::new("note").argument("text", text)).await;
        let reason = desk.question(&call).await.unwrap().approval.reason;
        assert!(reason.chars().count() < 4_500, "it was to be cut: {reason}");
        assert!(!reason.contains(PART), "{fill}: {reason}");
    }
}

#[tokio::test]
async fn a_condition_keeps_no_secret() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite));
    let call = desk.parked(CallRequest::new("note").argument("text", SECRET)).await;
    let when = format!("args.text == '{SECRET}'");
    let refused = desk.room.answer(answer_when(&call, Answer::Always, &when)).await;
    assert!(matches!(refused, Err(AnswerError::Secret)), "{refused:?}");
    assert!(!format!("{refused:?}").contains(SECRET), "{refused:?}");
    let question = desk.question(&call).await.unwrap();
    assert_eq!(question.state, QuestionState::Waiting);
    let kept = desk.kept().await;
    assert!(!kept.contains(SECRET), "{kept}");
}

#[tokio::test]
async fn a_caller_answers_their_own_calls_only() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite));
    let ann = Scope::user("local", "ann");
    let call = desk.parked(CallRequest::new("note").scope(ann.clone())).await;
    // A project-wide caller sees the call, but did not make it.
    let by_project = AnswerRequest { scope: Scope::project("local"), ..answer(&call, Answer::Always) };
    let taken = desk.room.answer(by_project).await;
    assert!(taken.is_err(), "another caller answered as ann: {taken:?}");
    assert_eq!(desk.question(&call).await.unwrap().state, QuestionState::Waiting);
    desk.room.answer(AnswerRequest { scope: ann, ..answer(&call, Answer::Once) }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_never_started_has_failed_and_is_not_unknown() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite));
    let call = desk.granted(CallRequest::new("note").timeout(Duration::ZERO)).await;
    desk.resume(&call).await;
    assert_eq!((desk.ran(), desk.row(&call).await.status), (0, CallStatus::Failed));
}

#[tokio::test]
async fn a_condition_sees_what_the_run_has_been_in_touch_with() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite));
    let touched = Provenance { private: true, ..Provenance::NONE };
    let request = CallRequest::new("note").provenance(touched).conversation("talk", None);
    let call = desk.parked(request).await;
    let beside = answer_when(&call, Answer::Session, "not provenance.private");
    let refused = desk.room.standing_answer(&beside).await;
    assert!(matches!(refused, Err(AnswerError::NotThisCall(_))), "{refused:?}");
    let fitting = answer_when(&call, Answer::Session, "provenance.private");
    let taken = desk.room.standing_answer(&fitting).await;
    assert!(taken.is_ok(), "{taken:?}");
}

#[tokio::test]
async fn what_a_tool_warns_of_is_told_also_when_a_rule_asks_anyway() {
    let desk = Desk::judged(note(Effect::OnceOnlyWrite), |_arguments| {
        Judgement::Ask("this deletes the disk".to_owned())
    });
    let report = desk.room.call(CallRequest::new("note")).await;
    let Outcome::Pending(asked) = &report.outcome else { panic!("{report:?}") };
    assert!(asked.reason.contains("deletes the disk"), "{asked:?}");
    let question = desk.question(&report.call_id).await.unwrap();
    assert_eq!(question.approval.reason, asked.reason, "the responder reads the same");
}

#[tokio::test]
async fn a_denied_edit_tells_no_secret() {
    let desk = Desk::judged(note(Effect::OnceOnlyWrite), |arguments| match text_of(arguments) {
        "" => Judgement::Allow,
        text => Judgement::Deny(format!("never send {text}")),
    });
    let call = desk.parked(CallRequest::new("note")).await;
    let (scope, by) = (Scope::default(), Responder::Approver);
    let arguments = Arguments::from_iter([("text".to_owned(), SECRET.into())]);
    let edited = desk.room.edit(EditRequest { call, scope, by, arguments }).await;
    let Err(EditError::Denied(denial)) = edited else { panic!("{edited:?}") };
    assert!(denial.reason.contains("never send [secret CODE]"), "{denial:?}");
    let told = format!("{denial:?} {:?}", denial.cause());
    assert!(!told.contains(SECRET), "{told}");
    let kept = desk.kept().await;
    assert!(!kept.contains(SECRET), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_before_its_secrets_are_known_keeps_none() {
    let ledger = Arc::new(MemoryLedger::new());
    let room = Toolroom::builder(Arc::clone(&ledger)).redactions(Arc::new(Stalled)).build();
    for request in [
        CallRequest::new("nothing").arguments_text(format!("{{\"t\":\"{SECRET}\"}}")),
        CallRequest::new("nothing").argument("t", SECRET),
        CallRequest::new(SECRET),
    ] {
        // The future is never polled.
        drop(room.call(request.clone()));
        let given_up = timeout(Duration::from_millis(5), room.call(request)).await;
        assert!(given_up.is_err(), "{given_up:?}");
    }
    let rows = ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap();
    assert_eq!(rows.len(), 6, "calls without a waiting caller have rows, too");
    for row in &rows {
        assert_eq!((&*row.tool, row.status), (UNTOLD, CallStatus::Cancelled), "{row:?}");
        assert_eq!(ledger.question(&Scope::default(), &row.id).await.unwrap(), None);
    }
    let kept = serde_json::to_string(&rows).unwrap();
    assert!(!kept.contains(SECRET), "{kept}");
}
