-- What was read and sent before a call, and what that means for memories and answers. The PostgreSQL folder holds the same schema.

CREATE TABLE tracks (
    -- Project, user and name, as a JSON array.
    id           TEXT    NOT NULL PRIMARY KEY,
    conversation TEXT    REFERENCES conversations (id) ON DELETE CASCADE,
    touched_at   INTEGER NOT NULL,
    track        TEXT    NOT NULL
) STRICT;

CREATE INDEX tracks_by_conversation ON tracks (conversation) WHERE conversation IS NOT NULL;
CREATE INDEX tracks_by_time ON tracks (touched_at) WHERE conversation IS NULL;

-- What had been read when it was remembered, as a JSON object.
ALTER TABLE memories ADD COLUMN stored_under TEXT;
ALTER TABLE promotions ADD COLUMN stored_under TEXT;

-- Where something may be sent.
ALTER TABLE answers ADD COLUMN destination TEXT;

-- A yes to the question of provenance is for one destination from now on.
DELETE FROM answers WHERE effect = 'allow' AND lifts = 'provenance.third';

-- Conversations go on with what their runs knew.
INSERT INTO tracks (id, conversation, track, touched_at)
SELECT json_array(conversations.project, NULL, 'conversation/' || conversations.id),
    conversations.id,
    json_object('provenance', json_object(
            'private', json(CASE WHEN max(COALESCE(json_extract(record, '$.provenance.private'), 0)) THEN 'true' ELSE 'false' END),
            'untrusted', json(CASE WHEN max(COALESCE(json_extract(record, '$.provenance.untrusted'), 0)) THEN 'true' ELSE 'false' END),
            'outward', json(CASE WHEN max(COALESCE(json_extract(record, '$.provenance.outward'), 0)) THEN 'true' ELSE 'false' END)),
        'started_at', conversations.created_at, 'touched_at', conversations.updated_at),
    conversations.updated_at
FROM conversations JOIN runs ON runs.conversation = conversations.id
GROUP BY conversations.id;

PRAGMA user_version = 8;
