//! The subcommands.

use clap::{Args, Subcommand};

use super::{check, explain, export, forget, list, trial};
use crate::app::Stay;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::Output;
use crate::cli::{Register, close, open, owner};

const EXAMPLES: &str = "\
Examples:
  toolroom policy                                    what holds, and where it comes from
  toolroom policy explain append_note path=/tmp/x text=hello
  toolroom policy explain -- 'git push'              how a command line would be judged
  toolroom policy check --strict rules.toml          for a build server
  toolroom policy forget 1f3a9c2e                    takes back an \"always\" or a \"never\"";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct PolicyArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// List the preset, rules, standing answers and built-in rules
    List,
    /// Check rules, and tell what is odd about them
    Check(check::CheckArgs),
    /// Say how a call or a command line would be judged, and by what; nothing is run
    Explain(explain::ExplainArgs),
    /// Try the examples of rules
    Test(trial::TrialArgs),
    /// Print the rules as TOML for a toolroom.toml
    Export(export::ExportArgs),
    /// Take back a standing answer
    Forget(forget::ForgetArgs),
}

pub(in crate::cli) async fn run(
    settings: &[String],
    args: PolicyArgs,
    output: &Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let action = match args.action.unwrap_or(Action::List) {
        // These have to work where the configuration does not.
        Action::Check(args) => return check::run(settings, &args, *output, register).await,
        Action::Test(args) => return trial::run(settings, &args, *output).await,
        action => action,
    };
    let app = open(settings, Stay::Short, *output, register).await?;
    let scope = owner();
    let result = match action {
        Action::List => list::run(&app, &scope, *output).await,
        Action::Explain(args) => explain::run(&app, scope, args, *output).await,
        Action::Export(args) => export::run(&app, &scope, &args, *output).await,
        Action::Forget(args) => forget::run(&app, &scope, &args, *output).await,
        Action::Check(_) | Action::Test(_) => Ok(Exit::Usage),
    };
    close(&app).await;
    result
}
