//! `toolroom man`: the manual, a page for each command, made of what `--help` says.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use toolroom_host::text_file;

use super::Cli;
use super::console::exit::{Exit, Usage};
use super::console::output::Output;

const EXAMPLES: &str = "\
Examples:
  toolroom man | man -l -           read it
  toolroom man ~/.local/share/man/man1
  man toolroom-call";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ManArgs {
    /// Write all pages into this folder, which has to be there; without it, the first one is printed
    folder: Option<PathBuf>,
}

/// A page of the manual.
struct Page {
    name: String,
    text: String,
}

pub(super) fn run(args: &ManArgs, output: &Output) -> anyhow::Result<Exit> {
    let mut cli = Cli::command();
    cli.build();
    let mut pages = Vec::new();
    write(&cli, &mut pages)?;
    let Some(folder) = &args.folder else {
        let first = pages.first().context("there is no page")?;
        match output.is_json() {
            true => output.document(&serde_json::json!({"name": first.name, "text": first.text}))?,
            false => output.data(first.text.trim_end())?,
        }
        return Ok(Exit::Done);
    };
    if !text_file::is_folder(folder) {
        let folder = folder.display();
        return Err(Usage(format!("`{folder}` is no folder; make one with `mkdir -p {folder}`")).into());
    }
    let places: Vec<PathBuf> = pages.iter().map(|page| folder.join(&page.name)).collect();
    if let Some(link) = places.iter().find(|place| text_file::is_link(place)) {
        let text = format!("`{}` is a link, and stays; remove it, or name another folder", link.display());
        return Err(Usage(text).into());
    }
    for (place, Page { text, .. }) in places.iter().zip(&pages) {
        text_file::replace(place, text)
            .map_err(|error| Usage(format!("{:#}", anyhow::Error::from(error))))?;
    }
    if output.is_json() {
        let names: Vec<&String> = pages.iter().map(|page| &page.name).collect();
        output.document(&serde_json::json!({"folder": folder, "pages": names}))?;
    } else {
        output.talk(format_args!("wrote {} pages", pages.len()));
    }
    Ok(Exit::Done)
}

/// The page of a command, and those of the commands below it.
fn write(command: &Command, pages: &mut Vec<Page>) -> std::io::Result<()> {
    let man = Man::new(command.clone()).source(concat!("toolroom ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push(Page { name: man.get_filename(), text: String::from_utf8_lossy(&text).into_owned() });
    // `help` says the same once more.
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    below.into_iter().try_for_each(|below| write(below, pages))
}
