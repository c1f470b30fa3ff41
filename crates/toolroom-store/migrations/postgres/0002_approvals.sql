-- Questions to people and their answers, sealed secrets, trusted files. The SQLite folder holds the same schema.

-- The exact request of a parked call, sealed; gone as soon as nothing can run any more.
ALTER TABLE approvals ADD COLUMN sealed BYTEA;
-- The call with the edited arguments.
ALTER TABLE approvals ADD COLUMN replaced_by TEXT;

-- What may expire, or still holds something sealed.
CREATE INDEX approvals_open ON approvals (expires_at) WHERE state IN ('waiting', 'granted') OR sealed IS NOT NULL;
-- The inbox.
CREATE INDEX calls_pending ON calls (project, id) WHERE status = 'pending';

-- Answers that outlive their question: session, always, never.
CREATE TABLE answers (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    user_id    TEXT,
    -- allow or deny.
    effect     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    -- Which calls of the tool; all of them, if absent.
    condition  TEXT,
    -- The rule whose question a yes answers.
    lifts      TEXT,
    definition TEXT,
    -- The conversation it holds in.
    thread     TEXT,
    -- No reference: the answer outlives the journal's row.
    call_id    TEXT    NOT NULL,
    given_by   TEXT    NOT NULL,
    given_at   BIGINT NOT NULL
);

CREATE INDEX answers_by_project ON answers (project, id);

CREATE TABLE secrets (
    project    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    sealed     BYTEA   NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);

-- Project files whose content somebody has looked at and said yes to.
CREATE TABLE trusted_files (
    path       TEXT    NOT NULL PRIMARY KEY,
    sha256     TEXT    NOT NULL,
    trusted_at BIGINT NOT NULL
);

-- One number now counts the changes of switches, answers and secrets.
UPDATE revisions SET name = 'standing' WHERE name = 'switches';
