//! `toolroom serve`: the same tools, agents and guards over HTTP.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use clap::Args;
use tokio_util::sync::CancellationToken;
use toolroom_host::interrupt::Interrupts;
use toolroom_host::listen::Listener;

use super::Register;
use super::exit::Exit;
use super::output::Output;
use crate::app::Stay;
use crate::http::{Server, ServerSettings};

#[derive(Args)]
pub(super) struct ServeArgs {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7300")]
    listen: SocketAddr,
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
    let app = super::open(settings, Stay::Long, *output, register).await?;
    let listener = Listener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen at {}; is another `toolroom serve` running?", args.listen))?;
    let address = listener.address();
    let ending = CancellationToken::new();
    let told = ending.clone();
    let interrupts = Interrupts::watch(move || told.cancel())?;
    let server = Server::new(app, ServerSettings { address, hosts: Vec::new() }, ending);
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
    Ok(Exit::Done)
}
