//! Writing questions, answers and standing answers.

use super::registry;

/// The columns of `answers`, in the order in which rows are written and read.
macro_rules! answer_columns {
    () => {
        "id, project, user_id, effect, tool, condition, lifts, definition, thread, call_id, given_by, given_at, \
         destination"
    };
}
pub(super) use answer_columns;

macro_rules! insert_approvals {
    ($rows:literal) => {
        concat!(
            "INSERT INTO approvals (call_id, arguments_hash, definition_hash, asks, reason, expires_at, \
             state, answer, answered_by, answered_at, sealed) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, \
             value ->> 6, value ->> 7, value ->> 8, value ->> 9, unhex(value ->> 10) FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}
pub(super) use insert_approvals;

/// The sealed request stays for an approval, which is still to be used.
macro_rules! answer_approvals {
    ($rows:literal) => {
        concat!(
            "UPDATE approvals SET state = answered.state, answer = answered.answer, \
             answered_by = answered.answered_by, answered_at = answered.answered_at, \
             replaced_by = answered.replaced_by, \
             sealed = CASE WHEN answered.state = 'granted' THEN approvals.sealed END \
             FROM (SELECT value ->> 0 AS call_id, value ->> 1 AS state, value ->> 2 AS answer, \
             value ->> 3 AS answered_by, value ->> 4 AS answered_at, value ->> 5 AS replaced_by \
             FROM jsonb_each(",
            $rows,
            ")) AS answered WHERE approvals.call_id = answered.call_id AND approvals.state = 'waiting'"
        )
    };
}
pub(super) use answer_approvals;

macro_rules! use_approvals {
    ($rows:literal) => {
        concat!(
            "UPDATE approvals SET state = 'used', used_at = used.used_at \
             FROM (SELECT value ->> 0 AS call_id, value ->> 1 AS used_at FROM jsonb_each(",
            $rows,
            ")) AS used WHERE approvals.call_id = used.call_id AND approvals.state IN ('granted', 'used')"
        )
    };
}
pub(super) use use_approvals;

/// The call cannot run any more, so its sealed request is deleted.
macro_rules! settle_approvals {
    ($rows:literal) => {
        concat!(
            "UPDATE approvals SET state = settled.state, sealed = NULL \
             FROM (SELECT value ->> 0 AS call_id, value ->> 1 AS state FROM jsonb_each(",
            $rows,
            ")) AS settled WHERE approvals.call_id = settled.call_id"
        )
    };
}
pub(super) use settle_approvals;

macro_rules! insert_answers {
    ($rows:literal) => {
        concat!(
            "INSERT INTO answers (",
            answer_columns!(),
            ") SELECT \
             value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, \
             value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12 FROM jsonb_each(",
            $rows,
            ")"
        )
    };
}
pub(super) use insert_answers;

/// Invalidates cached settings if there are new standing answers.
macro_rules! bump_revision_for {
    ($rows:literal) => {
        concat!(
            "UPDATE revisions SET value = value + 1 WHERE name = 'standing' AND json_array_length(",
            $rows,
            ") > 0"
        )
    };
}
pub(super) use bump_revision_for;

/// Approvals as preconditions. The column `part` names the part of `read_preconditions!` a row belongs to.
macro_rules! approvals_of {
    ($ids:literal) => {
        concat!(
            "SELECT 'approval' AS part, approvals.call_id, approvals.arguments_hash, approvals.definition_hash, \
             approvals.asks, approvals.expires_at, approvals.state, calls.status, calls.project, calls.user_id, \
             calls.asked_at \
             FROM approvals JOIN calls ON calls.id = approvals.call_id \
             WHERE approvals.call_id IN (SELECT value FROM json_each(",
            $ids,
            "))"
        )
    };
}
pub(super) use approvals_of;

registry! {
    /// $1 rows of call_id, arguments_hash, definition_hash, asks, reason, expires_at, state, answer,
    /// answered_by, answered_at, sealed as hexadecimal digits.
    INSERT_APPROVALS = each(insert_approvals!("$1"), "INSERT INTO approvals \
             (call_id, arguments_hash, definition_hash, asks, reason, expires_at, state, answer, answered_by, \
             answered_at, sealed) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, (value ->> 5)::bigint, \
             value ->> 6, value ->> 7, value ->> 8, (value ->> 9)::bigint, decode(value ->> 10, 'hex') \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)");

    /// $1 rows of call_id, state, answer, answered_by, answered_at, replaced_by.
    ANSWER_APPROVALS = each(answer_approvals!("$1"), "UPDATE approvals SET state = answered.state, answer = answered.answer, \
             answered_by = answered.answered_by, answered_at = answered.answered_at, \
             replaced_by = answered.replaced_by, \
             sealed = CASE WHEN answered.state = 'granted' THEN approvals.sealed END \
             FROM (SELECT value ->> 0 AS call_id, value ->> 1 AS state, value ->> 2 AS answer, \
             value ->> 3 AS answered_by, (value ->> 4)::bigint AS answered_at, value ->> 5 AS replaced_by \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS answered \
             WHERE approvals.call_id = answered.call_id AND approvals.state = 'waiting'");

    /// $1 rows of call_id, used_at.
    USE_APPROVALS = each(use_approvals!("$1"), "UPDATE approvals SET state = 'used', used_at = used.used_at \
             FROM (SELECT value ->> 0 AS call_id, (value ->> 1)::bigint AS used_at \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS used \
             WHERE approvals.call_id = used.call_id AND approvals.state IN ('granted', 'used')");

    /// $1 rows of call_id, state.
    SETTLE_APPROVALS = each(settle_approvals!("$1"), "UPDATE approvals SET state = settled.state, sealed = NULL \
             FROM (SELECT value ->> 0 AS call_id, value ->> 1 AS state \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)) AS settled \
             WHERE approvals.call_id = settled.call_id");

    /// $1 rows of `answer_columns!`.
    INSERT_ANSWERS = each(insert_answers!("$1"), concat!(
            "INSERT INTO answers (",
            answer_columns!(),
            ") SELECT \
             value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, \
             value ->> 7, value ->> 8, value ->> 9, value ->> 10, (value ->> 11)::bigint, value ->> 12 \
             FROM jsonb_array_elements($1::text::jsonb) AS rows (value)"
        ));

    /// $1 rows; no effect without rows.
    BUMP_REVISION_FOR = each(bump_revision_for!("$1"), "UPDATE revisions SET value = value + 1 \
             WHERE name = 'standing' AND jsonb_array_length($1::text::jsonb) > 0");

    /// $1 ids of calls.
    APPROVALS_OF = each(approvals_of!("$1"), "SELECT 'approval' AS part, approvals.call_id, approvals.arguments_hash, approvals.definition_hash, \
             approvals.asks, approvals.expires_at, approvals.state, calls.status, calls.project, calls.user_id, \
             calls.asked_at \
             FROM approvals JOIN calls ON calls.id = approvals.call_id \
             WHERE approvals.call_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))");
}
