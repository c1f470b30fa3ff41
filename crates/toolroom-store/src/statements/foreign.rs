//! Foreign servers and the definitions of their tools.

use super::registry;

registry! {
    /// $1 project.
    SERVERS = both("SELECT name, record FROM foreign_servers WHERE project = $1 ORDER BY name");

    /// $1 project, $2 name.
    SERVER = both("SELECT name, record, condition FROM foreign_servers WHERE project = $1 AND name = $2");

    /// $1 project, $2 name, $3 record, $4 time.
    SET_SERVER = both("INSERT INTO foreign_servers (project, name, record, changed_at) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (project, name) DO UPDATE SET record = excluded.record, changed_at = excluded.changed_at");

    /// $1 project, $2 name.
    DELETE_SERVER = both("DELETE FROM foreign_servers WHERE project = $1 AND name = $2");

    /// $1 project, $2 name, $3 condition.
    SET_CONDITION = both("UPDATE foreign_servers SET condition = $3 WHERE project = $1 AND name = $2");

    /// $1 project, $2 server.
    DEFINITIONS = both("SELECT tool, accepted, offered FROM foreign_definitions \
                 WHERE project = $1 AND server = $2 ORDER BY tool");

    /// $1 project, $2 server.
    DELETE_DEFINITIONS = both("DELETE FROM foreign_definitions WHERE project = $1 AND server = $2");

    /// $1 project, $2 server, $3 tool.
    DELETE_DEFINITION = both("DELETE FROM foreign_definitions WHERE project = $1 AND server = $2 AND tool = $3");

    /// $1 project, $2 server, $3 tool, $4 accepted definition, $5 offered definition, $6 time.
    SET_DEFINITION = both("INSERT INTO foreign_definitions (project, server, tool, accepted, offered, changed_at) \
                 VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project, server, tool) DO UPDATE SET \
                 accepted = excluded.accepted, offered = excluded.offered, changed_at = excluded.changed_at");
}
