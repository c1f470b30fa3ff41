//! `toolroom mcp add`: a server is entered, and looked at.

use clap::Args;
use toolroom::foreign::{
    AddressEntry, ForeignServers, ProgramEntry, ServerRecord, ServerTraits, ToolTraits, Transport,
};
use toolroom_store::SettingsBatch;

use super::declare::SaidArgs;
use super::document::ServerDocument;
use super::entry::{checked_arguments, found, profile, values, variables, whole_path};
use super::project;
use super::show::show;
use super::test::look;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::{Output, visible};
use crate::gateway::{StoredSecrets, check_headers, check_way, checked_url, entry};

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
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
    /// Its name leads inside a network; `localhost`, private addresses and names without a dot do so anyway
    #[arg(long, requires = "url")]
    internal: bool,
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
    #[command(flatten)]
    said: SaidArgs,
    /// Take the place of an entry of that name; `toolroom mcp set` changes parts of one
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
    let stored = StoredSecrets::of(&app.vault, &project()).await?;
    let hint = stored.hint(args.env.iter().chain(&args.header).chain(&args.command).chain(&args.url));
    let record = record(app, args, before, &stored)?;
    stored.check(&record.transport).map_err(Usage)?;
    let mut batch = SettingsBatch::default();
    batch.server(&project(), entry(before, record.clone()));
    app.store.set_all(batch).await?;
    if let Some(hint) = hint {
        output.hint(&hint);
    }
    if no_start {
        let document = ServerDocument::of(app, record).await?;
        show(&document, output)?;
        return Ok(Exit::Done);
    }
    look(app, record, output).await
}

fn record(
    app: &App,
    args: AddArgs,
    before: Option<&ServerRecord>,
    stored: &StoredSecrets,
) -> anyhow::Result<ServerRecord> {
    let transport = match (&args.url, args.command.split_first()) {
        (Some(url), _) => {
            let entry = AddressEntry {
                url: checked_url(&stored.address(url)).map_err(Usage)?,
                headers: values(&args.header, stored)?,
                is_internal: args.internal,
            };
            check_headers(&entry).map_err(Usage)?;
            check_way(&entry).map_err(Usage)?;
            if args.sse { Transport::Sse(entry) } else { Transport::Http(entry) }
        }
        (None, Some((command, arguments))) => Transport::Stdio(ProgramEntry {
            command: found(command)?,
            arguments: checked_arguments(arguments, stored)?,
            folder: args.folder.as_deref().map(whole_path).transpose()?,
            environment: variables(&args.env, stored)?,
            profile: profile(&args.profile)?,
            readable: args.read.iter().map(|path| whole_path(path)).collect::<Result<_, _>>()?,
        }),
        (None, None) => {
            let text = "say which server: `toolroom mcp add NAME -- COMMAND …`, or `--url ADDRESS`";
            return Err(Usage(text.to_owned()).into());
        }
    };
    Ok(ServerRecord {
        name: args.name,
        transport,
        is_enabled: true,
        timeout_seconds: args.timeout.filter(|seconds| *seconds > 0),
        // What a file said is no reason to come again beside this one.
        imported_from: before.and_then(|before| before.imported_from.clone()),
        imported_as: before.and_then(|before| before.imported_as.clone()),
        traits: ServerTraits { all: args.said.declared(ToolTraits::default())?, ..ServerTraits::default() },
        changed_at: app.room.clock().now(),
    })
}
