//! Transactions, the schema, copies, instances, expiry, pruning.

use super::reads::prunable;
use super::registry;

macro_rules! instances {
    () => {
        "SELECT id, machine, process, heartbeat_at FROM instances"
    };
}

macro_rules! schema {
    () => {
        "SELECT (SELECT user_version FROM pragma_user_version), \
         (SELECT application_id FROM pragma_application_id), (SELECT journal_mode FROM pragma_journal_mode)"
    };
}

/// Questions that nobody answered, or whose answer nobody used, by $1, and those that were asked after $2, which is in
/// the future (`toolroom::ledger::AnswerWindow`).
macro_rules! overdue {
    () => {
        "(expires_at <= $1 OR EXISTS (SELECT 1 FROM calls AS asked WHERE asked.id = call_id AND asked.asked_at > $2)) \
         AND (state IN ('waiting', 'granted') OR sealed IS NOT NULL)"
    };
}

/// $3 the rule, $4 what is said of calls that people were asked about, $5 of those that clients had to run.
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

macro_rules! forget_instances {
    () => {
        "DELETE FROM instances WHERE id IN (SELECT value FROM json_each($1))"
    };
}

macro_rules! unknown_orphans {
    () => {
        "UPDATE calls SET status = 'unknown' WHERE status = 'begun' \
         AND NOT EXISTS (SELECT 1 FROM instances WHERE instances.id = calls.instance)"
    };
}

/// Contents that nobody holds any more. $1 project, $2 hashes.
macro_rules! unheld {
    (sqlite) => {
        concat!("sha256 IN (SELECT value FROM json_each($2)) AND ", unheld!(all))
    };
    (postgres) => {
        concat!("sha256 IN (SELECT jsonb_array_elements_text($2::text::jsonb)) AND ", unheld!(all))
    };
    (all) => {
        "artifact_bytes.project = $1 AND NOT EXISTS (SELECT 1 FROM artifacts \
         WHERE artifacts.project = artifact_bytes.project AND artifacts.sha256 = artifact_bytes.sha256)"
    };
}

macro_rules! size_of_unheld {
    ($kind:tt) => {
        concat!(
            "SELECT CAST(COALESCE(sum(length(bytes)), 0) AS BIGINT) FROM artifact_bytes WHERE ",
            unheld!($kind)
        )
    };
}

macro_rules! delete_unheld {
    ($kind:tt) => {
        concat!("DELETE FROM artifact_bytes WHERE ", unheld!($kind))
    };
}

macro_rules! prune_chunk {
    ($kind:tt) => {
        concat!(
            "SELECT id, (SELECT CAST(COALESCE(sum(length(bytes)), 0) AS BIGINT) FROM artifacts JOIN artifact_bytes \
             ON artifact_bytes.project = artifacts.project AND artifact_bytes.sha256 = artifacts.sha256 \
             WHERE artifacts.call_id = calls.id) FROM calls WHERE id < $3 AND ",
            prunable!($kind),
            " ORDER BY id LIMIT $5"
        )
    };
}

registry! {
    /// Takes the one write lock at once: a transaction that reads first and writes later could lose its place.
    BEGIN = each("BEGIN IMMEDIATE", "BEGIN");

    /// Ends a transaction.
    COMMIT = both("COMMIT");

    /// Undoes a transaction.
    ROLLBACK = both("ROLLBACK");

    /// Begins one unit of a transaction.
    SAVEPOINT_UNIT = both("SAVEPOINT unit");

    /// Keeps one unit.
    RELEASE_UNIT = both("RELEASE unit");

    /// Undoes one unit alone.
    UNDO_UNIT = sqlite_only("ROLLBACK TO unit; RELEASE unit");

    /// Commits survive the death of the process.
    NORMAL_SYNC = sqlite_only("PRAGMA synchronous = NORMAL");

    /// Commits survive the loss of power.
    FULL_SYNC = sqlite_only("PRAGMA synchronous = FULL");

    /// Readers and the writer do not wait for each other. Kept in the file.
    JOURNAL_IN_WAL = sqlite_only("PRAGMA journal_mode = WAL");

    /// $1 file name or URI. Fails when there is something in the file.
    COPY = sqlite_only("VACUUM INTO $1");

    /// Which migrations the file has seen, whose it is, and how it is journaled.
    SCHEMA = sqlite_only(schema!());

    /// Whether there is anything in the file.
    TABLE_COUNT = sqlite_only("SELECT count(*) FROM sqlite_schema");

    /// What a start has to know, in one go: schema, number of overdue questions, processes. $1 time,
    /// $2 latest start.
    SCHEMA_AND_INSTANCES =
        sqlite_only(concat!(schema!(), "; SELECT count(*) FROM approvals WHERE ", overdue!(), "; ", instances!()));

    /// Every process that has, or had, calls or runs open.
    INSTANCES = both(instances!());

    /// The same, with the write lock held.
    OPEN_AND_LIST_INSTANCES = sqlite_only(concat!("BEGIN IMMEDIATE; ", instances!()));

    /// $1 ids of instances.
    FORGET_INSTANCES = each(forget_instances!(), "DELETE FROM instances WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))");

    /// What was begun by nobody who is still there.
    UNKNOWN_ORPHANS = both(unknown_orphans!());

    /// $1 ids of instances: they are gone, with the lock held already.
    BURY_INSTANCES = sqlite_only(concat!(forget_instances!(), "; ", unknown_orphans!(), "; COMMIT"));

    /// $1 ids of instances, ours: the same in a transaction of its own.
    SIGN_OFF = sqlite_only(concat!("BEGIN IMMEDIATE; ", forget_instances!(), "; ", unknown_orphans!(), "; COMMIT"));

    /// $1 time, $2 latest start: how many questions are overdue.
    OVERDUE_COUNT = both(concat!("SELECT count(*) FROM approvals WHERE ", overdue!()));

    /// $1 time, $2 latest start, $3 rule, $4 error.
    DENY_OVERDUE_CALLS = both(deny_overdue_calls!());

    /// $1 time, $2 latest start.
    EXPIRE_APPROVALS = both(expire_approvals!());

    /// $1 time, $2 latest start, $3 rule, $4 error: both, in a transaction of their own.
    EXPIRE = sqlite_only(concat!("BEGIN IMMEDIATE; ", deny_overdue_calls!(), "; ", expire_approvals!(), "; COMMIT"));

    /// $1 project, $2 time, $3 below this id, $4 what is counted, $5 how many: the oldest calls that may go, and
    /// the size of what hangs on each.
    PRUNE_CHUNK = each(prune_chunk!(sqlite), prune_chunk!(postgres));

    /// $1 ids of calls.
    DELETE_ARTIFACTS = each("DELETE FROM artifacts WHERE call_id IN (SELECT value FROM json_each($1)) RETURNING sha256", "DELETE FROM artifacts WHERE call_id IN (SELECT jsonb_array_elements_text($1::text::jsonb)) \
             RETURNING sha256");

    /// $1 project, $2 hashes: the size of contents that nobody holds any more.
    SIZE_OF_UNHELD = each(size_of_unheld!(sqlite), size_of_unheld!(postgres));

    /// $1 project, $2 hashes: contents that nobody holds any more. It gives nothing back: what a deletion tells of a
    /// content, it reads whole.
    DELETE_UNHELD = each(delete_unheld!(sqlite), delete_unheld!(postgres));

    /// $1 ids of calls.
    DELETE_CALLS = each("DELETE FROM calls WHERE id IN (SELECT value FROM json_each($1))", "DELETE FROM calls WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))");
}
