//! The same statements and the same schema on a real PostgreSQL, started for the test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Executor, Row, SqlSafeStr};
use tempfile::TempDir;
use toolroom_store::statements;

use crate::statements::sqlite_with_schema;

/// A cluster of its own in a temporary folder, reached through a socket in it. Gone with this value.
struct Cluster {
    folder: TempDir,
    programs: PathBuf,
}

impl Cluster {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cluster = Self { folder, programs: programs() };
        if is_root() {
            must(Command::new("chown").arg("postgres").arg(cluster.path()));
        }
        let data = cluster.path().join("data");
        must(
            cluster
                .program("initdb")
                .args(["-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "-D"])
                .arg(&data),
        );
        let options = format!("-c listen_addresses='' -c fsync=off -k {}", cluster.path().display());
        must(
            cluster
                .program("pg_ctl")
                .args(["start", "-w", "-s", "-o", &options, "-l"])
                .arg(cluster.path().join("log"))
                .arg("-D")
                .arg(&data),
        );
        cluster
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// PostgreSQL refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.path());
        command
    }

    async fn connect(&self) -> PgConnection {
        let options = PgConnectOptions::new_without_pgpass()
            .socket(self.path())
            .username("postgres")
            .database("postgres");
        PgConnection::connect_with(&options).await.unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "-m", "immediate", "-s", "-D"]).arg(self.path().join("data"));
        // A test that has failed already must not abort here.
        drop(stop.status());
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

fn programs() -> PathBuf {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let programs = installed.map(|version| version.unwrap().path().join("bin")).max();
    programs.expect("PostgreSQL is not installed: `apt-get install postgresql`")
}

fn must(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

#[test]
fn migrations_come_in_pairs() {
    let names = |folder: &str| -> BTreeSet<_> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert!(!names("sqlite").is_empty());
    assert_eq!(names("sqlite"), names("postgres"));
}

#[tokio::test]
async fn postgres_takes_every_statement_and_has_the_same_schema() {
    let cluster = Cluster::start();
    let mut postgres = cluster.connect().await;
    postgres.execute(include_str!("../../migrations/postgres/0001_calls.sql")).await.unwrap();
    postgres.execute(include_str!("../../migrations/postgres/0002_approvals.sql")).await.unwrap();
    postgres.execute(include_str!("../../migrations/postgres/0003_conversations.sql")).await.unwrap();
    postgres.execute(include_str!("../../migrations/postgres/0004_background.sql")).await.unwrap();
    postgres.execute(include_str!("../../migrations/postgres/0005_identity.sql")).await.unwrap();
    postgres.execute(include_str!("../../migrations/postgres/0006_foreign.sql")).await.unwrap();
    postgres.execute(include_str!("../../migrations/postgres/0007_offers.sql")).await.unwrap();
    postgres.execute(include_str!("../../migrations/postgres/0008_provenance.sql")).await.unwrap();

    let mut checked = 0;
    for statement in statements::all() {
        if let Some(text) = statement.postgres() {
            let prepared = (&mut postgres).prepare(AssertSqlSafe(text.to_owned()).into_sql_str()).await;
            assert!(prepared.is_ok(), "{}: {prepared:?}", statement.name());
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} statements were found");

    let mut sqlite = sqlite_with_schema().await;
    let ours = sqlite_schema(&mut sqlite).await;
    assert!(ours.len() > 60, "only {} lines of schema were found", ours.len());
    assert_eq!(ours, postgres_schema(&mut postgres).await);
    postgres.close().await.unwrap();
}

/// Tables, columns, keys and indexes, one line each.
type Lines = BTreeSet<String>;

async fn sqlite_schema(connection: &mut SqliteConnection) -> Lines {
    let columns = "SELECT t.name || '.' || c.name || ' ' || \
        CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'BLOB' THEN 'bytea' WHEN 'REAL' THEN 'double precision' ELSE lower(c.type) END || \
        CASE c.\"notnull\" WHEN 1 THEN ' not null' ELSE '' END \
        FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'";
    let indexes = "SELECT 'index on ' || t.name || ' ' || group_concat(c.name, ',' ORDER BY c.seqno) || \
        CASE i.origin WHEN 'pk' THEN ' primary' ELSE ' ' || i.name END || \
        CASE i.partial WHEN 1 THEN ' partial' ELSE '' END \
        FROM sqlite_schema t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) c \
        WHERE t.type = 'table' GROUP BY i.name";
    let references = "SELECT 'reference ' || t.name || ' (' || group_concat(f.\"from\", ',' ORDER BY f.seq) || ') to ' || \
        f.\"table\" || ' ' || lower(f.on_delete) \
        FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table' GROUP BY t.name, f.id";
    let mut lines = Lines::new();
    for sql in [columns, indexes, references] {
        let rows = sqlx::query(sql).fetch_all(&mut *connection).await.unwrap();
        lines.extend(rows.iter().map(|row| row.get::<String, _>(0)));
    }
    lines
}

async fn postgres_schema(connection: &mut PgConnection) -> Lines {
    let columns = "SELECT table_name || '.' || column_name || ' ' || data_type || \
        CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END \
        FROM information_schema.columns WHERE table_schema = 'public'";
    let indexes = "SELECT 'index on ' || t.relname || ' ' || string_agg(a.attname, ',' ORDER BY k.place) || \
        CASE WHEN i.indisprimary THEN ' primary' ELSE ' ' || x.relname END || \
        CASE WHEN i.indpred IS NULL THEN '' ELSE ' partial' END \
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid \
        CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number \
        WHERE t.relnamespace = 'public'::regnamespace \
        GROUP BY t.relname, x.relname, i.indisprimary, i.indpred";
    let references = "SELECT 'reference ' || t.relname || ' (' || string_agg(a.attname, ',' ORDER BY k.place) || ') to ' || \
        f.relname || CASE c.confdeltype WHEN 'c' THEN ' cascade' ELSE ' no action' END \
        FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid \
        CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k (number, place) \
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number \
        WHERE c.contype = 'f' GROUP BY c.oid, t.relname, f.relname, c.confdeltype";
    let mut lines = Lines::new();
    for sql in [columns, indexes, references] {
        let rows = sqlx::query(sql).fetch_all(&mut *connection).await.unwrap();
        lines.extend(rows.iter().map(|row| row.get::<String, _>(0)));
    }
    lines
}
