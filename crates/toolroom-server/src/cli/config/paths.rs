//! Where files and data are, and what is there already.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KEY_VARIABLE};
use toolroom_host::text_file;

use super::trust;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, Output, table, visible};
use crate::config::{Sources, Trust, told};
use crate::database::DATABASE;

/// One place, as people and programs are told of it.
struct Place {
    name: &'static str,
    /// A path, or what stands for one.
    shown: String,
    note: &'static str,
    document: Value,
}

impl Place {
    /// A path, with a note for the time in which nothing is there.
    fn of(name: &'static str, path: &Path, until_then: &'static str) -> Self {
        let (shown, exists) = (path.to_string_lossy().into_owned(), text_file::is_there(path));
        let document = json!({"path": shown, "exists": exists});
        Self { name, shown, note: if exists { "" } else { until_then }, document }
    }
}

pub(super) async fn run(output: Output) -> anyhow::Result<Exit> {
    let folders = Folders::from_environment()?;
    let sources = Sources::find(&folders);
    let first = "not there yet; the first call makes it";
    let places = [
        Place::of("user file", &sources.user, "not there; `toolroom init` writes it"),
        project(&sources, &folders, output).await,
        Place::of("data folder", &folders.data, first),
        Place::of("database", &folders.data.join(DATABASE), first),
        master_key(&folders.data.join(KEY_FILE)),
    ];
    if output.is_json() {
        let entry = |place: Place| (place.name.replace(' ', "_"), place.document);
        let mut document: Map<_, _> = places.into_iter().map(entry).collect();
        let passed_over = sources.passed_over.iter().map(|passed| passed.path.to_string_lossy());
        document.insert("passed_over".to_owned(), passed_over.collect());
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    for passed in &sources.passed_over {
        output.warning(&told(passed).to_string());
    }
    let row = |place: &Place| {
        let (name, note) = (format!("{BOLD}{}{BOLD:#}", place.name), format!("{DIM}{}{DIM:#}", place.note));
        vec![name, visible(&place.shown), note]
    };
    output.data(&table(&places.iter().map(row).collect::<Vec<_>>()))?;
    Ok(Exit::Done)
}

async fn project(sources: &Sources, folders: &Folders, output: Output) -> Place {
    let name = "project file";
    let found = |path: PathBuf, trusted: bool, note| {
        let shown = path.to_string_lossy().into_owned();
        let document = json!({"path": shown, "exists": true, "trusted": trusted});
        Place { name, shown, note, document }
    };
    match (sources.project_file(), &sources.project) {
        (Ok(Some(file)), _) => match trust(&file, folders, output).await {
            Trust::Given => found(file.path, true, "trusted"),
            Trust::Missing => {
                found(file.path, false, "not trusted: it may only narrow; see `toolroom trust`")
            }
        },
        (Err(_), Some(path)) => found(path.clone(), false, "cannot be read; see `toolroom config check`"),
        (Ok(None), _) | (Err(_), None) => Place {
            name,
            shown: "none".to_owned(),
            note: "no `toolroom.toml` here or above",
            document: Value::Null,
        },
    }
}

fn master_key(path: &Path) -> Place {
    let name = "master key";
    if environment::variable(KEY_VARIABLE).is_none() {
        return Place::of(name, path, "not there yet; made when something is first sealed");
    }
    let document = json!({"variable": KEY_VARIABLE, "exists": true});
    Place { name, shown: KEY_VARIABLE.to_owned(), note: "the variable, in place of a file", document }
}
