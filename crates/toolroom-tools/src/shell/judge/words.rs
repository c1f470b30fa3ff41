//! Walks words: what they expand to, and what that runs or sets.

use super::feed::Feed;
use super::finding::Finding;
use super::value::{Origin, Value};
use super::walk::{Around, Walk};
use super::{paths, starting_options, variables};
use crate::shell::grammar::{Assignment, Piece, Place};

impl Walk<'_> {
    pub(super) fn assignment(&mut self, assignment: &Assignment, alone: bool, around: Around<'_>) {
        let (word, name) = (&assignment.word, assignment.name.as_str());
        let value = self.value(&word.pieces, word.place, around);
        self.variable(name, &value, word.place);
        if !alone {
            self.environment(name, word.place);
        }
    }

    /// Variables that a program is given beside its line.
    pub(super) fn given(&mut self, variables: &[(&str, &str)]) {
        for (name, text) in variables {
            let value = Value::plain(&format!("{name}={text}"));
            self.variable(name, &value, Place::default());
            self.environment(name, Place::default());
        }
    }

    /// A variable that is set to the text behind the `=` of this value.
    fn variable(&mut self, name: &str, value: &Value, place: Place) {
        self.sets(name, place);
        let text = value.text.split_once('=').map_or("", |(_, text)| text);
        if let Some(finding) = variables::judged_value(name, text) {
            self.tell(finding, name, place);
        }
        if holds_code(text) {
            let why = "a text that would run as a command wherever a number is expected";
            self.tell(Finding::opaque(why), &value.shown(), place);
        }
        if starting_options::is_one(text) {
            let why = "an option that starts programs, kept for later";
            self.tell(Finding::opaque(why), &value.shown(), place);
        }
        self.report_secret_name(value, place);
        if variables::is_command(name) {
            match value.known() {
                Some(_) => self.run_text(text, &Feed::Inherited, place),
                None => self.tell(Finding::opaque("a command that is not known before"), name, place),
            }
        }
    }

    /// A word that is kept for later, when it is seen no more.
    pub(super) fn report_secret_name(&mut self, value: &Value, place: Place) {
        if paths::is_secret(value) {
            self.tell(Finding::touch("a file that holds secrets"), &value.shown(), place);
        }
    }

    /// A word, once the commands in it are walked.
    pub(super) fn value(&mut self, pieces: &[Piece], place: Place, around: Around<'_>) -> Value {
        let from = self.runs.len();
        let outer = std::mem::take(&mut self.word_origin);
        self.expansions(pieces, place, around);
        let mut value = Value::of(pieces);
        value.is_fetched = self.runs.len() > from && self.is_fetched_since(from);
        value.origin = std::mem::replace(&mut self.word_origin, outer);
        self.holds_code |= holds_code(&value.text);
        if runs_in_arithmetic(&value.text) {
            let why = "a text that would run as a command wherever a number is expected";
            self.tell(Finding::opaque(why), &value.shown(), place);
        }
        value
    }

    /// The lines of a here-document, once the commands in them are walked.
    pub(super) fn quoted_value(&mut self, pieces: &[Piece], place: Place, around: Around<'_>) -> Value {
        let from = self.runs.len();
        self.expansions(pieces, place, around);
        let mut value = Value::of_quoted(pieces);
        value.is_fetched = self.is_fetched_since(from);
        value
    }

    /// Walks arithmetic, which may set variables and runs what stands in the brackets of a text.
    pub(super) fn arithmetic(&mut self, pieces: &[Piece], place: Place, around: Around<'_>) {
        for piece in pieces {
            match piece {
                Piece::Bare(text) => {
                    self.counts |= text.contains(|sign: char| sign.is_ascii_alphabetic());
                    if let Some(finding) = variables::named_in(text) {
                        self.tell(finding, text, place);
                    }
                }
                _ => self.counts = true,
            }
        }
        self.expansions(pieces, place, around);
    }

    /// Walks the commands in a word.
    fn expansions(&mut self, pieces: &[Piece], place: Place, around: Around<'_>) {
        for piece in pieces {
            match piece {
                Piece::Bare(_) | Piece::Escaped(_) | Piece::Single(_) => {}
                Piece::Double(inner) => self.expansions(inner, place, around),
                Piece::Arithmetic(inner) => self.arithmetic(inner, place, around),
                Piece::Parameter(parameter) => {
                    self.counts |=
                        parameter.subscript.is_some() || parameter.prefix == "!" || parameter.operator == ":";
                    if parameter.prefix == "!" && matches!(parameter.operator, "=" | ":=") {
                        let why = "sets a variable whose name is not known before";
                        self.tell(Finding::touch(why), &parameter.name, place);
                    }
                    self.expansions(parameter.subscript.as_deref().unwrap_or_default(), place, around);
                    self.expansions(&parameter.operand, place, around);
                    if paths::is_secret(&Value::of(&parameter.operand)) {
                        self.word_origin = Origin::Composed;
                    }
                    if matches!(parameter.operator, "=" | ":=") {
                        self.sets(&parameter.name, place);
                    }
                    let is_prompt =
                        matches!(parameter.operand.as_slice(), [Piece::Bare(text)] if text == "P");
                    if parameter.operator == "@" && is_prompt {
                        let why = "`@P` runs the commands in a variable";
                        self.tell(Finding::opaque(why), &parameter.name, place);
                    }
                }
                Piece::Substitution(script) => {
                    let from = self.runs.len();
                    self.apart(script, &Feed::Inherited, around);
                    if !self.lists_since(from) {
                        self.word_origin = Origin::Composed;
                    }
                }
                Piece::Process { script, .. } => self.apart(script, &Feed::Inherited, around),
                Piece::Elements(words) => {
                    for word in words {
                        let value = self.value(&word.pieces, word.place, around);
                        self.report_secret_name(&value, word.place);
                    }
                }
            }
        }
    }
}

/// Whether a text holds a substitution that nobody has run yet.
pub(super) fn holds_code(text: &str) -> bool {
    text.contains('`') || text.contains("$(")
}

/// `name[…$(` and the like: arithmetic runs what stands in the brackets.
fn runs_in_arithmetic(text: &str) -> bool {
    let mut is_open = false;
    let mut previous = b' ';
    for byte in text.bytes() {
        match byte {
            b'[' if previous.is_ascii_alphanumeric() || previous == b'_' || !previous.is_ascii() => {
                is_open = true;
            }
            b']' => is_open = false,
            b'`' if is_open => return true,
            b'(' if is_open && previous == b'$' => return true,
            _ => {}
        }
        previous = byte;
    }
    false
}
