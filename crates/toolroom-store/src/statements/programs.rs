//! Background programs.

use super::registry;
use super::upkeep::instance_columns;

/// Exactly this scope and conversation: $1 project, $2 user, $3 conversation.
macro_rules! of_thread {
    () => {
        "programs.project = $1 AND programs.user_id IS NOT DISTINCT FROM $2 \
         AND programs.thread IS NOT DISTINCT FROM $3"
    };
}

registry! {
    /// The next program number; numbers are never reused.
    NEXT_PROGRAM = both("UPDATE revisions SET value = value + 1 WHERE name = 'programs' RETURNING value");

    /// $1 project, $2 user, $3 conversation, $4 number, $5 command, $6 instance, $7 time.
    INSERT_PROGRAM = both("INSERT INTO programs (project, user_id, thread, number, command, state, exit_code, instance, \
                 began_at) VALUES ($1, $2, $3, $4, $5, 'running', -1, $6, $7)");

    /// $1 project, $2 user, $3 conversation, $4 limit: ended programs are deleted first, then the oldest.
    TRIM_PROGRAMS = both(concat!(
            "DELETE FROM programs WHERE ",
            of_thread!(),
            " AND number NOT IN (SELECT programs.number FROM programs WHERE ",
            of_thread!(),
            " ORDER BY CASE WHEN programs.state = 'running' THEN 0 ELSE 1 END, programs.number DESC LIMIT $4)"
        ));

    /// $1 time.
    DELETE_OLD_PROGRAMS = both("DELETE FROM programs WHERE began_at < $1");

    /// $1 number, $2 state, $3 exit code.
    END_PROGRAM =
        both("UPDATE programs SET state = $2, exit_code = $3 WHERE number = $1 AND state = 'running'");

    /// $1 project, $2 user, $3 number.
    DELETE_PROGRAM =
        both("DELETE FROM programs WHERE project = $1 AND user_id IS NOT DISTINCT FROM $2 AND number = $3");

    /// $1 conversation, $2 project.
    DELETE_PROGRAMS_OF_CONVERSATION = both("DELETE FROM programs WHERE thread = $1 AND project = $2");

    /// $1 project, $2 user, $3 conversation.
    PROGRAMS = both(concat!(
            "SELECT programs.number, programs.command, programs.began_at, programs.state, programs.exit_code, ",
            instance_columns!(),
            " FROM programs \
             LEFT JOIN instances ON instances.id = programs.instance WHERE ",
            of_thread!(),
            " ORDER BY programs.number"
        ));
}
