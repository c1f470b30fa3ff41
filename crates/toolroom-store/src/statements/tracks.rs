//! Provenance tracks.

use super::registry;

registry! {
    /// $1 id.
    TRACK = both("SELECT track FROM tracks WHERE id = $1");

    /// $1 id, $2 conversation, $3 track, $4 time. A conversation without a row counts as none.
    SET_TRACK = both("INSERT INTO tracks (id, conversation, track, touched_at) \
                 VALUES ($1, (SELECT id FROM conversations WHERE id = $2), $3, $4) \
                 ON CONFLICT (id) DO UPDATE SET track = excluded.track, touched_at = excluded.touched_at, \
                 conversation = COALESCE(tracks.conversation, excluded.conversation)");

    /// $1 time: tracks without a conversation that were not touched since.
    DELETE_OLD_TRACKS = both("DELETE FROM tracks WHERE conversation IS NULL AND touched_at < $1");

    /// $1 time: answers about a destination whose thread is not a conversation.
    DELETE_OLD_LIFTS = both("DELETE FROM answers WHERE destination IS NOT NULL AND given_at < $1 \
                 AND NOT EXISTS (SELECT 1 FROM conversations WHERE conversations.id = answers.thread)");
}
