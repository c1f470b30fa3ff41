//! The registry of statements: SQLite accepts each, and no frequent one reads the whole journal.

use std::path::Path;

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Executor, Row, SqlSafeStr};
use toolroom_store::statements::{self, Statement};

pub(crate) async fn sqlite_with_schema() -> SqliteConnection {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0001_calls.sql")).await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0002_approvals.sql")).await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0003_conversations.sql")).await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0004_background.sql")).await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0005_identity.sql")).await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0006_foreign.sql")).await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0007_offers.sql")).await.unwrap();
    connection.execute(include_str!("../../migrations/sqlite/0008_provenance.sql")).await.unwrap();
    connection
}

fn is_script(statement: &Statement) -> bool {
    statement.sqlite().contains("; ")
}

#[tokio::test]
async fn sqlite_takes_every_statement() {
    let mut connection = sqlite_with_schema().await;
    let mut checked = 0;
    for statement in statements::all() {
        for part in statement.sqlite().split("; ") {
            let prepared = (&mut connection).prepare(AssertSqlSafe(part.to_owned()).into_sql_str()).await;
            assert!(prepared.is_ok(), "{}: {prepared:?}", statement.name());
            checked += 1;
        }
    }
    assert!(checked > 80, "only {checked} statements were found");
}

/// Each part of a script is also listed separately, so that it is checked on PostgreSQL.
#[test]
fn every_part_of_a_script_is_a_statement_of_its_own() {
    // Parameters are numbered through a whole script.
    let without_numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let alone: Vec<_> = statements::all()
        .filter(|statement| !is_script(statement) && statement.postgres().is_some())
        .map(|statement| without_numbers(statement.sqlite()))
        .collect();
    for script in statements::all().filter(|statement| is_script(statement)) {
        for part in script.sqlite().split("; ") {
            let known = alone.contains(&without_numbers(part));
            // Statements about the file itself have no counterpart.
            assert!(
                known || part.contains("pragma_") || part.starts_with("ROLLBACK TO"),
                "{}: {part}",
                script.name()
            );
        }
    }
}

#[tokio::test]
async fn no_write_reads_the_whole_journal() {
    let mut connection = sqlite_with_schema().await;
    let mut looked_at = 0;
    for statement in statements::all().filter(|statement| !is_script(statement)) {
        // Pruning is rare and reads a project's old calls only; counting reads everything.
        let may_read_all = ["PRUNE", "COUNT_"].iter().any(|rare| statement.name().starts_with(rare));
        if may_read_all || statement.name().contains("SYNC") {
            continue;
        }
        let plan = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", statement.sqlite()));
        let Ok(steps) = sqlx::query(plan).fetch_all(&mut connection).await else {
            continue;
        };
        for step in &steps {
            let step: &str = step.get(3);
            let grows = ["calls", "entries", "run_events", "usage", "past_requests"];
            let whole = grows
                .iter()
                .any(|table| step == format!("SCAN {table}") || step.starts_with(&format!("SCAN {table} ")));
            let whole = whole && !step.contains("calls_begun");
            assert!(!whole, "{}: {step}", statement.name());
            looked_at += 1;
        }
    }
    assert!(looked_at > 30, "only {looked_at} steps were found");
}

/// Everything goes through the registry: no other file makes a query.
#[test]
fn no_sql_outside_the_registry() {
    let mut files = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.to_str().unwrap().ends_with("tests.rs") {
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let allowed: &[&str] =
                match path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_str().unwrap() {
                    "src/statements/mod.rs" => {
                        &["sqlx::query_with(self.sqlite, arguments)", "sqlx::raw_sql(self.sqlite)"]
                    }
                    "src/sqlite/migrate/mod.rs" => &["sqlx::raw_sql(step.text)"],
                    _ => &[],
                };
            let rest = allowed.iter().fold(text, |text, allowed| text.replace(allowed, ""));
            for forbidden in
                ["sqlx::query", "raw_sql(", "query_as(", "query_scalar(", "QueryBuilder", "AssertSqlSafe"]
            {
                let rest = rest.replace("use sqlx::query::Query", "");
                assert!(!rest.contains(forbidden), "{}: `{forbidden}`", path.display());
            }
        }
    }
    assert!(files > 15, "only {files} files were found");
}
