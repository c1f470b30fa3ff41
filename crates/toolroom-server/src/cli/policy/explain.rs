//! `toolroom policy explain`: how a call would be judged, and the result of every rule.

use std::sync::Arc;

use clap::Args;
use toolroom::call::Outcome;
use toolroom::scope::{Scope, UserId};

use super::command_line;
use crate::app::App;
use crate::cli::call::{parse_request, provenance};
use crate::cli::completions;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, Output};
use crate::documents::{Failure, Judged};

const EXAMPLES: &str = "\
Examples:
  toolroom policy explain append_note path=/tmp/notes.txt text=hello
  toolroom policy explain send_mail to=ann@example.com --provenance private,untrusted
  toolroom policy explain send_mail to=ann@example.com --caller-user bob --caller-entrance mcp
  toolroom policy explain -- 'git log --oneline | head'      a shell command line
  toolroom policy explain -- rm -rf build                    a program with arguments

Exit codes: 0 allow, 3 deny, 4 ask, 1 invalid arguments, 5 unknown tool";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// Tool id, alias or name
    #[arg(add = completions::tools(), required_unless_present = "command")]
    tool: Option<String>,
    /// Arguments: key=value, key:=JSON, a JSON object, or - for an object on stdin
    #[arg(value_name = "ARGUMENT", add = completions::arguments())]
    arguments: Vec<String>,
    /// Runtime context for tools that need it (key=value or key:=JSON; repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    context: Vec<String>,
    /// Provenance of the call, what was read or sent before: private, untrusted, outward (repeatable)
    #[arg(long, value_name = "FACT", value_delimiter = ',', value_parser = ["private", "untrusted", "outward"])]
    provenance: Vec<String>,
    /// Judge as a call of this user
    #[arg(long, value_name = "USER")]
    caller_user: Option<String>,
    /// Judge as a call through this entrance
    #[arg(long, value_name = "NAME", default_value = "cli")]
    caller_entrance: String,
    /// Judge this command: one word is a shell command line, several are a program with arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["tool", "context", "provenance", "caller_user"])]
    command: Vec<String>,
}

pub(super) async fn run(
    app: &App,
    mut scope: Scope,
    args: ExplainArgs,
    output: Output,
) -> anyhow::Result<Exit> {
    let Some(tool) = args.tool else { return command_line::run(app, &args.command, output) };
    scope.user = args.caller_user.as_deref().map(UserId::new).or(scope.user);
    let mut request = parse_request(app, &scope, tool, &args.arguments, &args.context)?;
    request.provenance = provenance(&args.provenance);
    request.entrance = Arc::from(args.caller_entrance);
    let judged = match app.room.explain(request).await {
        Ok(explanation) => Judged::of(&explanation),
        Err(error) => {
            match output.is_json() {
                true => output.document(&serde_json::json!({"error": Failure::of(&error)}))?,
                false => output.failure(error.for_model(), error.hint(), None),
            }
            return Ok(Exit::of_outcome(&Outcome::Failed(error)));
        }
    };
    if output.is_json() {
        output.document(&judged)?;
    } else {
        output.data(&judged.text())?;
        let tried = judged.table();
        if !tried.is_empty() {
            output.data(&format!("\n{BOLD}rules{BOLD:#}\n{tried}"))?;
        }
    }
    Ok(judged.exit())
}
