-- Servers that bring tools of their own: what people said about them, what was accepted of their tools, what was last seen of them. The PostgreSQL folder holds the same schema.

CREATE TABLE foreign_servers (
    project    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    record     TEXT    NOT NULL,
    -- What was last seen of it.
    condition  TEXT,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (project, name)
) STRICT;

CREATE TABLE foreign_definitions (
    project    TEXT    NOT NULL,
    server     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    -- What a person accepted.
    accepted   TEXT,
    -- What the server offers instead.
    offered    TEXT,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (project, server, tool)
) STRICT;

PRAGMA user_version = 6;
