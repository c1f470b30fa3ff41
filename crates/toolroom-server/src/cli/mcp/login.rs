//! `toolroom mcp login`: a person says yes where tokens are given out, and the token is kept, sealed.

use std::sync::Arc;

use clap::Args;
use serde_json::json;
use toolroom::foreign::{EntryValue, Reached};
use toolroom::redact::Secret;
use toolroom_host::net::{Client as HttpClient, Http};
use toolroom_tools::mcp::oauth::Known;
use toolroom_tools::mcp::{Client, Nobody, Remote, Safe, reach};

use super::super::exit::{Exit, Usage};
use super::super::output::{GREEN, Output, visible};
use super::callback::Callback;
use super::{known, project};
use crate::app::App;
use crate::gateway::Safekeeping;

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

pub(super) async fn run(app: &App, args: LoginArgs, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, &args.name).await?;
    let address = match &server.reached {
        Reached::Http(address) => address,
        Reached::Sse(_) | Reached::Stdio(_) => {
            return Err(Usage("only servers over streamable HTTP are signed in at".to_owned()).into());
        }
    };
    let safe = Safekeeping(Arc::clone(&app.vault));
    let open = async |name: &str| safe.secret(&project(), name).await.map_err(Usage);
    let client = match (args.client_id, &args.client_secret) {
        (Some(id), Some(secret)) => Some((id, Some(open(secret).await?.expose().to_owned()))),
        (Some(id), None) => Some((id, None)),
        (None, _) => None,
    };
    let mut headers = Vec::new();
    for (name, value) in &address.headers {
        let value = match value {
            EntryValue::Plain(value) => Secret::new(name.clone(), value.clone()),
            EntryValue::Secret(secret) => open(secret).await?,
        };
        headers.push((name.clone(), value));
    }
    let http: Arc<dyn Http> = Arc::new(HttpClient::new(reach(&address.url)));
    let consent = Arc::new(Callback::open(args.port, output).await?);
    let us = Known { client, metadata_url: None };
    let door = safe.credentials(&project(), &server, Arc::clone(&http), us, Some(consent)).await;
    let remote = Remote { http, url: address.url.clone(), headers, door: Arc::clone(&door) };
    let signed_in = async {
        let client = Client::connect(remote, None, Arc::new(Nobody)).await?;
        client.tools().await?;
        client.close().await;
        Ok::<(), toolroom_tools::mcp::McpError>(())
    };
    signed_in.await?;
    let has_token = door.token().is_some();
    let name = visible(&server.name);
    match (output.is_json(), has_token) {
        (true, _) => output.document(&json!({"server": server.name, "signed_in": has_token}))?,
        (false, true) => output.talk(format_args!("{GREEN}signed in{GREEN:#} at `{name}`")),
        (false, false) => output.talk(format_args!("`{name}` lets everybody in; nothing was kept")),
    }
    Ok(Exit::Done)
}
