//! `toolroom serve`: the same tools, agents and guards over HTTP.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use clap::Args;
use tokio_util::sync::CancellationToken;
use toolroom_host::descriptors::allow_open_files;
use toolroom_host::interrupt::Interrupts;
use toolroom_host::listen::Listener;

use super::exit::{Exit, Refused};
use super::output::Output;
use super::{Register, close};
use crate::app::{App, Stay};
use crate::http::{Server, ServerSettings};
use crate::identity::holds;

/// Every connection is an open file, and so is what is done for it.
const OPEN_FILES: u64 = 65_536;

#[derive(Args)]
pub(super) struct ServeArgs {
    /// Where to listen; `server.listen` of the configuration when left out
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Another database than the one in the data folder
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

pub(super) async fn run(
    settings: &[String],
    args: ServeArgs,
    output: &Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    if let Some(url) = &args.database {
        bail!(
            "`{url}` cannot be used: this version keeps everything in SQLite in the data folder, and PostgreSQL comes \
             later; leave `--database` out"
        );
    }
    if let Err(error) = allow_open_files(OPEN_FILES) {
        tracing::warn!("this process may not have more files open than before: {error}");
    }
    let app = super::open(settings, Stay::Long, *output, register).await?;
    let keys = app.config.config.server.clone();
    let wanted = args.listen.unwrap_or(keys.listen.0);
    if !wanted.ip().is_loopback() && !has_key(&app).await? {
        close(app).await;
        let text = format!(
            "others than this machine would come in at {wanted}, and there is no key to tell them apart; make one with \
             `toolroom keys create --name NAME`, or listen at 127.0.0.1"
        );
        return Err(Refused(text).into());
    }
    let listener = Listener::bind(wanted)
        .await
        .with_context(|| format!("cannot listen at {wanted}; is another `toolroom serve` running?"))?;
    let address = listener.address();
    let ending = CancellationToken::new();
    let told = ending.clone();
    let interrupts = Interrupts::watch(move || told.cancel())?;
    let server = Server::new(app, &ServerSettings { address, keys }, ending);
    let link = server.doorkeeper.sign_in_link().await?;
    let url = format!("http://{address}");
    if output.is_json() {
        output.line_of_json(&serde_json::json!({"url": url, "sign_in": format!("{url}/sign-in/{link}")}))?;
    } else {
        output.data(&format!("Toolroom listens at {url}\nsign in once: {url}/sign-in/{link}"))?;
        output.talk("\nthings to try:");
        output.talk("  toolroom keys create --name first        # a key for programs");
        output.talk(format_args!("  curl -H \"Authorization: Bearer $KEY\" {url}/v1/tools"));
        output.talk(format_args!(
            "  curl -H \"Authorization: Bearer $KEY\" --json '{{\"tool\":\"calculator\",\"arguments\":{{\"expression\":\"17*23\"}}}}' {url}/v1/calls"
        ));
    }
    server.serve(listener).await?;
    drop(interrupts);
    server.close().await;
    Ok(Exit::Done)
}

/// Whether somebody could show a key that holds.
async fn has_key(app: &App) -> anyhow::Result<bool> {
    let now = app.room.clock().now();
    Ok(app.store.all_keys().await?.iter().any(|key| holds(key, now)))
}
