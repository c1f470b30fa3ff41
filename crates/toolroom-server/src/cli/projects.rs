//! `toolroom projects`: isolated tenants of one server.

use clap::{Args, Subcommand};
use toolroom::scope::{LOCAL_PROJECT, ProjectId, Scope};

use super::console::exit::{Exit, Missing, Refused, Usage};
use super::console::output::{BOLD, DIM, Output, one_line, table, visible};
use crate::app::App;
use crate::identity::{Project, check_name, check_project_id, project, projects};

const EXAMPLES: &str = "\
Examples:
  toolroom projects create shop --name 'The shop'
  toolroom keys create --project shop --name backend
  toolroom projects set shop --host-tools on          allow files and programs of this machine";

/// Column width of a name.
const NAME_CHARS: usize = 40;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ProjectsArgs {
    #[command(subcommand)]
    command: Option<ProjectsCommand>,
}

#[derive(Subcommand)]
enum ProjectsCommand {
    /// List projects
    List,
    /// Create a project
    Create {
        /// Project id: lower-case letters, digits, `-` and `_`
        id: String,
        #[command(flatten)]
        change: ProjectChange,
    },
    /// Show one project
    Show {
        /// Project id
        id: String,
    },
    /// Change a project; other fields stay unchanged
    Set {
        /// Project id
        id: String,
        #[command(flatten)]
        change: ProjectChange,
    },
    /// Delete a project and its keys; its calls stay in the log
    #[command(visible_alias = "rm")]
    Remove {
        /// Project id
        id: String,
    },
}

#[derive(Args)]
struct ProjectChange {
    /// Display name
    #[arg(long)]
    name: Option<String>,
    /// Whether its callers may use tools that access this machine: files and programs
    #[arg(long, value_name = "STATE", value_parser = ["on", "off"])]
    host_tools: Option<String>,
}

pub(super) async fn run(
    app: &App,
    _owner: Scope,
    args: ProjectsArgs,
    output: &Output,
) -> anyhow::Result<Exit> {
    match args.command {
        None | Some(ProjectsCommand::List) => list(&projects(&app.store).await?, *output),
        Some(ProjectsCommand::Show { id }) => show(&known(app, &id).await?, *output),
        Some(ProjectsCommand::Create { id, change }) => {
            check_project_id(&id).map_err(Usage)?;
            if project(&app.store, &id).await?.is_some() {
                return Err(Usage(format!(
                    "project `{id}` already exists; change it with `toolroom projects set`"
                ))
                .into());
            }
            let new = Project { id: ProjectId::new(&id), name: id, host_tools: false, created_at: None };
            set(app, new, change, "Created", *output).await
        }
        Some(ProjectsCommand::Set { id, change }) => {
            set(app, known(app, &id).await?, change, "Changed", *output).await
        }
        Some(ProjectsCommand::Remove { id }) => remove(app, &id, *output).await,
    }
}

async fn known(app: &App, id: &str) -> anyhow::Result<Project> {
    let missing = || Missing(format!("no project `{}`; see `toolroom projects`", visible(id)));
    Ok(project(&app.store, id).await?.ok_or_else(missing)?)
}

fn list(projects: &[Project], output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(&projects)?;
        return Ok(Exit::Done);
    }
    let row = |project: &Project| {
        let reach = if project.host_tools { "host tools" } else { "" };
        vec![
            format!("{BOLD}{}{BOLD:#}", visible(project.id.as_str())),
            one_line(&project.name, NAME_CHARS),
            format!("{DIM}{reach}{DIM:#}"),
        ]
    };
    output.data(&table(&projects.iter().map(row).collect::<Vec<_>>()))?;
    Ok(Exit::Done)
}

fn show(project: &Project, output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(project)?;
        return Ok(Exit::Done);
    }
    let line = |name: &str, value: &str| format!("{DIM}{name:<12}{DIM:#}{}", visible(value));
    let host_tools = if project.host_tools { "on" } else { "off" };
    let lines =
        [line("project", project.id.as_str()), line("name", &project.name), line("host tools", host_tools)];
    output.data(&lines.join("\n"))?;
    Ok(Exit::Done)
}

async fn set(
    app: &App,
    mut project: Project,
    change: ProjectChange,
    verb: &str,
    output: Output,
) -> anyhow::Result<Exit> {
    if let Some(name) = change.name {
        check_name(&name).map_err(Usage)?;
        project.name = name;
    }
    match change.host_tools.as_deref() {
        Some("off") if project.id.as_str() == LOCAL_PROJECT => {
            let text = format!(
                "`{LOCAL_PROJECT}` is the project of this machine and always has host tools; \
                 switch single tools off with `toolroom tools disable`"
            );
            return Err(Refused(text).into());
        }
        Some(state) => project.host_tools = state == "on",
        None => {}
    }
    app.store.set_project(project.clone().record(app.room.clock().now())).await?;
    if output.is_json() {
        output.document(&project)?;
    } else {
        output.talk(format_args!("{verb} project `{}`", visible(project.id.as_str())));
    }
    Ok(Exit::Done)
}

async fn remove(app: &App, id: &str, output: Output) -> anyhow::Result<Exit> {
    let project = known(app, id).await?;
    if id == LOCAL_PROJECT {
        return Err(Refused(format!(
            "`{LOCAL_PROJECT}` is the project of this machine and cannot be removed; `toolroom projects` lists the others"
        ))
        .into());
    }
    let removed = app.store.remove_project(&project.id).await?;
    if output.is_json() {
        output.document(&serde_json::json!({"project": project.id, "removed": removed}))?;
    } else {
        output.talk(format_args!("Removed project `{}` and its keys", visible(id)));
    }
    Ok(Exit::Done)
}
