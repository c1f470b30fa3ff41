//! `toolroom policy`: which rules hold, whether they are in order, and how a call would be judged. A file per
//! subcommand; none of them runs a tool or writes to the journal.

mod check;
mod command_line;
mod explain;
mod export;
mod lint;
mod list;
mod rules;
mod trial;
pub(super) mod verdict;

use clap::{Args, Subcommand};
use toolroom::scope::Scope;

use super::approvals::standing_answer::{find, sentence};
use super::console::exit::{Exit, Missing};
use super::console::output::{Output, visible};
use super::{Register, close, open, owner};
use crate::app::{App, Stay};

const EXAMPLES: &str = "\
Examples:
  toolroom policy                                    what holds, and where it comes from
  toolroom policy explain append_note path=/tmp/x text=hello
  toolroom policy explain -- 'git push'              how a command line would be judged
  toolroom policy check --strict rules.toml          for a build server
  toolroom policy forget 1f3a9c2e                    takes back an \"always\" or a \"never\"";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PolicyArgs {
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
    Forget(ForgetArgs),
}

pub(super) async fn run(
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
        Action::Forget(args) => forget(&app, &scope, &args, *output).await,
        Action::Check(_) | Action::Test(_) => Ok(Exit::Usage),
    };
    close(&app).await;
    result
}

#[derive(Args)]
pub(super) struct ForgetArgs {
    /// The answer's id, or the end of it
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
        return Err(Missing(format!("`{}` was taken back already", answer.id)).into());
    }
    if output.is_json() {
        output.document(&serde_json::json!({"forgotten": answer}))?;
    } else {
        output.talk(format_args!("taken back: {}", visible(&sentence(&answer))));
    }
    Ok(Exit::Done)
}
