//! Questions to people: parked, answered, edited, resumed; and every way in which a yes must not count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolroom::approval::{AnswerError, AnswerRequest, EditError, EditRequest, Responder};
use toolroom::call::{CallReport, CallRequest, CancellationToken, Outcome, ResumeError, ResumeRequest};
use toolroom::catalog::Catalog;
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, Answerer, Approvals, CallId, CallStatus, DecideError, Journal, QuestionState, SwitchState,
};
use toolroom::policy::{Judgement, Policy, Preset, Provenance, Rule, RuleText, Ruling};
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::{ManualClock, MemoryLedger, NoSeal};
use toolroom::tool::{Arguments, Capability, Effect, Risk, ToolOutput, ToolSpec};
use toolroom::{APPROVAL_LIFETIME, Toolroom};

use crate::room::scripted;

/// A room with one tool that writes, whose risk is medium, and a count of how often it ran.
struct Desk {
    room: Toolroom,
    ledger: Arc<MemoryLedger>,
    clock: Arc<ManualClock>,
    ran: Arc<AtomicUsize>,
}

fn note(effect: Effect) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "copies": {"type": "integer", "default": 1}},
        "required": ["text"],
    });
    ToolSpec::new("app:note", "Write a note")
        .unwrap()
        .effect(effect)
        .capabilities(&[Capability::Writes])
        .risk(Risk::Medium)
        .parameters(parameters)
}

fn rule(id: &str, effect: Ruling, when: Option<&str>, by: Option<Answerer>) -> Rule {
    Rule::new(RuleText {
        id: id.to_owned(),
        effect,
        tool: "app:note".to_owned(),
        when: when.map(str::to_owned),
        by,
        reason: None,
        matches: Vec::new(),
        not_matches: Vec::new(),
    })
    .unwrap()
}

impl Desk {
    fn new() -> Self {
        Self::with(note(Effect::OnceOnlyWrite), Vec::new())
    }

    fn with(spec: ToolSpec, rules: Vec<Rule>) -> Self {
        let ledger = Arc::new(MemoryLedger::new());
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_000_000)));
        let ran = Arc::new(AtomicUsize::new(0));
        let room = Toolroom::builder(Arc::clone(&ledger))
            .policy(Policy::new(Preset::Balanced, rules).unwrap())
            .seal(Arc::new(NoSeal))
            .clock(Arc::clone(&clock) as _)
            .build();
        let desk = Self { room, ledger, clock, ran };
        desk.register(desk.room.catalog(), spec);
        desk
    }

    fn register(&self, catalog: &Catalog, spec: ToolSpec) {
        let ran = Arc::clone(&self.ran);
        let tool = scripted(spec, move |_context, arguments| {
            ran.fetch_add(1, Ordering::SeqCst);
            async move { Ok(ToolOutput::new(Value::Object(arguments))) }
        });
        catalog.replace(None, "app", vec![Arc::new(tool)]).unwrap();
    }

    fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    /// Makes a call that has to be parked, and gives its id.
    async fn park(&self, request: CallRequest) -> CallId {
        let before = self.ran();
        let report = self.room.call(request).await;
        assert!(matches!(report.outcome, Outcome::Pending(_)), "{report:?}");
        assert_eq!(self.ran(), before, "a parked call has not run");
        report.call_id
    }

    async fn parked(&self) -> CallId {
        self.park(request()).await
    }

    async fn answer(&self, call: &CallId, answer: Answer) -> Result<(), AnswerError> {
        self.answer_as(call, answer, Responder::Approver).await
    }

    async fn answer_as(&self, call: &CallId, answer: Answer, by: Responder) -> Result<(), AnswerError> {
        let request = AnswerRequest { call: call.clone(), scope: Scope::default(), by, answer, when: None };
        self.room.answer(request).await.map(drop)
    }

    async fn resume(&self, call: &CallId) -> Result<CallReport, ResumeError> {
        self.room.resume(ResumeRequest::new(call.clone(), Scope::default())).await
    }

    async fn status(&self, call: &CallId) -> CallStatus {
        self.ledger.call(&Scope::default(), call).await.unwrap().unwrap().status
    }

    async fn state(&self, call: &CallId) -> QuestionState {
        self.ledger.question(&Scope::default(), call).await.unwrap().unwrap().state
    }
}

fn request() -> CallRequest {
    CallRequest::new("note").argument("text", "hello")
}

fn rule_of(report: &CallReport) -> &str {
    match &report.outcome {
        Outcome::Denied(denial) => {
            assert_eq!(report.rule.as_ref(), Some(&denial.rule), "the rule that denied is the one told");
            &denial.rule
        }
        other => panic!("expected a denial, got {other:?}"),
    }
}

#[tokio::test]
async fn what_was_approved_runs_once_with_exactly_those_arguments() {
    let desk = Desk::new();
    let call = desk.parked().await;
    let asked = desk.room.question_details(&Scope::default(), &call).await.unwrap().unwrap();
    assert_eq!(Value::Object(asked.arguments.unwrap()), json!({"text": "hello", "copies": 1}), "filled in");
    assert_eq!(asked.question.record.rule.as_deref(), Some("default.write"));

    let early = desk.resume(&call).await.unwrap();
    assert!(matches!(early.outcome, Outcome::Pending(_)), "not answered yet: {early:?}");
    desk.answer(&call, Answer::Once).await.unwrap();
    assert_eq!((desk.ran(), desk.status(&call).await), (0, CallStatus::Pending), "an answer runs nothing");

    let report = desk.resume(&call).await.unwrap();
    assert_eq!(report.for_model(), Some(json!({"text": "hello", "copies": 1})));
    assert_eq!((report.call_id.clone(), desk.ran()), (call.clone(), 1));
    let row = desk.ledger.call(&Scope::default(), &call).await.unwrap().unwrap();
    assert_eq!((row.status, row.rule.as_deref()), (CallStatus::Done, Some("default.write")));
    assert!(row.begun_at.is_some());

    let again = desk.resume(&call).await;
    assert!(matches!(again, Err(ResumeError::Over { status: CallStatus::Done, .. })), "{again:?}");
    assert!(matches!(
        desk.answer(&call, Answer::Once).await,
        Err(AnswerError::Decide(DecideError::NotWaiting(_)))
    ));
    assert_eq!(desk.ran(), 1);
    let question = desk.ledger.question(&Scope::default(), &call).await.unwrap().unwrap();
    assert_eq!((question.state, question.approval.sealed), (QuestionState::Used, None), "nothing is kept");
}

#[tokio::test]
async fn of_many_who_resume_at_once_one_runs_it() {
    let desk = Desk::new();
    let call = desk.parked().await;
    desk.answer(&call, Answer::Once).await.unwrap();
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let room = desk.room.clone();
        let request = ResumeRequest::new(call.clone(), Scope::default());
        crowd.spawn(async move { room.resume(request).await });
    }
    let reports = crowd.join_all().await;
    let done = reports
        .iter()
        .filter(|report| report.as_ref().is_ok_and(|report| matches!(report.outcome, Outcome::Done(_))));
    assert_eq!((done.count(), desk.ran()), (1, 1));
    assert_eq!(desk.status(&call).await, CallStatus::Done, "those who came too late change nothing");
}

#[tokio::test]
async fn a_no_ends_the_call() {
    for (answer, says) in [
        (Answer::No, "a person said no"),
        (Answer::Never, "never to ask again"),
        (Answer::Stop, "end the run"),
    ] {
        let desk = Desk::new();
        let call = desk.parked().await;
        desk.answer(&call, answer).await.unwrap();
        assert_eq!(desk.status(&call).await, CallStatus::Denied);
        let report = desk.resume(&call).await.unwrap();
        assert_eq!(rule_of(&report), "approval.refused");
        assert!(report.for_model().unwrap()["error"].as_str().unwrap().contains(says), "{report:?}");
        assert_eq!(desk.ran(), 0);
        let next = desk.room.call(request()).await;
        match answer {
            Answer::Never => assert!(rule_of(&next).starts_with("ans_"), "{next:?}"),
            _ => assert!(matches!(next.outcome, Outcome::Pending(_)), "{next:?}"),
        }
    }
}

#[tokio::test]
async fn always_holds_for_this_tool_as_it_is_defined_and_for_the_question_it_answers() {
    let desk = Desk::new();
    let call = desk.parked().await;
    desk.answer(&call, Answer::Always).await.unwrap();
    let report = desk.room.call(request().argument("text", "anything")).await;
    assert!(matches!(report.outcome, Outcome::Done(_)), "{report:?}");
    assert!(report.rule.unwrap().starts_with("ans_"));

    let sends = note(Effect::OnceOnlyWrite).capabilities(&[Capability::Writes, Capability::Egress]);
    desk.register(desk.room.catalog(), sends);
    desk.park(request()).await;
}

#[tokio::test]
async fn the_third_of_three_facts_is_asked_about_each_time() {
    let sends = note(Effect::OnceOnlyWrite).capabilities(&[Capability::Egress]).risk(Risk::Low);
    let desk = Desk::with(sends, Vec::new());
    let private = Provenance { private: true, untrusted: true, ..Provenance::NONE };
    assert!(matches!(desk.room.call(request()).await.outcome, Outcome::Done(_)));
    let third = desk.park(request().provenance(private)).await;
    let question = desk.ledger.question(&Scope::default(), &third).await.unwrap().unwrap();
    assert_eq!(question.record.rule.as_deref(), Some("provenance.third"));
    assert!(matches!(desk.answer(&third, Answer::Always).await, Err(AnswerError::NotForever { .. })));
    desk.answer(&third, Answer::Once).await.unwrap();
    assert!(matches!(desk.resume(&third).await.unwrap().outcome, Outcome::Done(_)));
    desk.park(request().provenance(private)).await;
}

#[tokio::test]
async fn always_is_narrowed_by_a_condition_that_must_hold_for_the_call_itself() {
    let desk = Desk::new();
    let call = desk.parked().await;
    let always = |when: &str| AnswerRequest {
        call: call.clone(),
        scope: Scope::default(),
        by: Responder::Approver,
        answer: Answer::Always,
        when: Some(when.to_owned()),
    };
    assert!(matches!(
        desk.room.answer(always("args.text == 'other'")).await,
        Err(AnswerError::NotThisCall(_))
    ));
    assert!(matches!(desk.room.answer(always("args.text ==")).await, Err(AnswerError::Condition(_))));
    assert!(matches!(desk.room.answer(always("secret.x == 1")).await, Err(AnswerError::Condition(_))));
    assert_eq!(desk.state(&call).await, QuestionState::Waiting, "what was wrong has changed nothing");

    let standing = desk.room.standing_answer(&always("args.text == 'hello'")).await.unwrap().unwrap();
    for text in ["hello", "hello", "else"] {
        desk.park(CallRequest::new("note").argument("text", text)).await;
    }
    let reach = desk.room.coverage(&standing).await.unwrap();
    assert_eq!((reach.matched, reach.of), (2, 3));
    desk.room.answer(always("args.text == 'hello'")).await.unwrap();
    assert!(matches!(desk.room.call(request()).await.outcome, Outcome::Done(_)));
    desk.park(CallRequest::new("note").argument("text", "else")).await;
}

#[tokio::test]
async fn a_tool_that_starts_programs_is_never_allowed_without_a_condition() {
    let spec = note(Effect::OnceOnlyWrite).capabilities(&[Capability::Exec]);
    let desk = Desk::with(spec, Vec::new());
    let call = desk.parked().await;
    assert!(matches!(desk.answer(&call, Answer::Always).await, Err(AnswerError::NeedsCondition { .. })));
    assert_eq!(desk.state(&call).await, QuestionState::Waiting);
}

#[tokio::test]
async fn a_tool_that_is_answered_call_by_call_takes_no_yes_for_later() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite).single_answers(), Vec::new());
    let call = desk.parked().await;
    for answer in [Answer::Session, Answer::Always] {
        assert!(matches!(desk.answer(&call, answer).await, Err(AnswerError::OnlyOnce { .. })), "{answer:?}");
    }
    assert_eq!(desk.state(&call).await, QuestionState::Waiting);
    desk.answer(&call, Answer::Once).await.unwrap();
    let other = desk.parked().await;
    desk.answer(&other, Answer::Never).await.unwrap();
    assert!(matches!(desk.room.call(request()).await.outcome, Outcome::Denied(_)));
}

#[tokio::test]
async fn what_the_tool_itself_asks_can_be_answered_for_good_too() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite).risk(Risk::Low), Vec::new());
    let mut tool = scripted(note(Effect::OnceOnlyWrite).risk(Risk::Low), |_context, _arguments| async {
        Ok(ToolOutput::new("done"))
    });
    tool.judge = |arguments| match arguments.get("text").and_then(Value::as_str) {
        Some("forbidden") => Judgement::Deny("not that".into()),
        _ => Judgement::Ask("sure?".into()),
    };
    desk.room.catalog().replace(None, "app", vec![Arc::new(tool)]).unwrap();
    let call = desk.parked().await;
    desk.answer(&call, Answer::Always).await.unwrap();
    assert!(matches!(desk.room.call(request()).await.outcome, Outcome::Done(_)));
    let denied = desk.room.call(CallRequest::new("note").argument("text", "forbidden")).await;
    assert_eq!(rule_of(&denied), "tool.judge", "its no is its own");
}

#[tokio::test]
async fn what_a_tool_asks_the_operator_only_the_operator_answers() {
    // A rule that allows everything, and one that asks the caller, change nothing about that.
    for rules in [
        Vec::new(),
        vec![rule("free", Ruling::Allow, None, None)],
        vec![rule("ask", Ruling::Ask, None, Some(Answerer::Caller))],
    ] {
        let desk = Desk::with(note(Effect::OnceOnlyWrite), rules);
        let mut tool = scripted(note(Effect::OnceOnlyWrite), |_context, _arguments| async {
            Ok(ToolOutput::new("done"))
        });
        tool.judge = |_| Judgement::AskOperator("for good".into());
        desk.room.catalog().replace(None, "app", vec![Arc::new(tool)]).unwrap();
        let call = desk.parked().await;
        for answer in [Answer::Once, Answer::Always] {
            let refused = desk.answer(&call, answer).await;
            assert!(matches!(refused, Err(AnswerError::Decide(DecideError::NotYours))), "{refused:?}");
        }
        assert_eq!(desk.state(&call).await, QuestionState::Waiting);
        desk.answer_as(&call, Answer::Once, Responder::Operator).await.unwrap();
        assert!(matches!(desk.resume(&call).await.unwrap().outcome, Outcome::Done(_)));
    }
}

#[tokio::test]
async fn a_callers_earlier_yes_does_not_answer_for_the_operator() {
    let desk = Desk::with(note(Effect::OnceOnlyWrite).risk(Risk::Low), Vec::new());
    let judged = |judge: fn(&Arguments) -> Judgement| {
        let spec = note(Effect::OnceOnlyWrite).risk(Risk::Low);
        let mut tool = scripted(spec, |_context, _arguments| async { Ok(ToolOutput::new("done")) });
        tool.judge = judge;
        desk.room.catalog().replace(None, "app", vec![Arc::new(tool)]).unwrap();
    };
    judged(|_| Judgement::Ask("sure?".into()));
    let call = desk.parked().await;
    desk.answer(&call, Answer::Always).await.unwrap();
    assert!(matches!(desk.room.call(request()).await.outcome, Outcome::Done(_)));
    // The same definition; the tool only judges otherwise now.
    judged(|_| Judgement::AskOperator("for good".into()));
    let call = desk.parked().await;
    desk.answer_as(&call, Answer::Always, Responder::Operator).await.unwrap();
    assert!(matches!(desk.room.call(request()).await.outcome, Outcome::Done(_)));
}

#[tokio::test]
async fn a_session_answer_holds_in_its_conversation_only() {
    let desk = Desk::new();
    let call = desk.park(request().conversation("thread_1", Some("run_1"))).await;
    desk.answer(&call, Answer::Session).await.unwrap();
    let same = desk.room.call(request().conversation("thread_1", Some("run_2"))).await;
    assert!(matches!(same.outcome, Outcome::Done(_)), "{same:?}");
    desk.park(request().conversation("thread_2", None)).await;
    desk.park(request()).await;

    // Without a conversation the session is the call.
    let call = desk.parked().await;
    desk.answer(&call, Answer::Session).await.unwrap();
    assert!(matches!(desk.resume(&call).await.unwrap().outcome, Outcome::Done(_)));
    desk.parked().await;
}

#[tokio::test]
async fn a_yes_is_worth_nothing_after_its_time() {
    let desk = Desk::new();
    let (unanswered, unused) = (desk.parked().await, desk.parked().await);
    desk.answer(&unused, Answer::Once).await.unwrap();
    desk.clock.advance(APPROVAL_LIFETIME);
    assert!(matches!(
        desk.answer(&unanswered, Answer::Once).await,
        Err(AnswerError::Decide(DecideError::NotWaiting(_)))
    ));
    for call in [unanswered, unused] {
        let report = desk.resume(&call).await.unwrap();
        assert_eq!(rule_of(&report), "approval.expired");
        assert_eq!(
            (desk.status(&call).await, desk.state(&call).await),
            (CallStatus::Denied, QuestionState::Expired)
        );
    }
    assert_eq!(desk.ran(), 0);
}

#[tokio::test]
async fn a_definition_that_changes_between_question_and_run_voids_the_answer() {
    let desk = Desk::new();
    let before_answer = desk.parked().await;
    let after_answer = desk.parked().await;
    desk.answer(&after_answer, Answer::Once).await.unwrap();
    let mut other = note(Effect::OnceOnlyWrite);
    other.description = "Write a note, and mail it to a stranger".to_owned();
    desk.register(desk.room.catalog(), other);
    desk.answer(&before_answer, Answer::Once).await.unwrap();
    for call in [&before_answer, &after_answer] {
        let report = desk.resume(call).await.unwrap();
        assert_eq!(rule_of(&report), "approval.void");
        assert_eq!(
            (desk.status(call).await, desk.state(call).await),
            (CallStatus::Denied, QuestionState::Void)
        );
    }
    desk.register(desk.room.catalog(), note(Effect::OnceOnlyWrite));
    assert_eq!(rule_of(&desk.resume(&after_answer).await.unwrap()), "approval.void", "it stays void");
    assert_eq!(desk.ran(), 0);
}

#[tokio::test]
async fn a_switch_set_off_voids_the_answer_for_good() {
    let desk = Desk::new();
    let call = desk.parked().await;
    desk.answer(&call, Answer::Once).await.unwrap();
    desk.ledger.set_tool(&ProjectId::default(), "app:note", SwitchState::Off);
    assert_eq!(rule_of(&desk.resume(&call).await.unwrap()), "tool.off");
    desk.ledger.set_tool(&ProjectId::default(), "app:note", SwitchState::On);
    assert_eq!(rule_of(&desk.resume(&call).await.unwrap()), "approval.void");
    assert_eq!(desk.ran(), 0);
}

#[tokio::test]
async fn only_the_operator_answers_what_is_the_operators() {
    let ask = rule("ask-operator", Ruling::Ask, None, Some(Answerer::Operator));
    let desk = Desk::with(note(Effect::OnceOnlyWrite), vec![ask]);
    let call = desk.parked().await;
    for answer in [Answer::Once, Answer::Session, Answer::Always, Answer::No, Answer::Never, Answer::Stop] {
        assert!(
            matches!(desk.answer(&call, answer).await, Err(AnswerError::Decide(DecideError::NotYours))),
            "{answer:?}"
        );
    }
    let edit = desk.room.edit(edited(&call, Responder::Approver, json!({"text": "mine"}))).await;
    assert!(matches!(edit, Err(EditError::Decide(DecideError::NotYours))), "{edit:?}");
    assert_eq!(desk.state(&call).await, QuestionState::Waiting);
    desk.answer_as(&call, Answer::Once, Responder::Operator).await.unwrap();
    assert!(matches!(desk.resume(&call).await.unwrap().outcome, Outcome::Done(_)));
}

fn edited(call: &CallId, by: Responder, arguments: Value) -> EditRequest {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    EditRequest { call: call.clone(), scope: Scope::default(), by, arguments }
}

#[tokio::test]
async fn an_edit_is_a_call_of_its_own_through_the_same_checks() {
    let deny = rule("no-secrets", Ruling::Deny, Some("args.text contains 'secret'"), None);
    let operator = rule("long", Ruling::Ask, Some("len(args.text) > 10"), Some(Answerer::Operator));
    let desk = Desk::with(note(Effect::OnceOnlyWrite), vec![deny, operator]);
    let call = desk.parked().await;

    let wrong = desk.room.edit(edited(&call, Responder::Approver, json!({"text": 5}))).await;
    assert!(matches!(wrong, Err(EditError::Refused(_))), "{wrong:?}");
    let denied = desk.room.edit(edited(&call, Responder::Operator, json!({"text": "a secret"}))).await;
    assert!(matches!(denied, Err(EditError::Denied(_))), "{denied:?}");
    assert_eq!(desk.state(&call).await, QuestionState::Waiting, "the old question still waits");

    let new = desk.room.edit(edited(&call, Responder::Approver, json!({"text": "bye"}))).await.unwrap();
    assert_eq!(new.waits_for, None);
    assert_eq!((desk.status(&call).await, desk.ran()), (CallStatus::Denied, 0));
    let old = desk.resume(&call).await;
    assert!(matches!(&old, Err(ResumeError::Replaced { by, .. }) if *by == new.call), "{old:?}");
    let report = desk.resume(&new.call).await.unwrap();
    assert_eq!(report.for_model(), Some(json!({"text": "bye", "copies": 1})));

    let call = desk.parked().await;
    let long = json!({"text": "longer than ten characters"});
    let new = desk.room.edit(edited(&call, Responder::Approver, long)).await.unwrap();
    assert_eq!(new.waits_for, Some(Answerer::Operator), "a caller cannot edit their way past the operator");
    assert!(matches!(desk.resume(&new.call).await.unwrap().outcome, Outcome::Pending(_)));
    assert_eq!(desk.ran(), 1);
}

#[tokio::test]
async fn an_edit_of_a_closed_question_is_refused_as_closed() {
    let desk = Desk::new();
    for answer in [Answer::No, Answer::Stop] {
        let call = desk.parked().await;
        desk.answer_as(&call, answer, Responder::Approver).await.unwrap();
        let edit = desk.room.edit(edited(&call, Responder::Approver, json!({"text": "bye"}))).await;
        assert!(matches!(edit, Err(EditError::Decide(DecideError::NotWaiting(_)))), "{answer:?}: {edit:?}");
    }
}

fn made_by(caller: &str) -> CallRequest {
    CallRequest { caller: Some(caller.into()), ..request() }
}

#[tokio::test]
async fn a_caller_answers_its_own_calls_and_decides_about_no_others() {
    let desk = Desk::new();
    let caller = |name: &str| Responder::Caller(name.into());
    let calls =
        [desk.park(made_by("key:own")).await, desk.park(made_by("key:other")).await, desk.parked().await];
    let [own, others, unnamed] = &calls;
    let reaches_further = [Answer::Session, Answer::Always, Answer::Never];
    let all = || Answer::ALL.into_iter().filter(|answer| *answer != Answer::Edit);
    let mut refused: Vec<(&CallId, Responder, Answer)> = Vec::new();
    refused.extend(reaches_further.map(|answer| (own, caller("key:own"), answer)));
    refused.extend(all().map(|answer| (others, caller("key:own"), answer)));
    refused.extend(all().map(|answer| (unnamed, caller("key:own"), answer)));
    refused.extend(all().map(|answer| (own, Responder::Observer, answer)));
    for (call, by, answer) in refused {
        let expected =
            if call == own && by != Responder::Observer { "later calls" } else { "scope `answer`" };
        let error = desk.answer_as(call, answer, by.clone()).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{by:?} {answer:?}: {error}");
    }
    for (call, by) in [(others, caller("key:own")), (unnamed, caller("key:own")), (own, Responder::Observer)]
    {
        let edit = desk.room.edit(edited(call, by, json!({"text": "mine"}))).await;
        assert!(matches!(edit, Err(EditError::Decide(DecideError::NotOwn))), "{edit:?}");
    }
    for call in &calls {
        assert_eq!(desk.state(call).await, QuestionState::Waiting);
        assert!(matches!(desk.resume(call).await.unwrap().outcome, Outcome::Pending(_)));
    }
    assert_eq!(desk.ran(), 0);
    let edit = desk.room.edit(edited(own, caller("key:own"), json!({"text": "bye"}))).await.unwrap();
    assert!(matches!(desk.resume(&edit.call).await.unwrap().outcome, Outcome::Done(_)));
    desk.answer_as(others, Answer::Once, caller("key:other")).await.unwrap();
    assert!(matches!(desk.resume(others).await.unwrap().outcome, Outcome::Done(_)));
    for answer in [Answer::No, Answer::Stop] {
        let call = desk.park(made_by("key:own")).await;
        desk.answer_as(&call, answer, caller("key:own")).await.unwrap();
    }
    desk.park(made_by("key:own")).await;
    assert_eq!(desk.ran(), 2, "each yes was for one call");
}

#[tokio::test]
async fn a_caller_answers_the_provenance_question_for_its_conversation() {
    let sends = note(Effect::OnceOnlyWrite).capabilities(&[Capability::Egress]).risk(Risk::Low);
    let desk = Desk::with(sends, Vec::new());
    let read = Provenance { private: true, untrusted: true, ..Provenance::NONE };
    let asks = || made_by("key:own").provenance(read).conversation("talk", None);
    let call = desk.park(asks()).await;
    let question = desk.ledger.question(&Scope::default(), &call).await.unwrap().unwrap();
    assert_eq!(question.record.rule.as_deref(), Some("provenance.third"));
    let own = || Responder::Caller("key:own".into());
    for answer in [Answer::Always, Answer::Never] {
        let refused = desk.answer_as(&call, answer, own()).await;
        assert!(matches!(refused, Err(AnswerError::Decide(DecideError::TooFar(_)))), "{refused:?}");
    }
    desk.answer_as(&call, Answer::Session, own()).await.unwrap();
    assert!(matches!(desk.resume(&call).await.unwrap().outcome, Outcome::Done(_)));
}

#[tokio::test]
async fn other_users_cannot_answer_run_or_see_a_call() {
    let desk = Desk::new();
    let (ann, bob) = (Scope::user("local", "ann"), Scope::user("local", "bob"));
    let call = desk.park(request().scope(ann.clone())).await;
    for stranger in [bob, Scope::project("other"), Scope::user("other", "ann")] {
        assert!(desk.room.question_details(&stranger, &call).await.unwrap().is_none());
        for by in [Responder::Approver, Responder::Operator] {
            let answer = AnswerRequest {
                call: call.clone(),
                scope: stranger.clone(),
                by: by.clone(),
                answer: Answer::Always,
                when: None,
            };
            let taken = desk.room.answer(answer).await;
            assert!(matches!(taken, Err(AnswerError::Decide(DecideError::NotWaiting(_)))), "{taken:?}");
            let edit = EditRequest {
                call: call.clone(),
                scope: stranger.clone(),
                by,
                arguments: Arguments::from_iter([("text".to_owned(), json!("mine"))]),
            };
            assert!(matches!(desk.room.edit(edit).await, Err(EditError::Decide(DecideError::NotWaiting(_)))));
        }
        let resumed = desk.room.resume(ResumeRequest::new(call.clone(), stranger)).await;
        assert!(matches!(resumed, Err(ResumeError::NotFound(_))), "{resumed:?}");
    }
    let yes = |scope: Scope| AnswerRequest {
        call: call.clone(),
        scope,
        by: Responder::Approver,
        answer: Answer::Always,
        when: None,
    };
    desk.room.answer(yes(ann.clone())).await.unwrap();
    let of_ann = desk.room.resume(ResumeRequest::new(call, ann.clone())).await.unwrap();
    assert!(matches!(of_ann.outcome, Outcome::Done(_)));
    assert!(matches!(desk.room.call(request().scope(ann)).await.outcome, Outcome::Done(_)));
    desk.park(request().scope(Scope::user("local", "bob"))).await;
    desk.park(request()).await;
}

#[tokio::test]
async fn no_argument_of_a_call_approves_it() {
    let desk = Desk::new();
    let granted = desk.parked().await;
    desk.answer(&granted, Answer::Once).await.unwrap();
    let id = granted.as_str();
    for (name, value) in [
        ("approved", json!(true)),
        ("approve", json!("always")),
        ("confirm", json!(true)),
        ("call_id", json!(id)),
        ("grant", json!({"call": id, "answer": "once"})),
        ("by", json!("operator")),
        ("rule", json!("default")),
        ("provenance", json!({"private": false})),
    ] {
        desk.park(request().argument(name, value.clone())).await;
        let mut context = request();
        context.context.insert(name.to_owned(), value.clone());
        context.metadata.insert(name.to_owned(), value);
        desk.park(context).await;
    }
    assert_eq!(desk.ran(), 0);
}

#[tokio::test]
async fn a_call_that_broke_off_runs_again_only_if_its_effect_allows_it() {
    for (effect, repeats) in [(Effect::IdempotentWrite, true), (Effect::OnceOnlyWrite, false)] {
        let desk = Desk::with(note(effect), Vec::new());
        let started = Arc::new(tokio::sync::Notify::new());
        let (ran, signal) = (Arc::clone(&desk.ran), Arc::clone(&started));
        let hanging = scripted(note(effect), move |_context, _arguments| {
            let first = ran.fetch_add(1, Ordering::SeqCst) == 0;
            let signal = Arc::clone(&signal);
            async move {
                signal.notify_one();
                if first {
                    std::future::pending::<()>().await;
                }
                Ok(ToolOutput::new("done"))
            }
        });
        desk.room.catalog().replace(None, "app", vec![Arc::new(hanging)]).unwrap();
        let call = desk.parked().await;
        desk.answer(&call, Answer::Once).await.unwrap();
        let mut resume = ResumeRequest::new(call.clone(), Scope::default());
        let stop = CancellationToken::new();
        resume.cancellation = stop.clone();
        let room = desk.room.clone();
        let running = tokio::spawn(async move { room.resume(resume).await });
        started.notified().await;
        stop.cancel();
        running.await.unwrap().unwrap();
        assert_eq!(desk.status(&call).await, CallStatus::Unknown);

        let again = desk.resume(&call).await;
        match repeats {
            true => {
                assert!(matches!(again.unwrap().outcome, Outcome::Done(_)));
                let row = desk.ledger.call(&Scope::default(), &call).await.unwrap().unwrap();
                assert_eq!((row.status, row.error, row.kind), (CallStatus::Done, None, None));
            }
            false => assert!(matches!(again, Err(ResumeError::Unrepeatable { .. })), "{again:?}"),
        }
        assert_eq!(desk.ran(), if repeats { 2 } else { 1 });
    }
}

#[tokio::test]
async fn a_resumed_call_ends_properly_when_its_caller_goes_away() {
    let desk = Desk::new();
    let started = Arc::new(tokio::sync::Notify::new());
    let signal = Arc::clone(&started);
    let hanging = scripted(note(Effect::OnceOnlyWrite), move |context, _arguments| {
        let signal = Arc::clone(&signal);
        async move {
            signal.notify_one();
            context.cancelled().await;
            Ok(ToolOutput::new("stopped"))
        }
    });
    desk.room.catalog().replace(None, "app", vec![Arc::new(hanging)]).unwrap();
    let call = desk.parked().await;
    desk.answer(&call, Answer::Once).await.unwrap();
    tokio::select! {
        _ = desk.resume(&call) => panic!("it hangs"),
        () = started.notified() => {}
    }
    // The call's own task is the only other one: it needs a few turns, and no time.
    for _ in 0..1_000 {
        if desk.status(&call).await != CallStatus::Begun {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.status(&call).await, CallStatus::Unknown);
}

#[tokio::test]
async fn a_room_without_a_seal_keeps_nothing_and_says_so() {
    let ledger = Arc::new(MemoryLedger::new());
    let room = Toolroom::builder(Arc::clone(&ledger)).build();
    let tool = scripted(note(Effect::OnceOnlyWrite), |_c, _a| async { Ok(ToolOutput::new(1)) });
    room.catalog().register(tool).unwrap();
    let call = room.call(request()).await.call_id;
    let question = ledger.question(&Scope::default(), &call).await.unwrap().unwrap();
    assert_eq!(question.approval.sealed, None);
    let answer = AnswerRequest {
        call: call.clone(),
        scope: Scope::default(),
        by: Responder::Approver,
        answer: Answer::Once,
        when: None,
    };
    room.answer(answer).await.unwrap();
    let resumed = room.resume(ResumeRequest::new(call, Scope::default())).await;
    assert!(matches!(resumed, Err(ResumeError::NotKept(_))), "{resumed:?}");
}
