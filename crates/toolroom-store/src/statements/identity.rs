//! Projects, keys, signed-in browsers, stored replies.

use super::registry;

/// Columns of a key.
macro_rules! key_columns {
    () => {
        "id, project, name, environment, sha256, hint, permissions, origins, created_at, expires_at"
    };
}

registry! {
    /// Every project.
    PROJECTS = both("SELECT id, name, host_tools, created_at FROM projects ORDER BY id");

    /// $1 id, $2 name, $3 host_tools, $4 time.
    SET_PROJECT = both("INSERT INTO projects (id, name, host_tools, created_at) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (id) DO UPDATE SET name = excluded.name, host_tools = excluded.host_tools");

    /// $1 id.
    DELETE_PROJECT = both("DELETE FROM projects WHERE id = $1");

    /// Every key of every project.
    ALL_KEYS = both(concat!("SELECT ", key_columns!(), " FROM api_keys ORDER BY project, id"));

    /// A key, column by column.
    INSERT_KEY = both(concat!(
            "INSERT INTO api_keys (",
            key_columns!(),
            ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        ));

    /// $1 project, $2 id, $3 time of expiry; no effect on a key that expires earlier.
    EXPIRE_KEY = both("UPDATE api_keys SET expires_at = $3 \
                 WHERE project = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > $3)");

    /// $1 project.
    DELETE_KEYS = both("DELETE FROM api_keys WHERE project = $1");

    /// $1 hash, $2 kind, $3 project, $4 time, $5 time of expiry.
    INSERT_SIGN_IN = both("INSERT INTO sign_ins (sha256, kind, project, created_at, expires_at) \
                 VALUES ($1, $2, $3, $4, $5)");

    /// $1 hash, $2 kind, $3 time.
    SIGN_IN = both("SELECT project FROM sign_ins WHERE sha256 = $1 AND kind = $2 AND expires_at > $3");

    /// $1 hash, $2 kind, $3 time; no effect if it has expired.
    DELETE_SIGN_IN = both("DELETE FROM sign_ins WHERE (sha256 = $1 AND kind = $2 AND expires_at > $3)");

    /// $1 time.
    DELETE_OLD_SIGN_INS = both("DELETE FROM sign_ins WHERE expires_at <= $1");

    /// $1 project, $2 caller, $3 name, $4 request, $5 time; no effect if the name is taken.
    CLAIM_REPLY = both("INSERT INTO replies (project, caller, name, request, created_at) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (project, caller, name) DO NOTHING");

    /// $1 project, $2 caller, $3 name, $4 status, $5 body.
    STORE_REPLY = both("UPDATE replies SET status = $4, body = $5 WHERE project = $1 AND caller = $2 AND name = $3");

    /// $1 project, $2 caller, $3 name: releases a name without a reply.
    DROP_REPLY = both("DELETE FROM replies WHERE project = $1 AND caller = $2 AND name = $3 AND status IS NULL");

    /// $1 time.
    DELETE_OLD_REPLIES = both("DELETE FROM replies WHERE created_at < $1");

    /// $1 project, $2 caller, $3 name.
    REPLY = both("SELECT request, status, body FROM replies WHERE project = $1 AND caller = $2 AND name = $3");
}
