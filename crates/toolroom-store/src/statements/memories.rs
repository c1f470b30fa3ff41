//! Memories, promotions, and agents.

use super::registry;

/// The columns of a memory.
macro_rules! memory_columns {
    () => {
        "key, content, category, hits, source, created_at, updated_at, stored_under"
    };
}

/// Exactly this scope: $1 project, $2 user.
macro_rules! of_scope {
    () => {
        "project = $1 AND user_id IS NOT DISTINCT FROM $2"
    };
}

registry! {
    /// $1 project, $2 user, $3 key.
    MEMORY = both(concat!("SELECT ", memory_columns!(), " FROM memories WHERE ", of_scope!(), " AND key = $3"));

    /// $1 project, $2 user.
    MEMORIES = both(concat!(
            "SELECT ",
            memory_columns!(),
            " FROM memories WHERE ",
            of_scope!(),
            " ORDER BY updated_at DESC, created_at DESC, key"
        ));

    /// $1 project, $2 user, $3 key, $4 content, $5 category, $6 source, $7 time, $8 provenance. A category or
    /// source that is NULL stays as it was.
    CHANGE_MEMORY = both(concat!(
            "UPDATE memories SET content = $4, category = COALESCE($5, category), source = COALESCE($6, source), \
             updated_at = $7, stored_under = $8 WHERE ",
            of_scope!(),
            " AND key = $3 RETURNING ",
            memory_columns!()
        ));

    /// $1 project, $2 user, $3 key, $4 content, $5 category, $6 source, $7 hits, $8 first time, $9 last time,
    /// $10 provenance.
    INSERT_MEMORY = both(concat!(
            "INSERT INTO memories (project, user_id, key, content, category, source, hits, created_at, updated_at, \
             stored_under) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING ",
            memory_columns!()
        ));

    /// $1 project, $2 user, $3 key.
    DELETE_MEMORY = both(concat!(
            "DELETE FROM memories WHERE ",
            of_scope!(),
            " AND key = $3 RETURNING ",
            memory_columns!()
        ));

    /// $1 project, $2 user, $3 key, $4 time.
    REINFORCE_MEMORY = both(concat!(
            "UPDATE memories SET hits = hits + 1, updated_at = $4 WHERE ",
            of_scope!(),
            " AND key = $3 RETURNING ",
            memory_columns!()
        ));

    /// $1 project, $2 user, $3 key, $4 minimum of hits, $5 id, $6 agent, $7 addition, $8 time.
    PROMOTE_MEMORY = both(concat!(
            "INSERT INTO promotions (id, project, user_id, agent, addition, promoted_at, ",
            memory_columns!(),
            ") SELECT CAST($5 AS TEXT), project, user_id, CAST($6 AS TEXT), CAST($7 AS TEXT), CAST($8 AS BIGINT), ",
            memory_columns!(),
            " FROM memories WHERE ",
            of_scope!(),
            " AND key = $3 AND hits >= $4 RETURNING ",
            memory_columns!(),
            ", agent, addition, promoted_at"
        ));

    /// $1 project, $2 user, $3 key, $4 agent: the newest promotion.
    DELETE_PROMOTION = both(concat!(
            "DELETE FROM promotions WHERE id = (SELECT max(id) FROM promotions WHERE ",
            of_scope!(),
            " AND key = $3 AND agent = $4) RETURNING ",
            memory_columns!(),
            ", agent, addition, promoted_at"
        ));

    /// $1 project, $2 user, $3 agent.
    PROMOTIONS = both(concat!(
            "SELECT ",
            memory_columns!(),
            ", agent, addition, promoted_at FROM promotions WHERE ",
            of_scope!(),
            " AND agent = $3 ORDER BY id"
        ));

    /// $1 project.
    AGENTS = both("SELECT id, record FROM agents WHERE project = $1 ORDER BY id");

    /// $1 project, $2 id, $3 record, $4 time.
    SET_AGENT = both("INSERT INTO agents (project, id, record, changed_at) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (project, id) DO UPDATE SET record = excluded.record, changed_at = excluded.changed_at");

    /// $1 project, $2 id.
    DELETE_AGENT = both("DELETE FROM agents WHERE project = $1 AND id = $2");
}
