//! Calls over streamable HTTP, in both protocol versions.

use std::path::Path;

use tokio::runtime::Runtime;

use super::peers::Peer;
use super::{LEGACY, MODERN, ROUNDS, Role, call, check, compare, handshake};
use crate::Done;
use crate::server_process::load::{Connection, header, post};
use crate::server_process::samples::Samples;
use crate::server_process::{ServerProcess, client_runtime};

/// Calls per round: enough for processor time, which is counted in hundredths of a second.
const CALLS: usize = 12_000;
const CALLS_OF_ONE: usize = 10_000;

const MAX_CONNECTIONS: usize = 32;

const PATH: &str = "/mcp";

pub(super) fn figures(home: &Path, key: &str) -> Done {
    let runtime = client_runtime()?;
    let mut servers = vec![
        (Role::Limit, "limit", ServerProcess::toolroom("baseline_mcp", home)?),
        (Role::Toolroom, "call", ServerProcess::toolroom("serve", home)?),
    ];
    for peer in Peer::all("http") {
        if let Some(command) = peer.command() {
            servers.push((peer.role, peer.name, ServerProcess::start(command)?));
        }
    }
    for (era, version) in [("modern", MODERN), ("legacy", LEGACY)] {
        let mut requests = Vec::new();
        for (_, name, server) in &servers {
            requests.push(calls(&runtime, name, server, key, version)?);
        }
        for (connections, n) in [(1, CALLS_OF_ONE), (MAX_CONNECTIONS, CALLS)] {
            let mut samples: Vec<_> = servers
                .iter()
                .map(|(role, name, _)| (*role, (*name).to_owned(), Samples::default()))
                .collect();
            for _ in 0..=ROUNDS {
                let rows = servers.iter().zip(&requests).zip(&mut samples);
                for (((role, _, server), requests), (_, _, samples)) in rows {
                    samples.round(&runtime, server, requests, connections, role.calls(n, connections))?;
                }
            }
            compare(&format!("http_{era}"), connections, &mut samples);
        }
    }
    Ok(())
}

/// The bytes of a call for each connection, with different ids, because they share a session if the server has sessions. Tries
/// one call.
fn calls(
    runtime: &Runtime,
    name: &str,
    server: &ServerProcess,
    key: &str,
    version: &str,
) -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
    let address = server.address;
    runtime.block_on(async {
        let mut connection = Connection::open(address).await?;
        let mut session = None;
        if version == LEGACY {
            for message in handshake() {
                let headers = headers(version, session.as_deref());
                connection.send(&post(address, PATH, key, &headers, &message.to_string())).await?;
                let new_session = header(&connection.response(), "mcp-session-id").map(str::to_owned);
                session = session.or(new_session);
            }
        }
        let headers = headers(version, session.as_deref());
        let request = |id| post(address, PATH, key, &headers, &call(version, id).to_string());
        connection.send(&request(0)).await?;
        check(name, &connection.response())?;
        Ok((1..=MAX_CONNECTIONS).map(request).collect())
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
