//! A question as it stands on the screen.
//!
//! Whoever wrote the arguments may want to be mistaken for us. So every row of theirs begins behind a bar, rows are
//! broken here and not by the terminal, and what a terminal would obey or hide is shown as what it is.

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

/// What is longer is shown by `v`.
const SHOWN_CHARS: usize = 200;
const SHOWN_ROWS: usize = 6;
const SHOWN_ARGUMENTS: usize = 20;

/// Of a terminal that does not know its size.
const USUAL_COLUMNS: usize = 80;
/// Longer lines are hard to read, shorter ones hold nothing.
const COLUMNS: std::ops::RangeInclusive<usize> = 20..=110;

/// Before every row of a paragraph but the first.
const INDENT: &str = "    ";

/// Longer names stand in a row of their own.
const NAME_CHARS: usize = 24;

/// The keys, in the order that never changes.
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

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Long arguments in part.
    Short,
    Whole,
}

/// What a question is written on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sheet {
    columns: usize,
}

impl Sheet {
    /// As wide as the screen.
    pub(crate) fn new(size: Option<Size>) -> Self {
        let columns = size.map_or(USUAL_COLUMNS, |size| usize::from(size.columns));
        Self { columns: columns.clamp(*COLUMNS.start(), *COLUMNS.end()) }
    }

    /// Whether a line stands in one row.
    pub(crate) fn holds(self, line: &str) -> bool {
        columns(line) <= self.columns
    }

    /// The whole question, without the keys.
    pub(crate) fn question(self, asked: &QuestionDetails, now: Timestamp) -> String {
        let (record, approval) = (&asked.question.record, &asked.question.approval);
        let left = remaining(approval.expires_at.since(now));
        let title = format!("{} wants to run", single_line(&record.tool));
        let details = format!("{} · asked by {} · {left} left", record.id, single_line(&record.entrance));
        let rule = record.rule.as_deref().unwrap_or_default();
        let mut lines: Vec<String> =
            self.paragraph("", &title).iter().map(|line| styled(YELLOW, line)).collect();
        lines.extend(self.paragraph("  ", &details).iter().map(|line| styled(DIM, line)));
        lines.push(self.arguments(asked.arguments.as_ref(), Extent::Short));
        lines.extend(self.paragraph("  why asked: ", &format!("{} (rule {})", approval.reason, rule)));
        lines.extend(self.paragraph("  may answer: ", who(approval.by)));
        lines.join("\n")
    }

    /// The keys, as many in a row as fit. Those that would say something about later calls are left out for a tool that
    /// takes no such answer.
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
            lines.push(format!("  {DIM}you answer as the operator{DIM:#}"));
        }
        lines.join("\n")
    }

    /// The arguments, each row behind a bar.
    pub(crate) fn arguments(self, arguments: Option<&Arguments>, extent: Extent) -> String {
        let Some(arguments) = arguments else { return "  the arguments are not kept".to_owned() };
        if arguments.is_empty() {
            return "  without arguments".to_owned();
        }
        let most = match extent {
            Extent::Short => SHOWN_ARGUMENTS,
            Extent::Whole => usize::MAX,
        };
        let limit = NAME_CHARS.min(self.columns / 3);
        let names = arguments.keys().take(most).filter(|name| is_plain(name, limit));
        let width = names.map(String::len).max().unwrap_or(0);
        let mut lines = Vec::new();
        for (name, value) in arguments.iter().take(most) {
            self.argument(name, value, width, extent, &mut lines);
        }
        if let Some(more) = arguments.len().checked_sub(most).filter(|more| *more > 0) {
            let told = self.paragraph("  ", &format!("… {more} more arguments, [v]iew"));
            lines.extend(told.iter().map(|line| styled(DIM, line)));
        }
        lines.join("\n")
    }

    fn argument(self, name: &str, value: &Value, width: usize, extent: Extent, lines: &mut Vec<String>) {
        let room = self.columns.saturating_sub(width + columns("   │ ")).max(1);
        let mut label = "";
        let mut rows = Vec::new();
        match is_plain(name, width) {
            true => label = name,
            // A name can be anything, too.
            false => {
                rows.extend(broken(
                    &format!("{}:", single_line(&Value::from(shown(name)).to_string())),
                    room,
                ));
            }
        }
        // Hidden before it is cut: half a secret is not found any more.
        let text = shown(&in_words(value, extent)).into_owned();
        let whole = text.split('\n').flat_map(|line| broken(&single_line(line), room));
        match extent {
            Extent::Whole => rows.extend(whole),
            Extent::Short => rows.extend(beginning(&text, room)),
        }
        for row in rows {
            lines.push(format!("  {BOLD}{label:<width$}{BOLD:#} │ {row}"));
            label = "";
        }
    }

    /// A text of ours, broken between words, with every row but the first indented.
    fn paragraph(self, label: &str, text: &str) -> Vec<String> {
        let (mut lines, mut line) = (Vec::new(), label.to_owned());
        let mut space = "";
        for word in single_line(text).split_whitespace() {
            for piece in broken(word, self.columns.saturating_sub(INDENT.len())) {
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

/// Who has to answer, in words.
pub(crate) const fn who(by: Answerer) -> &'static str {
    match by {
        Answerer::Caller => "the caller, or the operator",
        Answerer::Operator => "the operator",
        Answerer::Client => "nobody: its client runs it",
    }
}

fn styled(style: anstyle::Style, line: &str) -> String {
    format!("{style}{line}{style:#}")
}

/// Whether a name can be mistaken for nothing else, and fits.
fn is_plain(name: &str, limit: usize) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=limit).contains(&name.len()) && name.chars().all(usual)
}

/// A value as people read it. A text that could be taken for something else stands in quotes.
fn in_words(value: &Value, extent: Extent) -> String {
    match value {
        Value::String(text) if !is_ambiguous(text) => text.clone(),
        Value::Array(_) | Value::Object(_) if extent == Extent::Whole => {
            serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
        }
        _ => value.to_string(),
    }
}

fn is_ambiguous(text: &str) -> bool {
    text.is_empty() || text.starts_with(' ') || text.ends_with(' ') || parse_value(text).is_ok()
}

/// The first rows of a text, and how much there is in all.
fn beginning(text: &str, room: usize) -> Vec<String> {
    let cut: String = text.chars().take(SHOWN_CHARS).collect();
    let mut rows: Vec<String> = cut.split('\n').flat_map(|line| broken(&single_line(line), room)).collect();
    if cut.len() == text.len() && rows.len() <= SHOWN_ROWS {
        return rows;
    }
    rows.truncate(SHOWN_ROWS);
    let told = format!("… {} characters, [v]iew", text.chars().count());
    rows.extend(broken(&told, room).iter().map(|row| styled(DIM, row)));
    rows
}

/// A line as rows that a screen does not break any more.
fn broken(line: &str, room: usize) -> Vec<String> {
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

/// How much of a row a character takes at most. Which ones are wide differs from terminal to terminal.
fn columns_of(c: char) -> usize {
    if c < '\u{1100}' { 1 } else { 2 }
}

#[cfg(test)]
#[path = "question_view_tests.rs"]
mod tests;
