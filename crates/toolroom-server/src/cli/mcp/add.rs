//! `toolroom mcp add`: adds a server and connects to it.

use clap::Args;
use toolroom::foreign::{
    AddressEntry, ForeignServers, ProgramEntry, ServerRecord, ServerTraits, ToolTraits, Transport,
};
use toolroom_store::SettingsBatch;

use super::declare::DeclarationArgs;
use super::document::ServerDocument;
use super::entry::{absolute_path, checked_arguments, profile, resolve_program, values, variables};
use super::project;
use super::show::show;
use super::test::test_server;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::{Output, visible};
use crate::gateway::{StoredSecrets, check_encryption, check_headers, checked_url, entry};

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct AddArgs {
    /// Name: letters, digits, `_` and `-`; its tools are called `mcp:NAME:TOOL`
    name: String,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// URL of a server over HTTP
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// The URL uses the older HTTP+SSE transport
    #[arg(long, requires = "url")]
    sse: bool,
    /// Allow the host name to resolve to an internal address; `localhost`, private addresses and names without a dot always may
    #[arg(long, requires = "url")]
    internal: bool,
    /// Sandbox profile: workspace, read-only, network:HOST[:PORT],… or off
    #[arg(long, default_value = "workspace", conflicts_with = "url")]
    profile: String,
    /// A folder or file it may read besides its program (repeatable)
    #[arg(long, value_name = "PATH", conflicts_with = "url")]
    read: Vec<String>,
    /// Working folder [default: the workspace]
    #[arg(long, value_name = "FOLDER", conflicts_with = "url")]
    folder: Option<String>,
    /// An environment variable, NAME=VALUE or NAME=secret:SECRET (repeatable)
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    env: Vec<String>,
    /// An HTTP header, NAME=VALUE or NAME=secret:SECRET (repeatable)
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    header: Vec<String>,
    /// Timeout of a call, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    #[command(flatten)]
    declaration: DeclarationArgs,
    /// Replace a server of that name; `toolroom mcp set` changes parts of one
    #[arg(long)]
    replace: bool,
    /// Only add it; `toolroom mcp test` connects later
    #[arg(long)]
    no_start: bool,
}

pub(super) async fn run(app: &App, args: AddArgs, output: Output) -> anyhow::Result<Exit> {
    if !ServerRecord::is_name(&args.name) {
        let text = format!(
            "invalid server name `{}`: use 1 to 64 letters, digits, `_` and `-`",
            visible(&args.name)
        );
        return Err(Usage(text).into());
    }
    let servers = app.store.servers(&project()).await?;
    let before = servers.iter().find(|server| server.name == args.name);
    if before.is_some() && !args.replace {
        let text = format!("the server `{}` exists already; `--replace` replaces it", args.name);
        return Err(Usage(text).into());
    }
    let no_start = args.no_start;
    let stored = StoredSecrets::load(&app.vault, &project()).await?;
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
        let document = ServerDocument::load(app, record).await?;
        show(&document, output)?;
        return Ok(Exit::Done);
    }
    test_server(app, record, output).await
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
            check_encryption(&entry).map_err(Usage)?;
            if args.sse { Transport::Sse(entry) } else { Transport::Http(entry) }
        }
        (None, Some((command, arguments))) => Transport::Stdio(ProgramEntry {
            command: resolve_program(command)?,
            arguments: checked_arguments(arguments, stored)?,
            folder: args.folder.as_deref().map(absolute_path).transpose()?,
            environment: variables(&args.env, stored)?,
            profile: profile(&args.profile)?,
            readable: args.read.iter().map(|path| absolute_path(path)).collect::<Result<_, _>>()?,
        }),
        (None, None) => {
            let text = "no server given; use `toolroom mcp add NAME -- COMMAND …` or `--url URL`";
            return Err(Usage(text.to_owned()).into());
        }
    };
    Ok(ServerRecord {
        name: args.name,
        transport,
        is_enabled: true,
        timeout_seconds: args.timeout.filter(|seconds| *seconds > 0),
        // Otherwise the next import would add the replaced server again.
        imported_from: before.and_then(|before| before.imported_from.clone()),
        imported_as: before.and_then(|before| before.imported_as.clone()),
        traits: ServerTraits {
            all: args.declaration.declared(ToolTraits::default())?,
            ..ServerTraits::default()
        },
        changed_at: app.room.clock().now(),
    })
}
