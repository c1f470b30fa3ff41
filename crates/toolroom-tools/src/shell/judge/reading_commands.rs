//! Programs with subcommands of which only the listed ones read; any other one needs approval.

use std::sync::LazyLock;

use super::invocation::Invocation;
use super::value::Value;

/// The programs and their reading commands. The first lines describe the format.
const TABLE: &str = include_str!("reading_commands.txt");

/// A program with read-only commands.
#[derive(Debug)]
pub(super) struct ReadOnlyProgram {
    pub(super) names: &'static str,
    /// Why its other commands need approval.
    pub(super) why: &'static str,
    /// Words by kind: `reads`, `valued`, `flags` or `never`.
    lines: Vec<(&'static str, &'static str)>,
}

pub(super) static READING: LazyLock<Vec<ReadOnlyProgram>> = LazyLock::new(|| {
    let mut programs: Vec<ReadOnlyProgram> = Vec::new();
    let mut why = "";
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(reason) = line.strip_prefix("why ") {
            why = reason;
        } else if let Some(words) = line.strip_prefix("  ") {
            programs.last_mut().into_iter().for_each(|program| program.lines.extend(words.split_once(' ')));
        } else if let Some((names, words)) = line.split_once(" =") {
            programs.push(ReadOnlyProgram { names, why, lines: vec![("reads", words)] });
        }
    }
    programs
});

/// Whether only the version or help of a program is requested.
pub(super) fn only_tells(invocation: &Invocation) -> bool {
    let tells = |value: &Value| matches!(value.text.as_str(), "--version" | "--help" | "-V");
    matches!(invocation.arguments(), [only] if tells(only)) && !invocation.has_more
}

impl ReadOnlyProgram {
    /// The words of one kind.
    fn words(&self, kind: &str) -> impl Iterator<Item = &'static str> {
        self.lines
            .iter()
            .filter(move |(name, _)| *name == kind)
            .flat_map(|(_, words)| words.split_whitespace())
    }

    fn lists(&self, kind: &str, word: &str) -> bool {
        self.words(kind).any(|each| each == word)
    }

    /// Whether an invocation only reads. Unknown commands and options do not.
    pub(super) fn fits(&self, invocation: &Invocation) -> bool {
        let arguments = invocation.arguments();
        let mut path = String::new();
        let mut at = 0;
        loop {
            let Some(value) = arguments.get(at) else {
                return !invocation.has_more && self.lists("reads", &format!("{path}!"));
            };
            let Some(text) = value.known() else { return false };
            at += 1;
            let rest = arguments.get(at..).unwrap_or_default();
            let word = format!("{path}{text}");
            let is_last = rest.is_empty() && !invocation.has_more;
            let fits =
                |word: &str| self.lists("reads", word) || is_last && self.lists("reads", &format!("{word}!"));
            let is_any = !text.starts_with('-') && fits(&format!("{path}*"));
            // These signs have a meaning in the table.
            let is_plain = !text.contains(['!', '*', '/']);
            if is_plain && fits(&word) || is_any {
                let unseen = self.words("never").next().is_some() && invocation.has_more;
                return !unseen && !arguments.iter().any(|value| self.changes(value, text));
            }
            let starts = |folder: &str| {
                self.words("reads").any(|command| {
                    command.strip_prefix(folder).is_some_and(|command| command.starts_with('/'))
                })
            };
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            if self.lists("valued", name) {
                at += usize::from(name == text);
            } else if starts(&word) {
                path = format!("{word}/");
            } else if path.is_empty() && starts("*") && !text.starts_with('-') {
                "*/".clone_into(&mut path);
            } else if !self.lists("flags", text) {
                return false;
            }
        }
    }

    /// Whether an argument turns a reading command into another one.
    fn changes(&self, value: &Value, command: &str) -> bool {
        let text = value.text.as_str();
        if self.words("never").next().is_none() || text == command && text.starts_with('-') {
            return false;
        }
        if value.may_be_option() && value.known().is_none() {
            return true;
        }
        let is_valued = |letter: char| self.lists("valued", &format!("-{letter}"));
        let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')).unwrap_or_default();
        let end = cluster.find(is_valued).unwrap_or(cluster.len());
        let letters = cluster.get(..end).unwrap_or_default();
        self.words("never").any(|never| match never.strip_prefix('-') {
            Some("") => !cluster.is_empty(),
            Some(letter) if !letter.starts_with('-') => letters.contains(letter),
            Some(_) => text.starts_with(never),
            None => text.to_ascii_lowercase().contains(never),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{READING, TABLE};

    #[test]
    fn every_line_of_the_table_is_valid() {
        let kinds = ["reads", "valued", "flags", "never"];
        let lines: Vec<_> = READING.iter().flat_map(|program| &program.lines).collect();
        assert!(lines.iter().all(|(kind, _)| kinds.contains(kind)), "{lines:?}");
        assert!(READING.iter().all(|program| !program.why.is_empty() && !program.names.is_empty()));
        let read: usize = lines.iter().map(|(_, words)| words.split_whitespace().count()).sum();
        let written = TABLE.lines().filter(|line| !line.starts_with('#') && !line.starts_with("why "));
        let words = written.map(|line| match line.strip_prefix("  ") {
            Some(words) => words.split_whitespace().count() - 1,
            None => line.split_once(" =").map_or(0, |(_, words)| words.split_whitespace().count()),
        });
        assert_eq!(read, words.sum::<usize>());
    }
}
