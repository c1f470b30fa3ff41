//! What is told about tokens and money, through the whole path of a call.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom::agent::RunFacts;
use toolroom::call::{CallRequest, Outcome};
use toolroom::clock::Timestamp;
use toolroom::conversation::{ConversationId, Spending, Spent};
use toolroom::ledger::LedgerError;
use toolroom::model::Usage;
use toolroom::scope::Scope;
use toolroom::testing::{ManualClock, MemoryLedger};
use toolroom::tool::ErrorKind;
use toolroom::{BoxFuture, Toolroom};
use toolroom_tools::builtin::{self, ToolDependencies};

use crate::around::surroundings;

/// 15 January 2027, 08:00 UTC.
const NOW: i64 = 1_800_000_000_000_000;

struct Row {
    scope: Scope,
    conversation: &'static str,
    hours_ago: i64,
    cost: f64,
}

/// Every row is one answer in a run of its own.
struct Rows(Vec<Row>);

impl Spending for Rows {
    fn spent<'a>(
        &'a self,
        scope: &'a Scope,
        conversation: Option<&'a ConversationId>,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Spent, LedgerError>> {
        let counts = |row: &&Row| {
            let at = Timestamp::from_micros(NOW - row.hours_ago * 3_600_000_000);
            scope.covers(&row.scope)
                && conversation.is_none_or(|wanted| wanted.as_str() == row.conversation)
                && since.is_none_or(|since| at >= since)
        };
        let mut spent = Spent::default();
        for row in self.0.iter().filter(counts) {
            spent.usage.input += 1_000;
            spent.usage.output += 100;
            spent.cost += row.cost;
            spent.answers += 1;
            spent.runs += 1;
        }
        Box::pin(std::future::ready(Ok(Spent { usage: Usage { cache_read: 10, ..spent.usage }, ..spent })))
    }
}

fn room() -> Toolroom {
    let row = |user: &str, conversation, hours_ago, cost| Row {
        scope: Scope::user("local", user),
        conversation,
        hours_ago,
        cost,
    };
    let mut rows = vec![
        row("anna", "conv_1", 1, 0.25),
        row("anna", "conv_1", 9, 0.5),
        row("anna", "conv_2", 2, 1.0),
        row("ben", "conv_3", 1, 8.0),
    ];
    rows.push(Row { scope: Scope::user("shop", "anna"), conversation: "conv_1", hours_ago: 1, cost: 64.0 });
    let ledger = Arc::new(MemoryLedger::new());
    let around = ToolDependencies { spending: Some(Arc::new(Rows(rows))), ..surroundings(&ledger) };
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(NOW)));
    let room = Toolroom::builder(ledger).clock(clock).build();
    room.catalog().register_all(None, builtin::all(&around).unwrap()).unwrap();
    room
}

fn request(scope: &Scope, tool: &str) -> CallRequest {
    CallRequest::new(tool).scope(scope.clone())
}

async fn told(request: CallRequest) -> Value {
    let report = room().call(request).await;
    assert!(matches!(report.outcome, Outcome::Done(_)), "{report:?}");
    report.for_model().unwrap()
}

fn anna() -> Scope {
    Scope::user("local", "anna")
}

#[tokio::test]
async fn a_session_is_the_conversation_of_the_call() {
    let facts = RunFacts {
        context_tokens: Some(130_000),
        window: Some(200_000),
        compact_at: Some(140_000),
        compacted: Some(true),
        last_prompt_tokens: Some(129_000),
        ..RunFacts::default()
    };
    let call = request(&anna(), "session_status").conversation("conv_1", Some("run_2"));
    let expected = json!({
        "context_percent": 65.0, "context_tokens": 130_000, "max_tokens": 200_000, "last_prompt_tokens": 129_000,
        "total_input_tokens": 2_000, "total_output_tokens": 200, "total_tokens": 2_200,
        "buffer_active": true, "buffer_started": true, "turn_count": 2, "api_calls": 2,
        "user_cost": {"input_tokens": 2_000, "output_tokens": 200, "cost_usd": 0.75},
        "total_cost": 1.75,
    });
    assert_eq!(told(call.metadata(facts.into_metadata())).await, expected);
}

#[tokio::test]
async fn without_a_conversation_there_is_little_to_tell() {
    let status = told(request(&anna(), "session_status")).await;
    assert_eq!((&status["context_percent"], &status["turn_count"]), (&Value::Null, &json!(0)));
    assert_eq!(status["total_cost"], 1.75);
    let elsewhere = told(request(&anna(), "session_status").conversation("conv_3", None)).await;
    assert_eq!(elsewhere["user_cost"]["cost_usd"], 0.0, "another user's conversation");
}

#[tokio::test]
async fn costs_are_ones_own_in_all_and_today() {
    let facts = RunFacts { daily_budget_usd: Some(2.0), ..RunFacts::default() };
    let own = told(request(&anna(), "cost_status").metadata(facts.clone().into_metadata())).await;
    let expected = json!({
        "user_id": "anna", "input_tokens": 3_000, "output_tokens": 300, "total_tokens": 3_300,
        "cache_read_tokens": 10, "cache_write_tokens": 0, "total_cost": 1.75, "api_calls": 3, "turns": 3,
        "daily_cost": 1.25, "daily_date": "2027-01-15", "daily_budget_usd": 2.0,
    });
    assert_eq!(own, expected);
    let named = request(&anna(), "cost_status").argument("user_id", "anna").metadata(facts.into_metadata());
    assert_eq!(told(named).await, expected);
}

#[tokio::test]
async fn others_costs_are_for_the_operator() {
    let report = room().call(request(&anna(), "cost_status").argument("user_id", "ben")).await;
    let Outcome::Failed(error) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.for_model().contains("only the operator"), "{error:?}");
    let owner = Scope::project("local");
    assert_eq!(told(request(&owner, "cost_status").argument("user_id", "ben")).await["total_cost"], 8.0);
    let all = told(request(&owner, "cost_status")).await;
    assert_eq!((&all["user_id"], &all["total_cost"]), (&Value::Null, &json!(9.75)));
    let nobody = told(request(&owner, "cost_status").argument("user_id", "carl")).await;
    assert_eq!((&nobody["user_id"], &nobody["total_cost"]), (&json!("carl"), &json!(0.0)));
}
