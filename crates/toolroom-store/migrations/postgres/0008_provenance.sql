-- What was read and sent before a call, and what that means for memories and answers. The SQLite folder holds the same schema.

CREATE TABLE tracks (
    -- Project, user and name, as a JSON array.
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    conversation TEXT COLLATE "C" REFERENCES conversations (id) ON DELETE CASCADE,
    touched_at   BIGINT NOT NULL,
    track        TEXT   NOT NULL
);

CREATE INDEX tracks_by_conversation ON tracks (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX tracks_by_time ON tracks (touched_at) WHERE conversation IS NULL;

-- What had been read when it was remembered, as a JSON object.
ALTER TABLE memories ADD COLUMN stored_under TEXT;
ALTER TABLE promotions ADD COLUMN stored_under TEXT;

-- Where something may be sent.
ALTER TABLE answers ADD COLUMN destination TEXT;

-- A yes to the question of provenance is for one destination from now on.
DELETE FROM answers WHERE effect = 'allow' AND lifts = 'provenance.third';
