//! `toolroom mcp`: this toolroom for clients of the Model Context Protocol.

mod config;
mod snippet;

use clap::{Args, Subcommand};

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
}

pub(super) fn run(args: &McpArgs, output: Output) -> anyhow::Result<Exit> {
    match &args.action {
        Action::Config(args) => config::run(args, output),
    }
}
