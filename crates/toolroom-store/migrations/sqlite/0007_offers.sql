-- What calls offered to the client of whoever made them: few calls do, so it is no column of theirs. The PostgreSQL folder holds the same schema.

CREATE TABLE call_offers (
    call_id TEXT NOT NULL PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
    offers  TEXT NOT NULL
) STRICT;

PRAGMA user_version = 7;
