//! `toolroom mcp login` and `logout`: sign in at a server over HTTP.

use std::sync::Arc;

use clap::Args;
use serde_json::json;
use toolroom::foreign::Transport;
use toolroom_host::net::{Client as HttpClient, Http};
use toolroom_tools::mcp::oauth::OAuthClientConfig;
use toolroom_tools::mcp::{
    Client, Credentials, DefaultHandler, McpError, Remote, ServerSecrets, egress_policy, filled_address,
    is_unencrypted, values,
};

use super::callback::SignInCallback;
use super::entry::change;
use super::{find_server, project};
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::{GREEN, Output, visible};
use crate::gateway::{VaultSecrets, forget_grants};

#[derive(Args)]
pub(super) struct LoginArgs {
    /// The server
    name: String,
    /// The client id, if Toolroom was registered by hand
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Name of the stored secret with the client secret
    #[arg(long, value_name = "SECRET", requires = "client_id")]
    client_secret: Option<String>,
    /// The local port that the browser is redirected to [default: any free port]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
}

/// How often a server may ask for more scopes.
const MAX_ROUNDS: u32 = 3;

pub(super) async fn run(app: &App, args: LoginArgs, output: Output) -> anyhow::Result<Exit> {
    let server = find_server(app, &args.name).await?;
    let (Transport::Http(address) | Transport::Sse(address)) = &server.transport else {
        return Err(Usage(
            "only servers over HTTP support sign-in; pass credentials to a program with `--env`".to_owned(),
        )
        .into());
    };
    if is_unencrypted(address) {
        let text = "the token would be sent unencrypted over `http://`; change the URL to `https://`, or use `--internal` \
                    if the server is inside your network";
        return Err(Usage(text.to_owned()).into());
    }
    let secrets = VaultSecrets::new(&app.vault, &app.folders);
    let client = match (args.client_id, &args.client_secret) {
        (Some(id), Some(secret)) => {
            let secret = secrets.secret(&project(), secret).await.map_err(Usage)?;
            Some((id, Some(secret.expose().to_owned())))
        }
        (Some(id), None) => Some((id, None)),
        (None, _) => None,
    };
    let http: Arc<dyn Http> = Arc::new(HttpClient::new(egress_policy(address, &app.openings)));
    let consent = SignInCallback::open(args.port, output).await?;
    let client = OAuthClientConfig { client, metadata_url: None };
    let credentials = secrets.oauth_credentials(&project(), &server, Arc::clone(&http), client).await?;
    let credentials = Arc::new(credentials);
    let mut rounds = 0;
    loop {
        let headers = values(&secrets, &project(), &address.headers).await?;
        let url = filled_address(&secrets, &project(), address).await?;
        let shared = Arc::clone(&credentials) as Arc<dyn Credentials>;
        let remote = Remote { http: Arc::clone(&http), url, headers, credentials: shared };
        match connect(remote, matches!(server.transport, Transport::Sse(_))).await {
            Ok(()) => break,
            // Outside of a request, because signing in takes longer than a request may.
            Err(McpError::Unauthorized { .. })
                if rounds < MAX_ROUNDS && credentials.sign_in(&consent).await? =>
            {
                rounds += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let has_token = credentials.token().is_some();
    let name = visible(&server.name);
    match (output.is_json(), has_token) {
        (true, _) => output.document(&json!({"server": server.name, "signed_in": has_token}))?,
        (false, true) => output.talk(format_args!("{GREEN}signed in{GREEN:#} at `{name}`")),
        (false, false) => output.talk(format_args!("`{name}` requires no sign-in; nothing was stored")),
    }
    Ok(Exit::Done)
}

/// Connects once, to see whether the server accepts the credentials.
async fn connect(remote: Remote, is_sse: bool) -> Result<(), McpError> {
    let client = match is_sse {
        true => Client::listen(remote, Arc::new(DefaultHandler)).await?,
        false => Client::connect(remote, None, Arc::new(DefaultHandler)).await?,
    };
    client.tools().await?;
    client.close().await;
    Ok(())
}

pub(super) async fn logout(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = find_server(app, name).await?;
    let was_signed_in = forget_grants(&app.store, &project(), &server.name).await?;
    if was_signed_in {
        // Changing the entry makes running processes reconnect without the token.
        change(app, &server.name, async |record| Ok(record)).await?;
    }
    let name = visible(&server.name);
    match (output.is_json(), was_signed_in) {
        (true, _) => output.document(&json!({"server": server.name, "signed_out": was_signed_in}))?,
        (false, true) => {
            output.talk(format_args!("signed out of `{name}`; the token is deleted here but not revoked"));
        }
        (false, false) => output.talk(format_args!("not signed in at `{name}`")),
    }
    Ok(Exit::Done)
}
