//! Renders an approval request.
//!
//! Arguments are untrusted and may imitate our own output. Every row of them starts behind a bar, lines are wrapped here
//! and not by the terminal, and control and invisible characters are escaped.

use serde_json::Value;
use toolroom::approval::QuestionDetails;
use toolroom::clock::Timestamp;
use toolroom::ledger::Answerer;
use toolroom::schema::parse_value;
use toolroom::tool::Arguments;
use toolroom_host::terminal::Size;

use crate::cli::console::output::{BOLD, DIM, YELLOW, single_line};
use crate::cli::console::redaction::shown;
use crate::cli::console::time::remaining;

/// Longer arguments are shown by `v`.
const SHOWN_CHARS: usize = 200;
const SHOWN_ROWS: usize = 6;
const SHOWN_ARGUMENTS: usize = 20;

/// Width if the terminal does not report one.
const DEFAULT_COLUMNS: usize = 80;
const COLUMNS: std::ops::RangeInclusive<usize> = 20..=110;

/// Indent of continued lines.
const INDENT: &str = "    ";

/// Longer names get their own row.
const NAME_CHARS: usize = 24;

/// The keys. Their order never changes.
const KEYS: [(char, &str); 8] = [
    ('y', "once"),
    ('s', "this session"),
    ('a', "always…"),
    ('n', "no"),
    ('d', "never…"),
    ('e', "edit"),
    ('x', "stop the run"),
    ('v', "view all"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Long arguments are shortened.
    Short,
    Full,
}

/// Renders questions at the width of the terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionView {
    columns: usize,
}

impl QuestionView {
    pub(crate) fn new(size: Option<Size>) -> Self {
        let columns = size.map_or(DEFAULT_COLUMNS, |size| usize::from(size.columns));
        Self { columns: columns.clamp(*COLUMNS.start(), *COLUMNS.end()) }
    }

    /// Whether the text fits on one line.
    pub(crate) fn fits(self, line: &str) -> bool {
        columns(line) <= self.columns
    }

    /// The question without the keys.
    pub(crate) fn question(self, asked: &QuestionDetails, now: Timestamp) -> String {
        let (record, approval) = (&asked.question.record, &asked.question.approval);
        let left = remaining(approval.expires_at.since(now));
        let title = format!("{} wants to run", single_line(&record.tool));
        let details = format!("{} · via {} · {left} left", record.id, single_line(&record.entrance));
        let rule = record.rule.as_deref().unwrap_or_default();
        let mut lines: Vec<String> =
            self.paragraph("", &title).iter().map(|line| styled(YELLOW, line)).collect();
        lines.extend(self.paragraph("  ", &details).iter().map(|line| styled(DIM, line)));
        lines.push(self.arguments(asked.arguments.as_ref(), Detail::Short));
        lines.extend(self.paragraph("  reason: ", &format!("{} (rule {})", approval.reason, rule)));
        lines.extend(self.paragraph("  approver: ", approver(approval.by)));
        lines.join("\n")
    }

    /// The keys, wrapped. Leaves out standing approvals for tools that do not accept them.
    pub(crate) fn keys(self, by: Answerer, takes_standing_yes: bool) -> String {
        let mut lines = vec![String::new()];
        let mut used = 0;
        for (key, name) in KEYS.into_iter().filter(|(key, _)| takes_standing_yes || !matches!(key, 's' | 'a'))
        {
            let width = name.chars().count() + "  [k] ".len();
            if used > 0 && used + width > self.columns {
                lines.push(String::new());
                used = 0;
            }
            used += width;
            if let Some(line) = lines.last_mut() {
                line.push_str(&format!("  {BOLD}[{key}]{BOLD:#} {name}"));
            }
        }
        if by == Answerer::Operator {
            lines.push(format!("  {DIM}answering as the operator{DIM:#}"));
        }
        lines.join("\n")
    }

    /// The arguments, each row behind a bar.
    pub(crate) fn arguments(self, arguments: Option<&Arguments>, detail: Detail) -> String {
        let Some(arguments) = arguments else { return "  arguments not available".to_owned() };
        if arguments.is_empty() {
            return "  no arguments".to_owned();
        }
        let most = match detail {
            Detail::Short => SHOWN_ARGUMENTS,
            Detail::Full => usize::MAX,
        };
        let limit = NAME_CHARS.min(self.columns / 3);
        let names = arguments.keys().take(most).filter(|name| is_plain(name, limit));
        let width = names.map(String::len).max().unwrap_or(0);
        let mut lines = Vec::new();
        for (name, value) in arguments.iter().take(most) {
            self.argument(name, value, width, detail, &mut lines);
        }
        if let Some(more) = arguments.len().checked_sub(most).filter(|more| *more > 0) {
            let note = self.paragraph("  ", &format!("… {more} more arguments, [v]iew"));
            lines.extend(note.iter().map(|line| styled(DIM, line)));
        }
        lines.join("\n")
    }

    fn argument(self, name: &str, value: &Value, width: usize, detail: Detail, lines: &mut Vec<String>) {
        let room = self.columns.saturating_sub(width + columns("   │ ")).max(1);
        let mut label = "";
        let mut rows = Vec::new();
        match is_plain(name, width) {
            true => label = name,
            // Argument names are untrusted, too.
            false => {
                rows.extend(wrapped(
                    &format!("{}:", single_line(&Value::from(shown(name)).to_string())),
                    room,
                ));
            }
        }
        // Redacted before it is cut: half a secret would not be recognized.
        let text = shown(&value_text(value, detail)).into_owned();
        let whole = text.split('\n').flat_map(|line| wrapped(&single_line(line), room));
        match detail {
            Detail::Full => rows.extend(whole),
            Detail::Short => rows.extend(excerpt(&text, room)),
        }
        for row in rows {
            lines.push(format!("  {BOLD}{label:<width$}{BOLD:#} │ {row}"));
            label = "";
        }
    }

    /// Wraps trusted text between words and indents continued lines.
    fn paragraph(self, label: &str, text: &str) -> Vec<String> {
        let (mut lines, mut line) = (Vec::new(), label.to_owned());
        let mut space = "";
        for word in single_line(text).split_whitespace() {
            for piece in wrapped(word, self.columns.saturating_sub(INDENT.len())) {
                let full = columns(&line) + space.len() + columns(&piece) > self.columns;
                if full && line != INDENT {
                    lines.push(std::mem::replace(&mut line, INDENT.to_owned()));
                } else {
                    line.push_str(space);
                }
                line.push_str(&piece);
                space = "";
            }
            space = " ";
        }
        lines.push(line);
        lines
    }
}

/// Who may answer, as people read it.
pub(crate) const fn approver(by: Answerer) -> &'static str {
    match by {
        Answerer::Caller => "caller or operator",
        Answerer::Operator => "operator",
        Answerer::Client => "none (run by its client)",
    }
}

fn styled(style: anstyle::Style, line: &str) -> String {
    format!("{style}{line}{style:#}")
}

/// Whether a name is unambiguous and short enough for the label column.
fn is_plain(name: &str, limit: usize) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=limit).contains(&name.len()) && name.chars().all(usual)
}

/// A value as people read it. Ambiguous strings are quoted.
fn value_text(value: &Value, detail: Detail) -> String {
    match value {
        Value::String(text) if !is_ambiguous(text) => text.clone(),
        Value::Array(_) | Value::Object(_) if detail == Detail::Full => {
            serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
        }
        _ => value.to_string(),
    }
}

fn is_ambiguous(text: &str) -> bool {
    text.is_empty() || text.starts_with(' ') || text.ends_with(' ') || parse_value(text).is_ok()
}

/// The first rows of a text and its length.
fn excerpt(text: &str, room: usize) -> Vec<String> {
    let cut: String = text.chars().take(SHOWN_CHARS).collect();
    let mut rows: Vec<String> = cut.split('\n').flat_map(|line| wrapped(&single_line(line), room)).collect();
    if cut.len() == text.len() && rows.len() <= SHOWN_ROWS {
        return rows;
    }
    rows.truncate(SHOWN_ROWS);
    let note = format!("… {} characters, [v]iew", text.chars().count());
    rows.extend(wrapped(&note, room).iter().map(|row| styled(DIM, row)));
    rows
}

/// Breaks a line into rows that fit the terminal.
fn wrapped(line: &str, room: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let width = columns_of(c);
        if used > 0 && used + width > room {
            rows.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(row) = rows.last_mut() {
            row.push(c);
        }
    }
    rows
}

fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The largest width of a character on any terminal.
fn columns_of(c: char) -> usize {
    if c < '\u{1100}' { 1 } else { 2 }
}

#[cfg(test)]
#[path = "question_view_tests.rs"]
mod tests;
