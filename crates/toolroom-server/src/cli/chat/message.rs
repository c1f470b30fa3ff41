//! Builds a message from arguments, standard input and images.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use toolroom::model::{Block, Image, Message};
use toolroom_host::picture_file;

use crate::cli::console::exit::Usage;

/// Larger than the context of any model.
const MAX_BYTES: usize = 1024 * 1024;

/// Means standard input.
const DASH: &str = "-";

/// The message text, followed by standard input where requested; `None` if both are empty.
///
/// With a message argument, standard input is read only for a dash: callers often leave a pipe open without writing to
/// it, and reading it would block.
pub(super) fn message_text(arguments: &[String]) -> anyhow::Result<Option<String>> {
    let mut texts = arguments.iter().map(String::as_str).filter(|word| *word != DASH);
    let text = texts.next();
    if texts.next().is_some() {
        return Err(Usage("expected one message: put it in quotes".to_owned()).into());
    }
    let wants_stdin =
        arguments.iter().any(|word| word == DASH) || text.is_none() && !io::stdin().is_terminal();
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let piped = if wants_stdin { piped()? } else { String::new() };
    let piped = piped.trim_end();
    let message_text = match (text, piped.is_empty()) {
        (Some(text), true) => text.to_owned(),
        (Some(text), false) => format!("{text}\n\n{piped}"),
        (None, false) => piped.to_owned(),
        (None, true) => return Ok(None),
    };
    match message_text.len() > MAX_BYTES {
        true => Err(too_long().into()),
        false => Ok(Some(message_text)),
    }
}

/// Whether standard input is piped but not read.
pub(super) fn ignores_stdin(arguments: &[String]) -> bool {
    let is_asked_for = arguments.is_empty() || arguments.iter().any(|word| word == DASH);
    !is_asked_for && !io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn piped() -> Result<String, Usage> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
    read.map_err(|error| Usage(format!("cannot read standard input: {error}")))?;
    if bytes.len() > MAX_BYTES {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to() + 1;
        Usage(format!(
            "standard input is not UTF-8 from byte {position} on; send text, or an image with --image FILE"
        ))
    })
}

fn too_long() -> Usage {
    Usage("the message is longer than 1 MiB; send part of it, or let a tool read the file".to_owned())
}

/// A message with text and images.
pub(super) fn message(message_text: String, images: &[PathBuf]) -> anyhow::Result<Message> {
    let mut message = Message::user(message_text);
    for image in read_images(images)? {
        message.blocks.push(Block::Image(image));
    }
    Ok(message)
}

/// Limit of the vendors.
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;

const MAX_IMAGES: usize = 10;

pub(super) fn read_images(paths: &[PathBuf]) -> Result<Vec<Image>, Usage> {
    if paths.len() > MAX_IMAGES {
        return Err(Usage(format!("--image: at most {MAX_IMAGES} images per message")));
    }
    let read = |path: &PathBuf| match picture_file::read(path, MAX_IMAGE_BYTES) {
        Ok(image) => {
            let media_type = image.media_type.to_owned();
            Ok(Image { media_type, base64: image.base64.into() })
        }
        Err(error) => Err(Usage(format!("--image: {:#}", anyhow::Error::from(error)))),
    };
    paths.iter().map(read).collect()
}
