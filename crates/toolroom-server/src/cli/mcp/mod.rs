//! `toolroom mcp`: this toolroom for clients of the Model Context Protocol.

mod config;
mod serve;
mod snippet;

use clap::{Args, Subcommand};

use super::Register;
use super::exit::Exit;
use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  toolroom mcp config claude-code                                  how Claude Code gets these tools
  toolroom mcp config cursor --http https://tools.example/mcp      the same over HTTP, with a key";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct McpArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print what connects a client to this toolroom
    Config(config::ConfigArgs),
    /// Serve the client that started this, over standard input and output
    Serve(serve::ServeArgs),
}

pub(super) async fn run(
    settings: &[String],
    args: &McpArgs,
    output: Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    match &args.action {
        Action::Config(args) => config::run(args, output),
        Action::Serve(args) => serve::run(settings, args, output, register).await,
    }
}
