//! Over streamable HTTP, in both eras.

use std::path::Path;

use tokio::runtime::Runtime;

use super::peers::Peer;
use super::{LEGACY, MODERN, ROUNDS, Role, call, check, compare, hello};
use crate::Done;
use crate::served::load::{Connection, header, post};
use crate::served::seen::Seen;
use crate::served::{Served, asking};

/// Calls per round: processor time is counted in hundredths of a second, so there have to be enough.
const CALLS: usize = 12_000;
const CALLS_OF_ONE: usize = 10_000;

/// Over how many they come.
const MOST_CONNECTIONS: usize = 32;

const PATH: &str = "/mcp";

pub(super) fn figures(home: &Path, key: &str) -> Done {
    let runtime = asking()?;
    let mut servers = vec![
        (Role::Limit, "limit", Served::ours("bare_mcp", home)?),
        (Role::Ours, "call", Served::ours("serve", home)?),
    ];
    for peer in Peer::all("http") {
        if let Some(command) = peer.command() {
            servers.push((peer.role, peer.name, Served::start(command)?));
        }
    }
    for (era, version) in [("modern", MODERN), ("legacy", LEGACY)] {
        let mut requests = Vec::new();
        for (_, name, server) in &servers {
            requests.push(calls(&runtime, name, server, key, version)?);
        }
        for (connections, n) in [(1, CALLS_OF_ONE), (MOST_CONNECTIONS, CALLS)] {
            let mut seen: Vec<_> =
                servers.iter().map(|(role, name, _)| (*role, (*name).to_owned(), Seen::default())).collect();
            for _ in 0..=ROUNDS {
                let everybody = servers.iter().zip(&requests).zip(&mut seen);
                for (((role, _, server), requests), (_, _, seen)) in everybody {
                    seen.round(&runtime, server, requests, connections, role.share(n, connections))?;
                }
            }
            compare(&format!("http_{era}"), connections, &mut seen);
        }
    }
    Ok(())
}

/// The bytes of a call for each connection, in a session where the server has sessions: there no two have the same id. One
/// is tried.
fn calls(
    runtime: &Runtime,
    name: &str,
    server: &Served,
    key: &str,
    version: &str,
) -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
    let at = server.address;
    runtime.block_on(async {
        let mut connection = Connection::open(at).await?;
        let mut session = None;
        if version == LEGACY {
            for message in hello() {
                let headers = headers(version, session.as_deref());
                connection.ask(&post(at, PATH, key, &headers, &message.to_string())).await?;
                let told = header(&connection.answer(), "mcp-session-id").map(str::to_owned);
                session = session.or(told);
            }
        }
        let headers = headers(version, session.as_deref());
        let request = |id| post(at, PATH, key, &headers, &call(version, id).to_string());
        connection.ask(&request(0)).await?;
        check(name, &connection.answer())?;
        Ok((1..=MOST_CONNECTIONS).map(request).collect())
    })
}

fn headers<'a>(version: &'a str, session: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let mut headers =
        vec![("accept", "application/json, text/event-stream"), ("mcp-protocol-version", version)];
    if version == MODERN {
        headers.extend([("mcp-method", "tools/call"), ("mcp-name", "echo")]);
    }
    headers.extend(session.map(|session| ("mcp-session-id", session)));
    headers
}
