//! `toolroom mcp login`: a person says yes where tokens are given out, and the token is kept, sealed.

use std::sync::Arc;

use clap::Args;
use serde_json::json;
use toolroom::foreign::Transport;
use toolroom_host::net::{Client as HttpClient, Http};
use toolroom_tools::mcp::oauth::Known;
use toolroom_tools::mcp::{
    Client, Door, McpError, Nobody, Remote, Safe, filled_address, is_overheard, reach, values,
};

use super::callback::Callback;
use super::entry::change;
use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::{GREEN, Output, visible};
use crate::gateway::{Safekeeping, forget_grants};

#[derive(Args)]
pub(super) struct LoginArgs {
    /// The server
    name: String,
    /// Our id there, if it was given out by hand
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The secret that holds our secret there
    #[arg(long, value_name = "SECRET", requires = "client_id")]
    client_secret: Option<String>,
    /// The port that the browser comes back to; any that is free otherwise
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
}

/// How often a server may ask for more before it is enough.
const ROUNDS: u32 = 3;

pub(super) async fn run(app: &App, args: LoginArgs, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, &args.name).await?;
    let (Transport::Http(address) | Transport::Sse(address)) = &server.transport else {
        return Err(
            Usage("a program is not signed in at; give it what it needs with `--env`".to_owned()).into()
        );
    };
    if is_overheard(address) {
        let text = "others can listen to what goes over `http://`, and would have the token, too; enter its address \
                    with `https://`, or with `--internal` if it is one inside your network";
        return Err(Usage(text.to_owned()).into());
    }
    let safe = Safekeeping::new(&app.vault, &app.folders);
    let client = match (args.client_id, &args.client_secret) {
        (Some(id), Some(secret)) => {
            let secret = safe.secret(&project(), secret).await.map_err(Usage)?;
            Some((id, Some(secret.expose().to_owned())))
        }
        (Some(id), None) => Some((id, None)),
        (None, _) => None,
    };
    let http: Arc<dyn Http> = Arc::new(HttpClient::new(reach(address, &app.openings)));
    let consent = Callback::open(args.port, output).await?;
    let us = Known { client, metadata_url: None };
    let door = Arc::new(safe.credentials(&project(), &server, Arc::clone(&http), us).await?);
    let mut rounds = 0;
    loop {
        let headers = values(&safe, &project(), &address.headers).await?;
        let url = filled_address(&safe, &project(), address).await?;
        let door_there = Arc::clone(&door) as Arc<dyn Door>;
        let remote = Remote { http: Arc::clone(&http), url, headers, door: door_there };
        match look(remote, matches!(server.transport, Transport::Sse(_))).await {
            Ok(()) => break,
            // Outside of any request: a person takes longer than a server may.
            Err(McpError::Unauthorized { .. }) if rounds < ROUNDS && door.sign_in(&consent).await? => {
                rounds += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let has_token = door.token().is_some();
    let name = visible(&server.name);
    match (output.is_json(), has_token) {
        (true, _) => output.document(&json!({"server": server.name, "signed_in": has_token}))?,
        (false, true) => output.talk(format_args!("{GREEN}signed in{GREEN:#} at `{name}`")),
        (false, false) => output.talk(format_args!("`{name}` lets everybody in; nothing was kept")),
    }
    Ok(Exit::Done)
}

/// Looks whether the server lets us in.
async fn look(remote: Remote, is_sse: bool) -> Result<(), McpError> {
    let client = match is_sse {
        true => Client::listen(remote, Arc::new(Nobody)).await?,
        false => Client::connect(remote, None, Arc::new(Nobody)).await?,
    };
    client.tools().await?;
    client.close().await;
    Ok(())
}

pub(super) async fn logout(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, name).await?;
    let was_in = forget_grants(&app.store, &project(), &server.name).await?;
    if was_in {
        // A server that runs looks at what is said of it, and begins anew without what it was granted.
        change(app, &server.name, async |record| Ok(record)).await?;
    }
    let name = visible(&server.name);
    match (output.is_json(), was_in) {
        (true, _) => output.document(&json!({"server": server.name, "signed_out": was_in}))?,
        (false, true) => {
            output.talk(format_args!("signed out of `{name}`; where tokens are given out it may still hold"));
        }
        (false, false) => output.talk(format_args!("nobody was signed in at `{name}`")),
    }
    Ok(Exit::Done)
}
