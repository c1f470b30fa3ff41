//! Looking at a whole database: is it sound, and what is in it?

use super::registry;

registry! {
    /// Damage that can be found without reading every index; `ok`, or a line each.
    QUICK_CHECK = sqlite_only("PRAGMA quick_check(20)");

    /// All damage that can be found; `ok`, or a line each.
    INTEGRITY_CHECK = sqlite_only("PRAGMA integrity_check(20)");

    /// Rows that refer to rows which are not there.
    FOREIGN_KEY_CHECK = sqlite_only("PRAGMA foreign_key_check");

    /// Version of SQLite, schema, size, size of a page, journal mode.
    FILE_FACTS = sqlite_only("SELECT sqlite_version(), (SELECT user_version FROM pragma_user_version), \
                 (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size), \
                 (SELECT page_size FROM pragma_page_size), (SELECT journal_mode FROM pragma_journal_mode)");

    /// Busy or not, pages in the write-ahead log, how many of them are in the file already. Moves none.
    LOG_LENGTH = sqlite_only("PRAGMA wal_checkpoint(NOOP)");

    /// The journal by status.
    COUNT_CALLS_BY_STATUS = both("SELECT status, count(*) FROM calls GROUP BY status");

    /// When the newest call was asked for.
    NEWEST_CALL = each("SELECT asked_at FROM calls WHERE rowid = (SELECT max(rowid) FROM calls)", "SELECT asked_at FROM calls WHERE id = (SELECT max(id) FROM calls)");

    /// $1 time, $2 latest start: questions that people can still answer, or whose answer can still be used.
    COUNT_OPEN_QUESTIONS = both("SELECT count(*) FROM approvals JOIN calls ON calls.id = approvals.call_id \
                 WHERE approvals.state IN ('waiting', 'granted') AND approvals.expires_at > $1 AND calls.asked_at <= $2 \
                 AND calls.status = 'pending' AND approvals.asks <> 'client'");

    /// What there was from the first schema on: calls, approvals, artifacts.
    COUNT_ROWS = both("SELECT (SELECT count(*) FROM calls), (SELECT count(*) FROM approvals), \
                 (SELECT count(*) FROM artifacts)");

    /// What came with the second: secrets, answers.
    COUNT_SETTINGS = both("SELECT (SELECT count(*) FROM secrets), (SELECT count(*) FROM answers)");

    /// What came with the third: conversations, memories.
    COUNT_CONVERSATIONS = both("SELECT (SELECT count(*) FROM conversations), (SELECT count(*) FROM memories)");
}
