//! Transactions, the schema, copies, instances, expiry, pruning.

use super::reads::prunable;
use super::registry;

macro_rules! instance_columns {
    () => {
        "instances.id AS instance_id, instances.machine, instances.process, instances.heartbeat_at"
    };
}
pub(super) use instance_columns;

macro_rules! instances {
    () => {
        concat!("SELECT ", instance_columns!(), " FROM instances")
    };
}

macro_rules! schema {
    () => {
        "SELECT (SELECT user_version FROM pragma_user_version) AS schema, \
         (SELECT application_id FROM pragma_application_id) AS application, \
         (SELECT journal_mode FROM pragma_journal_mode) AS journal_mode"
    };
}

/// Questions that were not answered, or whose answer was not used, by $1; and questions asked after $2, which is in the
/// future (`toolroom::ledger::AnswerWindow`).
macro_rules! overdue {
    () => {
        "(expires_at <= $1 OR EXISTS (SELECT 1 FROM calls AS asked WHERE asked.id = call_id AND asked.asked_at > $2)) \
         AND (state IN ('waiting', 'granted') OR sealed IS NOT NULL)"
    };
}

/// $3 rule, $4 error of calls that a user had to answer, $5 error of calls that a client had to run.
macro_rules! deny_overdue_calls {
    () => {
        concat!(
            "UPDATE calls SET status = 'denied', ended_at = $1, rule = $3, error = CASE WHEN EXISTS \
             (SELECT 1 FROM approvals WHERE approvals.call_id = calls.id AND asks = 'client') THEN $5 ELSE $4 END, \
             duration_us = $1 - asked_at \
             WHERE status = 'pending' AND id IN (SELECT call_id FROM approvals WHERE ",
            overdue!(),
            ")"
        )
    };
}

macro_rules! expire_approvals {
    () => {
        concat!(
            "UPDATE approvals SET sealed = NULL, \
             state = CASE WHEN state IN ('waiting', 'granted') THEN 'expired' ELSE state END WHERE ",
            overdue!()
        )
    };
}

macro_rules! delete_instances {
    () => {
        "DELETE FROM instances WHERE id IN (SELECT value FROM json_each($1))"
    };
}

macro_rules! mark_orphans_unknown {
    () => {
        "UPDATE calls SET status = 'unknown' WHERE status = 'begun' \
         AND NOT EXISTS (SELECT 1 FROM instances WHERE instances.id = calls.instance)"
    };
}

/// Contents that no artifact refers to. $1 project, $2 hashes.
macro_rules! unreferenced {
    (sqlite) => {
        concat!("sha256 IN (SELECT value FROM json_each($2)) AND ", unreferenced!(all))
    };
    (postgres) => {
        concat!("sha256 IN (SELECT jsonb_array_elements_text($2::text::jsonb)) AND ", unreferenced!(all))
    };
    (all) => {
        "artifact_bytes.project = $1 AND NOT EXISTS (SELECT 1 FROM artifacts \
         WHERE artifacts.project = artifact_bytes.project AND artifacts.sha256 = artifact_bytes.sha256)"
    };
}

macro_rules! size_of_unreferenced {
    ($kind:tt) => {
        concat!(
            "SELECT CAST(COALESCE(sum(length(bytes)), 0) AS BIGINT) AS bytes FROM artifact_bytes WHERE ",
            unreferenced!($kind)
        )
    };
}

macro_rules! delete_unreferenced {
    ($kind:tt) => {
        concat!("DELETE FROM artifact_bytes WHERE ", unreferenced!($kind))
    };
}

macro_rules! prune_chunk {
    ($kind:tt) => {
        concat!(
            "SELECT id, (SELECT CAST(COALESCE(sum(length(bytes)), 0) AS BIGINT) FROM artifacts JOIN artifact_bytes \
             ON artifact_bytes.project = artifacts.project AND artifact_bytes.sha256 = artifacts.sha256 \
             WHERE artifacts.call_id = calls.id) AS bytes FROM calls WHERE id < $3 AND ",
            prunable!($kind),
            " ORDER BY id LIMIT $5"
        )
    };
}

registry! {
    /// Takes the write lock at once: a transaction that reads first could fail when it begins to write.
    BEGIN = each("BEGIN IMMEDIATE", "BEGIN");

    COMMIT = both("COMMIT");

    ROLLBACK = both("ROLLBACK");

    /// Begins one unit of a transaction.
    SAVEPOINT_UNIT = both("SAVEPOINT unit");

    /// Ends one unit.
    RELEASE_UNIT = both("RELEASE unit");

    /// Undoes one unit alone.
    UNDO_UNIT = sqlite_only("ROLLBACK TO unit; RELEASE unit");

    /// Commits survive the death of the process.
    NORMAL_SYNC = sqlite_only("PRAGMA synchronous = NORMAL");

    /// Commits survive the loss of power.
    FULL_SYNC = sqlite_only("PRAGMA synchronous = FULL");

    /// The write-ahead log: readers and the writer do not block each other. Stored in the file.
    ENABLE_WAL = sqlite_only("PRAGMA journal_mode = WAL");

    /// $1 file name or URI. Fails if the file has content.
    COPY = sqlite_only("VACUUM INTO $1");

    /// Schema version, application id and journal mode.
    SCHEMA = sqlite_only(schema!());

    /// The number of tables, indexes and so on.
    TABLE_COUNT = sqlite_only("SELECT count(*) AS tables FROM sqlite_schema");

    /// For the start of a process: schema, number of overdue questions, instances. $1 time, $2 latest start.
    SCHEMA_AND_INSTANCES =
        sqlite_only(concat!(schema!(), "; SELECT count(*) AS overdue FROM approvals WHERE ", overdue!(), "; ", instances!()));

    /// Processes with open calls or runs, alive or dead.
    INSTANCES = both(instances!());

    /// The same, under the write lock.
    BEGIN_AND_LIST_INSTANCES = sqlite_only(concat!("BEGIN IMMEDIATE; ", instances!()));

    /// $1 ids of instances.
    DELETE_INSTANCES = each(delete_instances!(), "DELETE FROM instances WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))");

    /// Calls begun by an instance without a row.
    MARK_ORPHANS_UNKNOWN = both(mark_orphans_unknown!());

    /// $1 ids of dead instances; ends the transaction.
    DELETE_INSTANCES_AND_COMMIT = sqlite_only(concat!(delete_instances!(), "; ", mark_orphans_unknown!(), "; COMMIT"));

    /// $1 id of this instance; a transaction of its own.
    SIGN_OFF = sqlite_only(concat!("BEGIN IMMEDIATE; ", delete_instances!(), "; ", mark_orphans_unknown!(), "; COMMIT"));

    /// $1 time, $2 latest start.
    OVERDUE_COUNT = both(concat!("SELECT count(*) AS overdue FROM approvals WHERE ", overdue!()));

    /// $1 time, $2 latest start, $3 rule, $4 error.
    DENY_OVERDUE_CALLS = both(deny_overdue_calls!());

    /// $1 time, $2 latest start.
    EXPIRE_APPROVALS = both(expire_approvals!());

    /// $1 time, $2 latest start, $3 rule, $4 error: both, in a transaction of their own.
    EXPIRE = sqlite_only(concat!("BEGIN IMMEDIATE; ", deny_overdue_calls!(), "; ", expire_approvals!(), "; COMMIT"));

    /// $1 project, $2 time, $3 below this id, $4 counted calls, $5 limit: the oldest prunable calls, and the
    /// size of their artifacts.
    PRUNE_CHUNK = each(prune_chunk!(sqlite), prune_chunk!(postgres));

    /// $1 ids of calls.
    DELETE_ARTIFACTS = each("DELETE FROM artifacts WHERE call_id IN (SELECT value FROM json_each($1)) RETURNING sha256", "DELETE FROM artifacts WHERE call_id IN (SELECT jsonb_array_elements_text($1::text::jsonb)) \
             RETURNING sha256");

    /// $1 project, $2 hashes: the size of unreferenced contents.
    SIZE_OF_UNREFERENCED = each(size_of_unreferenced!(sqlite), size_of_unreferenced!(postgres));

    /// $1 project, $2 hashes: unreferenced contents. Without RETURNING, which would read each content whole.
    DELETE_UNREFERENCED = each(delete_unreferenced!(sqlite), delete_unreferenced!(postgres));

    /// $1 ids of calls.
    DELETE_CALLS = each("DELETE FROM calls WHERE id IN (SELECT value FROM json_each($1))", "DELETE FROM calls WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))");
}
