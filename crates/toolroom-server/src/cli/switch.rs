//! `toolroom switch`: feature switches, each for several tools.

use clap::{Args, Subcommand};
use toolroom::ledger::SwitchState;
use toolroom::scope::Scope;

use super::completions;
use super::console::exit::{Exit, Missing};
use super::console::output::{BOLD, Output, table};
use crate::app::App;
use crate::documents::{FeatureState, features};

#[derive(Args)]
pub(super) struct SwitchArgs {
    #[command(subcommand)]
    command: Option<SwitchCommand>,
}

#[derive(Subcommand)]
enum SwitchCommand {
    /// List features and whether they are on
    List,
    /// Switch a feature on
    On {
        /// Feature name
        #[arg(add = completions::features())]
        feature: String,
    },
    /// Switch a feature off, and all its tools with it
    Off {
        /// Feature name
        #[arg(add = completions::features())]
        feature: String,
    },
    /// Reset a feature to its default
    Reset {
        /// Feature name
        #[arg(add = completions::features())]
        feature: String,
    },
}

pub(super) async fn run(app: &App, scope: Scope, args: SwitchArgs, output: &Output) -> anyhow::Result<Exit> {
    match args.command {
        None | Some(SwitchCommand::List) => list(app, &scope, output).await,
        Some(SwitchCommand::On { feature }) => {
            set(app, &scope, &feature, Some(SwitchState::On), output).await
        }
        Some(SwitchCommand::Off { feature }) => {
            set(app, &scope, &feature, Some(SwitchState::Off), output).await
        }
        Some(SwitchCommand::Reset { feature }) => set(app, &scope, &feature, None, output).await,
    }
}

async fn list(app: &App, scope: &Scope, output: &Output) -> anyhow::Result<Exit> {
    let lines = features(&app.room, &scope.project).await?;
    if output.is_json() {
        output.document(&lines)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let tools = match line.tools.len() {
                0 => "no tools".to_owned(),
                1 => "1 tool".to_owned(),
                many => format!("{many} tools"),
            };
            vec![
                format!("{BOLD}{}{BOLD:#}", line.feature),
                line.state.to_string(),
                line.description.into(),
                tools,
            ]
        })
        .collect();
    output.data(&table(&rows))?;
    Ok(Exit::Done)
}

async fn set(
    app: &App,
    scope: &Scope,
    name: &str,
    state: Option<SwitchState>,
    output: &Output,
) -> anyhow::Result<Exit> {
    let feature = app.room.catalog().feature(name).ok_or_else(|| {
        let known: Vec<&str> =
            app.room.catalog().features().into_iter().map(|feature| feature.name).collect();
        Missing(format!("unknown feature `{name}`; known features: {}", known.join(", ")))
    })?;
    app.store.set_feature_switch(&scope.project, feature.name, state).await?;
    if output.is_json() {
        output.document(&FeatureState { feature: feature.name, state })?;
    } else {
        let state = state.map_or("reset to its default", SwitchState::as_str);
        output.talk(format_args!("`{}` is {state}", feature.name));
    }
    Ok(Exit::Done)
}
