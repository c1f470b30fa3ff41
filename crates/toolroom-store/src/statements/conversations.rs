//! Reading conversations, runs and costs.

use super::registry;

macro_rules! conversation_columns {
    () => {
        "SELECT id, project, user_id, agent, title, entries, created_at, updated_at FROM conversations"
    };
}

/// Sums over rows of `usage`.
macro_rules! spent {
    () => {
        "SELECT CAST(COALESCE(sum(input), 0) AS BIGINT) AS input, CAST(COALESCE(sum(output), 0) AS BIGINT) AS output, \
         CAST(COALESCE(sum(cache_read), 0) AS BIGINT) AS cache_read, \
         CAST(COALESCE(sum(cache_write), 0) AS BIGINT) AS cache_write, \
         CAST(COALESCE(sum(reasoning), 0) AS BIGINT) AS reasoning, \
         CAST(COALESCE(sum(cost), 0) AS DOUBLE PRECISION) AS cost, \
         count(*) AS answers, count(DISTINCT run) AS runs FROM usage WHERE "
    };
}

registry! {
    /// $1 id, $2 project, $3 user.
    CONVERSATION = both(concat!(
            conversation_columns!(),
            " WHERE id = $1 AND project = $2 AND (CAST($3 AS TEXT) IS NULL OR user_id = $3)"
        ));

    /// $1 project, $2 user, $3 agent, $4 end of the id, $5 part of the title in lower case, $6 limit,
    /// $7 and $8 `updated_at` and id of the last conversation of the previous page.
    CONVERSATIONS = each(concat!(
            conversation_columns!(),
            " WHERE project = $1 AND ($2 IS NULL OR user_id = $2) AND ($3 IS NULL OR agent = $3) \
             AND ($4 IS NULL OR (length($4) <= length(id) AND substr(id, length(id) - length($4) + 1) = $4)) \
             AND ($5 IS NULL OR instr(folded, $5) > 0) AND ($7 IS NULL OR updated_at < $7 OR (updated_at = $7 \
             AND rowid < (SELECT rowid FROM conversations AS last WHERE last.id = $8))) \
             ORDER BY updated_at DESC, rowid DESC LIMIT $6"
        ), concat!(
            conversation_columns!(),
            " WHERE project = $1 AND ($2::text IS NULL OR user_id = $2) AND ($3::text IS NULL OR agent = $3) \
             AND ($4::text IS NULL OR right(id, length($4)) = $4) \
             AND ($5::text IS NULL OR strpos(folded, $5) > 0) \
             AND ($7::bigint IS NULL OR (updated_at, id) < ($7, $8)) ORDER BY updated_at DESC, id DESC LIMIT $6"
        ));

    /// $1 conversation, $2 project, $3 user, $4 first number.
    ENTRIES = both("SELECT entries.seq, entries.run, entries.said_at, entries.content FROM entries \
                 JOIN conversations ON conversations.id = entries.conversation \
                 WHERE entries.conversation = $1 AND conversations.project = $2 \
                 AND (CAST($3 AS TEXT) IS NULL OR conversations.user_id = $3) AND entries.seq >= $4 ORDER BY entries.seq");

    /// $1 id, $2 project, $3 user.
    RUN = both("SELECT id, record FROM runs WHERE id = $1 AND project = $2 \
                 AND (CAST($3 AS TEXT) IS NULL OR user_id = $3)");

    /// $1 project, $2 user, $3 state, $4 end of the id, $5 limit, $6 the run after which the listing continues. Newest means written last.
    RUNS = each("SELECT id, record FROM runs WHERE project = $1 AND ($2 IS NULL OR user_id = $2) \
             AND ($3 IS NULL OR state = $3) \
             AND ($4 IS NULL OR (length($4) <= length(id) AND substr(id, length(id) - length($4) + 1) = $4)) \
             AND ($6 IS NULL OR rowid < (SELECT rowid FROM runs AS last WHERE last.id = $6)) \
             ORDER BY rowid DESC LIMIT $5",
            "SELECT id, record FROM runs WHERE project = $1 AND ($2::text IS NULL OR user_id = $2) \
             AND ($3::text IS NULL OR state = $3) AND ($4::text IS NULL OR right(id, length($4)) = $4) \
             AND ($6::text IS NULL \
             OR (started_at, id) < (SELECT last.started_at, last.id FROM runs AS last WHERE last.id = $6)) \
             ORDER BY started_at DESC, id DESC LIMIT $5");

    /// As [`RUNS`], and $7 conversation.
    RUNS_OF_CONVERSATION = each("SELECT id, record FROM runs WHERE conversation = $7 AND +project = $1 \
             AND ($2 IS NULL OR user_id = $2) AND ($3 IS NULL OR state = $3) \
             AND ($4 IS NULL OR (length($4) <= length(id) AND substr(id, length(id) - length($4) + 1) = $4)) \
             AND ($6 IS NULL OR rowid < (SELECT rowid FROM runs AS last WHERE last.id = $6)) \
             ORDER BY +rowid DESC LIMIT $5",
            "SELECT id, record FROM runs WHERE conversation = $7 AND project = $1 \
             AND ($2::text IS NULL OR user_id = $2) AND ($3::text IS NULL OR state = $3) \
             AND ($4::text IS NULL OR right(id, length($4)) = $4) AND ($6::text IS NULL \
             OR (started_at, id) < (SELECT last.started_at, last.id FROM runs AS last WHERE last.id = $6)) \
             ORDER BY started_at DESC, id DESC LIMIT $5");

    /// Open runs of every project, oldest first.
    OPEN_RUNS = both("SELECT id, record FROM runs WHERE state IN ('running', 'waiting') ORDER BY started_at, id");

    /// $1 run, $2 project, $3 user, $4 first number.
    RUN_EVENTS = both("SELECT run_events.seq, run_events.event FROM run_events JOIN runs ON runs.id = run_events.run \
                 WHERE run_events.run = $1 AND runs.project = $2 \
                 AND (CAST($3 AS TEXT) IS NULL OR runs.user_id = $3) AND run_events.seq >= $4 ORDER BY run_events.seq");

    /// $1 project, $2 since.
    SPENT_IN_PROJECT = both(concat!(spent!(), "project = $1 AND spent_at >= $2"));

    /// $1 project, $2 since, $3 user.
    SPENT_BY_USER = both(concat!(spent!(), "project = $1 AND spent_at >= $2 AND user_id = $3"));

    /// $1 project, $2 since, $3 user, $4 conversation.
    SPENT_IN_CONVERSATION = both(concat!(
            spent!(),
            "conversation = $4 AND spent_at >= $2 AND project = $1 AND (CAST($3 AS TEXT) IS NULL OR user_id = $3)"
        ));

    /// $1 project, $2 limit per tool.
    PAST_REQUESTS = both("SELECT tool, message FROM (SELECT tool, message, \
                 row_number() OVER (PARTITION BY tool ORDER BY id DESC) AS rank FROM past_requests WHERE project = $1) \
                 AS ranked WHERE rank <= $2 ORDER BY tool, rank");
}
