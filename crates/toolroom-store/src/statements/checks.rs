//! Checks and counts of a whole database.

use super::registry;

registry! {
    /// Damage, without reading every index: `ok`, or one line per problem.
    QUICK_CHECK = sqlite_only("PRAGMA quick_check(20)");

    /// All detectable damage: `ok`, or one line per problem.
    INTEGRITY_CHECK = sqlite_only("PRAGMA integrity_check(20)");

    /// Rows that refer to missing rows.
    FOREIGN_KEY_CHECK = sqlite_only("PRAGMA foreign_key_check");

    /// Version of SQLite, schema, size, size of a page, journal mode.
    FILE_FACTS = sqlite_only("SELECT sqlite_version() AS sqlite, (SELECT user_version FROM pragma_user_version) AS schema, \
                 (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size) AS bytes, \
                 (SELECT page_size FROM pragma_page_size) AS page_bytes, \
                 (SELECT journal_mode FROM pragma_journal_mode) AS journal_mode");

    /// `busy`, `log` (pages in the write-ahead log), `checkpointed`. Moves no pages.
    LOG_LENGTH = sqlite_only("PRAGMA wal_checkpoint(NOOP)");

    /// The journal by status.
    COUNT_CALLS_BY_STATUS = both("SELECT status, count(*) AS calls FROM calls GROUP BY status");

    /// When the newest call arrived.
    NEWEST_CALL = each("SELECT asked_at FROM calls WHERE rowid = (SELECT max(rowid) FROM calls)", "SELECT asked_at FROM calls WHERE id = (SELECT max(id) FROM calls)");

    /// $1 time, $2 latest start: questions for users that can still be answered, or whose answer can still be used.
    COUNT_OPEN_QUESTIONS = both("SELECT count(*) AS questions FROM approvals JOIN calls ON calls.id = approvals.call_id \
                 WHERE approvals.state IN ('waiting', 'granted') AND approvals.expires_at > $1 AND calls.asked_at <= $2 \
                 AND calls.status = 'pending' AND approvals.asks <> 'client'");

    /// Since schema 1: calls, approvals, artifacts.
    COUNT_ROWS = both("SELECT (SELECT count(*) FROM calls) AS calls, (SELECT count(*) FROM approvals) AS approvals, \
                 (SELECT count(*) FROM artifacts) AS artifacts");

    /// Since schema 2: secrets, answers.
    COUNT_SETTINGS = both("SELECT (SELECT count(*) FROM secrets) AS secrets, (SELECT count(*) FROM answers) AS answers");

    /// Since schema 3: conversations, memories.
    COUNT_CONVERSATIONS = both("SELECT (SELECT count(*) FROM conversations) AS conversations, \
                 (SELECT count(*) FROM memories) AS memories");
}
