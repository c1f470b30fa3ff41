//! Reads: the journal, artifacts, questions, settings, previews of pruning.

use super::approvals::answer_columns;
use super::calls::call_columns;
use super::registry;

/// Calls that [`super::PRUNE_CHUNK`] may delete: they cannot change any more, and no open run can ask for them. Their age
/// counts from their end: a call that was parked for months and ended yesterday is a day old. Calls that are still counted
/// stay: $4 holds pairs of tool and time.
macro_rules! prunable {
    (sqlite) => {
        concat!(
            prunable!(all),
            "SELECT 1 FROM json_each($4) AS counted WHERE counted.value ->> 0 = calls.tool \
             AND calls.begun_at > CAST(counted.value ->> 1 AS INTEGER))"
        )
    };
    (postgres) => {
        concat!(
            prunable!(all),
            "SELECT 1 FROM jsonb_array_elements($4::text::jsonb) AS counted(value) \
             WHERE counted.value ->> 0 = calls.tool AND calls.begun_at > CAST(counted.value ->> 1 AS BIGINT))"
        )
    };
    (all) => {
        "project = $1 AND coalesce(ended_at, asked_at) < $2 AND status NOT IN ('begun', 'pending') \
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = calls.run AND runs.state IN ('running', 'waiting')) \
         AND NOT EXISTS ("
    };
}
pub(super) use prunable;

macro_rules! preview_calls {
    ($kind:tt) => {
        concat!("SELECT count(*) AS total FROM calls WHERE id < $3 AND ", prunable!($kind))
    };
}

macro_rules! preview_artifacts {
    ($kind:tt) => {
        concat!(
            "SELECT count(*) AS total FROM artifacts WHERE call_id IN (SELECT id FROM calls WHERE id < $3 AND ",
            prunable!($kind),
            ") AND kept_at >= $5"
        )
    };
}

macro_rules! preview_bytes {
    ($kind:tt) => {
        concat!(
            "SELECT CAST(COALESCE(sum(length(bytes)), 0) AS BIGINT) AS total FROM artifact_bytes \
             WHERE artifact_bytes.project = $1 AND sha256 IN (SELECT artifacts.sha256 FROM artifacts \
             WHERE call_id IN (SELECT id FROM calls WHERE id < $3 AND ",
            prunable!($kind),
            ") AND artifacts.kept_at >= $5) AND NOT EXISTS (SELECT 1 FROM artifacts WHERE artifacts.project = artifact_bytes.project \
             AND artifacts.sha256 = artifact_bytes.sha256 AND call_id NOT IN \
             (SELECT id FROM calls WHERE id < $3 AND ",
            prunable!($kind),
            "))"
        )
    };
}

/// A call and its offers.
macro_rules! journal_columns {
    () => {
        concat!(
            call_columns!(),
            ", (SELECT offers FROM call_offers WHERE call_offers.call_id = calls.id) AS offers"
        )
    };
}

/// A call and its question.
macro_rules! question_columns {
    () => {
        concat!(
            call_columns!(),
            ", arguments_hash, definition_hash, asks, reason, expires_at, sealed, state, answer, answered_by, \
             replaced_by FROM calls JOIN approvals ON approvals.call_id = calls.id"
        )
    };
}

macro_rules! questions {
    () => {
        concat!(
            "SELECT ",
            question_columns!(),
            " WHERE calls.project = $1 AND calls.status = 'pending' AND approvals.asks <> 'client' \
             AND (CAST($2 AS TEXT) IS NULL OR calls.user_id = $2) ORDER BY "
        )
    };
}

/// An artifact with its content. $1 id, $2 project, $3 user.
macro_rules! of_artifact {
    () => {
        " FROM artifacts JOIN artifact_bytes \
         ON artifact_bytes.project = artifacts.project AND artifact_bytes.sha256 = artifacts.sha256 \
         WHERE artifacts.id = $1 AND artifacts.project = $2 \
         AND (CAST($3 AS TEXT) IS NULL OR artifacts.user_id = $3)"
    };
}

registry! {
    /// $1 project, $2 user, $3 tool, $4 status, $5 since, $6 written before this one, $7 end of the id, $8 limit. In
    /// SQLite, newest means written last, independent of the clock; `+project` avoids an index that would require sorting all calls
    /// of the project. PostgreSQL has no row numbers and sorts by the time in the id.
    CALLS = each(concat!(
            "SELECT ",
            journal_columns!(),
            " FROM calls WHERE +project = $1 AND ($2 IS NULL OR user_id = $2) AND ($3 IS NULL OR tool = $3) \
             AND ($4 IS NULL OR status = $4) AND ($5 IS NULL OR asked_at >= $5) \
             AND rowid < CASE WHEN $6 IS NULL THEN 9223372036854775807 \
             ELSE (SELECT later.rowid FROM calls AS later WHERE later.id = $6) END \
             AND ($7 IS NULL OR (length($7) <= length(id) AND substr(id, length(id) - length($7) + 1) = $7)) \
             ORDER BY rowid DESC LIMIT $8"
        ), concat!(
            "SELECT ",
            journal_columns!(),
            " FROM calls WHERE project = $1 AND ($2::text IS NULL OR user_id = $2) \
             AND ($3::text IS NULL OR tool = $3) AND ($4::text IS NULL OR status = $4) \
             AND ($5::bigint IS NULL OR asked_at >= $5) AND ($6::text IS NULL OR id < $6) \
             AND ($7::text IS NULL OR right(id, length($7)) = $7) ORDER BY id DESC LIMIT $8"
        ));

    /// As [`CALLS`], and $9 run.
    CALLS_OF_RUN = each(concat!(
            "SELECT ",
            journal_columns!(),
            " FROM calls WHERE run = $9 AND +project = $1 AND ($2 IS NULL OR user_id = $2) \
             AND ($3 IS NULL OR tool = $3) AND ($4 IS NULL OR status = $4) AND ($5 IS NULL OR asked_at >= $5) \
             AND +rowid < CASE WHEN $6 IS NULL THEN 9223372036854775807 \
             ELSE (SELECT later.rowid FROM calls AS later WHERE later.id = $6) END \
             AND ($7 IS NULL OR (length($7) <= length(id) AND substr(id, length(id) - length($7) + 1) = $7)) \
             ORDER BY +rowid DESC LIMIT $8"
        ), concat!(
            "SELECT ",
            journal_columns!(),
            " FROM calls WHERE run = $9 AND project = $1 AND ($2::text IS NULL OR user_id = $2) \
             AND ($3::text IS NULL OR tool = $3) AND ($4::text IS NULL OR status = $4) \
             AND ($5::bigint IS NULL OR asked_at >= $5) AND ($6::text IS NULL OR id < $6) \
             AND ($7::text IS NULL OR right(id, length($7)) = $7) ORDER BY id DESC LIMIT $8"
        ));

    /// $1 id, $2 project, $3 user.
    CALL = both(concat!(
            "SELECT ",
            journal_columns!(),
            " FROM calls WHERE id = $1 AND project = $2 AND (CAST($3 AS TEXT) IS NULL OR user_id = $3)"
        ));

    /// $1 id, $2 project, $3 user.
    ARTIFACT = both(concat!("SELECT artifacts.user_id, artifacts.call_id, artifacts.media_type, artifacts.kept_at, \
                 artifact_bytes.bytes", of_artifact!()));

    /// $1 id, $2 project, $3 user: metadata.
    ARTIFACT_FACTS = both(concat!("SELECT artifacts.call_id, artifacts.media_type, artifacts.kept_at, \
                 CAST(length(artifact_bytes.bytes) AS BIGINT) AS bytes", of_artifact!()));

    /// $1 id, $2 project, $3 user, $4 first byte, counted from one, $5 length.
    ARTIFACT_PART = both(concat!("SELECT substr(artifact_bytes.bytes, CAST($4 AS INTEGER), CAST($5 AS INTEGER)) AS part",
                 of_artifact!()));

    /// $1 project, $2 user, $3 limit: metadata, newest first.
    ARTIFACTS = both("SELECT artifacts.id, artifacts.call_id, calls.tool, artifacts.media_type, \
                 length(artifact_bytes.bytes) AS bytes, artifacts.kept_at, \
                 (SELECT offers FROM call_offers WHERE call_offers.call_id = artifacts.call_id) AS offers \
                 FROM artifacts JOIN artifact_bytes ON artifact_bytes.project = artifacts.project \
                 AND artifact_bytes.sha256 = artifacts.sha256 JOIN calls ON calls.id = artifacts.call_id \
                 WHERE artifacts.project = $1 AND (CAST($2 AS TEXT) IS NULL OR artifacts.user_id = $2) \
                 ORDER BY artifacts.kept_at DESC, artifacts.id DESC LIMIT $3");

    /// The revision of switches, standing answers, projects, keys and secrets.
    STANDING_REVISION = both("SELECT value FROM revisions WHERE name = 'standing'");

    /// $1 project, $2 user: pending calls and their questions, oldest first.
    QUESTIONS = each(concat!(questions!(), "calls.rowid"), concat!(questions!(), "calls.id"));

    /// $1 project, $2 exactly this user, $3 entrance, $4 limit: questions of this entrance that can still run, newest first.
    NEWEST_QUESTIONS = both(concat!(
            "SELECT ",
            question_columns!(),
            " WHERE calls.project = $1 AND calls.status = 'pending' AND approvals.asks <> 'client' AND calls.entrance = $3 \
             AND (calls.user_id = $2 OR (CAST($2 AS TEXT) IS NULL AND calls.user_id IS NULL)) \
             AND approvals.state IN ('waiting', 'granted') ORDER BY calls.id DESC LIMIT $4"
        ));

    /// $1 call, $2 project, $3 user.
    QUESTION = both(concat!(
            "SELECT ",
            question_columns!(),
            " WHERE calls.id = $1 AND calls.project = $2 AND (CAST($3 AS TEXT) IS NULL OR calls.user_id = $3)"
        ));

    /// $1 project.
    ANSWERS = both(concat!("SELECT ", answer_columns!(), " FROM answers WHERE project = $1 ORDER BY id"));

    /// $1 project, $2 user.
    USAGE = both("SELECT tool, count(*) AS calls, max(begun_at) AS last_at FROM calls WHERE project = $1 AND begun_at IS NOT NULL \
                 AND (CAST($2 AS TEXT) IS NULL OR user_id = $2) GROUP BY tool");

    /// $1 project.
    SWITCHES = both("SELECT kind, name, state FROM switches WHERE project = $1");

    /// $1 project.
    SECRETS = both("SELECT name, sealed, created_at, changed_at FROM secrets WHERE project = $1 ORDER BY name");

    /// All sealed values: project and name of a secret, or the call of a request.
    ALL_SEALED = both("SELECT project, name, CAST(NULL AS TEXT) AS call_id, sealed FROM secrets UNION ALL \
                 SELECT CAST(NULL AS TEXT), CAST(NULL AS TEXT), call_id, sealed FROM approvals \
                 WHERE sealed IS NOT NULL");

    TRUSTED_FILES = both("SELECT path, sha256, trusted_at FROM trusted_files ORDER BY path");

    /// $1 path.
    TRUSTED_HASH = both("SELECT sha256 FROM trusted_files WHERE path = $1");

    /// $1 project, $2 time: the first call that is too young to be pruned. Ids sort by time, so calls above it need no check.
    PRUNE_BOUND = both("SELECT id FROM calls WHERE project = $1 AND asked_at >= $2 ORDER BY id LIMIT 1");

    /// $1 project, $2 time, $3 below this id, $4 counted calls.
    PRUNE_PREVIEW_CALLS = each(preview_calls!(sqlite), preview_calls!(postgres));

    /// $1 project, $2 time, $3 below this id, $4 counted calls, $5 kept since.
    PRUNE_PREVIEW_ARTIFACTS = each(preview_artifacts!(sqlite), preview_artifacts!(postgres));

    /// $1 project, $2 time, $3 below this id, $4 counted calls, $5 kept since: the size of contents that no other call refers to.
    PRUNE_PREVIEW_BYTES = each(preview_bytes!(sqlite), preview_bytes!(postgres));

    /// Version of SQLite, schema, size.
    STATUS = sqlite_only("SELECT sqlite_version() AS sqlite, (SELECT user_version FROM pragma_user_version) AS schema, \
                 (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size) AS bytes");
}
