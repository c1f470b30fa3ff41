//! `toolroom policy forget`: a standing answer is taken back, and its question is asked again.

use clap::Args;
use toolroom::scope::Scope;

use crate::app::App;
use crate::cli::approvals::standing_answer::{find, sentence};
use crate::cli::console::exit::{Exit, Missing};
use crate::cli::console::output::{Output, visible};

#[derive(Args)]
pub(super) struct ForgetArgs {
    /// The answer's id, or the end of it
    id: String,
}

pub(super) async fn run(app: &App, scope: &Scope, args: &ForgetArgs, output: Output) -> anyhow::Result<Exit> {
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
