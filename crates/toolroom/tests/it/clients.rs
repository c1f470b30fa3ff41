//! Tools that a client runs: handed out, delivered, and every way in which a delivery must not count.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolroom::approval::{AnswerError, AnswerRequest, EditError, EditRequest, Responder};
use toolroom::call::{CallReport, CallRequest, DeliverError, Delivery, Outcome, ResumeRequest};
use toolroom::catalog::{LimitMode, LimitRule, Limits, RegisterError};
use toolroom::clock::Timestamp;
use toolroom::ledger::{
    Answer, Answerer, Approvals, Artifacts, Attempt, BeginCall, CallId, CallStatus, DecideError, Decision,
    Grant, Journal, Ledger, QuestionState, RateLimit, SwitchState,
};
use toolroom::policy::{Policy, Preset, Rule, RuleText, Ruling, ToolPattern};
use toolroom::redact::{Fixed, Patterns, Redactor, Secret};
use toolroom::scope::Scope;
use toolroom::testing::{ManualClock, MemoryLedger, NoSeal};
use toolroom::tool::{ClientTool, ErrorKind, Origin, RaisedBy, ToolError, ToolOutput};
use toolroom::{APPROVAL_LIFETIME, Toolroom};

use crate::room::scripted;

/// A room to whose client calls are handed.
struct Counter {
    room: Toolroom,
    ledger: Arc<MemoryLedger>,
    clock: Arc<ManualClock>,
}

fn rule(effect: Ruling, by: Option<Answerer>) -> Rule {
    Rule::new(RuleText {
        id: "rule".to_owned(),
        effect,
        tool: "client:*".to_owned(),
        when: None,
        by,
        reason: None,
        matches: Vec::new(),
        not_matches: Vec::new(),
    })
    .unwrap()
}

fn pick() -> Arc<ClientTool> {
    let parameters = json!({
        "type": "object",
        "properties": {"folder": {"type": "string"}, "many": {"type": "boolean", "default": false}},
        "required": ["folder"],
    });
    Arc::new(ClientTool::new("pick", "Pick a file", parameters).unwrap())
}

fn ana() -> Scope {
    Scope::user("shop", "ana")
}

fn request() -> CallRequest {
    CallRequest::new("client:pick").client_tool(pick()).argument("folder", "docs").scope(ana())
}

impl Counter {
    fn new() -> Self {
        Self::with(Preset::Balanced, Vec::new())
    }

    fn with(preset: Preset, rules: Vec<Rule>) -> Self {
        let ledger = Arc::new(MemoryLedger::new());
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_000_000)));
        let secrets = [Secret::new("token", "s3cr3t-of-the-house")];
        let room = Toolroom::builder(Arc::clone(&ledger))
            .policy(Policy::new(preset, rules).unwrap())
            .seal(Arc::new(NoSeal))
            .redactions(Arc::new(Fixed::new(Redactor::new(secrets, Patterns::None))))
            .clock(Arc::clone(&clock) as _)
            .build();
        Self { room, ledger, clock }
    }

    /// Makes a call that has to be handed to the client.
    async fn hand(&self) -> CallId {
        let report = self.room.call(request()).await;
        assert!(is_handed(&report), "{report:?}");
        report.call_id
    }

    async fn deliver(&self, call: &CallId, value: Value) -> Result<CallReport, DeliverError> {
        self.room.deliver(Delivery::new(call.clone(), ana(), Ok(value))).await
    }

    async fn resume(&self, call: &CallId) -> CallReport {
        self.room.resume(ResumeRequest::new(call.clone(), ana())).await.unwrap()
    }

    async fn answer(&self, call: &CallId, answer: Answer, by: Responder) -> Result<(), AnswerError> {
        let request = AnswerRequest { call: call.clone(), scope: ana(), by, answer, when: None };
        self.room.answer(request).await.map(drop)
    }

    async fn status(&self, call: &CallId) -> CallStatus {
        self.ledger.call(&ana(), call).await.unwrap().unwrap().status
    }

    async fn state(&self, call: &CallId) -> QuestionState {
        self.ledger.question(&ana(), call).await.unwrap().unwrap().state
    }
}

fn is_handed(report: &CallReport) -> bool {
    matches!(&report.outcome, Outcome::Pending(pending) if pending.by == Answerer::Client)
}

fn is_over(delivered: &Result<CallReport, DeliverError>) -> bool {
    matches!(delivered, Err(DeliverError::Over { .. }))
}

fn done(report: &CallReport) -> &Value {
    match &report.outcome {
        Outcome::Done(done) => &done.value,
        other => panic!("{other:?}"),
    }
}

fn failure(report: CallReport) -> ToolError {
    match report.outcome {
        Outcome::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

fn denial(report: CallReport) -> (String, String) {
    match report.outcome {
        Outcome::Denied(denial) => (denial.rule.into_owned(), denial.reason),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_the_client_delivers_is_the_result() {
    let counter = Counter::new();
    let call = counter.hand().await;
    let asked = counter.room.question_details(&ana(), &call).await.unwrap().unwrap();
    assert_eq!(Value::Object(asked.arguments.unwrap()), json!({"folder": "docs", "many": false}), "filled");
    assert!(counter.ledger.questions(&ana()).await.unwrap().questions.is_empty(), "no person is asked");
    assert!(is_handed(&counter.resume(&call).await), "nothing runs here");
    assert_eq!(counter.status(&call).await, CallStatus::Pending);

    let report = counter.deliver(&call, json!(["a.txt"])).await.unwrap();
    assert_eq!(done(&report), &json!(["a.txt"]));
    let Outcome::Done(result) = &report.outcome else { panic!() };
    assert_eq!(result.origin, Origin::Trusted);
    let row = counter.ledger.call(&ana(), &call).await.unwrap().unwrap();
    assert_eq!((row.status, &*row.tool), (CallStatus::Done, "client:pick"));
    assert_eq!(row.result.as_deref(), Some(&json!(["a.txt"])));
    assert!(row.begun_at.is_some(), "journaled as begun before it is taken");
    let question = counter.ledger.question(&ana(), &call).await.unwrap().unwrap();
    assert_eq!((question.state, question.answered_by), (QuestionState::Used, Some(Answerer::Client)));
    assert_eq!(question.approval.sealed, None);
}

#[tokio::test]
async fn a_second_delivery_is_told_that_it_is_over() {
    let counter = Counter::new();
    let call = counter.hand().await;
    counter.deliver(&call, json!(1)).await.unwrap();
    let second = counter.deliver(&call, json!(2)).await;
    assert!(matches!(second, Err(DeliverError::Over { status: CallStatus::Done, .. })), "{second:?}");
    let row = counter.ledger.call(&ana(), &call).await.unwrap().unwrap();
    assert_eq!(row.result.as_deref(), Some(&json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_deliver_at_once_one_counts() {
    for _ in 0..crate::scale::scaled(50) {
        let counter = Counter::new();
        let call = counter.hand().await;
        let send = |value: i64| {
            let room = counter.room.clone();
            let delivery = Delivery::new(call.clone(), ana(), Ok(json!(value)));
            tokio::spawn(async move { room.deliver(delivery).await })
        };
        let (one, other) = (send(1), send(2));
        let (one, other) = (one.await.unwrap(), other.await.unwrap());
        let (taken, refused) = if one.is_ok() { (one, other) } else { (other, one) };
        assert!(is_over(&refused), "{refused:?}");
        let row = counter.ledger.call(&ana(), &call).await.unwrap().unwrap();
        assert_eq!(row.result.as_deref(), Some(done(&taken.unwrap())));
    }
}

#[tokio::test]
async fn a_failure_at_the_client_is_a_failure_of_the_tool() {
    let counter = Counter::new();
    let call = counter.hand().await;
    let delivery = Delivery::new(call.clone(), ana(), Err("the user said s3cr3t-of-the-house".to_owned()));
    let error = failure(counter.room.deliver(delivery).await.unwrap());
    assert_eq!((error.kind(), error.raised_by()), (ErrorKind::Tool, RaisedBy::Tool));
    assert!(!error.for_model().contains("s3cr3t"), "{}", error.for_model());
    assert_eq!(counter.status(&call).await, CallStatus::Failed);
}

#[tokio::test]
async fn results_are_hidden_shortened_and_bounded_like_all_others() {
    let counter = Counter::new();
    let call = counter.hand().await;
    let report = counter.deliver(&call, json!("it is s3cr3t-of-the-house")).await.unwrap();
    assert!(!done(&report).to_string().contains("s3cr3t"), "{report:?}");

    let call = counter.hand().await;
    let report = counter.deliver(&call, json!("long ".repeat(10_000))).await.unwrap();
    let Outcome::Done(result) = report.outcome else { panic!("{report:?}") };
    assert!(result.truncated);
    let artifact = counter.ledger.artifact(&ana(), &result.artifact.unwrap()).await.unwrap().unwrap();
    assert_eq!(artifact.bytes.len(), 50_000);

    let call = counter.hand().await;
    let error = failure(counter.deliver(&call, json!("x".repeat(4 * 1024 * 1024))).await.unwrap());
    assert!(error.for_model().contains("the limit is 4194304"), "{}", error.for_model());
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_not_handed_out() {
    let counter = Counter::new();
    let error = failure(counter.room.call(request().argument("folder", 7)).await);
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn no_person_answers_in_the_clients_place() {
    let counter = Counter::new();
    let call = counter.hand().await;
    for by in
        [Responder::Approver, Responder::Operator, Responder::Caller("key:1".into()), Responder::Observer]
    {
        for answer in [Answer::Once, Answer::Session, Answer::Always, Answer::No, Answer::Never, Answer::Stop]
        {
            let refused = counter.answer(&call, answer, by.clone()).await;
            let is_refused = matches!(refused, Err(AnswerError::Decide(DecideError::OnlyClient)));
            assert!(is_refused, "{by:?} {answer:?}: {refused:?}");
        }
        let arguments = json!({"folder": "other"}).as_object().unwrap().clone();
        let edit = EditRequest { call: call.clone(), scope: ana(), by: by.clone(), arguments };
        let refused = counter.room.edit(edit).await;
        assert!(matches!(refused, Err(EditError::Decide(DecideError::OnlyClient))), "{by:?}: {refused:?}");
    }
    assert_eq!(counter.state(&call).await, QuestionState::Waiting);
    assert!(counter.deliver(&call, json!(1)).await.is_ok());
}

#[tokio::test]
async fn only_the_caller_of_a_call_delivers() {
    let counter = Counter::new();
    let call = counter.hand().await;
    for stranger in [Scope::user("shop", "ben"), Scope::project("shop"), Scope::user("other", "ana")] {
        let refused = counter.room.deliver(Delivery::new(call.clone(), stranger, Ok(json!(1)))).await;
        assert!(matches!(refused, Err(DeliverError::NotHanded(_))), "{refused:?}");
    }
    assert_eq!(counter.state(&call).await, QuestionState::Waiting);
    let nothing = counter.deliver(&CallId::new("call_of_nobody"), json!(1)).await;
    assert!(matches!(nothing, Err(DeliverError::NotHanded(_))), "{nothing:?}");
}

#[tokio::test]
async fn nothing_is_delivered_for_a_tool_of_the_house() {
    let counter = Counter::with(Preset::Careful, Vec::new());
    let spec = toolroom::tool::ToolSpec::new("app:note", "Note").unwrap();
    let tool = scripted(spec, |_, _| async { Ok(ToolOutput::new("noted")) });
    counter.room.catalog().register(tool).unwrap();
    let call = counter.room.call(CallRequest::new("note").scope(ana())).await.call_id;
    let refused = counter.deliver(&call, json!("forged")).await;
    assert!(matches!(refused, Err(DeliverError::NotHanded(_))), "{refused:?}");
    counter.answer(&call, Answer::Once, Responder::Approver).await.unwrap();
    let refused = counter.deliver(&call, json!("forged")).await;
    assert!(matches!(refused, Err(DeliverError::NotHanded(_))), "{refused:?}");
    assert_eq!(done(&counter.resume(&call).await), &json!("noted"));
}

#[tokio::test]
async fn who_has_to_be_asked_is_asked_first() {
    for (counter, by) in [
        (Counter::with(Preset::Careful, Vec::new()), Responder::Approver),
        (Counter::with(Preset::Open, vec![rule(Ruling::Ask, Some(Answerer::Operator))]), Responder::Operator),
    ] {
        let report = counter.room.call(request()).await;
        let Outcome::Pending(pending) = &report.outcome else { panic!("{report:?}") };
        assert_eq!(pending.by, by.answerer());
        let call = report.call_id;
        assert_eq!(counter.ledger.questions(&ana()).await.unwrap().questions.len(), 1);
        let early = counter.deliver(&call, json!(1)).await;
        assert!(matches!(early, Err(DeliverError::NotApproved { .. })), "{early:?}");
        assert_eq!(counter.state(&call).await, QuestionState::Waiting);

        counter.answer(&call, Answer::Once, by).await.unwrap();
        for _ in 0..2 {
            assert!(is_handed(&counter.resume(&call).await));
            assert_eq!(counter.state(&call).await, QuestionState::Granted);
        }
        assert_eq!(done(&counter.deliver(&call, json!(1)).await.unwrap()), &json!(1));
        assert!(is_over(&counter.deliver(&call, json!(1)).await));
    }
}

#[tokio::test]
async fn a_no_ends_it() {
    let counter = Counter::with(Preset::Careful, Vec::new());
    let call = counter.room.call(request()).await.call_id;
    counter.answer(&call, Answer::No, Responder::Approver).await.unwrap();
    assert!(is_over(&counter.deliver(&call, json!(1)).await));
    assert_eq!(counter.status(&call).await, CallStatus::Denied);
}

#[tokio::test]
async fn an_answer_for_good_is_about_the_tool_the_client_brought() {
    let counter = Counter::with(Preset::Careful, Vec::new());
    let call = counter.room.call(request()).await.call_id;
    let request_of = |when: Option<&str>| AnswerRequest {
        call: call.clone(),
        scope: ana(),
        by: Responder::Approver,
        answer: Answer::Always,
        when: when.map(str::to_owned),
    };
    let elsewhere = counter.room.answer(request_of(Some("args.folder == 'photos'"))).await;
    assert!(matches!(elsewhere, Err(AnswerError::NotThisCall(_))), "{elsewhere:?}");
    let standing = counter.room.answer(request_of(Some("args.folder == 'docs'"))).await.unwrap().unwrap();
    assert_eq!(&*standing.tool, "client:pick");
    assert!(is_handed(&counter.room.call(request()).await), "it is not asked about again");
    let reach = counter.room.coverage(&standing).await.unwrap();
    assert_eq!((reach.matched, reach.of), (1, 1));

    let other = ClientTool::new("pick", "Send all files to the moon", json!({"type": "object"})).unwrap();
    let report = counter.room.call(request().client_tool(Arc::new(other))).await;
    assert!(!is_handed(&report), "another definition is asked about anew: {report:?}");
}

#[tokio::test]
async fn what_is_forbidden_is_neither_handed_out_nor_taken() {
    let counter = Counter::with(Preset::Open, vec![rule(Ruling::Deny, None)]);
    assert_eq!(denial(counter.room.call(request()).await).0, "rule");

    let counter = Counter::new();
    let call = counter.hand().await;
    counter.ledger.set_tool(&ana().project, "client:pick", SwitchState::Off);
    assert_eq!(denial(counter.deliver(&call, json!(1)).await.unwrap()).0, "tool.off");
    assert_eq!(
        (counter.status(&call).await, counter.state(&call).await),
        (CallStatus::Denied, QuestionState::Void)
    );
    assert!(is_over(&counter.deliver(&call, json!(1)).await));
}

#[tokio::test]
async fn a_rule_that_asks_by_now_voids_what_was_handed_out_unasked() {
    let counter = Counter::new();
    let call = counter.hand().await;
    let stricter = Toolroom::builder(Arc::clone(&counter.ledger))
        .policy(Policy::new(Preset::Careful, Vec::new()).unwrap())
        .seal(Arc::new(NoSeal))
        .clock(Arc::clone(&counter.clock) as _)
        .build();
    let (rule, reason) = denial(stricter.deliver(Delivery::new(call, ana(), Ok(json!(1)))).await.unwrap());
    assert_eq!(rule, "approval.void");
    assert!(reason.contains("a person has to answer it now"), "{reason}");
}

#[tokio::test]
async fn too_late_is_too_late() {
    let counter = Counter::new();
    let call = counter.hand().await;
    counter.clock.advance(APPROVAL_LIFETIME);
    let (rule, reason) = denial(counter.deliver(&call, json!(1)).await.unwrap());
    assert_eq!((&*rule, &*reason), ("approval.expired", "the client sent no result in time"));
    let row = counter.ledger.call(&ana(), &call).await.unwrap().unwrap();
    assert_eq!(
        (row.status, row.error.as_deref()),
        (CallStatus::Denied, Some("the client sent no result in time"))
    );
    assert!(is_over(&counter.deliver(&call, json!(1)).await));
}

#[tokio::test]
async fn after_a_crash_the_client_delivers_again() {
    let counter = Counter::new();
    // Signed, and not begun.
    let call = counter.hand().await;
    let at = counter.room.clock().now();
    let decision = Decision {
        call: call.clone(),
        scope: ana(),
        answer: Answer::Once,
        by: Answerer::Client,
        at,
        standing: None,
    };
    counter.ledger.decide(decision).await.unwrap();
    assert!(is_handed(&counter.resume(&call).await), "signed is not delivered");
    assert_eq!(done(&counter.deliver(&call, json!(1)).await.unwrap()), &json!(1));

    // Begun, and not closed: the client did it once, and says so once more.
    let call = counter.hand().await;
    let question = counter.ledger.question(&ana(), &call).await.unwrap().unwrap();
    let decision = Decision {
        call: call.clone(),
        scope: ana(),
        answer: Answer::Once,
        by: Answerer::Client,
        at,
        standing: None,
    };
    counter.ledger.decide(decision).await.unwrap();
    let mut record = question.record.clone();
    (record.status, record.begun_at) = (CallStatus::Begun, Some(at));
    let grant = Grant {
        call: call.clone(),
        arguments_hash: question.approval.arguments_hash,
        definition_hash: question.approval.definition_hash,
        at,
        attempt: Attempt::First,
    };
    let begin = BeginCall { record: record.clone(), rates: Vec::new(), grant: Some(grant) };
    counter.ledger.begin(begin).await.unwrap();
    assert!(is_over(&counter.deliver(&call, json!(2)).await), "another delivery is in progress");
    record.status = CallStatus::Unknown;
    let close = toolroom::ledger::CloseCall {
        record,
        artifacts: Vec::new(),
        enqueue: Vec::new(),
        question: toolroom::ledger::ParkedQuestion::Settled,
    };
    counter.ledger.close(close).await.unwrap();
    assert_eq!(done(&counter.deliver(&call, json!(2)).await.unwrap()), &json!(2));
}

#[tokio::test]
async fn limits_of_the_operator_hold_for_what_is_delivered() {
    let limits = Limits { rates: Some(vec![RateLimit::per_hour(1)]), ..Limits::default() };
    let rule = LimitRule { tools: ToolPattern::parse("client:*").unwrap(), limits, mode: LimitMode::Narrow };
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_000_000)));
    let room = Toolroom::builder(Arc::new(MemoryLedger::new()))
        .catalog(Arc::new(toolroom::catalog::Catalog::with_limits(vec![rule])))
        .seal(Arc::new(NoSeal))
        .clock(Arc::clone(&clock) as _)
        .build();
    let (first, second) = (room.call(request()).await.call_id, room.call(request()).await.call_id);
    let deliver = |call: &CallId| room.deliver(Delivery::new(call.clone(), ana(), Ok(json!(1))));
    deliver(&first).await.unwrap();
    assert_eq!(failure(deliver(&second).await.unwrap()).kind(), ErrorKind::RateLimited);
    // What the client did is not lost: later there is room for it.
    clock.advance(Duration::from_secs(3601));
    assert_eq!(done(&deliver(&second).await.unwrap()), &json!(1));
}

#[tokio::test]
async fn without_a_seal_nothing_is_handed_out() {
    let room = Toolroom::builder(Arc::new(MemoryLedger::new())).build();
    assert_eq!(denial(room.call(request()).await).0, "approval.unsealed");
}

#[test]
fn a_catalog_takes_no_tool_with_a_clients_id() {
    let counter = Counter::new();
    let spec = toolroom::tool::ToolSpec::new("client:pick", "Pick").unwrap();
    let refused = counter.room.catalog().register(scripted(spec, |_, _| async { Ok(ToolOutput::new(1)) }));
    assert!(matches!(refused, Err(RegisterError::OfClient(_))), "{refused:?}");
    let refused = counter.room.catalog().register(ClientTool::clone(&pick()));
    assert!(matches!(refused, Err(RegisterError::OfClient(_))), "{refused:?}");
}

#[test]
fn a_rule_asks_people_and_no_client() {
    let text = json!({"id": "r", "effect": "ask", "tool": "*", "by": "client"});
    let error = Rule::new(serde_json::from_value(text).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the `by` of rule `r` must be `caller` or `operator`");
}
