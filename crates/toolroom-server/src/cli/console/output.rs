//! What is printed, and where: data to stdout, talk to stderr, colours on terminals only.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use serde::Serialize;
use serde_json::Value;
use toolroom::ledger::CallStatus;
use toolroom_host::environment;

use super::redaction::shown;
use crate::spelled_out::escaped;
pub(crate) use crate::spelled_out::{harmless, visible};

/// Whether the last line on standard error is to be taken back.
static SHOWS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// The two streams of this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const RED: Style = AnsiColor::Red.on_default();

impl Output {
    pub(crate) fn new(json: bool, color: ColorChoice) -> Self {
        match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        Self { json }
    }

    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// A line of data.
    pub(crate) fn data(self, text: &str) -> io::Result<()> {
        writeln!(anstream::stdout().lock(), "{}", shown(text))
    }

    /// One JSON document.
    pub(crate) fn document(self, document: &impl Serialize) -> anyhow::Result<()> {
        Ok(self.data(&escaped(&serde_json::to_string_pretty(document)?))?)
    }

    /// One JSON document on one line, as in a stream of them.
    pub(crate) fn line_of_json(self, document: &impl Serialize) -> anyhow::Result<()> {
        Ok(self.data(&escaped(&serde_json::to_string(document)?))?)
    }

    /// A result: a scalar as plain text, everything else as JSON.
    pub(crate) fn result(self, value: &Value) -> anyhow::Result<()> {
        // A text that ends its last line needs no other end.
        let line = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
        match value {
            // A terminal obeys control characters; a file or a pipe gets what the tool said.
            Value::String(text) if io::stdout().is_terminal() => Ok(self.data(&harmless(&line(text)))?),
            Value::String(text) => Ok(writeln!(io::stdout().lock(), "{}", shown(&line(text)))?),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(self.data(&value.to_string())?),
            Value::Array(_) | Value::Object(_) => self.document(value),
        }
    }

    /// A line of talk. Whether anybody reads it does not matter to the command.
    pub(crate) fn talk(self, text: impl Display) {
        let _unread = writeln!(anstream::stderr().lock(), "{}", shown(&text.to_string()));
    }

    /// A question that is answered on its own line.
    pub(crate) fn ask(self, text: impl Display) {
        // In one piece: what is typed is shown behind it, not in the middle.
        let question = format!("{} ", shown(&text.to_string()));
        let mut screen = anstream::stderr().lock();
        let _unread = screen.write_all(question.as_bytes()).and_then(|()| screen.flush());
    }

    pub(crate) fn error(self, text: &str) {
        self.talk(format_args!("{RED}error:{RED:#} {}", visible(text)));
    }

    pub(crate) fn hint(self, text: &str) {
        self.talk(format_args!("{YELLOW}hint:{YELLOW:#} {}", visible(text)));
    }

    /// Something that is probably not meant.
    pub(crate) fn warning(self, text: &str) {
        self.talk(format_args!("{YELLOW}warning:{YELLOW:#} {}", visible(text)));
    }

    /// Says why a call failed, what to do, and, to the person at the terminal, what is behind it.
    pub(crate) fn failure(self, text: &str, hint: Option<&str>, cause: Option<&str>) {
        // A tool's own line must not pass for one of ours.
        let indented = |text: &str| text.replace('\n', "\n  ");
        self.error(&indented(text));
        if let Some(hint) = hint {
            self.hint(&indented(hint));
        }
        if let Some(cause) = cause {
            self.talk(format_args!("{DIM}cause:{DIM:#} {}", visible(&indented(cause))));
        }
    }

    /// Shows the latest word of a running tool on one line, where somebody is watching.
    pub(crate) fn progress(self, text: &str) {
        if can_erase() {
            self.end_progress();
            SHOWS_PROGRESS.store(true, Ordering::SeqCst);
            let _unread = write!(anstream::stderr().lock(), "{DIM}{}{DIM:#}", harmless(&shown(text)));
        }
    }

    pub(crate) fn end_progress(self) {
        if SHOWS_PROGRESS.swap(false, Ordering::SeqCst) {
            // Not a colour: whoever wants none wants the line gone all the same.
            let _unread = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}

/// Whether a line on standard error can be taken back.
pub(crate) fn can_erase() -> bool {
    io::stderr().is_terminal() && environment::variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// The colour a status is shown in.
pub(crate) const fn style_of(status: CallStatus) -> Style {
    match status {
        CallStatus::Done => GREEN,
        CallStatus::Begun | CallStatus::Pending | CallStatus::Cancelled => YELLOW,
        CallStatus::Failed | CallStatus::Denied | CallStatus::Unknown => RED,
    }
}

/// Columns as wide as their widest cell. The last cell of a row is not padded and may run on below the others.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let padded = rows.iter().filter_map(|row| row.split_last()?.1.get(column));
        padded.map(|cell| shown_width(cell)).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let mut line = String::new();
        for (position, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line.push_str(cell);
            if position + 1 < row.len() {
                let padding = width.saturating_sub(shown_width(cell)) + 2;
                line.extend(std::iter::repeat_n(' ', padding));
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// Characters on the screen, colours not counted.
fn shown_width(cell: &str) -> usize {
    anstream::adapter::strip_str(cell).to_string().chars().count()
}

/// How many characters of an id a listing shows: the random end, which tells two ids apart.
const SHORT_ID: usize = 8;

/// The end of an id, as listings show it.
pub(crate) fn short_id(id: &impl Display) -> String {
    let text = id.to_string();
    text.chars().skip(text.chars().count().saturating_sub(SHORT_ID)).collect()
}

/// The first line, cut to `chars`.
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let more = line.chars().count() > chars || text.lines().nth(1).is_some();
    let cut: String = line.chars().take(chars).collect();
    visible(&if more { format!("{cut}…") } else { cut })
}

/// The text on one line: line ends and tabs are escaped, and so is everything invisible.
pub(crate) fn single_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_approved_is_what_is_read() {
        let check = |text: &str, shown: &str| assert_eq!(visible(text), shown);
        check("plain ünïcödé 🙂\ttab", "plain ünïcödé 🙂\ttab");
        check("a\u{202e}b", "a\\u{202e}b");
        check("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}");
        check("tag\u{e0041}", "tag\\u{e0041}");
        check("blank\u{2800}\u{1d173}", "blank\\u{2800}\\u{1d173}");
        check("bell\u{7}\u{1b}[2J", "bell\\u{7}\\u{1b}[2J");
    }

    #[test]
    fn a_document_says_the_same_with_every_character_to_be_seen() {
        let text = "a\u{200b}b\u{202e}\u{e0041}c🙂";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert_eq!(json, "\"a\\u200bb\\u202e\\udb40\\udc41c🙂\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn a_tools_own_text_keeps_its_joiners() {
        assert_eq!(harmless("👩\u{200d}🔬\u{202e}"), "👩\u{200d}🔬\\u{202e}");
    }
}
