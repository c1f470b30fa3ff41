-- Ids are TEXT, times INTEGER microseconds UTC, JSON TEXT. The PostgreSQL folder holds the same schema.

-- One row for every process that has calls open.
CREATE TABLE instances (
    id           TEXT    NOT NULL PRIMARY KEY,
    machine      TEXT    NOT NULL,
    process      TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL
) STRICT;

CREATE TABLE calls (
    id              TEXT    NOT NULL PRIMARY KEY,
    project         TEXT    NOT NULL,
    user_id         TEXT,
    tool            TEXT    NOT NULL,
    entrance        TEXT    NOT NULL,
    definition      TEXT,
    effect          TEXT,
    status          TEXT    NOT NULL,
    kind            TEXT,
    arguments       TEXT    NOT NULL,
    arguments_bytes INTEGER NOT NULL,
    result          TEXT,
    result_chars    INTEGER NOT NULL,
    artifact_id     TEXT,
    message         TEXT,
    error           TEXT,
    detail          TEXT,
    rule            TEXT,
    thread          TEXT,
    run             TEXT,
    asked_at        INTEGER NOT NULL,
    begun_at        INTEGER,
    ended_at        INTEGER,
    duration_us     INTEGER NOT NULL,
    -- Who began it. No reference: the row of a dead instance goes, its calls stay.
    instance        TEXT
) STRICT;

-- The journal, newest first.
CREATE INDEX calls_by_project ON calls (project, id);
-- Rate limits; holds the user, so that counting never touches the rows.
CREATE INDEX calls_by_tool ON calls (project, tool, begun_at, user_id) WHERE begun_at IS NOT NULL;
-- What a dead instance leaves behind: only open calls, so it stays tiny.
CREATE INDEX calls_begun ON calls (instance) WHERE status = 'begun';

CREATE TABLE approvals (
    call_id         TEXT    NOT NULL PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
    arguments_hash  TEXT    NOT NULL,
    definition_hash TEXT    NOT NULL,
    asks            TEXT    NOT NULL,
    reason          TEXT    NOT NULL,
    expires_at      INTEGER NOT NULL,
    -- waiting, granted, used or refused.
    state           TEXT    NOT NULL,
    answer          TEXT,
    answered_by     TEXT,
    answered_at     INTEGER,
    used_at         INTEGER
) STRICT;

CREATE TABLE artifact_bytes (
    project TEXT NOT NULL,
    sha256  TEXT NOT NULL,
    bytes   BLOB NOT NULL,
    PRIMARY KEY (project, sha256)
) STRICT;

CREATE TABLE artifacts (
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    user_id    TEXT,
    call_id    TEXT    NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
    sha256     TEXT    NOT NULL,
    media_type TEXT    NOT NULL,
    kept_at    INTEGER NOT NULL,
    FOREIGN KEY (project, sha256) REFERENCES artifact_bytes (project, sha256)
) STRICT;

CREATE INDEX artifacts_by_call ON artifacts (call_id);
CREATE INDEX artifacts_by_bytes ON artifacts (project, sha256);

-- Work that closed calls caused. No reference: work outlives the journal's row.
CREATE TABLE outbox (
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    call_id    TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    payload    TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    next_at    INTEGER NOT NULL,
    attempts   INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_due ON outbox (state, next_at);

CREATE TABLE switches (
    project    TEXT    NOT NULL,
    -- tool or feature.
    kind       TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (project, kind, name)
) STRICT;

-- Counts the changes of a table, so that a reader asks for one number instead of all rows.
CREATE TABLE revisions (
    name  TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;

INSERT INTO revisions (name, value) VALUES ('switches', 0);

-- What makes a file ours, and which migrations it has seen.
PRAGMA application_id = 1416589164;
PRAGMA user_version = 1;
