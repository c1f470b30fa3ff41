-- Programs in the background. The SQLite folder holds the same schema.

CREATE TABLE programs (
    -- Counted in `revisions`, so that none is given twice.
    number    BIGINT NOT NULL,
    project   TEXT    NOT NULL,
    user_id   TEXT,
    -- The conversation, if one started it. No reference: whoever embeds may have conversations of their own.
    thread    TEXT,
    command   TEXT    NOT NULL,
    -- running, finished or killed.
    state     TEXT    NOT NULL,
    exit_code BIGINT NOT NULL,
    -- Whose it is while it runs. No reference: the row of a dead instance goes, its programs stay.
    instance  TEXT    NOT NULL,
    began_at  BIGINT NOT NULL,
    PRIMARY KEY (number, project)
);

CREATE INDEX programs_by_thread ON programs (thread, project);
CREATE INDEX programs_by_start ON programs (began_at);

INSERT INTO revisions (name, value) VALUES ('programs', 0);
