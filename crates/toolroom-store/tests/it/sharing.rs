//! Several stores on one file, as several processes would.

use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor as _};
use toolroom::ledger::{
    Answer, Answerer, Approvals, BeginCall, BeginError, CallFilter, CallStatus, DecideError, Journal, Ledger,
    QuestionState, RateKey, RateLimit, SwitchState, Switchboard,
};
use toolroom::scope::{ProjectId, Scope};

use crate::database::{TestDatabase, begin, done, why};
use crate::parked::{decision, edit, parked, resumed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_write_at_once_and_lose_nothing() {
    let database = TestDatabase::new();
    let scope = Scope::default();
    let mut tasks = Vec::new();
    for store in [database.open().await, database.open().await] {
        for _ in 0..8 {
            let records: Vec<_> = (0..50).map(|_| database.call(&scope)).collect();
            let store = store.clone();
            tasks.push(tokio::spawn(async move {
                for record in records {
                    drop(store.begin(begin(&record)));
                    store.close(done(&record)).await.unwrap();
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    let store = database.open().await;
    let filter = CallFilter { status: Some(CallStatus::Done), limit: Some(10_000), ..CallFilter::default() };
    assert_eq!(store.calls(&scope, filter).await.unwrap().len(), 800);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_exact_across_stores() {
    let database = TestDatabase::new();
    let limit = RateLimit { max: 37, per: Duration::from_secs(60), key: RateKey::User };
    let mut tasks = Vec::new();
    for store in [database.open().await, database.open().await] {
        for _ in 0..50 {
            let record = database.call(&Scope::default());
            let begin = store.begin(BeginCall { record, rates: vec![limit], grant: None });
            tasks.push(tokio::spawn(begin));
        }
    }
    let mut begun = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(()) => begun += 1,
            Err(BeginError::RateLimited { retry_after, .. }) => assert_eq!(retry_after, limit.per),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(begun, limit.max);
}

#[tokio::test]
async fn limits_look_at_each_call_at_its_own_time() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let limit = RateLimit { max: 1, per: Duration::from_secs(60), key: RateKey::Project };
    // Queued together, a minute apart: one transaction, two windows.
    let answers: Vec<_> = (0..3)
        .map(|_| {
            let record = database.call(&Scope::default());
            database.clock.advance(Duration::from_secs(40));
            store.begin(BeginCall { record, rates: vec![limit], grant: None })
        })
        .collect();
    let mut begun = Vec::new();
    for answer in answers {
        begun.push(answer.await.is_ok());
    }
    assert_eq!(begun, [true, false, true]);
}

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_given_in_one_store_is_seen_by_one_that_looks_for_it() {
    let database = TestDatabase::new();
    let (asks, answers) = (database.open().await, database.open().await);
    for answer in [Answer::Once, Answer::No] {
        let park = parked(&*database.clock, &Scope::user("p", "ana"), Answerer::Operator);
        asks.park(park.clone()).await.unwrap();
        let looks = {
            let (asks, record) = (asks.clone(), park.record.clone());
            tokio::spawn(async move {
                loop {
                    let question = asks.question(&record.scope, &record.id).await.unwrap().unwrap();
                    if question.state != QuestionState::Waiting {
                        return question;
                    }
                    tokio::task::yield_now().await;
                }
            })
        };
        let inbox = answers.questions(&Scope::project("p")).await.unwrap().questions;
        assert!(inbox.iter().any(|question| question.record.id == park.record.id));
        answers.decide(decision(&*database.clock, &park, answer, Answerer::Operator)).await.unwrap();
        let seen = looks.await.unwrap();
        assert_eq!((seen.answer, seen.answered_by), (Some(answer), Some(Answerer::Operator)));
        assert_eq!(asks.begin(resumed(&*database.clock, &park)).await.is_ok(), answer.is_yes());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_answers_and_edits_at_once_one_is_taken() {
    let database = TestDatabase::new();
    let stores = [database.open().await, database.open().await];
    for _ in 0..5 {
        let park = parked(&*database.clock, &Scope::default(), Answerer::Caller);
        stores[0].park(park.clone()).await.unwrap();
        let mut tasks = Vec::new();
        for store in &stores {
            for answer in [Answer::Once, Answer::No] {
                let said = decision(&*database.clock, &park, answer, Answerer::Caller);
                tasks.push(tokio::spawn(store.decide(said)));
            }
            let into = parked(&*database.clock, &Scope::default(), Answerer::Caller);
            tasks.push(tokio::spawn(store.edit(edit(&*database.clock, &park, Answerer::Caller, &into))));
        }
        let mut taken = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(()) => taken += 1,
                Err(error) => assert!(matches!(error, DecideError::NotWaiting(_)), "{error:?}"),
            }
        }
        assert_eq!(taken, 1);
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

    let inbox = store.questions(&scope).await.unwrap();
    let readable: Vec<_> = inbox.questions.iter().map(|question| &question.record.id).collect();
    assert_eq!(readable, [&parks[0].record.id, &parks[2].record.id]);
    let [unreadable] = &inbox.unreadable[..] else { panic!("{inbox:?}") };
    assert_eq!(&unreadable.call, odd);
    assert!(why(&unreadable.error).contains("column `state`"), "{unreadable:?}");
    assert!(store.question(&scope, odd).await.is_err(), "the question itself is an error");
    store.decide(decision(clock, &parks[2], Answer::Once, Answerer::Caller)).await.unwrap();
}
