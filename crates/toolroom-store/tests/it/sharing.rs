//! Several stores on one SQLite file: locks, caches, unreadable rows.

use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor as _};
use toolroom::ledger::{Answer, Answerer, Approvals, Journal, Ledger, SwitchState, Switchboard};
use toolroom::scope::{ProjectId, Scope};

use crate::database::{TestDatabase, begin, why};
use crate::parked::{decision, parked};

#[tokio::test]
async fn a_lock_held_by_another_process_is_waited_for() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let mut other = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let record = database.call(&Scope::default());
    let answer = tokio::spawn(store.begin(begin(&record)));
    assert_eq!(store.call(&record.scope, &record.id).await.unwrap(), None, "reading does not wait");
    assert!(!answer.is_finished());
    sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    answer.await.unwrap().unwrap();
    assert_eq!(store.call(&record.scope, &record.id).await.unwrap(), Some(record));
}

#[tokio::test]
async fn a_switch_is_seen_by_the_next_call_of_another_store() {
    for database in [TestDatabase::new(), TestDatabase::without_change_counter()] {
        switch_is_seen(&database).await;
    }
}

async fn switch_is_seen(database: &TestDatabase) {
    let (here, there) = (database.open().await, database.open().await);
    let project = ProjectId::new("p");
    for state in [Some(SwitchState::Off), Some(SwitchState::On), None, Some(SwitchState::Off)] {
        here.set_tool_toggle(&project, "builtin:shell", state).await.unwrap();
        here.set_feature_switch(&project, "code-mode", state).await.unwrap();
        for store in [&there, &here] {
            let switches = store.standing(&project).await.unwrap().switches.clone();
            assert_eq!(switches.tool("builtin:shell"), state);
            assert_eq!(switches.feature("code-mode"), state);
            assert_eq!(switches.feature("builtin:shell"), None);
            let elsewhere = store.standing(&ProjectId::new("q")).await.unwrap();
            assert_eq!(elsewhere.switches.tool("builtin:shell"), None);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_readers_never_see_a_switch_older_than_their_request() {
    for database in [TestDatabase::new(), TestDatabase::without_change_counter()] {
        crowd_sees_the_switch(&database).await;
    }
}

/// The process died between its commit and the bump of the change counter.
#[tokio::test]
async fn a_change_without_a_bump_is_seen_when_caches_expire() {
    let (database, project) = (TestDatabase::new(), ProjectId::default());
    let store = database.open().await;
    store.set_tool_toggle(&project, "t", Some(SwitchState::On)).await.unwrap();
    assert_eq!(store.standing(&project).await.unwrap().switches.tool("t"), Some(SwitchState::On));
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    let silently = "UPDATE switches SET state = 'off'; UPDATE revisions SET value = value + 1";
    connection.execute(silently).await.unwrap();
    let seen = async {
        while store.standing(&project).await.unwrap().switches.tool("t") == Some(SwitchState::On) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), seen).await.unwrap();
}

async fn crowd_sees_the_switch(database: &TestDatabase) {
    let (here, there) = (database.open().await, database.open().await);
    let project = ProjectId::default();
    for round in 0..20 {
        let state = if round % 2 == 0 { SwitchState::Off } else { SwitchState::On };
        // Some reads are in progress while the switch changes; later ones see the change.
        let early: Vec<_> = (0..8)
            .map(|_| {
                let (store, project) = (there.clone(), project.clone());
                tokio::spawn(async move { store.standing(&project).await.unwrap() })
            })
            .collect();
        here.set_tool_toggle(&project, "t", Some(state)).await.unwrap();
        let late: Vec<_> = (0..8)
            .map(|_| {
                let (store, project) = (there.clone(), project.clone());
                tokio::spawn(async move { store.standing(&project).await.unwrap() })
            })
            .collect();
        for answer in late {
            assert_eq!(answer.await.unwrap().switches.tool("t"), Some(state));
        }
        for answer in early {
            drop(answer.await.unwrap());
        }
    }
}

#[tokio::test]
async fn a_question_that_cannot_be_read_hides_no_other() {
    let database = TestDatabase::new();
    let (clock, scope) = (&*database.clock, Scope::default());
    let store = database.open().await;
    let parks: Vec<_> = (0..3).map(|_| parked(clock, &scope, Answerer::Caller)).collect();
    for park in &parks {
        store.park(park.clone()).await.unwrap();
    }
    let odd = &parks[1].record.id;
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    let update =
        sqlx::query("UPDATE approvals SET state = 'delegated' WHERE call_id = $1").bind(odd.as_str());
    update.execute(&mut connection).await.unwrap();

    let listed = store.questions(&scope).await.unwrap();
    let readable: Vec<_> = listed.questions.iter().map(|question| &question.record.id).collect();
    assert_eq!(readable, [&parks[0].record.id, &parks[2].record.id]);
    let [unreadable] = &listed.unreadable[..] else { panic!("{listed:?}") };
    assert_eq!(&unreadable.call, odd);
    assert!(why(&unreadable.error).contains("column `state`"), "{unreadable:?}");
    assert!(store.question(&scope, odd).await.is_err(), "the question itself is an error");
    store.decide(decision(clock, &parks[2], Answer::Once, Answerer::Caller)).await.unwrap();
}
