//! The reference under `docs/reference` is what the program says of itself: its tools, its commands, its routes.
//!
//! What has changed on purpose is written anew with `TOOLROOM_BLESS=1`; read it before you keep it.

mod commands;
mod routes;
mod shape;
mod tools;

use crate::home::{Home, repository};
use crate::serve::Served;
use crate::serve::wire::Asked;

/// Fails unless the page of this name says exactly this below its first lines.
#[track_caller]
fn holds(name: &str, title: &str, about: &str, body: &str) {
    let path = repository().join("docs/reference").join(name);
    let page = format!(
        "# {title}\n\n{about}\n\nThis page is written by a test from what the program says of itself; change that, and \
         not this.\n\n{}\n",
        body.trim()
    );
    if std::env::var_os("TOOLROOM_BLESS").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap();
    let differs = found.lines().zip(page.lines()).position(|(found, page)| found != page);
    let at = differs.unwrap_or_else(|| found.lines().count().min(page.lines().count()));
    assert!(
        found == page,
        "docs/reference/{name}:{}: expected\n{}\nfound\n{}\n(`TOOLROOM_BLESS=1` writes it anew)",
        at + 1,
        page.lines().nth(at).unwrap_or("the end"),
        found.lines().nth(at).unwrap_or("the end"),
    );
}

#[test]
fn the_reference_of_tools_is_what_their_specs_say() {
    let home = Home::new();
    let about = "Every tool that is built in, as `toolroom tools show TOOL --json` tells it. What a tool gives back is told \
                 where its\npage is: [files](../files.md), [web](../web.md), [programs](../programs.md), \
                 [desktop](../desktop.md), [memory](../memory.md).\nEffects and capabilities are explained in \
                 [own-tools.md](../own-tools.md) and [policy.md](../policy.md).";
    holds("tools.md", "Tools", about, &tools::text(&home));
}

#[test]
fn the_reference_of_commands_is_what_help_says() {
    let home = Home::new();
    let about =
        "Every command, with what `--help` says of it. What all of them take is told once, at the beginning.";
    holds("commands.md", "Commands", about, &commands::text(&home));
}

#[test]
fn the_reference_of_routes_is_what_the_server_describes() {
    let served = Served::new();
    let document = served.ask(&Asked::new("GET", "/openapi.json")).is(200).json();
    let about = "Every route of `toolroom serve`. The shapes of what comes back are in `/openapi.json`, for programs, and \
                 at\n`/docs`, to read. [server.md](../server.md) explains keys and scopes.";
    holds("routes.md", "Routes", about, &routes::text(&document));
}
