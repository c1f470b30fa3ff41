//! `toolroom mcp set`: changes parts of an entry.

use std::collections::BTreeMap;

use clap::Args;
use toolroom::foreign::{AddressEntry, EntryValue, ProgramEntry, ServerRecord, Transport};

use super::document::ServerDocument;
use super::entry::change;
use super::entry::{absolute_path, profile, values, variables};
use super::project;
use super::show::show;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::Output;
use crate::gateway::{StoredSecrets, check_encryption, check_headers};

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct SetArgs {
    /// The server
    name: String,
    /// Sandbox profile: workspace, read-only, network:HOST[:PORT],… or off
    #[arg(long)]
    profile: Option<String>,
    /// A further folder or file it may read (repeatable)
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// A folder or file it may no longer read (repeatable)
    #[arg(long, value_name = "PATH")]
    no_read: Vec<String>,
    /// An environment variable, NAME=VALUE or NAME=secret:SECRET; NAME= removes it (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// An HTTP header, NAME=VALUE or NAME=secret:SECRET; NAME= removes it (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
    /// Timeout of a call, in seconds; 0 for the default
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Allow the host name to resolve to an internal address
    #[arg(long, conflicts_with = "no_internal")]
    internal: bool,
    /// Do not allow it
    #[arg(long)]
    no_internal: bool,
    /// Enable the server
    #[arg(long, conflicts_with = "disable")]
    enable: bool,
    /// Disable the server
    #[arg(long)]
    disable: bool,
}

pub(super) async fn run(app: &App, args: SetArgs, output: Output) -> anyhow::Result<Exit> {
    // It remains the same server: accepted definitions and its token are kept.
    let stored = StoredSecrets::load(&app.vault, &project()).await?;
    let record = change(app, &args.name, async |before: ServerRecord| {
        let record = changed(before.clone(), &args, &stored)?;
        if record == before {
            let text = "nothing to change; use for example `--profile network:HOST` or `--env NAME=VALUE`";
            return Err(Usage(text.to_owned()).into());
        }
        stored.check(&record.transport).map_err(Usage)?;
        Ok(record)
    })
    .await?;
    if let Some(hint) = stored.hint(args.env.iter().chain(&args.header)) {
        output.hint(&hint);
    }
    show(&ServerDocument::load(app, record).await?, output)?;
    Ok(Exit::Done)
}

fn changed(mut record: ServerRecord, args: &SetArgs, stored: &StoredSecrets) -> Result<ServerRecord, Usage> {
    match &mut record.transport {
        Transport::Stdio(program) => change_program(program, args, stored)?,
        Transport::Http(address) | Transport::Sse(address) => change_address(address, args, stored)?,
    }
    if let Some(seconds) = args.timeout {
        record.timeout_seconds = Some(seconds).filter(|seconds| *seconds > 0);
    }
    record.is_enabled = args.enable || (record.is_enabled && !args.disable);
    Ok(record)
}

fn change_program(program: &mut ProgramEntry, args: &SetArgs, stored: &StoredSecrets) -> Result<(), Usage> {
    if !args.header.is_empty() || args.internal || args.no_internal {
        return Err(Usage(
            "the server is a program: it has variables (`--env`), but no headers and no URL".to_owned(),
        ));
    }
    if let Some(wanted) = &args.profile {
        program.profile = profile(wanted)?;
    }
    for path in &args.read {
        let path = absolute_path(path)?;
        if !program.readable.contains(&path) {
            program.readable.push(path);
        }
    }
    for path in &args.no_read {
        let path = absolute_path(path)?;
        program.readable.retain(|known| *known != path);
    }
    put(&mut program.environment, variables(&args.env, stored)?);
    Ok(())
}

fn change_address(address: &mut AddressEntry, args: &SetArgs, stored: &StoredSecrets) -> Result<(), Usage> {
    let is_about_program =
        args.profile.is_some() || !args.read.is_empty() || !args.no_read.is_empty() || !args.env.is_empty();
    if is_about_program {
        let text = "the server is a URL: it has headers (`--header`), but no sandbox and no variables";
        return Err(Usage(text.to_owned()));
    }
    put(&mut address.headers, values(&args.header, stored)?);
    address.is_internal = args.internal || (address.is_internal && !args.no_internal);
    check_headers(address).map_err(Usage)?;
    check_encryption(address).map_err(Usage)
}

/// Sets these values; an empty value removes the name.
fn put(values: &mut BTreeMap<String, EntryValue>, given: BTreeMap<String, EntryValue>) {
    for (name, value) in given {
        match value {
            EntryValue::Plain(text) if text.is_empty() => drop(values.remove(&name)),
            value => drop(values.insert(name, value)),
        }
    }
}
