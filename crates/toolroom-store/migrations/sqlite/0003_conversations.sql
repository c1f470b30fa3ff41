-- Conversations and their runs, what they cost, what agents remember, agents. The PostgreSQL folder holds the same schema.

-- Which of a model's calls it is. A run makes each of them once.
ALTER TABLE calls ADD COLUMN model_call TEXT;
CREATE UNIQUE INDEX calls_by_run ON calls (run, model_call) WHERE run IS NOT NULL;

CREATE TABLE conversations (
    id         TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    user_id    TEXT,
    agent      TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    -- In small letters, to be searched.
    folded     TEXT    NOT NULL,
    -- How many entries there are.
    entries    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX conversations_by_project ON conversations (project, updated_at);

CREATE TABLE entries (
    conversation TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    seq          INTEGER NOT NULL,
    run          TEXT    NOT NULL,
    said_at      INTEGER NOT NULL,
    content      TEXT    NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT;

CREATE TABLE runs (
    id           TEXT    NOT NULL PRIMARY KEY,
    conversation TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    project      TEXT    NOT NULL,
    user_id      TEXT,
    -- running, waiting, done, failed or cancelled.
    state        TEXT    NOT NULL,
    -- Who works on it; nobody, unless it is running. No reference: the row of a dead instance goes, its runs stay.
    instance     TEXT,
    started_at   INTEGER NOT NULL,
    record       TEXT    NOT NULL
) STRICT;

CREATE INDEX runs_by_conversation ON runs (conversation);
-- One at a time is open.
CREATE UNIQUE INDEX runs_open ON runs (conversation) WHERE state IN ('running', 'waiting');

CREATE TABLE run_events (
    run   TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    event TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;

-- What answers of models cost. No references: what was spent stays spent.
CREATE TABLE usage (
    project      TEXT    NOT NULL,
    user_id      TEXT,
    spent_at     INTEGER NOT NULL,
    run          TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    -- answer or summary.
    purpose      TEXT    NOT NULL,
    input        INTEGER NOT NULL,
    output       INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL,
    reasoning    INTEGER NOT NULL,
    -- US dollars, if the price is known.
    cost         REAL
) STRICT;

CREATE INDEX usage_by_project ON usage (project, spent_at);
CREATE INDEX usage_by_user ON usage (project, user_id, spent_at) WHERE user_id IS NOT NULL;
CREATE INDEX usage_by_conversation ON usage (conversation, spent_at);

-- Messages that led a model to a tool.
CREATE TABLE past_requests (
    id           TEXT NOT NULL PRIMARY KEY,
    project      TEXT NOT NULL,
    tool         TEXT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX past_requests_by_tool ON past_requests (project, tool, id);
CREATE INDEX past_requests_by_conversation ON past_requests (conversation);

CREATE TABLE memories (
    project    TEXT    NOT NULL,
    user_id    TEXT,
    key        TEXT    NOT NULL,
    content    TEXT    NOT NULL,
    category   TEXT    NOT NULL,
    hits       INTEGER NOT NULL,
    source     TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- Two of them, because nobody's users are not the same user.
CREATE UNIQUE INDEX memories_by_user ON memories (project, user_id, key);
CREATE UNIQUE INDEX memories_of_nobody ON memories (project, key) WHERE user_id IS NULL;

-- Memories that became part of an agent's prompt, as they were.
CREATE TABLE promotions (
    id          TEXT    NOT NULL PRIMARY KEY,
    project     TEXT    NOT NULL,
    user_id     TEXT,
    agent       TEXT    NOT NULL,
    addition    TEXT    NOT NULL,
    promoted_at INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    content     TEXT    NOT NULL,
    category    TEXT    NOT NULL,
    hits        INTEGER NOT NULL,
    source      TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX promotions_by_agent ON promotions (project, user_id, agent, id);

CREATE TABLE agents (
    project    TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    record     TEXT    NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (project, id)
) STRICT;

PRAGMA user_version = 3;
