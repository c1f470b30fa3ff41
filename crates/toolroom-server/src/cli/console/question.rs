//! A question to the person at the terminal that is answered with a line.

use std::fmt::Display;
use std::io;

use toolroom_host::terminal::Terminal;

use super::exit::Usage;
use super::output::Output;

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
