//! `toolroom config path`: paths of configuration and data, and which of them exist.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KEY_VARIABLE};
use toolroom_host::text_file;

use super::trust;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, table, visible};
use crate::config::{Sources, Trust, skipped_file_problem};
use crate::database::DATABASE;

struct PathEntry {
    name: &'static str,
    /// A path, or its replacement.
    shown: String,
    note: &'static str,
    document: Value,
}

impl PathEntry {
    /// An entry for a path, with a note for a missing one.
    fn new(name: &'static str, path: &Path, if_missing: &'static str) -> Self {
        let (shown, exists) = (path.to_string_lossy().into_owned(), text_file::is_there(path));
        let document = json!({"path": shown, "exists": exists});
        Self { name, shown, note: if exists { "" } else { if_missing }, document }
    }
}

pub(super) async fn run(output: Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    let sources = Sources::find(&folders);
    let first = "not created yet; the first call creates it";
    let entries = [
        PathEntry::new("user file", &sources.user, "not found; create it with `toolroom init`"),
        project(&sources, &folders, output).await,
        PathEntry::new("data folder", &folders.data, first),
        PathEntry::new("database", &folders.data.join(DATABASE), first),
        master_key(&folders.data.join(KEY_FILE)),
    ];
    if output.is_json() {
        let entry = |entry: PathEntry| (entry.name.replace(' ', "_"), entry.document);
        let mut document: Map<_, _> = entries.into_iter().map(entry).collect();
        let passed_over = sources.passed_over.iter().map(|passed| passed.path.to_string_lossy());
        document.insert("passed_over".to_owned(), passed_over.collect());
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    for passed in &sources.passed_over {
        output.warning(&skipped_file_problem(passed).to_string());
    }
    let row = |entry: &PathEntry| {
        let (name, note) = (format!("{BOLD}{}{BOLD:#}", entry.name), format!("{DIM}{}{DIM:#}", entry.note));
        vec![name, visible(&entry.shown), note]
    };
    output.data(&table(&entries.iter().map(row).collect::<Vec<_>>()))?;
    Ok(Exit::Done)
}

async fn project(sources: &Sources, folders: &Folders, output: Output) -> PathEntry {
    let name = "project file";
    let found = |path: PathBuf, trusted: bool, note| {
        let shown = path.to_string_lossy().into_owned();
        let document = json!({"path": shown, "exists": true, "trusted": trusted});
        PathEntry { name, shown, note, document }
    };
    match (sources.project_file(), &sources.project) {
        (Ok(Some(file)), _) => match trust(&file, folders, output).await {
            Trust::Given => found(file.path, true, "trusted"),
            Trust::Missing => found(file.path, false, "not trusted: may only narrow; see `toolroom trust`"),
        },
        (Err(_), Some(path)) => found(path.clone(), false, "cannot be read; see `toolroom config check`"),
        (Ok(None), _) | (Err(_), None) => PathEntry {
            name,
            shown: "none".to_owned(),
            note: "no `toolroom.toml` in this folder or above",
            document: Value::Null,
        },
    }
}

fn master_key(path: &Path) -> PathEntry {
    let name = "master key";
    if environment::variable(KEY_VARIABLE).is_none() {
        return PathEntry::new(name, path, "not created yet; created with the first secret");
    }
    let document = json!({"variable": KEY_VARIABLE, "exists": true});
    PathEntry {
        name,
        shown: KEY_VARIABLE.to_owned(),
        note: "environment variable, instead of a file",
        document,
    }
}
