//! Writing settings: switches, standing answers, secrets, trusted files.

use super::approvals::answer_columns;
use super::registry;

/// The key a value is sealed under: a version byte and four bytes that name the key.
macro_rules! key_of {
    ($sealed:literal) => {
        concat!("substr(", $sealed, ", 1, 5)")
    };
}

pub(super) use key_of;

/// Keys as preconditions: whether a value is sealed under the key, and whether any value is sealed at all.
macro_rules! keys_of {
    ($names:literal) => {
        concat!(
            "SELECT 'key' AS part, value AS name, EXISTS (SELECT 1 FROM secrets WHERE lower(hex(",
            key_of!("sealed"),
            ")) = value) OR EXISTS (SELECT 1 FROM approvals WHERE sealed IS NOT NULL AND lower(hex(",
            key_of!("sealed"),
            ")) = value) AS is_used, EXISTS (SELECT 1 FROM secrets) \
             OR EXISTS (SELECT 1 FROM approvals WHERE sealed IS NOT NULL) AS is_any_sealed FROM json_each(",
            $names,
            ")"
        )
    };
}
pub(super) use keys_of;

/// Whether no other secret is sealed under another key than $3.
macro_rules! no_other_key {
    () => {
        concat!(
            "NOT EXISTS (SELECT 1 FROM secrets WHERE (project <> $1 OR name <> $2) AND ",
            key_of!("secrets.sealed"),
            " <> ",
            key_of!("$3"),
            ")"
        )
    };
}

registry! {
    /// $1 project, $2 kind, $3 name, $4 state, $5 time.
    SET_SWITCH = both("INSERT INTO switches (project, kind, name, state, changed_at) VALUES ($1, $2, $3, $4, $5) \
                 ON CONFLICT (project, kind, name) DO UPDATE \
                 SET state = excluded.state, changed_at = excluded.changed_at");

    /// $1 project, $2 kind, $3 name.
    CLEAR_SWITCH = both("DELETE FROM switches WHERE project = $1 AND kind = $2 AND name = $3");

    /// `answer_columns!`. Replaces an answer of the same project with this id.
    SET_ANSWER = both(concat!("INSERT INTO answers (", answer_columns!(), ") \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (id) DO UPDATE \
                 SET user_id = excluded.user_id, effect = excluded.effect, tool = excluded.tool, \
                 condition = excluded.condition, lifts = excluded.lifts, definition = excluded.definition, \
                 thread = excluded.thread, call_id = excluded.call_id, given_by = excluded.given_by, \
                 given_at = excluded.given_at, destination = excluded.destination WHERE answers.project = excluded.project"));

    /// $1 project, $2 id.
    DELETE_ANSWER = both("DELETE FROM answers WHERE project = $1 AND id = $2");

    /// $1 project, $2 name, $3 sealed value, $4 time; no effect if other secrets have another key.
    SET_SECRET = each(concat!(
            "INSERT INTO secrets (project, name, sealed, created_at, changed_at) SELECT $1, $2, $3, $4, $4 WHERE ",
            no_other_key!(),
            " ON CONFLICT (project, name) DO UPDATE SET sealed = excluded.sealed, changed_at = excluded.changed_at"
        ), concat!(
            "INSERT INTO secrets (project, name, sealed, created_at, changed_at) \
             SELECT $1::text, $2::text, $3::bytea, $4::bigint, $4::bigint WHERE ",
            no_other_key!(),
            " ON CONFLICT (project, name) DO UPDATE SET sealed = excluded.sealed, changed_at = excluded.changed_at"
        ));

    /// $1 project, $2 name.
    DELETE_SECRET = both("DELETE FROM secrets WHERE project = $1 AND name = $2");

    /// $1 project, $2 prefix of their names.
    DELETE_SECRETS_FROM = both("DELETE FROM secrets WHERE project = $1 AND substr(name, 1, length($2)) = $2");

    /// Begins a change of keys.
    SAVEPOINT_RESEAL = both("SAVEPOINT reseal");

    /// $1 project, $2 name, $3 the value as it was, $4 the same under another key.
    RESEAL_SECRET = both("UPDATE secrets SET sealed = $4 WHERE project = $1 AND name = $2 AND sealed = $3");

    /// $1 call, $2 the request as it was, $3 the same under another key.
    RESEAL_APPROVAL = both("UPDATE approvals SET sealed = $3 WHERE call_id = $1 AND sealed = $2");

    /// $1 a key: the number of values sealed under another one.
    OTHER_KEYS = both(concat!(
            "SELECT (SELECT count(*) FROM secrets WHERE ",
            key_of!("sealed"),
            " <> $1) + (SELECT count(*) FROM approvals WHERE sealed IS NOT NULL AND ",
            key_of!("sealed"),
            " <> $1) AS total"
        ));

    /// $1 names of keys, in hexadecimal digits.
    KEYS_OF = each(keys_of!("$1"), concat!(
            "SELECT 'key' AS part, value AS name, EXISTS (SELECT 1 FROM secrets WHERE encode(",
            key_of!("sealed"),
            ", 'hex') = value) OR EXISTS (SELECT 1 FROM approvals WHERE sealed IS NOT NULL AND encode(",
            key_of!("sealed"),
            ", 'hex') = value) AS is_used, EXISTS (SELECT 1 FROM secrets) \
             OR EXISTS (SELECT 1 FROM approvals WHERE sealed IS NOT NULL) AS is_any_sealed \
             FROM jsonb_array_elements_text($1::text::jsonb) AS names (value)"
        ));

    /// Keeps a change of keys.
    RELEASE_RESEAL = both("RELEASE reseal");

    /// Undoes a change of keys.
    UNDO_RESEAL = sqlite_only("ROLLBACK TO reseal; RELEASE reseal");

    /// $1 path, $2 hash, $3 time.
    TRUST_FILE = both("INSERT INTO trusted_files (path, sha256, trusted_at) VALUES ($1, $2, $3) \
                 ON CONFLICT (path) DO UPDATE SET sha256 = excluded.sha256, trusted_at = excluded.trusted_at");

    /// $1 path.
    DISTRUST_FILE = both("DELETE FROM trusted_files WHERE path = $1");

    /// Invalidates cached settings.
    BUMP_REVISION = both("UPDATE revisions SET value = value + 1 WHERE name = 'standing'");
}
