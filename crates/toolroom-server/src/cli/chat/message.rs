//! What is said: the words of the command line, what is piped in, and pictures.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use toolroom::model::{Block, Message};

use super::super::exit::Usage;
use super::picture;

/// More than any model reads at once.
const MAX_BYTES: usize = 1024 * 1024;

/// The words of a command line and what is piped in behind them; `None` if that is nothing.
pub(super) fn words(said: Option<&str>) -> anyhow::Result<Option<String>> {
    let wants_stdin = said == Some("-");
    let said = said.filter(|_| !wants_stdin).map(str::trim).filter(|said| !said.is_empty());
    let piped = match wants_stdin || !io::stdin().is_terminal() {
        true => piped()?,
        false => String::new(),
    };
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
    for image in picture::read_all(images)? {
        message.blocks.push(Block::Image(image));
    }
    Ok(message)
}
