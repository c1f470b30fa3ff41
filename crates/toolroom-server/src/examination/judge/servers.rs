//! What it means how servers were last seen.

use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::{Facts, ServerFacts, Standing};
use super::machine::sandbox_remedy;
use super::wording::counted;
use super::{one, unexamined};

pub(super) fn servers(facts: &Facts) -> Check {
    let servers = match &facts.servers {
        None => return unexamined("servers.unexamined", "store"),
        Some(Err(cause)) => {
            let details = format!("what is kept of them cannot be read: {cause}");
            return one(Finding::error("servers.unreadable", details, "toolroom mcp list"));
        }
        Some(Ok(servers)) => servers,
    };
    let on: Vec<&ServerFacts> = servers.iter().filter(|server| server.standing != Standing::Off).collect();
    let mut found: Vec<Finding> = on.iter().filter_map(|server| trouble(server)).collect();
    let confined: Vec<&str> =
        on.iter().filter(|server| server.is_confined).map(|server| server.name.as_str()).collect();
    if facts.sandbox.is_err() && !confined.is_empty() {
        let details = format!(
            "{} cannot start, since programs cannot be confined here; see `sandbox`",
            named(&confined)
        );
        let remedy = facts.machine.as_ref().map_or_else(|_| "toolroom sandbox".to_owned(), sandbox_remedy);
        found.push(Finding::warning("servers.no_sandbox", details, remedy));
    }
    found.extend(on.iter().filter(|server| server.waiting > 0).map(|server| waiting(server)));
    let details = match servers.len() {
        0 => "none".to_owned(),
        all => format!("{}, {} of them on", counted(all, "server"), on.len()),
    };
    Check::new(details, found)
}

/// What keeps a server from working.
fn trouble(server: &ServerFacts) -> Option<Finding> {
    let name = &server.name;
    let (code, details, remedy) = match server.standing {
        Standing::Off | Standing::Fine => return None,
        Standing::Unreadable => (
            "servers.entry_unreadable",
            format!("what is kept of the server `{name}` cannot be read"),
            format!("toolroom mcp remove {name}"),
        ),
        Standing::NoProgram => (
            "servers.no_program",
            format!("the program of the server `{name}` is not there"),
            format!("install it, or: toolroom mcp add {name} --replace -- COMMAND"),
        ),
        Standing::GivenUp => (
            "servers.given_up",
            format!("the server `{name}` failed again and again, and is not started any more"),
            format!("toolroom mcp enable {name}"),
        ),
        Standing::Failing => (
            "servers.failing",
            format!("the server `{name}` failed the last time"),
            format!("toolroom mcp test {name}"),
        ),
    };
    Some(Finding::warning(code, details, remedy))
}

fn waiting(server: &ServerFacts) -> Finding {
    let name = &server.name;
    let details = format!("{} of the server `{name}` off until reviewed", counted(server.waiting, "tool"));
    Finding::warning("servers.review", details, format!("toolroom mcp review {name}"))
}

fn named(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
