//! Writing calls, and the scripts of a batch.

use super::approvals::{
    answer_approvals, answer_columns, approvals_of, bump_revision_for, insert_answers, insert_approvals,
    settle_approvals, use_approvals,
};
use super::registry;
use super::runs::runs_of;
use super::settings::{key_of, keys_of};

/// The columns of `calls`, in the order in which rows are written (`row::CallRow`) and read (`row::read_call`).
/// The instance that began a call is written, but not read.
macro_rules! call_columns {
    () => {
        "id, project, user_id, tool, entrance, definition, effect, status, kind, arguments, \
         arguments_bytes, result, result_chars, artifact_id, message, error, detail, rule, thread, run, \
         asked_at, begun_at, ended_at, duration_us, model_call"
    };
}
pub(super) use call_columns;

/// Closes a call that exists. It must not have a final status, and the close must come from the process that began it: a process
/// that was taken for dead must not close what another one has begun again. Anything else would set the status to NULL,
/// which the table forbids: the statement fails, and its unit is undone. Who asked, and when it began, stays unchanged.
macro_rules! on_conflict {
    () => {
        " ON CONFLICT (id) DO UPDATE SET status = CASE \
         WHEN excluded.status NOT IN ('begun', 'pending') AND calls.status IN ('begun', 'pending', 'unknown') \
         AND (excluded.begun_at IS NULL OR calls.begun_at IS NULL OR excluded.begun_at = calls.begun_at) \
         THEN excluded.status END, \
         definition = excluded.definition, effect = excluded.effect, kind = excluded.kind, \
         arguments = excluded.arguments, arguments_bytes = excluded.arguments_bytes, \
         result = excluded.result, result_chars = excluded.result_chars, \
         artifact_id = excluded.artifact_id, message = excluded.message, error = excluded.error, \
         detail = excluded.detail, rule = excluded.rule, ended_at = excluded.ended_at, \
         duration_us = excluded.duration_us"
    };
}

macro_rules! insert_calls {
    ($rows:literal) => {
        concat!(
            "INSERT INTO calls (",
            call_columns!(),
            ", instance) SELECT \
             value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, \
             value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, \
             value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, \
             value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23, \
             value ->> 24, value ->> 25 \
             FROM jsonb_each(",
            $rows,
            ") WHERE true"
        )
    };
}

/// One parameter per column. Not numbered: SQLite would look up each number in a list.
macro_rules! bound_row {
    () => {
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    };
}

macro_rules! eight_times {
    ($text:expr) => {
        concat!(
            $text, ", ", $text, ", ", $text, ", ", $text, ", ", $text, ", ", $text, ", ", $text, ", ", $text
        )
    };
}

macro_rules! upsert_call_chunk {
    () => {
        concat!(
            "INSERT INTO calls (",
            call_columns!(),
            ", instance) VALUES ",
            eight_times!(eight_times!(bound_row!())),
            on_conflict!()
        )
    };
}

macro_rules! upsert_calls {
    ($rows:literal) => {
        concat!(insert_calls!($rows), on_conflict!())
    };
}

macro_rules! upsert_calls_in_postgres {
    () => {
        concat!(
            "INSERT INTO calls (",
            call_columns!(),
            ", instance) SELECT \
             value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, \
             value ->> 6, value ->> 7, value ->> 8, value ->> 9, (value ->> 10)::bigint, value ->> 11, \
             (value ->> 12)::bigint, value ->> 13, value ->> 14, value ->> 15, value ->> 16, \
             value ->> 17, value ->> 18, value ->> 19, (value ->> 20)::bigint, (value ->> 21)::bigint, \
             (value ->> 22)::bigint, (value ->> 23)::bigint, value ->> 24, value ->> 25 \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)",
            on_conflict!()
        )
    };
}

/// Begins an approved call: the only way out of *pending* besides a close. A call whose process died may begin again, which
/// clears what was recorded of its first end.
macro_rules! resume_calls {
    ($rows:literal) => {
        concat!(
            "UPDATE calls SET status = 'begun', begun_at = resumed.begun_at, instance = resumed.instance, \
             rule = resumed.rule, kind = NULL, result = NULL, result_chars = 0, artifact_id = NULL, \
             message = NULL, error = NULL, detail = NULL, ended_at = NULL, duration_us = 0 \
             FROM (SELECT value ->> 0 AS id, value ->> 1 AS begun_at, value ->> 2 AS instance, \
             value ->> 3 AS rule FROM jsonb_each(",
            $rows,
            ")) AS resumed WHERE calls.id = resumed.id AND calls.status IN ('pending', 'unknown')"
        )
    };
}

/// Closes a parked call that was denied.
macro_rules! deny_calls {
    ($rows:literal) => {
        concat!(
            "UPDATE calls SET status = 'denied', ended_at = denied.ended_at, error = denied.error, \
             duration_us = denied.ended_at - calls.asked_at \
             FROM (SELECT value ->> 0 AS id, value ->> 1 AS ended_at, value ->> 2 AS error FROM jsonb_each(",
            $rows,
            ")) AS denied WHERE calls.id = denied.id AND calls.status = 'pending'"
        )
    };
}

macro_rules! insert_outbox {
    ($rows:literal) => {
        concat!(
            "INSERT INTO outbox (id, project, call_id, kind, payload, state, created_at, next_at, attempts) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, 'waiting', \
             value ->> 5, value ->> 5, 0 FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}

macro_rules! upsert_instances {
    ($rows:literal) => {
        concat!(
            "INSERT INTO instances (id, machine, process, started_at, heartbeat_at) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM jsonb_each(",
            $rows,
            ") WHERE true ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at"
        )
    };
}
pub(super) use upsert_instances;

/// All writes of a batch, one statement per kind of row. Parameters: `upsert_instances` $1, calls $2, resumed $3,
/// denied $4, approvals $5, answers $6, used grants $7, outbox $8, settled approvals $9, standing answers $10.
macro_rules! write_all {
    () => {
        concat!(
            upsert_instances!("$1"),
            "; ",
            upsert_calls!("$2"),
            "; ",
            resume_calls!("$3"),
            "; ",
            deny_calls!("$4"),
            "; ",
            insert_approvals!("$5"),
            "; ",
            answer_approvals!("$6"),
            "; ",
            use_approvals!("$7"),
            "; ",
            insert_outbox!("$8"),
            "; ",
            settle_approvals!("$9"),
            "; ",
            insert_answers!("$10"),
            "; ",
            bump_revision_for!("$10")
        )
    };
}

/// For each window: the number and the oldest of the calls in the part that all units share, and the times of earlier ones.
/// Materialized, because each counted call would read the JSON again.
macro_rules! windows_of {
    ($limits:literal) => {
        concat!(
            "WITH asked AS MATERIALIZED (SELECT key, value ->> 0 AS project, value ->> 1 AS tool, \
             value ->> 2 AS since, value ->> 3 AS latest_since, value ->> 4 AS users_apart, \
             value ->> 5 AS user_id, value ->> 6 AS until FROM jsonb_each(",
            $limits,
            ")) SELECT 'window' AS part, asked.key AS number, \
             count(calls.begun_at) FILTER (WHERE calls.begun_at > asked.latest_since) AS counted, \
             min(calls.begun_at) FILTER (WHERE calls.begun_at > asked.latest_since) AS oldest, \
             json_group_array(calls.begun_at) FILTER (WHERE calls.begun_at <= asked.latest_since) AS early \
             FROM asked LEFT JOIN calls ON calls.project = asked.project AND calls.tool = asked.tool \
             AND calls.begun_at > asked.since AND calls.begun_at < asked.until \
             AND (asked.users_apart = 0 OR calls.user_id IS asked.user_id) GROUP BY asked.key"
        )
    };
}

macro_rules! read_preconditions {
    () => {
        concat!(approvals_of!("$1"), "; ", windows_of!("$2"), "; ", keys_of!("$3"), "; ", runs_of!("$4"))
    };
}

/// A chunk of so many rows is written with one parameter per column, in two thirds of the time of one JSON text: SQLite
/// prepares more text, but parses no JSON.
pub(crate) const CALL_CHUNK_ROWS: usize = 64;

registry! {
    /// $1 rows of calls. A transaction of its own for a batch of plain begins and closes.
    UPSERT_CALLS = each(upsert_calls!("$1"), upsert_calls_in_postgres!());

    /// The columns of [`CALL_CHUNK_ROWS`] rows, one parameter each. PostgreSQL takes one JSON text.
    UPSERT_CALL_CHUNK = each(upsert_call_chunk!(), upsert_calls_in_postgres!());

    /// Parameters as [`UPSERT_CALL_CHUNK`].
    BEGIN_AND_UPSERT_CALL_CHUNK = sqlite_only(concat!("BEGIN IMMEDIATE; ", upsert_call_chunk!()));

    /// $1 rows of calls, the last of a transaction.
    UPSERT_CALLS_AND_COMMIT = sqlite_only(concat!(upsert_calls!("$1"), "; COMMIT"));

    /// $1 rows of calls from a write-ahead file. Their process may have written some of them.
    REPLAY_CALLS = sqlite_only(concat!(
            insert_calls!("$1"),
            " AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.id = value ->> 0 \
             AND calls.status NOT IN ('begun', 'unknown'))",
            on_conflict!()
        ));

    /// $1 rows of id, begun_at, instance, rule.
    RESUME_CALLS = each(resume_calls!("$1"), "UPDATE calls SET status = 'begun', begun_at = resumed.begun_at, \
             instance = resumed.instance, rule = resumed.rule, kind = NULL, result = NULL, result_chars = 0, \
             artifact_id = NULL, message = NULL, error = NULL, detail = NULL, ended_at = NULL, duration_us = 0 \
             FROM (SELECT value ->> 0 AS id, (value ->> 1)::bigint AS begun_at, value ->> 2 AS instance, \
             value ->> 3 AS rule FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS resumed \
             WHERE calls.id = resumed.id AND calls.status IN ('pending', 'unknown')");

    /// $1 rows of id, ended_at, error.
    DENY_CALLS = each(deny_calls!("$1"), "UPDATE calls SET status = 'denied', ended_at = denied.ended_at, \
             error = denied.error, duration_us = denied.ended_at - calls.asked_at \
             FROM (SELECT value ->> 0 AS id, (value ->> 1)::bigint AS ended_at, value ->> 2 AS error \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS denied \
             WHERE calls.id = denied.id AND calls.status = 'pending'");

    /// $1 rows of id, project, call_id, kind, payload, created_at.
    INSERT_OUTBOX = each(insert_outbox!("$1"), "INSERT INTO outbox (id, project, call_id, kind, payload, state, created_at, next_at, attempts) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, 'waiting', \
             (value ->> 5)::bigint, (value ->> 5)::bigint, 0 \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)");

    /// $1 rows of id, machine, process, started_at, heartbeat_at.
    UPSERT_INSTANCES = each(upsert_instances!("$1"), "INSERT INTO instances (id, machine, process, started_at, heartbeat_at) \
             SELECT value ->> 0, value ->> 1, value ->> 2, (value ->> 3)::bigint, (value ->> 4)::bigint \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value) \
             ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at");

    /// $1 rows of project, tool, since, latest since, whether users count apart, user, until.
    WINDOWS_OF = each(windows_of!("$1"), "SELECT 'window' AS part, asked.key - 1 AS number, \
         count(calls.begun_at) FILTER (WHERE calls.begun_at > (asked.value ->> 3)::bigint) AS counted, \
         min(calls.begun_at) FILTER (WHERE calls.begun_at > (asked.value ->> 3)::bigint) AS oldest, \
         COALESCE(json_agg(calls.begun_at) FILTER (WHERE calls.begun_at <= (asked.value ->> 3)::bigint), \
         '[]')::text AS early \
             FROM jsonb_array_elements($1::text::jsonb) WITH ORDINALITY AS asked (value, key) \
             LEFT JOIN calls ON calls.project = asked.value ->> 0 AND calls.tool = asked.value ->> 1 \
             AND calls.begun_at > (asked.value ->> 2)::bigint AND calls.begun_at < (asked.value ->> 6)::bigint \
             AND ((asked.value ->> 4)::bigint = 0 OR calls.user_id IS NOT DISTINCT FROM asked.value ->> 5) \
             GROUP BY asked.key");

    /// $1 project, $2 hash, $3 content, $4 id, $5 user, $6 call, $7 media type, $8 time.
    WRITE_ARTIFACT = sqlite_only("INSERT INTO artifact_bytes (project, sha256, bytes) VALUES ($1, $2, $3) \
                 ON CONFLICT (project, sha256) DO NOTHING; \
                 INSERT INTO artifacts (project, sha256, id, user_id, call_id, media_type, kept_at) \
                 VALUES ($1, $2, $4, $5, $6, $7, $8)");

    /// The first half of `WRITE_ARTIFACT`.
    INSERT_BYTES = both("INSERT INTO artifact_bytes (project, sha256, bytes) VALUES ($1, $2, $3) \
                 ON CONFLICT (project, sha256) DO NOTHING");

    /// The second half of `WRITE_ARTIFACT`.
    INSERT_ARTIFACT = both("INSERT INTO artifacts (project, sha256, id, user_id, call_id, media_type, kept_at) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7)");

    /// $1 call, $2 offers.
    WRITE_OFFERS = both("INSERT INTO call_offers (call_id, offers) VALUES ($1, $2) \
                 ON CONFLICT (call_id) DO UPDATE SET offers = excluded.offers");

    /// Parameters as [`WRITE`].
    WRITE = sqlite_only(write_all!());

    /// Parameters as [`WRITE`].
    BEGIN_AND_WRITE = sqlite_only(concat!("BEGIN IMMEDIATE; ", write_all!()));

    /// Parameters as [`WRITE`].
    WRITE_AND_COMMIT = sqlite_only(concat!(write_all!(), "; COMMIT"));

    /// Parameters as [`WRITE`].
    BEGIN_WRITE_COMMIT = sqlite_only(concat!("BEGIN IMMEDIATE; ", write_all!(), "; COMMIT"));

    /// $1 ids of calls, $2 limits as in [`WINDOWS_OF`], $3 names of keys, $4 runs and
    /// conversations.
    READ_PRECONDITIONS = sqlite_only(read_preconditions!());

    /// Parameters as [`READ_PRECONDITIONS`].
    BEGIN_AND_READ_PRECONDITIONS = sqlite_only(concat!("BEGIN IMMEDIATE; ", read_preconditions!()));
}
