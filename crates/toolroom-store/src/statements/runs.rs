//! Writing runs, their entries and events.

use super::calls::upsert_instances;
use super::registry;
use super::upkeep::instance_columns;

macro_rules! insert_conversations {
    ($rows:literal) => {
        concat!(
            "INSERT INTO conversations (id, project, user_id, agent, title, folded, entries, created_at, updated_at) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, 0, \
             value ->> 6, value ->> 7 FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}

/// New entries. A clock that was set back makes no conversation older.
macro_rules! grow_conversations {
    ($rows:literal) => {
        concat!(
            "UPDATE conversations SET entries = grown.entries, \
             updated_at = CASE WHEN grown.said_at > conversations.updated_at THEN grown.said_at \
             ELSE conversations.updated_at END \
             FROM (SELECT value ->> 0 AS id, value ->> 1 AS entries, value ->> 2 AS said_at FROM jsonb_each(",
            $rows,
            ")) AS grown WHERE conversations.id = grown.id"
        )
    };
}

macro_rules! insert_runs {
    ($rows:literal) => {
        concat!(
            "INSERT INTO runs (id, conversation, project, user_id, state, instance, started_at, record) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, \
             value ->> 7 FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}

macro_rules! update_runs {
    ($rows:literal) => {
        concat!(
            "UPDATE runs SET state = stepped.state, instance = stepped.instance, record = stepped.record \
             FROM (SELECT value ->> 0 AS id, value ->> 1 AS state, value ->> 2 AS instance, value ->> 3 AS record \
             FROM jsonb_each(",
            $rows,
            ")) AS stepped WHERE runs.id = stepped.id"
        )
    };
}

macro_rules! insert_entries {
    ($rows:literal) => {
        concat!(
            "INSERT INTO entries (conversation, seq, run, said_at, content) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}

macro_rules! insert_events {
    ($rows:literal) => {
        concat!(
            "INSERT INTO run_events (run, seq, event) SELECT value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}

macro_rules! usage_columns {
    () => {
        "project, user_id, spent_at, run, conversation, agent, model, purpose, input, output, cache_read, \
         cache_write, reasoning, cost"
    };
}

macro_rules! insert_usage {
    ($rows:literal) => {
        concat!(
            "INSERT INTO usage (",
            usage_columns!(),
            ") SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, \
             value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13 \
             FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}

macro_rules! insert_requests {
    ($rows:literal) => {
        concat!(
            "INSERT INTO past_requests (id, project, tool, message, conversation) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}

/// Requests beyond the 200 newest of a tool, for tools with new requests.
macro_rules! beyond_newest {
    () => {
        "JOIN past_requests AS old ON old.project = fresh.project AND old.tool = fresh.tool \
         AND old.id <= (SELECT newest.id FROM past_requests AS newest WHERE newest.project = fresh.project \
         AND newest.tool = fresh.tool ORDER BY newest.id DESC LIMIT 1 OFFSET 200)"
    };
}

macro_rules! trim_requests {
    ($rows:literal) => {
        concat!(
            "DELETE FROM past_requests WHERE id IN (SELECT old.id FROM \
             (SELECT DISTINCT value ->> 1 AS project, value ->> 2 AS tool FROM jsonb_each(",
            $rows,
            ")) AS fresh ",
            beyond_newest!(),
            ")"
        )
    };
}

/// All writes of begins and steps of runs, one statement per kind of row. Parameters: `upsert_instances` $1, new
/// conversations $2, their growth $3, new runs $4, steps $5, entries $6, events $7, usage $8, past requests $9.
macro_rules! write_runs {
    () => {
        concat!(
            upsert_instances!("$1"),
            "; ",
            insert_conversations!("$2"),
            "; ",
            grow_conversations!("$3"),
            "; ",
            insert_runs!("$4"),
            "; ",
            update_runs!("$5"),
            "; ",
            insert_entries!("$6"),
            "; ",
            insert_events!("$7"),
            "; ",
            insert_usage!("$8"),
            "; ",
            insert_requests!("$9"),
            "; ",
            trim_requests!("$9")
        )
    };
}

/// Runs and conversations as preconditions: the state of both, and the open run of the conversation.
macro_rules! runs_of {
    ($rows:literal) => {
        concat!(
            "SELECT 'run' AS part, asked.key AS number, runs.conversation, runs.project AS run_project, \
             runs.user_id AS run_user_id, runs.state, runs.instance, conversations.project, \
             conversations.user_id, conversations.entries, other.id AS open_run, other.state AS open_state \
             FROM jsonb_each(",
            $rows,
            ") AS asked LEFT JOIN runs ON runs.id = asked.value ->> 0 \
             LEFT JOIN conversations ON conversations.id = asked.value ->> 1 \
             LEFT JOIN runs AS other ON other.conversation = asked.value ->> 1 \
             AND other.state IN ('running', 'waiting')"
        )
    };
}
pub(super) use runs_of;

registry! {
    /// $1 rows of id, project, user_id, agent, title, folded, created_at, updated_at.
    INSERT_CONVERSATIONS = each(insert_conversations!("$1"), "INSERT INTO conversations \
             (id, project, user_id, agent, title, folded, entries, created_at, updated_at) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, 0, \
             (value ->> 6)::bigint, (value ->> 7)::bigint \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)");

    /// $1 rows of id, entries, said_at.
    GROW_CONVERSATIONS = each(grow_conversations!("$1"), "UPDATE conversations SET entries = grown.entries, \
             updated_at = GREATEST(grown.said_at, conversations.updated_at) \
             FROM (SELECT value ->> 0 AS id, (value ->> 1)::bigint AS entries, (value ->> 2)::bigint AS said_at \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS grown \
             WHERE conversations.id = grown.id");

    /// $1 rows of id, conversation, project, user_id, state, instance, started_at, record.
    INSERT_RUNS = each(insert_runs!("$1"), "INSERT INTO runs \
             (id, conversation, project, user_id, state, instance, started_at, record) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, \
             (value ->> 6)::bigint, value ->> 7 FROM jsonb_array_elements($1::text::jsonb) AS rows (value)");

    /// $1 rows of id, state, instance, record.
    UPDATE_RUNS = each(update_runs!("$1"), "UPDATE runs SET state = stepped.state, instance = stepped.instance, \
             record = stepped.record FROM (SELECT value ->> 0 AS id, value ->> 1 AS state, value ->> 2 AS instance, \
             value ->> 3 AS record FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS stepped \
             WHERE runs.id = stepped.id");

    /// $1 rows of conversation, seq, run, said_at, content.
    INSERT_ENTRIES = each(insert_entries!("$1"), "INSERT INTO entries (conversation, seq, run, said_at, content) \
             SELECT value ->> 0, (value ->> 1)::bigint, value ->> 2, (value ->> 3)::bigint, value ->> 4 \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)");

    /// $1 rows of run, seq, event.
    INSERT_EVENTS = each(insert_events!("$1"), "INSERT INTO run_events (run, seq, event) \
             SELECT value ->> 0, (value ->> 1)::bigint, value ->> 2 \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)");

    /// $1 rows of `usage_columns!`.
    INSERT_USAGE = each(insert_usage!("$1"), concat!(
            "INSERT INTO usage (",
            usage_columns!(),
            ") SELECT value ->> 0, value ->> 1, (value ->> 2)::bigint, value ->> 3, value ->> 4, value ->> 5, \
             value ->> 6, value ->> 7, (value ->> 8)::bigint, (value ->> 9)::bigint, (value ->> 10)::bigint, \
             (value ->> 11)::bigint, (value ->> 12)::bigint, (value ->> 13)::double precision \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)"
        ));

    /// $1 rows of id, project, tool, message, conversation.
    INSERT_REQUESTS = each(insert_requests!("$1"), "INSERT INTO past_requests (id, project, tool, message, conversation) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)");

    /// $1 rows as in [`INSERT_REQUESTS`], which were inserted.
    TRIM_REQUESTS = each(trim_requests!("$1"), concat!(
            "DELETE FROM past_requests WHERE id IN (SELECT old.id FROM \
             (SELECT DISTINCT value ->> 1 AS project, value ->> 2 AS tool \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS fresh ",
            beyond_newest!(),
            ")"
        ));

    /// $1 rows of run, conversation.
    RUNS_OF = each(runs_of!("$1"), "SELECT 'run' AS part, asked.key - 1 AS number, runs.conversation, \
             runs.project AS run_project, runs.user_id AS run_user_id, runs.state, runs.instance, conversations.project, \
             conversations.user_id, conversations.entries, other.id AS open_run, other.state AS open_state \
             FROM jsonb_array_elements($1::text::jsonb) WITH ORDINALITY AS asked (value, key) \
             LEFT JOIN runs ON runs.id = asked.value ->> 0 \
             LEFT JOIN conversations ON conversations.id = asked.value ->> 1 \
             LEFT JOIN runs AS other ON other.conversation = asked.value ->> 1 \
             AND other.state IN ('running', 'waiting')");

    /// Parameters as in `write_runs!`.
    WRITE_RUNS = sqlite_only(write_runs!());

    /// Parameters as in `write_runs!`.
    WRITE_RUNS_AND_COMMIT = sqlite_only(concat!(write_runs!(), "; COMMIT"));

    /// $1 run: its record and owner, and the process that holds it.
    RUN_AND_HOLDER = both(concat!(
            "SELECT runs.record, runs.instance AS holder, runs.project, runs.user_id, ",
            instance_columns!(),
            " FROM runs LEFT JOIN instances ON instances.id = runs.instance WHERE runs.id = $1"
        ));

    /// $1 run, $2 state, $3 instance, $4 record.
    TAKE_RUN = both("UPDATE runs SET state = $2, instance = $3, record = $4 WHERE id = $1");

    /// $1 run, $2 the instance that releases it.
    RELEASE_RUN = both("UPDATE runs SET instance = NULL WHERE id = $1 AND instance = $2");

    /// $1 conversation: its owner, its running run, and the process that holds it.
    CONVERSATION_AND_HOLDER = both(concat!(
            "SELECT conversations.project, conversations.user_id, runs.id AS run, runs.instance AS holder, ",
            instance_columns!(),
            " FROM conversations LEFT JOIN runs ON runs.conversation = conversations.id AND runs.state = 'running' \
                 LEFT JOIN instances ON instances.id = runs.instance WHERE conversations.id = $1"
        ));

    /// $1 conversation. Cascades to its rows.
    DELETE_CONVERSATION = both("DELETE FROM conversations WHERE id = $1");
}
