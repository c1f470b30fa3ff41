//! Transactions, the schema, instances, switches, pruning.

use super::reads::prunable;
use super::registry;

macro_rules! instances {
    () => {
        "SELECT id, machine, process, heartbeat_at FROM instances"
    };
}

macro_rules! schema {
    () => {
        "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id)"
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

    /// $1 file name. Fails when the file exists.
    COPY = sqlite_only("VACUUM INTO $1");

    /// Which migrations the file has seen, and whose it is.
    SCHEMA = sqlite_only(schema!());

    /// Whether there is anything in the file.
    TABLE_COUNT = sqlite_only("SELECT count(*) FROM sqlite_schema");

    /// What a start has to know, in one go.
    SCHEMA_AND_INSTANCES = sqlite_only(concat!(schema!(), "; ", instances!()));

    /// Every process that has, or had, calls open.
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

    /// $1 project, $2 kind, $3 name, $4 state, $5 time.
    SET_SWITCH = both("INSERT INTO switches (project, kind, name, state, changed_at) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (project, kind, name) DO UPDATE \
                 SET state = excluded.state, changed_at = excluded.changed_at");

    /// $1 project, $2 kind, $3 name.
    CLEAR_SWITCH = both("DELETE FROM switches WHERE project = $1 AND kind = $2 AND name = $3");

    /// Tells every reader that a switch has changed.
    BUMP_SWITCH_REVISION = both("UPDATE revisions SET value = value + 1 WHERE name = 'switches'");

    /// $1 project, $2 time, $3 below this id, $4 how many: the oldest calls that may go.
    PRUNE_CHUNK = both(concat!("SELECT id FROM calls WHERE id < $3 AND ", prunable!(), " ORDER BY id LIMIT $4"));

    /// $1 ids of calls.
    DELETE_ARTIFACTS = each("DELETE FROM artifacts WHERE call_id IN (SELECT value FROM json_each($1)) RETURNING sha256", "DELETE FROM artifacts WHERE call_id IN (SELECT jsonb_array_elements_text($1::text::jsonb)) \
             RETURNING sha256");

    /// $1 project, $2 hashes: contents that nobody holds any more.
    DELETE_BYTES = each("DELETE FROM artifact_bytes WHERE project = $1 AND sha256 IN (SELECT value FROM json_each($2)) \
                 AND NOT EXISTS (SELECT 1 FROM artifacts WHERE artifacts.project = artifact_bytes.project \
                 AND artifacts.sha256 = artifact_bytes.sha256) RETURNING length(bytes)", "DELETE FROM artifact_bytes WHERE project = $1 \
             AND sha256 IN (SELECT jsonb_array_elements_text($2::text::jsonb)) \
             AND NOT EXISTS (SELECT 1 FROM artifacts WHERE artifacts.project = artifact_bytes.project \
             AND artifacts.sha256 = artifact_bytes.sha256) RETURNING length(bytes)");

    /// $1 ids of calls.
    DELETE_CALLS = each("DELETE FROM calls WHERE id IN (SELECT value FROM json_each($1))", "DELETE FROM calls WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))");
}
