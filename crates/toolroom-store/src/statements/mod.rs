//! Every SQL text this crate can run, for SQLite and for PostgreSQL.
//!
//! A test prepares each of them on both databases. Code outside this module has no other way to run a query; it reads
//! columns by the names given here. Rows are passed as one JSON text, so that a batch of any size is one statement with a
//! fixed text; SQLite reads it with `jsonb_each`, in half the time of `json_each`. Large batches of calls use one parameter
//! per column instead (`CALL_CHUNK_ROWS`).

mod approvals;
mod calls;
mod checks;
mod conversations;
mod foreign;
mod identity;
mod memories;
mod programs;
mod reads;
mod retention;
mod runs;
mod settings;
mod tracks;
mod upkeep;

pub(crate) use calls::{
    BEGIN_AND_READ_PRECONDITIONS, BEGIN_AND_UPSERT_CALL_CHUNK, BEGIN_AND_WRITE, BEGIN_WRITE_COMMIT,
    CALL_CHUNK_ROWS, READ_PRECONDITIONS, REPLAY_CALLS, UPSERT_CALL_CHUNK, UPSERT_CALLS,
    UPSERT_CALLS_AND_COMMIT, WRITE, WRITE_AND_COMMIT, WRITE_ARTIFACT, WRITE_OFFERS,
};
pub(crate) use checks::{
    COUNT_CALLS_BY_STATUS, COUNT_CONVERSATIONS, COUNT_OPEN_QUESTIONS, COUNT_ROWS, COUNT_SETTINGS, FILE_FACTS,
    FOREIGN_KEY_CHECK, INTEGRITY_CHECK, LOG_LENGTH, NEWEST_CALL, QUICK_CHECK,
};
pub(crate) use conversations::{
    CONVERSATION, CONVERSATIONS, ENTRIES, OPEN_RUNS, PAST_REQUESTS, RUN, RUN_EVENTS, RUNS,
    RUNS_OF_CONVERSATION, SPENT_BY_USER, SPENT_IN_CONVERSATION, SPENT_IN_PROJECT,
};
pub(crate) use foreign::{
    DEFINITIONS, DELETE_DEFINITION, DELETE_DEFINITIONS, DELETE_SERVER, SERVER, SERVERS, SET_CONDITION,
    SET_DEFINITION, SET_SERVER,
};
pub(crate) use identity::{
    ALL_KEYS, CLAIM_REPLY, DELETE_KEYS, DELETE_OLD_REPLIES, DELETE_OLD_SIGN_INS, DELETE_PROJECT,
    DELETE_SIGN_IN, DROP_REPLY, EXPIRE_KEY, INSERT_KEY, INSERT_SIGN_IN, PROJECTS, REPLY, SET_PROJECT,
    SIGN_IN, STORE_REPLY,
};
pub(crate) use memories::{
    AGENTS, CHANGE_MEMORY, DELETE_AGENT, DELETE_MEMORY, DELETE_PROMOTION, INSERT_MEMORY, MEMORIES, MEMORY,
    PROMOTE_MEMORY, PROMOTIONS, REINFORCE_MEMORY, SET_AGENT,
};
pub(crate) use programs::{
    DELETE_OLD_PROGRAMS, DELETE_PROGRAM, DELETE_PROGRAMS_OF_CONVERSATION, END_PROGRAM, INSERT_PROGRAM,
    NEXT_PROGRAM, PROGRAMS, TRIM_PROGRAMS,
};
pub(crate) use reads::{
    ALL_SEALED, ANSWERS, ARTIFACT, ARTIFACT_FACTS, ARTIFACT_PART, ARTIFACTS, CALL, CALLS, CALLS_OF_RUN,
    NEWEST_QUESTIONS, PRUNE_BOUND, PRUNE_PREVIEW_ARTIFACTS, PRUNE_PREVIEW_BYTES, PRUNE_PREVIEW_CALLS,
    QUESTION, QUESTIONS, SECRETS, STANDING_REVISION, STATUS, SWITCHES, TRUSTED_FILES, TRUSTED_HASH, USAGE,
};
pub(crate) use retention::{
    CLEAR_RESULTS_OF_CALLS, DELETE_CONVERSATIONS, DELETE_OFFERS_OF_CALLS, DELETE_PROGRAMS_OF_CONVERSATIONS,
    DELETE_RESULTS, OLD_CONVERSATIONS, PREVIEW_CONVERSATIONS, PREVIEW_RESULTS, PRUNE_RESULTS,
};
pub(crate) use runs::{
    CONVERSATION_AND_HOLDER, DELETE_CONVERSATION, RELEASE_RUN, RUN_AND_HOLDER, TAKE_RUN, WRITE_RUNS,
    WRITE_RUNS_AND_COMMIT,
};
pub(crate) use settings::{
    BUMP_REVISION, CLEAR_SWITCH, DELETE_ANSWER, DELETE_SECRET, DELETE_SECRETS_FROM, DISTRUST_FILE,
    OTHER_KEYS, RELEASE_RESEAL, RESEAL_APPROVAL, RESEAL_SECRET, SAVEPOINT_RESEAL, SET_ANSWER, SET_SECRET,
    SET_SWITCH, TRUST_FILE, UNDO_RESEAL,
};
pub(crate) use tracks::{DELETE_OLD_LIFTS, DELETE_OLD_TRACKS, SET_TRACK, TRACK};
pub(crate) use upkeep::{
    BEGIN, BEGIN_AND_LIST_INSTANCES, COMMIT, COPY, DELETE_ARTIFACTS, DELETE_CALLS, DELETE_INSTANCES,
    DELETE_INSTANCES_AND_COMMIT, DELETE_UNREFERENCED, ENABLE_WAL, EXPIRE, FULL_SYNC, INSTANCES,
    MARK_ORPHANS_UNKNOWN, NORMAL_SYNC, OVERDUE_COUNT, PRUNE_CHUNK, RELEASE_UNIT, ROLLBACK, SAVEPOINT_UNIT,
    SCHEMA, SCHEMA_AND_INSTANCES, SIGN_OFF, SIZE_OF_UNREFERENCED, TABLE_COUNT, UNDO_UNIT,
};

use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{RawSql, Sqlite};

/// A statement for SQLite and its parameters.
pub(crate) type Bound = Query<'static, Sqlite, SqliteArguments>;

/// One SQL text per database.
#[derive(Debug, Clone, Copy)]
pub struct Statement {
    name: &'static str,
    sqlite: &'static str,
    postgres: Option<&'static str>,
}

impl Statement {
    /// A text both databases take.
    const fn both(name: &'static str, text: &'static str) -> Self {
        Self { name, sqlite: text, postgres: Some(text) }
    }

    /// The same in two dialects.
    const fn each(name: &'static str, sqlite: &'static str, postgres: &'static str) -> Self {
        Self { name, sqlite, postgres: Some(postgres) }
    }

    /// A statement about the SQLite file itself, or a script.
    const fn sqlite_only(name: &'static str, text: &'static str) -> Self {
        Self { name, sqlite: text, postgres: None }
    }

    /// Its name in the code.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The text for SQLite. May hold several statements: handing a query to the connection's thread costs more than most
    /// statements.
    #[must_use]
    pub const fn sqlite(&self) -> &'static str {
        self.sqlite
    }

    /// The text for PostgreSQL: one statement. `None` for statements about the SQLite file itself, and for scripts, whose
    /// parts are listed separately.
    #[must_use]
    pub const fn postgres(&self) -> Option<&'static str> {
        self.postgres
    }

    /// The query, prepared once per connection.
    pub(crate) fn query(&self) -> Bound {
        self.query_with(SqliteArguments::default())
    }

    /// The same, with these parameters.
    pub(crate) fn query_with(&self, arguments: SqliteArguments) -> Bound {
        sqlx::query_with(self.sqlite, arguments)
    }

    /// The text, not cached: most settings take effect while SQLite prepares them.
    pub(crate) fn setting(&self) -> RawSql {
        sqlx::raw_sql(self.sqlite)
    }
}

/// Every statement.
pub fn all() -> impl Iterator<Item = &'static Statement> {
    [
        calls::ALL,
        approvals::ALL,
        runs::ALL,
        reads::ALL,
        retention::ALL,
        conversations::ALL,
        memories::ALL,
        programs::ALL,
        settings::ALL,
        tracks::ALL,
        foreign::ALL,
        identity::ALL,
        checks::ALL,
        upkeep::ALL,
    ]
    .into_iter()
    .flatten()
}

/// Names each statement and lists it.
macro_rules! registry {
    ($($(#[$doc:meta])* $name:ident = $form:ident($($text:expr),+ $(,)?);)*) => {
        $($(#[$doc])* pub(crate) const $name: $crate::statements::Statement =
            $crate::statements::Statement::$form(stringify!($name), $($text),+);)*
        pub(super) const ALL: &[$crate::statements::Statement] = &[$($name),*];
    };
}

pub(in crate::statements) use registry;
