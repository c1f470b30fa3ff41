//! `toolroom mcp add`: a server is entered, and looked at.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use toolroom::foreign::{AddressEntry, EntryValue, ForeignServers, ProgramEntry, Reached, ServerRecord};
use toolroom::redact::Redactor;
use toolroom_host::environment::is_secret_variable;
use toolroom_host::net::Url;
use toolroom_host::process::Found;
use toolroom_host::sandbox::Named;
use toolroom_host::text_file::current_folder;

use super::super::exit::{Exit, Usage};
use super::super::output::{Output, visible};
use super::document::ServerDocument;
use super::project;
use super::show::show;
use super::test::look;
use crate::app::App;

#[derive(Args)]
pub(super) struct AddArgs {
    /// Its name: letters, digits, `_` and `-`; tools are called `mcp:NAME:TOOL`
    name: String,
    /// The program and its arguments, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// The address of a server over HTTP
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// The address is one of the older transport, a stream of events
    #[arg(long, requires = "url")]
    sse: bool,
    /// The sandbox it runs in: workspace, read-only, network:HOST[:PORT],… or off
    #[arg(long, default_value = "workspace", conflicts_with = "url")]
    profile: String,
    /// A folder or file it may read beside its program (repeatable)
    #[arg(long, value_name = "PATH", conflicts_with = "url")]
    read: Vec<String>,
    /// Where it starts; the workspace otherwise
    #[arg(long, value_name = "FOLDER", conflicts_with = "url")]
    folder: Option<String>,
    /// A variable, NAME=VALUE or NAME=secret:SECRET (repeatable)
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    env: Vec<String>,
    /// A header, NAME=VALUE or NAME=secret:SECRET (repeatable)
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    header: Vec<String>,
    /// How long a call may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Take the place of an entry of that name
    #[arg(long)]
    replace: bool,
    /// Only enter it; `toolroom mcp test` looks at it later
    #[arg(long)]
    no_start: bool,
}

pub(super) async fn run(app: &App, args: AddArgs, output: Output) -> anyhow::Result<Exit> {
    if !ServerRecord::is_name(&args.name) {
        let text =
            format!("a name has 1 to 64 letters, digits, `_` and `-`; `{}` is none", visible(&args.name));
        return Err(Usage(text).into());
    }
    let servers = app.store.servers(&project()).await?;
    let before = servers.iter().find(|server| server.name == args.name);
    if before.is_some() && !args.replace {
        let text = format!("there is a server `{}` already; `--replace` takes its place", args.name);
        return Err(Usage(text).into());
    }
    let no_start = args.no_start;
    let record = record(app, args)?;
    // Another server behind the same name is no change of the first one's tools.
    if before.is_some_and(|before| before.reached != record.reached) {
        app.store.remove_server(&project(), &record.name).await?;
    }
    app.store.set_server(&project(), &record).await?;
    if no_start {
        let document = ServerDocument::of(app, record).await?;
        show(&document, output)?;
        return Ok(Exit::Done);
    }
    look(app, record, output).await
}

fn record(app: &App, args: AddArgs) -> anyhow::Result<ServerRecord> {
    let reached = match (&args.url, args.command.split_first()) {
        (Some(url), _) => {
            let entry = AddressEntry { url: checked_url(url)?, headers: values(&args.header)? };
            if args.sse { Reached::Sse(entry) } else { Reached::Http(entry) }
        }
        (None, Some((command, arguments))) => Reached::Stdio(ProgramEntry {
            command: found(command)?,
            arguments: arguments.to_vec(),
            folder: args.folder.as_deref().map(whole_path).transpose()?,
            environment: values(&args.env)?,
            profile: args.profile.parse::<Named>().map_err(|error| Usage(error.to_string()))?.to_string(),
            readable: args.read.iter().map(|path| whole_path(path)).collect::<Result<_, _>>()?,
        }),
        (None, None) => {
            let text = "say which server: `toolroom mcp add NAME -- COMMAND …`, or `--url ADDRESS`";
            return Err(Usage(text.to_owned()).into());
        }
    };
    Ok(ServerRecord {
        name: args.name,
        reached,
        is_enabled: true,
        timeout_seconds: args.timeout.filter(|seconds| *seconds > 0),
        imported_from: None,
        changed_at: app.room.clock().now(),
    })
}

/// The program where it is found now: another one that takes its name later is not started.
fn found(command: &str) -> Result<String, Usage> {
    let here = here()?;
    let missing = || Usage(format!("there is no program `{}`", visible(command)));
    let path = Found::find(command, &here).ok_or_else(missing)?.path;
    let no_text = || Usage("the path of the program is not UTF-8".to_owned());
    path.into_os_string().into_string().map_err(|_| no_text())
}

fn here() -> Result<PathBuf, Usage> {
    current_folder().map_err(|error| Usage(format!("the folder you are in cannot be told: {error}")))
}

fn whole_path(path: &str) -> Result<String, Usage> {
    let here = here()?;
    let joined = here.join(path).into_os_string().into_string();
    joined.map_err(|_| Usage("a path is not UTF-8".to_owned()))
}

/// An address that can be asked, without a password in it.
pub(super) fn checked_url(text: &str) -> Result<String, Usage> {
    let url = Url::parse(text).map_err(|error| Usage(format!("the address cannot be used: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Usage(format!("an address begins with `https://`; `{}` is another kind", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Usage("the address holds a password; send it with `--header` and a secret".to_owned()));
    }
    Ok(url.into())
}

fn values(given: &[String]) -> Result<BTreeMap<String, EntryValue>, Usage> {
    given.iter().map(|text| pair(text)).collect()
}

/// `NAME=VALUE`, where a value that has to stay secret names the secret that holds it.
fn pair(text: &str) -> Result<(String, EntryValue), Usage> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| Usage("write NAME=VALUE, or NAME=secret:SECRET for what nobody may see".to_owned()))?;
    if let Some(secret) = value.strip_prefix("secret:") {
        return Ok((name.to_owned(), EntryValue::Secret(secret.to_owned())));
    }
    if is_secret_variable(name, value) || Redactor::default().redact_text(value) != value {
        return Err(Usage(format!(
            "the value of `{}` looks like a secret, and would be seen by everybody here; keep it with `toolroom \
             secrets set NAME` and write `{}=secret:NAME`",
            visible(name),
            visible(name)
        )));
    }
    Ok((name.to_owned(), EntryValue::Plain(value.to_owned())))
}
