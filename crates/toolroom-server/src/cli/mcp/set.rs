//! `toolroom mcp set`: parts of an entry are changed, and the rest stays: what was accepted, what was granted.

use std::collections::BTreeMap;

use clap::Args;
use toolroom::foreign::{AddressEntry, EntryValue, ProgramEntry, ServerRecord, Transport};

use super::document::ServerDocument;
use super::entry::change;
use super::entry::{profile, values, variables, whole_path};
use super::project;
use super::show::show;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::Output;
use crate::gateway::{StoredSecrets, check_headers, check_way};

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct SetArgs {
    /// The server
    name: String,
    /// The sandbox it runs in: workspace, read-only, network:HOST[:PORT],… or off
    #[arg(long)]
    profile: Option<String>,
    /// A folder or file it may read, beside those it may read already (repeatable)
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// A folder or file it may not read any more (repeatable)
    #[arg(long, value_name = "PATH")]
    no_read: Vec<String>,
    /// A variable, NAME=VALUE or NAME=secret:SECRET; NAME= takes it away (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A header, NAME=VALUE or NAME=secret:SECRET; NAME= takes it away (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
    /// How long a call may take, in seconds; 0 for as long as usual
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Its name may lead inside a network
    #[arg(long, conflicts_with = "no_internal")]
    internal: bool,
    /// Its name may not
    #[arg(long)]
    no_internal: bool,
    /// Switch it on
    #[arg(long, conflicts_with = "disable")]
    enable: bool,
    /// Switch it off
    #[arg(long)]
    disable: bool,
}

pub(super) async fn run(app: &App, args: SetArgs, output: Output) -> anyhow::Result<Exit> {
    // None of this makes another server of it, so that what was accepted, granted and seen stays.
    let stored = StoredSecrets::of(&app.vault, &project()).await?;
    let record = change(app, &args.name, async |before: ServerRecord| {
        let record = changed(before.clone(), &args, &stored)?;
        if record == before {
            let text = "say what to change, such as `--profile network:HOST` or `--env NAME=VALUE`";
            return Err(Usage(text.to_owned()).into());
        }
        stored.check(&record.transport).map_err(Usage)?;
        Ok(record)
    })
    .await?;
    if let Some(hint) = stored.hint(args.env.iter().chain(&args.header)) {
        output.hint(&hint);
    }
    show(&ServerDocument::of(app, record).await?, output)?;
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
            "a program has variables (`--env`), and neither headers nor an address".to_owned(),
        ));
    }
    if let Some(wanted) = &args.profile {
        program.profile = profile(wanted)?;
    }
    for path in &args.read {
        let path = whole_path(path)?;
        if !program.readable.contains(&path) {
            program.readable.push(path);
        }
    }
    for path in &args.no_read {
        let path = whole_path(path)?;
        program.readable.retain(|known| *known != path);
    }
    put(&mut program.environment, variables(&args.env, stored)?);
    Ok(())
}

fn change_address(address: &mut AddressEntry, args: &SetArgs, stored: &StoredSecrets) -> Result<(), Usage> {
    let is_about_program =
        args.profile.is_some() || !args.read.is_empty() || !args.no_read.is_empty() || !args.env.is_empty();
    if is_about_program {
        let text = "an address has headers (`--header`), and neither a sandbox nor variables";
        return Err(Usage(text.to_owned()));
    }
    put(&mut address.headers, values(&args.header, stored)?);
    address.is_internal = args.internal || (address.is_internal && !args.no_internal);
    check_headers(address).map_err(Usage)?;
    check_way(address).map_err(Usage)
}

/// Puts values in the place of those of their names; what is empty goes.
fn put(values: &mut BTreeMap<String, EntryValue>, given: BTreeMap<String, EntryValue>) {
    for (name, value) in given {
        match value {
            EntryValue::Plain(text) if text.is_empty() => drop(values.remove(&name)),
            value => drop(values.insert(name, value)),
        }
    }
}
