//! Prints data to stdout and messages to stderr, with colors on terminals only.

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
use crate::escape::escape_json;
pub(crate) use crate::escape::{escape_controls, visible};

/// Whether the last line on standard error is a progress line to erase.
static SHOWS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Prints to the standard streams.
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

    /// Prints a line of data.
    pub(crate) fn data(self, text: &str) -> io::Result<()> {
        writeln!(anstream::stdout().lock(), "{}", shown(text))
    }

    /// Prints a JSON document.
    pub(crate) fn document(self, document: &impl Serialize) -> anyhow::Result<()> {
        Ok(self.data(&escape_json(&serde_json::to_string_pretty(document)?))?)
    }

    /// Prints a JSON document on one line.
    pub(crate) fn line_of_json(self, document: &impl Serialize) -> anyhow::Result<()> {
        Ok(self.data(&escape_json(&serde_json::to_string(document)?))?)
    }

    /// Prints a result: a scalar as plain text, everything else as JSON.
    pub(crate) fn result(self, value: &Value) -> anyhow::Result<()> {
        // Avoids a second line end.
        let line = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
        match value {
            // Control characters are escaped on a terminal only.
            Value::String(text) if io::stdout().is_terminal() => {
                Ok(self.data(&escape_controls(&line(text)))?)
            }
            Value::String(text) => Ok(writeln!(io::stdout().lock(), "{}", shown(&line(text)))?),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(self.data(&value.to_string())?),
            Value::Array(_) | Value::Object(_) => self.document(value),
        }
    }

    /// Prints a message to stderr. Ignores write errors.
    pub(crate) fn talk(self, text: impl Display) {
        let _ignored = writeln!(anstream::stderr().lock(), "{}", shown(&text.to_string()));
    }

    /// Prints a question; the answer is typed on the same line.
    pub(crate) fn ask(self, text: impl Display) {
        // Written in one piece, so that typed input is not shown in the middle.
        let question = format!("{} ", shown(&text.to_string()));
        let mut screen = anstream::stderr().lock();
        let _ignored = screen.write_all(question.as_bytes()).and_then(|()| screen.flush());
    }

    pub(crate) fn error(self, text: &str) {
        self.talk(format_args!("{RED}error:{RED:#} {}", visible(text)));
    }

    pub(crate) fn hint(self, text: &str) {
        self.talk(format_args!("{YELLOW}hint:{YELLOW:#} {}", visible(text)));
    }

    /// Prints a warning about a likely mistake.
    pub(crate) fn warning(self, text: &str) {
        self.talk(format_args!("{YELLOW}warning:{YELLOW:#} {}", visible(text)));
    }

    /// Prints why a call failed, with hint and cause.
    pub(crate) fn failure(self, text: &str, hint: Option<&str>, cause: Option<&str>) {
        // Indented, so that a tool cannot imitate our own lines.
        let indented = |text: &str| text.replace('\n', "\n  ");
        self.error(&indented(text));
        if let Some(hint) = hint {
            self.hint(&indented(hint));
        }
        if let Some(cause) = cause {
            self.talk(format_args!("{DIM}cause:{DIM:#} {}", visible(&indented(cause))));
        }
    }

    /// Shows progress on one line that is replaced, on terminals only.
    pub(crate) fn progress(self, text: &str) {
        if can_erase() {
            self.end_progress();
            SHOWS_PROGRESS.store(true, Ordering::SeqCst);
            let _ignored = write!(anstream::stderr().lock(), "{DIM}{}{DIM:#}", escape_controls(&shown(text)));
        }
    }

    pub(crate) fn end_progress(self) {
        if SHOWS_PROGRESS.swap(false, Ordering::SeqCst) {
            // Not a color, so it is written without colors, too.
            let _ignored = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}

/// Whether a line on standard error can be erased.
pub(crate) fn can_erase() -> bool {
    io::stderr().is_terminal() && environment::variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// The color of a status.
pub(crate) const fn style_of(status: CallStatus) -> Style {
    match status {
        CallStatus::Done => GREEN,
        CallStatus::Begun | CallStatus::Pending | CallStatus::Cancelled => YELLOW,
        CallStatus::Failed | CallStatus::Denied | CallStatus::Unknown => RED,
    }
}

/// Aligns columns. The last cell of a row is not padded.
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

/// Number of visible characters.
fn shown_width(cell: &str) -> usize {
    anstream::adapter::strip_str(cell).to_string().chars().count()
}

/// Length of a short id: the random end, which is unique enough.
const SHORT_ID: usize = 8;

/// The end of an id, for lists.
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

/// The text on one line, with line ends, tabs and invisible characters escaped.
pub(crate) fn single_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        let check = |text: &str, shown: &str| assert_eq!(visible(text), shown);
        check("plain ünïcödé 🙂\ttab", "plain ünïcödé 🙂\ttab");
        check("a\u{202e}b", "a\\u{202e}b");
        check("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}");
        check("tag\u{e0041}", "tag\\u{e0041}");
        check("blank\u{2800}\u{1d173}", "blank\\u{2800}\\u{1d173}");
        check("bell\u{7}\u{1b}[2J", "bell\\u{7}\\u{1b}[2J");
    }

    #[test]
    fn escaping_keeps_the_meaning_of_json() {
        let text = "a\u{200b}b\u{202e}\u{e0041}c🙂";
        let json = escape_json(&serde_json::to_string(text).unwrap());
        assert_eq!(json, "\"a\\u200bb\\u202e\\udb40\\udc41c🙂\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn emoji_joiners_are_kept() {
        assert_eq!(escape_controls("👩\u{200d}🔬\u{202e}"), "👩\u{200d}🔬\\u{202e}");
    }
}
