//! Calls that cannot be made: what is asked for is closed, missing, too much or not set up.

use super::{Provoked, at_home, row, writes};
use crate::home::Home;

fn with_programs(home: &Home) {
    at_home(home, &["tools", "enable", "execute_shell_command"]).ended(0);
}

fn with_key(home: &Home) {
    home.run_with_stdin(&["secrets", "set", "K"], "correct horse").ended(0);
}

pub(super) const TABLE: &[Provoked] = &[
    row(
        &["call", "write_file", "path=a", "content=b"],
        4,
        "`write_file`",
        "changes something and its risk is medium",
        "answer with `toolroom approvals approve call_",
    ),
    row(
        &["call", "calculator", "expression=1", "--yes"],
        4,
        "waits for approval: sums are serious",
        "only the operator may approve",
        "as the operator, answer with `toolroom approvals approve call_",
    )
    .after(|home| {
        let rule = "[[rule]]\nid = \"first\"\neffect = \"ask\"\ntool = \"calculator\"\nby = \"operator\"\nreason = \"sums are \
                    serious\"\n";
        writes(home, "toolroom.toml", rule);
    }),
    row(
        &["call", "run_command", "command=ls"],
        3,
        "`execute_shell_command`",
        "is switched off",
        "`toolroom tools enable execute_shell_command`",
    ),
    row(
        &["call", "shell-exec", "command=ls -la", "--yes"],
        1,
        "`ls -la`",
        "there is no program",
        "use `ls`, and put `-la` into `args`",
    )
    .after(with_programs),
    row(
        &["call", "execute_shell_command", "command=sleep 9", "background:=true"],
        1,
        "background",
        "this process ends with the call",
        "use `toolroom chat` or `toolroom serve`",
    )
    .after(with_programs),
    row(
        &["call", "execute_shell_command", "command=ls", "env:={\"LD_PRELOAD\": \"x\"}"],
        1,
        "`LD_PRELOAD`",
        "changes which code programs load or run",
        "set it in the command itself",
    )
    .after(with_programs),
    row(
        &["call", "run_command", "command=echo \"unclosed"],
        4,
        "`echo \"unclosed`",
        "a quote without its end",
        "`toolroom approvals approve call_",
    )
    .after(with_programs),
    row(&["call", "read_file", "path=nofile"], 1, "`nofile`", "does not exist", "`list_files` lists the files"),
    row(
        &["call", "read_file", "path=../toolroom.db"],
        1,
        "`../toolroom.db`",
        "is outside the workspace",
        "let its folder be opened under `[files]`",
    ),
    row(
        &["call", "read_file", "path=.env"],
        1,
        "`.env`",
        "is a place of credentials",
        "keep what a tool needs under `toolroom secrets`",
    )
    .after(|home| {
        at_home(home, &["call", "list_files"]).ended(0);
        writes(home, "workspace/.env", "TOKEN=x");
    }),
    row(
        &["call", "open_file", "path=run.sh"],
        1,
        "`run.sh`",
        "a file of this type could be a program",
        "`send_file` shows where other files are",
    )
    .after(|home| {
        // Not by a call: what it lists would be asked about before anything is opened elsewhere.
        std::fs::create_dir(home.path().join("workspace")).unwrap();
        writes(home, "workspace/run.sh", "true");
    }),
    row(
        &["call", "web_fetch", "url=http://127.0.0.1/"],
        1,
        "`127.0.0.1`",
        "it is a loopback address",
        "open it in the configuration",
    ),
    row(
        &["call", "web_fetch", "url=http://169.254.169.254/latest"],
        1,
        "`169.254.169.254`",
        "metadata",
        "open it in the configuration",
    ),
    row(
        &["call", "web_fetch", "url=ftp://example.com/"],
        1,
        "the URL cannot be used",
        "its scheme is `ftp`",
        "only http and https can be used",
    ),
    row(
        &["call", "web-fetch", "url=https://example.com", "method=BREW"],
        1,
        "`method`",
        "got `BREW`",
        "must be one of GET, POST",
    ),
    row(
        &["call", "web_search", "query=x"],
        1,
        "search engine",
        "no search engine is configured",
        "`search.searxng.url` in toolroom.toml",
    ),
    row(
        &[
            "--set",
            "search.searxng.url=http://search.example",
            "--set",
            "search.searxng.key=secret:K",
            "call",
            "web_search",
            "query=x",
        ],
        2,
        "`search.searxng.url`",
        "sent unencrypted over `http://`",
        "use `https://`",
    )
    .after(with_key),
    row(
        &[
            "--set",
            "calendar.url=http://dav.example/ann",
            "--set",
            "calendar.user=ann",
            "--set",
            "calendar.password=secret:K",
            "call",
            "create_calendar_event",
            "title=x",
            "start_time=2026-03-01",
            "--yes",
        ],
        2,
        "`calendar.url`",
        "sent unencrypted over `http://`",
        "use `https://`",
    )
    .after(with_key),
    row(
        &["call", "get_local_time", "timezone=Mars/Base"],
        1,
        "`Mars/Base`",
        "unknown time zone",
        "use an IANA name such as `Europe/Berlin`",
    ),
    row(
        &["call", "clipboard-read"],
        1,
        "desktop",
        "neither `DISPLAY` nor `WAYLAND_DISPLAY` is set",
        "start Toolroom inside the desktop session",
    ),
    row(
        &["call", "open_url", "url=https://example.com"],
        1,
        "there is no desktop here",
        "neither `DISPLAY` nor `WAYLAND_DISPLAY` is set",
        "tell the user the address",
    ),
    row(
        &["call", "open_url", "url=javascript:1"],
        1,
        "`url`",
        "not `javascript:`",
        "must begin with http://, https:// or file://",
    ),
    row(
        &["call", "send_notification", "message=x"],
        1,
        "there is no notification service",
        "neither `DBUS_SESSION_BUS_ADDRESS` nor `XDG_RUNTIME_DIR` is set",
        "start Toolroom inside the desktop session",
    ),
    row(
        &["call", "create_calendar_event", "title=  ", "start_time=2026-03-01", "--yes"],
        1,
        "`title`",
        "must not be blank",
        "give the event a title",
    ),
    row(
        &["call", "create_calendar_event", "title=x", "start_time=tomorrow", "--yes"],
        1,
        "`start_time`",
        "must be a date or a time",
        "such as 2026-03-01",
    ),
    row(
        &["call", "memory_store", "key=k", "content=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"],
        1,
        "`content`",
        "contains a secret",
        "describe what it is for",
    ),
    row(
        &["--set", "tool.calculator.rate=1/h", "call", "calculator", "expression=2"],
        1,
        "rate limit reached",
        "1 calls an hour at most",
        "call again in 3",
    )
    .after(|home| {
        at_home(home, &["--set", "tool.calculator.rate=1/h", "call", "calculator", "expression=1"]).ended(0);
    }),
    row(
        &["--set", "workspace=/nonexistent", "call", "list_files"],
        1,
        "`/nonexistent`",
        "it does not exist",
        "create it first",
    ),
];
