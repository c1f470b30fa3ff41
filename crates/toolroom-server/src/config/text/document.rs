//! A TOML document with positions.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, de};
use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};

use crate::config::Origin;
use crate::config::check::problem::{Problem, escaped};

/// Size limit of a configuration file.
pub const MAX_FILE_BYTES: usize = 1 << 20;

/// Nesting limit, which also bounds the recursion of code that walks or drops the document.
const MAX_DEPTH: usize = 64;

/// Characters of an offending line shown before and after the position.
const SHOWN_AROUND: usize = 50;

/// A TOML file, or a single value from a variable or flag.
pub(in crate::config) struct Document<'t> {
    pub(in crate::config) origin: Origin,
    pub(in crate::config) root: DeTable<'t>,
    /// Start of each line; empty if not from a file.
    lines: Vec<usize>,
}

impl<'t> Document<'t> {
    pub(in crate::config) fn parse(origin: &Origin, text: &'t str) -> Result<Self, Problem> {
        let problem = |line, message| Problem { origin: origin.clone(), line, key: String::new(), message };
        if text.len() > MAX_FILE_BYTES {
            return Err(problem(None, format!("is larger than {MAX_FILE_BYTES} bytes")));
        }
        let lines: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        if let Some(at) = too_deep(text) {
            let message = format!("tables and lists are nested more than {MAX_DEPTH} deep");
            return Err(problem(Some(line_of(&lines, at)), message));
        }
        match DeTable::parse(text) {
            Ok(root) => Ok(Self { origin: origin.clone(), root: root.into_inner(), lines }),
            Err(error) => {
                let at = error.span().map_or(text.len(), |span| span.start);
                Err(problem(Some(line_of(&lines, at)), syntax_message(text, &lines, at, &error)))
            }
        }
    }

    /// Parses a single value.
    pub(in crate::config) fn value(text: &'t str) -> Option<DeValue<'t>> {
        let deep = text.len() > MAX_FILE_BYTES || too_deep(&format!("value = {text}")).is_some();
        let value = if deep { None } else { DeValue::parse(text).ok() };
        value.map(Spanned::into_inner)
    }

    /// A document with one value at a path.
    pub(in crate::config) fn from_value(origin: Origin, path: &[String], value: DeValue<'t>) -> Self {
        let nowhere = || 0..0;
        let leaf = Spanned::new(nowhere(), value);
        let tree = path.iter().rev().fold(leaf, |inner, step| {
            let key = Spanned::new(nowhere(), step.clone().into());
            Spanned::new(nowhere(), DeValue::Table(DeTable::from_iter([(key, inner)])))
        });
        let root = match tree.into_inner() {
            DeValue::Table(root) => root,
            _ => DeTable::new(),
        };
        Self { origin, root, lines: Vec::new() }
    }

    /// The line of a position.
    pub(in crate::config) fn line(&self, span: &Range<usize>) -> Option<usize> {
        (!self.lines.is_empty()).then(|| line_of(&self.lines, span.start))
    }

    pub(in crate::config) fn problem(
        &self,
        span: &Range<usize>,
        key: &str,
        message: impl Into<String>,
    ) -> Problem {
        Problem {
            origin: self.origin.clone(),
            line: self.line(span),
            key: key.to_owned(),
            message: message.into(),
        }
    }
}

/// The entries of a table in the order in which they were written.
pub(in crate::config) fn entries_in_order<'d, 't>(
    table: &'d DeTable<'t>,
) -> Vec<(&'d Spanned<de::DeString<'t>>, &'d Spanned<DeValue<'t>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn line_of(lines: &[usize], at: usize) -> usize {
    lines.partition_point(|start| *start <= at)
}

/// The parser error with the offending line and a marker.
fn syntax_message(text: &str, lines: &[usize], at: usize, error: &de::Error) -> String {
    let number = line_of(lines, at);
    let start = number.checked_sub(1).and_then(|line| lines.get(line)).copied().unwrap_or_default();
    let before = text.get(start..at).unwrap_or_default();
    let behind = text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let column = before.chars().count();
    let piece = |text: &str, skipped: usize| {
        escaped(&text.chars().skip(skipped).take(SHOWN_AROUND).collect::<String>().replace('\t', " "))
    };
    let before = piece(before, column.saturating_sub(SHOWN_AROUND));
    let margin = " ".repeat(number.to_string().len());
    let blank = " ".repeat(before.chars().count());
    format!(
        "syntax error at column {}: {}\n  {number} | {before}{}\n  {margin} | {blank}^",
        column + 1,
        escaped(error.message()),
        piece(behind, 0),
    )
}

/// The position where nesting exceeds the limit, if it does.
///
/// The parser bounds lists, inline tables and dotted keys separately, but not combined: dropping the result of a small
/// file can overflow the stack. So the events of the parser are checked first.
fn too_deep(text: &str) -> Option<usize> {
    let tokens = Source::new(text).lex().into_vec();
    let mut depth = Depth::default();
    let mut watch = |event: Event| depth.pass(&event);
    let mut guard = RecursionGuard::new(&mut watch, u32::try_from(MAX_DEPTH).unwrap_or(u32::MAX));
    parse_document(&tokens, &mut guard, &mut ());
    depth.exceeded_at
}

/// Tracks the nesting depth over parser events.
#[derive(Default)]
struct Depth {
    /// Depth of the last table header.
    header: usize,
    /// Depth of the current key.
    current: usize,
    /// Depths of the open lists and inline tables.
    open: Vec<usize>,
    exceeded_at: Option<usize>,
}

impl Depth {
    fn pass(&mut self, event: &Event) {
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                self.open.clear();
                self.current = 1;
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => self.header = self.current,
            EventKind::KeySep => self.current += 1,
            EventKind::InlineTableOpen | EventKind::ArrayOpen => {
                self.open.push(self.current);
                self.current += 1;
            }
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                self.current = self.open.pop().unwrap_or(self.header);
            }
            EventKind::ValueSep => self.current = self.open.last().map_or(self.header, |outer| outer + 1),
            EventKind::Newline if self.open.is_empty() => self.current = self.header,
            _ => {}
        }
        if self.current > MAX_DEPTH && self.exceeded_at.is_none() {
            self.exceeded_at = Some(event.span().start());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn parse(text: &str) -> Result<(), String> {
        let origin = Origin::User(PathBuf::from("t.toml"));
        Document::parse(&origin, text).map(|_| ()).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_syntax_error_shows_its_line() {
        let check = |text: &str, expected: &str| assert_eq!(parse(text), Err(expected.to_owned()));
        check(
            "[policy]\npreset = balanced\n",
            "t.toml:2: syntax error at column 10: string values must be quoted, expected literal string\n  \
             2 | preset = balanced\n    |          ^",
        );
        check("a = 1\na = 2", "t.toml:2: syntax error at column 1: duplicate key\n  2 | a = 2\n    | ^");
        check(
            "\n\nx",
            "t.toml:3: syntax error at column 2: key with no value, expected `=`\n  3 | x\n    |  ^",
        );
        let long = format!("key = \"{}\" \u{1b}[2J", "ä".repeat(200));
        let error = parse(&long).unwrap_err();
        assert!(error.contains("column 210") && error.contains("\\u{1b}[2J"), "{error}");
        assert!(error.lines().all(|line| line.chars().count() < 130), "{error}");
    }

    #[test]
    fn every_kind_of_nesting_is_bounded() {
        let deep = |inner: &str, step: fn(&str) -> String, times: usize| {
            (0..times).fold(inner.to_owned(), |inner, _| step(&inner))
        };
        let dotted = |inner: &str| format!("{{{}x={inner}}}", "x.".repeat(70));
        let inline = |inner: &str| format!("{{x={inner}}}");
        let list = |inner: &str| format!("[{inner}]");
        let header = format!("[{}x]\n{}y=", "h.".repeat(40), "k.".repeat(40));
        for text in [
            format!("a={}", deep("1", dotted, 70)),
            format!("a={}", deep("1", list, 70)),
            format!("a={}", deep("1", inline, 70)),
            format!("{header}1"),
            format!("[[{}x]]\ny=1", "h.".repeat(70)),
            // Not even read to the end.
            format!("a={}?", "[{x.x.x=".repeat(1_000)),
            format!("{header}{}", deep("?", dotted, 70)),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.ends_with("nested more than 64 deep"), "{error}");
        }
        let wide = "[a.b]\nc.d = [1.5, {x.y = 1}, {x.y = 2}]\n".repeat(200).replacen("[a.b]", "[a.b.c]", 1);
        assert!(!parse(&wide).unwrap_err().contains("nested"), "the same table twice is the problem");
        assert_eq!(parse(&format!("a={}", deep("1", list, 60))), Ok(()));
        assert!(parse(&" ".repeat(MAX_FILE_BYTES + 1)).unwrap_err().contains("is larger than 1048576 bytes"));
    }
}
