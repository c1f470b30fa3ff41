//! Databases as every released schema left them: each is opened by this version, and nothing of it is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row, SqlSafeStr};
use toolroom::agent::Agents;
use toolroom::background::BackgroundPrograms;
use toolroom::conversation::{AgentId, ConversationFilter, ConversationId, Conversations, RunFilter};
use toolroom::foreign::ForeignServers;
use toolroom::ledger::{
    Approvals, ArtifactId, Artifacts, CallFilter, CallStatus, Journal, Ledger, SwitchState, Switchboard,
};
use toolroom::memory::Memories;
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{
    Store, StoreError, copies_before, inspect, migration_steps, newest_schema, plan_migration,
};

use crate::database::{TestDatabase, done};

const MAKE_IT: &str = "write its rows and run: cargo run -p toolroom-store --example released -- \
    crates/toolroom-store/migrations/sqlite crates/toolroom-store/tests/databases";

fn versions() -> impl Iterator<Item = i64> {
    migration_steps().map(|step| step.schema)
}

/// The stored database of a version, put where a toolroom would have it.
fn put(database: &TestDatabase, version: i64) {
    let stored =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/databases/schema-{version}.db"));
    assert!(stored.exists(), "schema {version} has no stored database; {MAKE_IT}");
    std::fs::copy(stored, database.path()).unwrap();
}

async fn connected(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.unwrap()
}

/// How many rows each table has.
async fn counts(path: &Path) -> BTreeMap<String, i64> {
    let mut connection = connected(path).await;
    let tables = sqlx::query("SELECT name FROM sqlite_schema WHERE type = 'table'");
    let tables = tables.fetch_all(&mut connection).await.unwrap();
    let mut counts = BTreeMap::new();
    for table in tables {
        let name: String = table.get(0);
        let text = AssertSqlSafe(format!("SELECT count(*) FROM \"{name}\"")).into_sql_str();
        let count = sqlx::query(text).fetch_one(&mut connection).await.unwrap().get(0);
        counts.insert(name, count);
    }
    connection.close().await.unwrap();
    counts
}

#[tokio::test]
async fn every_schema_has_a_stored_database_with_rows_in_every_table() {
    for version in versions() {
        let database = TestDatabase::new();
        put(&database, version);
        assert_eq!(plan_migration(&database.path()).await.unwrap().found, version);
        for (table, count) in counts(&database.path()).await {
            assert!(count > 0, "schema {version} has no row in `{table}`; {MAKE_IT}");
        }
    }
}

#[tokio::test]
async fn every_stored_database_opens_and_keeps_every_row() {
    for version in versions() {
        let database = TestDatabase::new();
        put(&database, version);
        let before = counts(&database.path()).await;
        let store = database.open().await;
        assert_eq!(store.status().await.unwrap().schema, newest_schema());
        reads_everything(&store, version).await;
        // And it goes on.
        let new = database.call(&Scope::default());
        store.close(done(&new)).await.unwrap();
        store.shutdown().await.unwrap();
        let after = counts(&database.path()).await;
        // The rows of dead processes go.
        for (table, count) in before.iter().filter(|(table, _)| *table != "instances") {
            assert!(after[table] >= *count, "schema {version}: `{table}` had {count} rows: {after:?}");
        }
        inspect(&database.path()).await.unwrap();
    }
}

async fn reads_everything(store: &Store, version: i64) {
    let scope = Scope::default();
    let calls = store.calls(&scope, CallFilter::default()).await.unwrap();
    let statuses: Vec<_> = calls.iter().rev().map(|call| call.status).take(4).collect();
    let expected = [CallStatus::Done, CallStatus::Failed, CallStatus::Pending, CallStatus::Unknown];
    assert_eq!(statuses, expected, "schema {version}");
    let artifact = store.artifact(&scope, &ArtifactId::new("art_1")).await.unwrap().unwrap();
    assert_eq!(*artifact.bytes, [1, 2]);
    let standing = store.standing(&scope.project).await.unwrap();
    assert_eq!(standing.switches.tool("builtin:hash"), Some(SwitchState::Off));
    assert_eq!(store.questions(&scope).await.unwrap().questions.len(), 1);
    if version >= 7 {
        let offers = &calls.last().unwrap().offers;
        assert_eq!(offers[0].file().unwrap().artifact, artifact.id);
    }
    if version >= 2 {
        assert_eq!(standing.answers.iter().count(), 1);
        assert_eq!(store.secrets(&scope.project).await.unwrap()[0].name, "TOKEN");
        assert!(store.trusted_hash("/srv/toolroom.toml").await.unwrap().is_some());
    }
    if version >= 3 {
        let conversations = store.conversations(&scope, ConversationFilter::default()).await.unwrap();
        assert_eq!(conversations.len(), 1);
        let id = ConversationId::new("conv_1");
        assert_eq!(store.entries(&scope, &id, 0).await.unwrap().len(), 2);
        let runs = store.runs(&scope, RunFilter::default()).await.unwrap();
        assert_eq!(store.events(&scope, &runs[0].id, 0).await.unwrap().len(), 1);
        assert_eq!(store.memories(&scope).await.unwrap()[0].key, "colour");
        assert_eq!(store.promotions(&scope, &AgentId::new("default")).await.unwrap().len(), 1);
        assert_eq!(store.agents(&scope.project).await.unwrap()[0].name, "Writer");
    }
    if version >= 4 {
        assert_eq!(store.programs(&scope, None).await.unwrap().len(), 1);
    }
    if version >= 5 {
        assert_eq!(store.projects().await.unwrap()[0].name, "The shop");
        assert_eq!(store.keys(&ProjectId::new("shop")).await.unwrap().len(), 1);
    }
    if version >= 6 {
        let server = store.servers(&scope.project).await.unwrap().remove(0);
        assert_eq!(store.definitions(&scope.project, &server.name).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_plan_says_what_would_be_done_and_does_nothing() {
    let database = TestDatabase::new();
    put(&database, 1);
    let bytes = std::fs::read(database.path()).unwrap();
    let plan = plan_migration(&database.path()).await.unwrap();
    assert_eq!((plan.found, plan.known), (1, newest_schema()));
    assert_eq!(
        plan.steps.iter().map(|step| step.schema).collect::<Vec<_>>(),
        versions().skip(1).collect::<Vec<_>>()
    );
    assert!(plan.steps.iter().all(|step| !step.adds.is_empty()));
    assert_eq!(std::fs::read(database.path()).unwrap(), bytes);
    let copy = plan.copy(Path::exists).unwrap();
    database.open().await.shutdown().await.unwrap();
    assert_eq!(inspect(&copy).await.unwrap().schema, 1, "it was kept where the plan said");

    let plan = plan_migration(&database.path()).await.unwrap();
    assert_eq!((plan.steps.len(), plan.copy(Path::exists)), (0, None));
    let missing = plan_migration(&database.path().with_file_name("none.db")).await;
    assert!(matches!(missing, Err(StoreError::CannotOpen { .. })), "{missing:?}");
}

#[tokio::test]
async fn what_a_newer_version_left_is_refused_with_the_way_back() {
    let database = TestDatabase::new();
    database.open().await.shutdown().await.unwrap();
    let newer = newest_schema() + 2;
    let mut connection = connected(&database.path()).await;
    let text = AssertSqlSafe(format!("PRAGMA user_version = {newer}")).into_sql_str();
    sqlx::query(text).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let error = plan_migration(&database.path()).await.unwrap_err();
    assert!(error.to_string().contains("toolroom migrate --back"), "{error}");
    let names: Vec<_> = copies_before(&database.path(), newest_schema(), newer).collect();
    let first = format!("toolroom.db.before-{}-100", newest_schema() + 1);
    assert!(
        names[0].ends_with(first) && names[199].ends_with(format!("toolroom.db.before-{newer}")),
        "{names:?}"
    );
}
