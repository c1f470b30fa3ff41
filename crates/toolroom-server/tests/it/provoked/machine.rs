//! What is wrong around the command: files, keys, databases, addresses.

use super::{Provoked, at_home, row, writes};
use crate::home::Home;

fn rule(home: &Home, rest: &str) {
    writes(
        home,
        "toolroom.toml",
        &format!("[[rule]]\nid = \"x\"\neffect = \"deny\"\ntool = \"calculator\"\n{rest}\n"),
    );
}

const SUM: &[&str] = &["call", "calculator", "expression=1"];

pub(super) const TABLE: &[Provoked] = &[
    row(SUM, 2, "toolroom.toml:1", "unclosed table, expected `]`", "`toolroom config check`")
        .after(|home| writes(home, "toolroom.toml", "[policy\n")),
    row(
        SUM,
        2,
        "the `when` of rule `x`",
        "expected a value after `>`",
        "verify it with `toolroom config check`",
    )
    .after(|home| rule(home, "when = \"args.expression >\"")),
    row(SUM, 2, "rule `x`", "fails example 1 of its `not_match`", "change the example or the rule")
        .after(|home| rule(home, "not_match = [{ args = { expression = \"1\" } }]")),
    row(
        SUM,
        3,
        "the secrets to redact cannot be read",
        "there is no master key",
        "or set `TOOLROOM_MASTER_KEY`",
    )
    .after(|home| {
        home.run_with_stdin(&["secrets", "set", "A"], "correct horse").ended(0);
        std::fs::remove_file(home.path().join("master.key")).unwrap();
    }),
    row(SUM, 1, "toolroom.db`", "is not a Toolroom database", "move it away or name another file")
        .after(|home| writes(home, "toolroom.db", "this is a text in place of a database")),
    row(SUM, 1, "has schema 99", "this Toolroom knows up to", "`toolroom migrate --back`").after(newer),
    row(
        &["migrate", "--back", "--yes"],
        1,
        "schema 99",
        "no copy from before lies beside it",
        "`toolroom backup restore FILE`",
    )
    .after(newer),
    row(&["init"], 2, "toolroom.toml`", "already exists", "edit it, or move it away first")
        .after(|home| writes(home, "toolroom.toml", "")),
    row(
        &["backup", "create", "room.tar"],
        2,
        "`room.tar`",
        "is already there and stays as it is",
        "name another file, or move it away first",
    )
    .after(|home| {
        at_home(home, SUM).ended(0);
        writes(home, "room.tar", "");
    }),
    row(
        &["backup", "verify", "none.tar"],
        5,
        "`none.tar`",
        "there is no file",
        "check its name, and the folder",
    ),
    row(
        &["config", "check", "none.toml"],
        5,
        "`none.toml`",
        "no file",
        "check the name and the current folder",
    ),
    row(
        &["migrate", "--back", "--yes"],
        2,
        "nothing to roll back",
        "the database is not newer than this Toolroom",
        "`toolroom migrate --plan`",
    ),
    row(
        &["backup", "verify", "room.tar"],
        1,
        "The backup is damaged",
        "it is no archive, or one that is damaged",
        "use another one",
    )
    .after(|home| writes(home, "room.tar", "junk")),
    row(
        &["import", "a.json"],
        2,
        "`format`",
        "is not `toolroom-settings`",
        "not a document of `toolroom export`",
    )
    .after(|home| writes(home, "a.json", "{}")),
    row(
        &["import", "a.json"],
        2,
        "these settings have version 99",
        "this Toolroom reads up to 1",
        "use the newer Toolroom",
    )
    .after(|home| {
        writes(home, "a.json", "{\"format\": \"toolroom-settings\", \"version\": 99, \"projects\": []}");
    }),
    row(
        &["serve", "--listen", "0.0.0.0:0"],
        3,
        "0.0.0.0:0",
        "there is no API key",
        "`toolroom keys create --name NAME`, or listen on 127.0.0.1",
    ),
    row(
        &["models", "test", "ollama/qwen3"],
        1,
        "Ollama cannot be reached",
        "no connection to `127.0.0.1:9`",
        "start it with `ollama serve`",
    )
    .after(|home| writes(home, "toolroom.toml", "[vendor.ollama]\nbase_url = \"http://127.0.0.1:9\"\n")),
    row(
        &["mcp", "test", "files"],
        1,
        "`files` does not work",
        "`@example/not-there-7` is not cached on this machine",
        "run `npx -y @example/not-there-7` once in a terminal, then try again",
    )
    .after(|home| {
        at_home(home, &["call", "list_files"]).ended(0);
        let words = ["mcp", "add", "files", "--no-start", "--", "npx", "-y", "@example/not-there-7"];
        at_home(home, &words).ended(0);
    }),
];

/// A database that a newer version has changed.
fn newer(home: &Home) {
    use std::os::unix::fs::FileExt;
    /// Where SQLite keeps the version of the application.
    const USER_VERSION: u64 = 60;
    at_home(home, SUM).ended(0);
    let file = std::fs::File::options().write(true).open(home.path().join("toolroom.db")).unwrap();
    file.write_all_at(&99_u32.to_be_bytes(), USER_VERSION).unwrap();
}
