//! `toolroom mcp serve`: serves MCP on standard input and output.

use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tokio_util::sync::CancellationToken;
use toolroom_host::interrupt::Interrupts;

use crate::app::ProcessLifetime;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::Output;
use crate::cli::{Register, close, open, owner};
use crate::mcp::fixtures::{Fixtures, with_fixtures};
use crate::mcp::{McpCaller, McpServer, stdio};

#[derive(Args)]
pub(super) struct McpServeArgs {
    /// Also offer the tools of the official test suites
    #[arg(long, hide = true)]
    fixtures: bool,
}

pub(super) async fn run(
    settings: &[String],
    args: &McpServeArgs,
    output: Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let fixtures = args.fixtures.then(Arc::<Fixtures>::default);
    let register = with_fixtures(register, fixtures.as_ref());
    let app = Arc::new(open(settings, ProcessLifetime::LongRunning, output, &register).await?);
    let ending = CancellationToken::new();
    let stop = ending.clone();
    let interrupts = Interrupts::watch_service(move || stop.cancel(), || {})?;
    let server = McpServer::new(Arc::clone(&app), fixtures);
    let caller = McpCaller::stdio(owner());
    let served = stdio::serve(server, caller, ending).await.context("lost the connection to the client");
    drop(interrupts);
    close(&app).await;
    served.map(|()| Exit::Done)
}
