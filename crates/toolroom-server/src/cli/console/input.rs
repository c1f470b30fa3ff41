//! A question to the person at the terminal that is answered with a line.

use std::fmt::Display;
use std::io;
use std::io::{Read as _, stdin};
use std::path::Path;

use toolroom_host::terminal::Terminal;
use toolroom_host::text_file;

use super::exit::{Missing, Usage};
use super::output::Output;
use crate::config::MAX_FILE_BYTES;

/// What came of asking.
pub(crate) enum Reply {
    /// A line, without the space around it.
    Line(String),
    /// There is no terminal to ask on.
    Nobody,
}

/// Asks in one line, and waits for one. What was typed before is thrown away: whatever the question is about has to
/// be on the screen already.
pub(crate) fn ask(question: impl Display, output: Output) -> io::Result<Reply> {
    let Some(mut terminal) = Terminal::open() else { return Ok(Reply::Nobody) };
    // Right before the question rather than after it: an answer that comes at once is one.
    terminal.discard_typed_ahead()?;
    output.ask(question);
    let line = terminal.read_line()?;
    if line.is_none() {
        // Whoever ends the input has said nothing, and has not ended the line.
        output.talk("");
    }
    Ok(Reply::Line(line.unwrap_or_default().trim().to_owned()))
}

/// Whether so many things are to be entered, set or whatever the verb says. What they are is on the screen.
pub(crate) fn is_wanted(verb: &str, count: usize, output: Output) -> anyhow::Result<bool> {
    match ask(format_args!("{verb} {count}? [y/N]"), output)? {
        Reply::Line(line) => Ok(is_yes(&line)),
        Reply::Nobody => {
            let text =
                format!("nobody can be asked here; `--yes` {verb}s what is shown, `--dry-run` only shows it");
            Err(Usage(text).into())
        }
    }
}

/// Whether a line says yes. Everything else is a no.
pub(crate) fn is_yes(line: &str) -> bool {
    matches!(line.to_ascii_lowercase().as_str(), "y" | "yes")
}

/// The text of a file of at most so many bytes; of standard input, if it is called `-`.
pub(crate) fn text_of(path: &Path, max_bytes: usize) -> anyhow::Result<String> {
    if path == Path::new("-") { piped(max_bytes) } else { bounded(path, max_bytes) }
}

/// The text of a file that has to be there.
pub(crate) fn file_text(path: &Path) -> anyhow::Result<String> {
    bounded(path, MAX_FILE_BYTES)
}

fn bounded(path: &Path, max_bytes: usize) -> anyhow::Result<String> {
    let read = text_file::read_bounded(path, max_bytes).map_err(|error| {
        // What the system said belongs to it.
        Usage(format!("{:#}", anyhow::Error::from(error)))
    })?;
    Ok(read.ok_or_else(|| no_file(path))?)
}

fn piped(max_bytes: usize) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    // One more than allowed, so that half a document is not taken for a whole one.
    let read = stdin().lock().take(u64::try_from(max_bytes)?.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Usage(format!("standard input cannot be read: {error}")))?;
    if bytes.len() > max_bytes {
        return Err(Usage(format!("standard input is longer than {max_bytes} bytes; make it shorter")).into());
    }
    let told = |error: std::string::FromUtf8Error| {
        let position = error.utf8_error().valid_up_to() + 1;
        Usage(format!("standard input is not UTF-8 from byte {position} on; save it as UTF-8"))
    };
    Ok(String::from_utf8(bytes).map_err(told)?)
}

/// A file was named that is not there.
pub(crate) fn no_file(path: &Path) -> Missing {
    Missing(format!("there is no file `{}`; check its name, and the folder you are in", path.display()))
}
