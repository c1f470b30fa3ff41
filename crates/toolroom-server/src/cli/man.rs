//! `toolroom man`: the manual, one page per command, generated from the `--help` texts.

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
  toolroom man | man -l -           read the first page
  toolroom man ~/.local/share/man/man1
  man toolroom-call";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ManArgs {
    /// Existing folder to write all pages to [default: print the first page]
    folder: Option<PathBuf>,
}

struct ManPage {
    name: String,
    text: String,
}

pub(super) fn run(args: &ManArgs, output: &Output) -> anyhow::Result<Exit> {
    let mut cli = Cli::command();
    cli.build();
    let mut pages = Vec::new();
    write(&cli, &mut pages)?;
    let Some(folder) = &args.folder else {
        let first = pages.first().context("the manual is empty")?;
        match output.is_json() {
            true => output.document(&serde_json::json!({"name": first.name, "text": first.text}))?,
            false => output.data(first.text.trim_end())?,
        }
        return Ok(Exit::Done);
    };
    if !text_file::is_folder(folder) {
        let folder = folder.display();
        return Err(Usage(format!("`{folder}` is not a folder; create it with `mkdir -p {folder}`")).into());
    }
    let paths: Vec<PathBuf> = pages.iter().map(|page| folder.join(&page.name)).collect();
    if let Some(link) = paths.iter().find(|path| text_file::is_link(path)) {
        let text = format!("`{}` is a symbolic link; remove it, or choose another folder", link.display());
        return Err(Usage(text).into());
    }
    for (path, ManPage { text, .. }) in paths.iter().zip(&pages) {
        text_file::replace(path, text).map_err(|error| Usage(format!("{:#}", anyhow::Error::from(error))))?;
    }
    if output.is_json() {
        let names: Vec<&String> = pages.iter().map(|page| &page.name).collect();
        output.document(&serde_json::json!({"folder": folder, "pages": names}))?;
    } else {
        output.talk(format_args!("Wrote {} pages", pages.len()));
    }
    Ok(Exit::Done)
}

/// Renders the pages of a command and its subcommands.
fn write(command: &Command, pages: &mut Vec<ManPage>) -> std::io::Result<()> {
    let man = Man::new(command.clone()).source(concat!("toolroom ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push(ManPage { name: man.get_filename(), text: String::from_utf8_lossy(&text).into_owned() });
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    below.into_iter().try_for_each(|below| write(below, pages))
}
