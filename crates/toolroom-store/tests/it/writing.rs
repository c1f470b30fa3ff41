//! Batches: what fails, fails alone; what is final, stays.

use std::sync::Arc;

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Row};
use toolroom::ledger::{
    Action, Answer, Answerer, Approval, Artifact, ArtifactId, Artifacts, BeginCall, CallRecord, CallStatus,
    CloseCall, DecideError, Decision, Journal, Ledger, ParkCall,
};
use toolroom::scope::Scope;

use crate::database::{TestDatabase, begin, done, why, with_status};
use crate::parked::{edit, parked};

async fn column(database: &TestDatabase, sql: &'static str) -> Vec<String> {
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn a_unit_that_fails_is_undone_alone() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let known = database.call(&scope);
    store.begin(begin(&known)).await.unwrap();

    // Queued without waiting, so they share a transaction.
    let good: Vec<_> = (0..20).map(|_| database.call(&scope)).collect();
    let before: Vec<_> = good[..10].iter().map(|record| store.begin(begin(record))).collect();
    let twice = store.begin(begin(&known));
    let artifact = Artifact {
        id: ArtifactId::fresh(&*database.clock),
        call: known.id.clone(),
        scope: scope.clone(),
        media_type: Artifact::TEXT.into(),
        bytes: "lost".into(),
        kept_at: known.asked_at,
    };
    let after: Vec<_> = good[10..].iter().map(|record| store.close(done(record))).collect();
    for answer in before {
        answer.await.unwrap();
    }
    let error = twice.await.unwrap_err();
    assert!(format!("{error:?}").contains("AlreadyRecorded"), "{error:?}");
    for answer in after {
        answer.await.unwrap();
    }
    for record in &good {
        assert!(store.call(&scope, &record.id).await.unwrap().is_some());
    }

    // Everything of a unit that fails is undone: its artifact and its work, too.
    store.close(done(&known)).await.unwrap();
    let action = Action { kind: "webhook".to_owned(), payload: json!({}) };
    let neighbour = store.close(done(&database.call(&scope)));
    let late = store.close(CloseCall {
        artifacts: vec![artifact.clone()],
        enqueue: vec![action],
        ..with_status(&known, CallStatus::Failed)
    });
    neighbour.await.unwrap();
    assert!(why(&late.await.unwrap_err()).contains("has already been recorded"));
    assert_eq!(store.call(&scope, &known.id).await.unwrap().unwrap().status, CallStatus::Done);
    assert_eq!(store.artifact(&scope, &artifact.id).await.unwrap(), None);
    assert_eq!(column(&database, "SELECT id FROM outbox").await, Vec::<String>::new());
    assert_eq!(column(&database, "SELECT sha256 FROM artifact_bytes").await, Vec::<String>::new());
}

/// Large batches use other statements than small ones.
#[tokio::test]
async fn a_large_batch_of_calls_is_written_as_each_alone_would_be() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::user("here", "me");
    let known = database.call(&scope);
    store.close(done(&known)).await.unwrap();
    for size in [63, 64, 65, 200] {
        let mut closes: Vec<_> = (0..size).map(|_| done(&database.call(&scope))).collect();
        closes[size / 2].record.error = Some("before\0after".to_owned());
        closes[size / 3].record = CallRecord {
            arguments: Arc::new(json!({"text": "\u{0}\"'\n", "deep": [null, 1.5]})),
            result: None,
            thread: Some("thread".into()),
            rule: Some("rule".into()),
            ..closes[size / 3].record.clone()
        };
        // Queued without waiting, so they share a transaction.
        let answers: Vec<_> = closes.iter().map(|close| store.close(close.clone())).collect();
        for answer in answers {
            answer.await.unwrap();
        }
        closes[size / 2].record.error = Some("before\u{fffd}after".to_owned());
        for close in &closes {
            assert_eq!(store.call(&scope, &close.record.id).await.unwrap().as_ref(), Some(&close.record));
        }

        let mut closes: Vec<_> = (0..size).map(|_| done(&database.call(&scope))).collect();
        closes[size / 2] = done(&known);
        let answers: Vec<_> = closes.iter().map(|close| store.close(close.clone())).collect();
        for (number, answer) in answers.into_iter().enumerate() {
            assert_eq!(answer.await.is_err(), number == size / 2, "only what is known is refused: {number}");
        }
    }
}

#[tokio::test]
async fn a_row_that_does_not_fit_the_change_is_refused() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let record = database.call(&Scope::default());
    let begun = store.close(with_status(&record, CallStatus::Begun)).await.unwrap_err();
    assert!(why(&begun).contains("`begun` cannot be written by `close`"), "{begun:?}");
    let pending = store.close(with_status(&record, CallStatus::Pending)).await.unwrap_err();
    assert!(why(&pending).contains("`pending` cannot be written by `close`"), "{pending:?}");
    assert!(store.begin(begin(&done(&record).record)).await.is_err());
    assert_eq!(store.call(&record.scope, &record.id).await.unwrap(), None);
}

#[tokio::test]
async fn a_call_closed_while_it_waits_cannot_be_answered_or_begun() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let record = CallRecord { status: CallStatus::Pending, ..database.call(&Scope::default()) };
    let approval = Approval {
        call: record.id.clone(),
        arguments_hash: "a".into(),
        definition_hash: "d".into(),
        by: Answerer::Caller,
        reason: String::new(),
        expires_at: record.asked_at.after(std::time::Duration::from_secs(9)),
        sealed: None,
    };
    store.park(ParkCall { record: record.clone(), approval: approval.clone() }).await.unwrap();
    assert!(store.park(ParkCall { record: record.clone(), approval }).await.is_err(), "parked twice");
    let ungranted = BeginCall {
        record: CallRecord { status: CallStatus::Begun, ..record.clone() },
        rates: Vec::new(),
        grant: None,
    };
    assert!(store.begin(ungranted).await.is_err(), "a parked call begins only with a grant");
    store.close(with_status(&record, CallStatus::Denied)).await.unwrap();
    let decision = Decision {
        scope: record.scope.clone(),
        call: record.id.clone(),
        answer: Answer::Once,
        by: Answerer::Operator,
        at: record.asked_at,
        standing: None,
    };
    assert!(matches!(store.decide(decision).await, Err(DecideError::NotWaiting(_))));
}

#[tokio::test]
async fn an_edit_into_a_call_that_exists_names_that_call() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (old, taken) = (
        parked(&*database.clock, &Scope::default(), Answerer::Caller),
        parked(&*database.clock, &Scope::default(), Answerer::Caller),
    );
    for park in [&old, &taken] {
        store.park(park.clone()).await.unwrap();
    }
    let error = store.edit(edit(&*database.clock, &old, Answerer::Caller, &taken)).await.unwrap_err();
    let DecideError::Ledger(error) = error else { panic!("{error:?}") };
    assert!(why(&error).contains(taken.record.id.as_str()), "{}", why(&error));
}

#[tokio::test]
async fn work_is_queued_with_the_call_that_causes_it() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let record = database.call(&Scope::default());
    let enqueue = ["webhook", "email"].map(|kind| Action { kind: kind.to_owned(), payload: json!({"n": 1}) });
    store.close(CloseCall { enqueue: enqueue.to_vec(), ..done(&record) }).await.unwrap();
    let rows = column(
        &database,
        "SELECT kind || ' ' || payload || ' ' || state || ' ' || attempts FROM outbox ORDER BY id",
    );
    assert_eq!(rows.await, ["webhook {\"n\":1} waiting 0", "email {\"n\":1} waiting 0"]);
}

#[tokio::test]
async fn a_text_with_nul_is_kept_whole() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let mut close = done(&database.call(&Scope::default()));
    close.record.error = Some("before\0after".to_owned());
    store.close(close.clone()).await.unwrap();
    let kept = store.call(&close.record.scope, &close.record.id).await.unwrap().unwrap();
    assert_eq!(kept.error.as_deref(), Some("before\u{fffd}after"));
}

#[tokio::test]
async fn equal_contents_are_kept_once_per_project() {
    let database = TestDatabase::new();
    let store = database.open().await;
    for project in ["one", "one", "two"] {
        let record = database.call(&Scope::project(project));
        let artifact = Artifact {
            id: ArtifactId::fresh(&*database.clock),
            call: record.id.clone(),
            scope: record.scope.clone(),
            media_type: Artifact::TEXT.into(),
            bytes: "the same".into(),
            kept_at: record.asked_at,
        };
        store.close(CloseCall { artifacts: vec![artifact], ..done(&record) }).await.unwrap();
    }
    assert_eq!(
        column(&database, "SELECT project FROM artifact_bytes ORDER BY project").await,
        ["one", "two"]
    );
    assert_eq!(
        column(&database, "SELECT project FROM artifacts ORDER BY project").await,
        ["one", "one", "two"]
    );
}

#[tokio::test]
async fn small_units_do_not_wait_for_large_ones() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let large = |byte: u8| {
        let record = database.call(&scope);
        let artifact = Artifact {
            id: ArtifactId::fresh(&*database.clock),
            call: record.id.clone(),
            scope: scope.clone(),
            media_type: Artifact::TEXT.into(),
            bytes: vec![byte; 8 << 20].into(),
            kept_at: record.asked_at,
        };
        (artifact.id.clone(), store.close(CloseCall { artifacts: vec![artifact], ..done(&record) }))
    };
    let (first, second) = (large(1), large(2));
    let small = store.begin(begin(&database.call(&scope)));
    let mut ended = Vec::new();
    {
        let (mut small, mut first, mut second) =
            (std::pin::pin!(small), std::pin::pin!(first.1), std::pin::pin!(second.1));
        while ended.len() < 3 {
            tokio::select! {
                biased;
                answer = &mut first, if !ended.contains(&"first") => { answer.unwrap(); ended.push("first"); }
                answer = &mut second, if !ended.contains(&"second") => { answer.unwrap(); ended.push("second"); }
                answer = &mut small, if !ended.contains(&"small") => { answer.unwrap(); ended.push("small"); }
            }
        }
    }
    assert_eq!(ended, ["small", "first", "second"]);

    // Shutdown writes large units that are still being hashed.
    let (third, _nobody_waits) = large(3);
    store.shutdown().await.unwrap();
    let store = database.open().await;
    for id in [first.0, second.0, third] {
        let kept = store.artifact(&scope, &id).await.unwrap().unwrap();
        assert_eq!(kept.bytes.len(), 8 << 20);
    }
}
