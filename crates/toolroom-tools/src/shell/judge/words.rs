//! Walks words: their expansions, and the commands and assignments in them.

use super::report::Concern;
use super::stdin::StdinSource;
use super::value::{Origin, Value};
use super::walk::{CommandContext, ScriptWalker};
use super::{launch_options, paths, variables};
use crate::shell::grammar::{Assignment, Piece, Position};

impl ScriptWalker<'_> {
    pub(super) fn assignment(&mut self, assignment: &Assignment, alone: bool, around: CommandContext<'_>) {
        let (word, name) = (&assignment.word, assignment.name.as_str());
        let value = self.value(&word.pieces, word.position, around);
        self.variable(name, &value, word.position);
        if !alone {
            self.environment(name, word.position);
        }
    }

    /// Environment variables passed with the line.
    pub(super) fn given(&mut self, variables: &[(&str, &str)]) {
        for (name, text) in variables {
            let value = Value::plain(&format!("{name}={text}"));
            self.variable(name, &value, Position::default());
            self.environment(name, Position::default());
        }
    }

    /// A variable assigned the text behind the `=` of this value.
    fn variable(&mut self, name: &str, value: &Value, position: Position) {
        self.sets(name, position);
        let text = value.text.split_once('=').map_or("", |(_, text)| text);
        if let Some(concern) = variables::judged_value(name, text) {
            self.tell(concern, name, position);
        }
        if holds_code(text) {
            let why = "a text that would run as a command wherever a number is expected";
            self.tell(Concern::opaque(why), &value.shown(), position);
        }
        if launch_options::is_one(text) {
            let why = "an option that starts programs, kept for later";
            self.tell(Concern::opaque(why), &value.shown(), position);
        }
        self.report_secret_name(value, position);
        if variables::is_command(name) {
            match value.known() {
                Some(_) => self.run_text(text, &StdinSource::Inherited, position),
                None => self.tell(Concern::opaque("a command that is not known in advance"), name, position),
            }
        }
    }

    /// Reports a word that is stored for later, where it can no longer be checked.
    pub(super) fn report_secret_name(&mut self, value: &Value, position: Position) {
        if paths::is_secret(value) {
            self.tell(Concern::touch("a file that holds secrets"), &value.shown(), position);
        }
    }

    /// The value of a word, after walking the commands in it.
    pub(super) fn value(
        &mut self,
        pieces: &[Piece],
        position: Position,
        around: CommandContext<'_>,
    ) -> Value {
        let from = self.runs.len();
        let outer = std::mem::take(&mut self.word_origin);
        self.expansions(pieces, position, around);
        let mut value = Value::from_pieces(pieces);
        value.is_fetched = self.runs.len() > from && self.is_fetched_since(from);
        value.origin = std::mem::replace(&mut self.word_origin, outer);
        self.holds_code |= holds_code(&value.text);
        if runs_in_arithmetic(&value.text) {
            let why = "a text that would run as a command wherever a number is expected";
            self.tell(Concern::opaque(why), &value.shown(), position);
        }
        value
    }

    /// The value of a here-document, after walking the commands in it.
    pub(super) fn quoted_value(
        &mut self,
        pieces: &[Piece],
        position: Position,
        around: CommandContext<'_>,
    ) -> Value {
        let from = self.runs.len();
        self.expansions(pieces, position, around);
        let mut value = Value::from_quoted(pieces);
        value.is_fetched = self.is_fetched_since(from);
        value
    }

    /// Walks arithmetic, which may assign variables and runs substitutions in array subscripts.
    pub(super) fn arithmetic(&mut self, pieces: &[Piece], position: Position, around: CommandContext<'_>) {
        for piece in pieces {
            match piece {
                Piece::Bare(text) => {
                    self.counts |= text.contains(|sign: char| sign.is_ascii_alphabetic());
                    if let Some(concern) = variables::named_in(text) {
                        self.tell(concern, text, position);
                    }
                }
                _ => self.counts = true,
            }
        }
        self.expansions(pieces, position, around);
    }

    /// Walks the commands in a word.
    fn expansions(&mut self, pieces: &[Piece], position: Position, around: CommandContext<'_>) {
        for piece in pieces {
            match piece {
                Piece::Bare(_) | Piece::Escaped(_) | Piece::Single(_) => {}
                Piece::Double(inner) => self.expansions(inner, position, around),
                Piece::Arithmetic(inner) => self.arithmetic(inner, position, around),
                Piece::Parameter(parameter) => {
                    self.counts |=
                        parameter.subscript.is_some() || parameter.prefix == "!" || parameter.operator == ":";
                    if parameter.prefix == "!" && matches!(parameter.operator, "=" | ":=") {
                        let why = "sets a variable whose name is not known in advance";
                        self.tell(Concern::touch(why), &parameter.name, position);
                    }
                    self.expansions(parameter.subscript.as_deref().unwrap_or_default(), position, around);
                    self.expansions(&parameter.operand, position, around);
                    if paths::is_secret(&Value::from_pieces(&parameter.operand)) {
                        self.word_origin = Origin::Composed;
                    }
                    if matches!(parameter.operator, "=" | ":=") {
                        self.sets(&parameter.name, position);
                    }
                    let is_prompt =
                        matches!(parameter.operand.as_slice(), [Piece::Bare(text)] if text == "P");
                    if parameter.operator == "@" && is_prompt {
                        let why = "`@P` runs the commands in a variable";
                        self.tell(Concern::opaque(why), &parameter.name, position);
                    }
                }
                Piece::Substitution(script) => {
                    let from = self.runs.len();
                    self.apart(script, &StdinSource::Inherited, around);
                    if !self.lists_since(from) {
                        self.word_origin = Origin::Composed;
                    }
                }
                Piece::Process { script, .. } => self.apart(script, &StdinSource::Inherited, around),
                Piece::Elements(words) => {
                    for word in words {
                        let value = self.value(&word.pieces, word.position, around);
                        self.report_secret_name(&value, word.position);
                    }
                }
            }
        }
    }
}

/// Whether a text contains a substitution that has not run yet.
pub(super) fn holds_code(text: &str) -> bool {
    text.contains('`') || text.contains("$(")
}

/// `name[…$(` and similar: arithmetic runs the substitution in the subscript.
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
