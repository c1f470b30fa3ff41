-- Servers that bring tools of their own: what people said about them, what was accepted of their tools, what was last seen of them. The SQLite folder holds the same schema.

CREATE TABLE foreign_servers (
    project    TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    record     TEXT    NOT NULL,
    -- What was last seen of it.
    condition  TEXT,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);

CREATE TABLE foreign_definitions (
    project    TEXT COLLATE "C" NOT NULL,
    server     TEXT COLLATE "C" NOT NULL,
    tool       TEXT COLLATE "C" NOT NULL,
    -- What a person accepted.
    accepted   TEXT,
    -- What the server offers instead.
    offered    TEXT,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (project, server, tool)
);
