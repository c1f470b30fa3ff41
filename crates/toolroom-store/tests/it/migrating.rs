//! From the first schema to this one, with something in it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use toolroom::conversation::Conversations;
use toolroom::ledger::{
    Answer, Answerer, Approvals, ArtifactId, Artifacts, CallFilter, CallId, CallStatus, Decision, Journal,
    Ledger, QuestionState, SwitchState, Switchboard,
};
use toolroom::scope::Scope;
use toolroom_store::{BackupFacts, Store, inspect};

use crate::conversations::begun;
use crate::database::{START, TestDatabase};

/// What an earlier Toolroom left: calls, two questions, an artifact, switches, queued work.
const ROWS: &str = "
    INSERT INTO calls (id, project, user_id, tool, entrance, definition, effect, status, arguments,
        arguments_bytes, result, result_chars, artifact_id, rule, asked_at, begun_at, ended_at, duration_us)
    VALUES
        ('call_1', 'local', 'ana', 't:done', 'cli', 'd', 'pure', 'done', '{\"a\":1}', 7, '5', 1, 'art_1',
            'default', 1700000000000000, 1700000000000001, 1700000000000002, 2),
        ('call_2', 'local', NULL, 't:asks', 'cli', 'd', 'destructive', 'pending', '{}', 2, NULL, 0, NULL,
            'ask', 1700000000000000, NULL, NULL, 0),
        ('call_3', 'local', NULL, 't:asks', 'cli', 'd', 'destructive', 'pending', '{}', 2, NULL, 0, NULL,
            'ask', 1700000000000000, NULL, NULL, 0);
    INSERT INTO approvals (call_id, arguments_hash, definition_hash, asks, reason, expires_at, state)
    VALUES ('call_2', 'a', 'd', 'caller', 'it writes', 1900000000000000, 'waiting'),
        ('call_3', 'a', 'd', 'operator', 'it writes', 1700000060000000, 'waiting');
    INSERT INTO artifact_bytes (project, sha256, bytes) VALUES ('local', 'h', x'0102');
    INSERT INTO artifacts (id, project, user_id, call_id, sha256, media_type, kept_at)
    VALUES ('art_1', 'local', 'ana', 'call_1', 'h', 'text/plain', 1700000000000002);
    INSERT INTO outbox (id, project, call_id, kind, payload, state, created_at, next_at, attempts)
    VALUES ('work_1', 'local', 'call_1', 'webhook', '{}', 'waiting', 1, 1, 0);
    INSERT INTO switches (project, kind, name, state, changed_at)
    VALUES ('local', 'tool', 't:off', 'off', 1), ('local', 'feature', 'f', 'on', 1);
    UPDATE revisions SET value = 7 WHERE name = 'switches'";

async fn first_version(database: &TestDatabase) {
    let options = SqliteConnectOptions::new().filename(database.path()).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    connection.execute("PRAGMA journal_mode = WAL").await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0001_calls.sql")).await.unwrap();
    connection.execute(ROWS).await.unwrap();
    connection.close().await.unwrap();
    std::fs::set_permissions(database.path(), Permissions::from_mode(0o600)).unwrap();
}

fn copy_of(database: &TestDatabase) -> PathBuf {
    database.path().with_file_name("toolroom.db.before-8")
}

async fn everything_is_there(store: &Store) {
    let scope = Scope::default();
    let calls = store.calls(&scope, CallFilter::default()).await.unwrap();
    let seen: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.status)).collect();
    let (done, denied, pending) = (CallStatus::Done, CallStatus::Denied, CallStatus::Pending);
    assert_eq!(seen, [("call_3", denied), ("call_2", pending), ("call_1", done)]);
    let artifact = store.artifact(&scope, &ArtifactId::new("art_1")).await.unwrap().unwrap();
    assert_eq!(*artifact.bytes, [1, 2]);
    let standing = store.standing(&scope.project).await.unwrap();
    assert_eq!(standing.switches.tool("t:off"), Some(SwitchState::Off));
    assert_eq!(standing.switches.feature("f"), Some(SwitchState::On));
    assert_eq!(standing.revision, 7, "it goes on counting where it was");

    let question = store.questions(&scope).await.unwrap().questions.pop().unwrap();
    assert_eq!((question.state, &question.approval.sealed), (QuestionState::Waiting, &None));
    assert_eq!((question.approval.by, question.approval.reason.as_str()), (Answerer::Caller, "it writes"));
    let late = store.question(&scope, &CallId::new("call_3")).await.unwrap().unwrap();
    assert_eq!(late.state, QuestionState::Expired);
}

#[tokio::test]
async fn a_database_of_the_second_schema_keeps_everything_and_takes_conversations() {
    let database = TestDatabase::new();
    first_version(&database).await;
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0002_approvals.sql")).await.unwrap();
    // Calls of one run from before a call said which of its model's calls it is.
    connection.execute("UPDATE calls SET run = 'run_old'").await.unwrap();
    connection.close().await.unwrap();

    let store = database.open().await;
    assert_eq!(store.status().await.unwrap().schema, 8);
    everything_is_there(&store).await;
    let scope = Scope::default();
    let of_run = CallFilter { run: Some("run_old".to_owned()), ..CallFilter::default() };
    assert_eq!(store.calls(&scope, of_run).await.unwrap().len(), 3);
    let thread = begun(&store, &*database.clock, &scope).await;
    assert_eq!(store.entries(&scope, &thread.conversation.id, 0).await.unwrap().len(), 1);
    store.shutdown().await.unwrap();
    assert_eq!(inspect(&copy_of(&database)).await.unwrap().schema, 2);
}

#[tokio::test]
async fn an_older_database_keeps_everything_and_leaves_a_private_copy() {
    let database = TestDatabase::new();
    first_version(&database).await;
    let store = database.open().await;
    assert_eq!(store.status().await.unwrap().schema, 8);
    everything_is_there(&store).await;
    let yes = Decision {
        call: CallId::new("call_2"),
        scope: Scope::default(),
        answer: Answer::Once,
        by: Answerer::Caller,
        at: START,
        standing: None,
    };
    store.decide(yes).await.unwrap();
    store.set_tool_toggle(&Scope::default().project, "t:off", None).await.unwrap();
    assert_eq!(store.standing(&Scope::default().project).await.unwrap().revision, 8);
    store.shutdown().await.unwrap();

    let copy = copy_of(&database);
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let facts = BackupFacts {
        schema: 1,
        calls: 3,
        approvals: 2,
        secrets: 0,
        answers: 0,
        artifacts: 1,
        conversations: 0,
        memories: 0,
    };
    assert_eq!(inspect(&copy).await.unwrap(), facts);

    // A restored copy can be migrated again.
    std::fs::rename(&copy, database.path()).unwrap();
    let store = database.open().await;
    everything_is_there(&store).await;
    assert_eq!(store.health().await.unwrap().journal_mode, "wal");
    assert!(copy.exists(), "and again a copy is made first");
}
