//! Questions on the terminal, and text input from files and stdin.

use std::fmt::Display;
use std::io::{self, Read as _, stdin};
use std::path::Path;

use toolroom_host::terminal::Terminal;
use toolroom_host::text_file;

use super::exit::{Missing, Usage};
use super::output::Output;
use crate::config::MAX_FILE_BYTES;

pub(crate) enum Reply {
    /// A trimmed line.
    Line(String),
    /// There is no terminal to ask on.
    NoTerminal,
}

/// Asks and reads a line. Discards typed-ahead input, so print what the question is about before.
pub(crate) fn ask(question: impl Display, output: Output) -> io::Result<Reply> {
    let Some(mut terminal) = Terminal::open() else { return Ok(Reply::NoTerminal) };
    // Before the question, so that an immediate answer is not discarded.
    terminal.discard_typed_ahead()?;
    output.ask(question);
    let line = terminal.read_line()?;
    if line.is_none() {
        // End of input leaves the cursor on the line of the question.
        output.talk("");
    }
    Ok(Reply::Line(line.unwrap_or_default().trim().to_owned()))
}

/// Asks whether to apply the listed changes.
pub(crate) fn is_confirmed(question: impl Display, output: Output) -> anyhow::Result<bool> {
    match ask(format_args!("{question} [y/N]"), output)? {
        Reply::Line(line) => Ok(is_yes(&line)),
        Reply::NoTerminal => {
            let text =
                "no terminal to ask on; apply the changes with `--yes`, or preview them with `--dry-run`"
                    .to_owned();
            Err(Usage(text).into())
        }
    }
}

/// Whether the answer is yes. Anything else is no.
pub(crate) fn is_yes(line: &str) -> bool {
    matches!(line.to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Reads a file, or standard input for `-`, of at most `max_bytes`.
pub(crate) fn read_text(path: &Path, max_bytes: usize) -> anyhow::Result<String> {
    if path == Path::new("-") { piped(max_bytes) } else { bounded(path, max_bytes) }
}

/// Reads a file that must exist.
pub(crate) fn file_text(path: &Path) -> anyhow::Result<String> {
    bounded(path, MAX_FILE_BYTES)
}

fn bounded(path: &Path, max_bytes: usize) -> anyhow::Result<String> {
    let read = text_file::read_bounded(path, max_bytes).map_err(|error| {
        // Includes the cause from the system.
        Usage(format!("{:#}", anyhow::Error::from(error)))
    })?;
    Ok(read.ok_or_else(|| no_file(path))?)
}

fn piped(max_bytes: usize) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    // Reads one byte more than allowed to detect longer input.
    let read = stdin().lock().take(u64::try_from(max_bytes)?.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Usage(format!("cannot read standard input: {error}")))?;
    if bytes.len() > max_bytes {
        return Err(Usage(format!("standard input is longer than {max_bytes} bytes")).into());
    }
    let not_utf8 = |error: std::string::FromUtf8Error| {
        let position = error.utf8_error().valid_up_to() + 1;
        Usage(format!("standard input is not UTF-8 from byte {position} on; save it as UTF-8"))
    };
    Ok(String::from_utf8(bytes).map_err(not_utf8)?)
}

/// Error for a missing file.
pub(crate) fn no_file(path: &Path) -> Missing {
    Missing(format!("no file `{}`; check the name and the current folder", path.display()))
}
