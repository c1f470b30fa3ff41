//! `toolroom policy`: lists, checks, explains, tests and exports rules. One file per subcommand; none runs a tool or
//! writes to the log.

mod check;
mod command_line;
mod explain;
mod export;
mod lint;
mod list;
mod rules;
mod test;
pub(super) mod verdict;

use clap::{Args, Subcommand};
use toolroom::scope::Scope;

use super::approvals::standing_answer::{find, sentence};
use super::console::exit::{Exit, Missing};
use super::console::output::{Output, visible};
use super::{Register, close, open, owner};
use crate::app::{App, ProcessLifetime};

const EXAMPLES: &str = "\
Examples:
  toolroom policy                                    all rules and where they come from
  toolroom policy explain append_note path=/tmp/x text=hello
  toolroom policy explain -- 'git push'              how a command line would be judged
  toolroom policy check --strict rules.toml          for CI
  toolroom policy forget 1f3a9c2e                    remove a standing answer";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PolicyArgs {
    #[command(subcommand)]
    command: Option<PolicyCommand>,
}

#[derive(Subcommand)]
enum PolicyCommand {
    /// List the preset, rules, standing answers and built-in rules
    List,
    /// Check rules for errors and likely mistakes
    Check(check::CheckArgs),
    /// Explain how a call or a command line would be judged, without running it
    Explain(explain::ExplainArgs),
    /// Test the examples of rules
    Test(test::TestArgs),
    /// Print the rules as TOML for a toolroom.toml
    Export(export::ExportArgs),
    /// Remove a standing answer
    Forget(ForgetArgs),
}

pub(super) async fn run(
    settings: &[String],
    args: PolicyArgs,
    output: &Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let command = match args.command.unwrap_or(PolicyCommand::List) {
        // These work with an invalid configuration.
        PolicyCommand::Check(args) => return check::run(settings, &args, *output, register).await,
        PolicyCommand::Test(args) => return test::run(settings, &args, *output).await,
        command => command,
    };
    let app = open(settings, ProcessLifetime::OneCommand, *output, register).await?;
    let scope = owner();
    let result = match command {
        PolicyCommand::List => list::run(&app, &scope, *output).await,
        PolicyCommand::Explain(args) => explain::run(&app, scope, args, *output).await,
        PolicyCommand::Export(args) => export::run(&app, &scope, &args, *output).await,
        PolicyCommand::Forget(args) => forget(&app, &scope, &args, *output).await,
        PolicyCommand::Check(_) | PolicyCommand::Test(_) => Ok(Exit::Usage),
    };
    close(&app).await;
    result
}

#[derive(Args)]
pub(super) struct ForgetArgs {
    /// Id of the standing answer, or its ending
    id: String,
}

pub(super) async fn forget(
    app: &App,
    scope: &Scope,
    args: &ForgetArgs,
    output: Output,
) -> anyhow::Result<Exit> {
    let answer = find(app, scope, &args.id).await?;
    if !app.store.forget_answer(&scope.project, &answer.id).await? {
        return Err(Missing(format!("`{}` was already removed", answer.id)).into());
    }
    if output.is_json() {
        output.document(&serde_json::json!({"forgotten": answer}))?;
    } else {
        output.talk(format_args!("Removed: {}", visible(&sentence(&answer))));
    }
    Ok(Exit::Done)
}
