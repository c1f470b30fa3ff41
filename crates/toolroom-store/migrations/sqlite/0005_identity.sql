-- Who may come in over the network: projects, their keys, browsers that were signed in; and replies that may be asked for twice. The PostgreSQL folder holds the same schema.

CREATE TABLE projects (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    -- Whether it may use the tools of this machine.
    host_tools INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    id          TEXT    NOT NULL PRIMARY KEY,
    project     TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    -- prod or test.
    environment TEXT    NOT NULL,
    -- Of the whole key, which is nowhere else.
    sha256      TEXT    NOT NULL,
    -- How it begins and its last four characters.
    hint        TEXT    NOT NULL,
    -- Lists of texts.
    permissions TEXT    NOT NULL,
    origins     TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    -- From when on it no longer holds: it was made for so long, taken back, or another one took its place.
    expires_at  INTEGER
) STRICT;

CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (sha256);

CREATE INDEX api_keys_by_project ON api_keys (project, id);

-- Links that sign a browser in once, and browsers that are signed in.
CREATE TABLE sign_ins (
    sha256     TEXT    NOT NULL PRIMARY KEY,
    -- link or browser.
    kind       TEXT    NOT NULL,
    project    TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- What was replied to a request that said it might be repeated.
CREATE TABLE replies (
    project    TEXT    NOT NULL,
    -- Who asked, and what they called it.
    caller     TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    -- Of method, path and body: another request with the same name is a mistake.
    request    TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    -- Absent while it is being worked on.
    status     INTEGER,
    body       TEXT,
    PRIMARY KEY (project, caller, name)
) STRICT;

CREATE INDEX replies_by_age ON replies (created_at);

PRAGMA user_version = 5;
