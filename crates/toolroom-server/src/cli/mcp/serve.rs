//! `toolroom mcp serve`: these tools for the client that started us, over standard input and output.

use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tokio_util::sync::CancellationToken;
use toolroom_host::interrupt::Interrupts;

use crate::app::Stay;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::Output;
use crate::cli::{Register, close, open, owner};
use crate::mcp::fixtures::{Fixtures, with_fixtures};
use crate::mcp::{McpCaller, McpServer, stdio};

#[derive(Args)]
pub(super) struct ServeArgs {
    /// Also what the official suites of MCP look for
    #[arg(long, hide = true)]
    fixtures: bool,
}

pub(super) async fn run(
    settings: &[String],
    args: &ServeArgs,
    output: Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let fixtures = args.fixtures.then(Arc::<Fixtures>::default);
    let register = with_fixtures(register, fixtures.as_ref());
    let app = Arc::new(open(settings, Stay::Long, output, &register).await?);
    let ending = CancellationToken::new();
    let told = ending.clone();
    let interrupts = Interrupts::watch_service(move || told.cancel(), || {})?;
    let server = McpServer::new(Arc::clone(&app), fixtures);
    let caller = McpCaller::stdio(owner());
    let served = stdio::serve(server, caller, ending).await.context("the client cannot be heard or told");
    drop(interrupts);
    close(&app).await;
    served.map(|()| Exit::Done)
}
