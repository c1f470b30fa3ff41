//! Tools of clients over the store: handed out by one process, delivered to another.

use std::sync::Arc;

use serde_json::json;
use toolroom::Toolroom;
use toolroom::call::{CallRequest, DeliverError, Delivery, Outcome};
use toolroom::conversation::{Conversations, RunState};
use toolroom::ledger::{Answerer, CallId, CallStatus, Journal};
use toolroom::scope::Scope;
use toolroom::testing::NoSeal;
use toolroom::tool::{ClientTool, ClientTools};
use toolroom_store::Store;

use crate::conversations::Thread;
use crate::database::TestDatabase;
use crate::scale::scaled;

fn pick() -> ClientTool {
    ClientTool::new("pick", "Pick a file", json!({"type": "object"})).unwrap()
}

fn room(database: &TestDatabase, store: &Store) -> Toolroom {
    Toolroom::builder(Arc::new(store.clone()))
        .seal(Arc::new(NoSeal))
        .clock(Arc::clone(&database.clock) as _)
        .build()
}

async fn hand(room: &Toolroom, scope: &Scope) -> CallId {
    let request = CallRequest::new("client:pick").client_tool(Arc::new(pick())).scope(scope.clone());
    let report = room.call(request).await;
    let Outcome::Pending(pending) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(pending.by, Answerer::Client);
    report.call_id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_all_who_deliver_to_any_process_one_counts() {
    let database = TestDatabase::new();
    let scope = Scope::user("shop", "ana");
    let stores = [database.open().await, database.open().await];
    let rooms = stores.each_ref().map(|store| room(&database, store));
    for _ in 0..scaled(10) {
        let call = hand(&rooms[0], &scope).await;
        let stranger = Delivery::new(call.clone(), Scope::user("shop", "ben"), Ok(json!("forged")));
        assert!(matches!(rooms[1].deliver(stranger).await, Err(DeliverError::NotHanded(_))));
        let deliveries: Vec<_> = (0..6)
            .map(|value| {
                let room = rooms[value % 2].clone();
                let delivery = Delivery::new(call.clone(), scope.clone(), Ok(json!(value)));
                tokio::spawn(async move { room.deliver(delivery).await })
            })
            .collect();
        let mut taken = Vec::new();
        for delivery in deliveries {
            match delivery.await.unwrap() {
                Ok(report) => taken.push(report),
                Err(DeliverError::Over { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let [report] = taken.as_slice() else { panic!("{taken:?}") };
        let Outcome::Done(done) = &report.outcome else { panic!("{report:?}") };
        let row = stores[1].call(&scope, &call).await.unwrap().unwrap();
        assert_eq!((row.status, row.result.as_ref()), (CallStatus::Done, Some(&done.value)));
    }
}

#[tokio::test]
async fn what_was_handed_out_by_a_process_that_died_is_delivered_to_the_next() {
    let database = TestDatabase::new();
    let scope = Scope::default();
    let dying = database.open_as("here", "dying", |_| true).await;
    let call = hand(&room(&database, &dying), &scope).await;
    drop(dying);
    let next = database.open_as("here", "next", |process| process != "dying").await;
    let report =
        room(&database, &next).deliver(Delivery::new(call, scope, Ok(json!("a.txt")))).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Done(_)), "{report:?}");
}

#[tokio::test]
async fn a_run_keeps_the_tools_its_client_brought() {
    let database = TestDatabase::new();
    let scope = Scope::default();
    let mut thread = Thread::new(&*database.clock, &scope);
    thread.run.client_tools = ClientTools::new(vec![pick()]).unwrap();
    let store = database.open().await;
    store.begin_run(thread.begin(&*database.clock)).await.unwrap();
    store.step(thread.step(&*database.clock, RunState::Waiting)).await.unwrap();
    let next = database.open().await;
    let run = next.take_run(&scope, &thread.run.id).await.unwrap();
    assert_eq!(run.client_tools, thread.run.client_tools);
}
