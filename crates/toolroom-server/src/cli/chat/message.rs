//! What is said: the words of the command line, what is piped in, and pictures.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use toolroom::model::{Block, Image, Message};
use toolroom_host::picture_file;

use crate::cli::console::exit::Usage;

/// More than any model reads at once.
const MAX_BYTES: usize = 1024 * 1024;

/// Stands for standard input.
const DASH: &str = "-";

/// The words of a command line, and standard input behind them where it is asked for; `None` if that is nothing.
///
/// Next to words, standard input is read only for a dash: programs that start others often leave a pipe open that nobody
/// ever writes to, and its end would be waited for.
pub(super) fn words(arguments: &[String]) -> anyhow::Result<Option<String>> {
    let mut texts = arguments.iter().map(String::as_str).filter(|word| *word != DASH);
    let said = texts.next();
    if texts.next().is_some() {
        return Err(Usage("one message at a time: put it in quotes".to_owned()).into());
    }
    let wants_stdin =
        arguments.iter().any(|word| word == DASH) || said.is_none() && !io::stdin().is_terminal();
    let said = said.map(str::trim).filter(|said| !said.is_empty());
    let piped = if wants_stdin { piped()? } else { String::new() };
    let piped = piped.trim_end();
    let words = match (said, piped.is_empty()) {
        (Some(said), true) => said.to_owned(),
        (Some(said), false) => format!("{said}\n\n{piped}"),
        (None, false) => piped.to_owned(),
        (None, true) => return Ok(None),
    };
    match words.len() > MAX_BYTES {
        true => Err(too_long().into()),
        false => Ok(Some(words)),
    }
}

/// Whether a person at the terminal has piped in what nobody reads.
pub(super) fn is_unread(arguments: &[String]) -> bool {
    let is_asked_for = arguments.is_empty() || arguments.iter().any(|word| word == DASH);
    !is_asked_for && !io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn piped() -> Result<String, Usage> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
    read.map_err(|error| Usage(format!("standard input cannot be read: {error}")))?;
    if bytes.len() > MAX_BYTES {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to() + 1;
        Usage(format!(
            "standard input is not UTF-8 from byte {position} on; send text, or a picture with --image FILE"
        ))
    })
}

fn too_long() -> Usage {
    Usage("the message is longer than 1 MiB, which no model reads at once; send a part of it, or name a file and let a tool read it".to_owned())
}

/// A message of these words and pictures.
pub(super) fn message(words: String, images: &[PathBuf]) -> anyhow::Result<Message> {
    let mut message = Message::user(words);
    for image in read_pictures(images)? {
        message.blocks.push(Block::Image(image));
    }
    Ok(message)
}

/// Vendors take no larger ones.
const MAX_PICTURE_BYTES: usize = 5 * 1024 * 1024;

/// More say nothing more.
const MAX_PICTURES: usize = 10;

pub(super) fn read_pictures(paths: &[PathBuf]) -> Result<Vec<Image>, Usage> {
    if paths.len() > MAX_PICTURES {
        return Err(Usage(format!("--image: at most {MAX_PICTURES} pictures can be shown at once")));
    }
    let read = |path: &PathBuf| match picture_file::read(path, MAX_PICTURE_BYTES) {
        Ok(picture) => {
            let media_type = picture.media_type.to_owned();
            Ok(Image { media_type, base64: picture.base64.into() })
        }
        Err(error) => Err(Usage(format!("--image: {:#}", anyhow::Error::from(error)))),
    };
    paths.iter().map(read).collect()
}
