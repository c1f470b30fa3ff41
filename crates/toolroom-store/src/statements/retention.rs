//! Pruning of whole results and conversations; that of calls is in `upkeep` and `reads`.

use super::registry;

/// Whole results of calls that cannot change any more, and that no open run can ask for. $1 project, $2 time.
macro_rules! old_results {
    () => {
        concat!("SELECT artifacts.id", old_results!(from))
    };
    (from) => {
        " FROM artifacts JOIN calls ON calls.id = artifacts.call_id \
         WHERE artifacts.project = $1 AND artifacts.kept_at < $2 AND calls.status NOT IN ('begun', 'pending') \
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = calls.run AND runs.state IN ('running', 'waiting'))"
    };
}

/// Conversations without an open run, a pending call or a running program. $1 project, $2 time.
macro_rules! old_conversations {
    () => {
        concat!("SELECT id", old_conversations!(from))
    };
    (from) => {
        " FROM conversations WHERE project = $1 AND updated_at < $2 \
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.conversation = conversations.id \
         AND runs.state IN ('running', 'waiting')) \
         AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.project = conversations.project \
         AND calls.status = 'pending' AND calls.thread = conversations.id) \
         AND NOT EXISTS (SELECT 1 FROM programs WHERE programs.thread = conversations.id \
         AND programs.project = conversations.project AND programs.state = 'running')"
    };
}

registry! {
    /// $1 project, $2 time: number of old results, and size of contents that no other result refers to.
    PREVIEW_RESULTS = both(concat!(
        "SELECT (SELECT count(*) FROM (", old_results!(), ") AS old) AS total, \
         (SELECT CAST(COALESCE(sum(length(bytes)), 0) AS BIGINT) FROM artifact_bytes \
         WHERE artifact_bytes.project = $1 AND sha256 IN (SELECT own.sha256 FROM artifacts AS own \
         WHERE own.id IN (", old_results!(), ")) AND NOT EXISTS (SELECT 1 FROM artifacts AS other \
         WHERE other.project = artifact_bytes.project AND other.sha256 = artifact_bytes.sha256 \
         AND other.id NOT IN (", old_results!(), "))) AS bytes"
    ));

    /// $1 project, $2 time, $3 limit: old results, with their calls and the hashes and sizes of their contents.
    PRUNE_RESULTS = both(concat!(
        "SELECT artifacts.id, artifacts.call_id, artifacts.sha256, (SELECT CAST(length(bytes) AS BIGINT) \
         FROM artifact_bytes WHERE artifact_bytes.project = artifacts.project \
         AND artifact_bytes.sha256 = artifacts.sha256) AS bytes", old_results!(from), " LIMIT $3"
    ));

    /// $1 ids of results.
    DELETE_RESULTS = each(
        "DELETE FROM artifacts WHERE id IN (SELECT value FROM json_each($1))",
        "DELETE FROM artifacts WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))",
    );

    /// $1 ids of calls whose whole results were deleted.
    CLEAR_RESULTS_OF_CALLS = each(
        "UPDATE calls SET artifact_id = NULL WHERE id IN (SELECT value FROM json_each($1))",
        "UPDATE calls SET artifact_id = NULL WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))",
    );

    /// $1 ids of calls whose offered files were deleted.
    DELETE_OFFERS_OF_CALLS = each(
        "DELETE FROM call_offers WHERE call_id IN (SELECT value FROM json_each($1))",
        "DELETE FROM call_offers WHERE call_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))",
    );

    /// $1 project, $2 time: number of old conversations, and size of their entries.
    PREVIEW_CONVERSATIONS = both(concat!(
        "SELECT (SELECT count(*) FROM (", old_conversations!(), ") AS old) AS total, \
         (SELECT CAST(COALESCE(sum(octet_length(content)), 0) AS BIGINT) FROM entries \
         WHERE conversation IN (", old_conversations!(), ")) AS bytes"
    ));

    /// $1 project, $2 time, $3 limit: old conversations, oldest first, with the sizes of their entries and events.
    OLD_CONVERSATIONS = both(concat!(
        "SELECT id, (SELECT CAST(COALESCE(sum(octet_length(content)), 0) AS BIGINT) FROM entries \
         WHERE entries.conversation = conversations.id) AS entry_bytes, \
         (SELECT CAST(COALESCE(sum(octet_length(event)), 0) AS BIGINT) FROM run_events JOIN runs \
         ON runs.id = run_events.run WHERE runs.conversation = conversations.id) AS event_bytes",
        old_conversations!(from), " ORDER BY updated_at LIMIT $3"
    ));

    /// $1 project, $2 ids of conversations.
    DELETE_PROGRAMS_OF_CONVERSATIONS = each(
        "DELETE FROM programs WHERE project = $1 AND thread IN (SELECT value FROM json_each($2))",
        "DELETE FROM programs WHERE project = $1 AND thread IN (SELECT jsonb_array_elements_text($2::text::jsonb))",
    );

    /// $1 ids of conversations. Cascades to their rows.
    DELETE_CONVERSATIONS = each(
        "DELETE FROM conversations WHERE id IN (SELECT value FROM json_each($1))",
        "DELETE FROM conversations WHERE id IN (SELECT jsonb_array_elements_text($1::text::jsonb))",
    );
}
