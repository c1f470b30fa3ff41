//! Prints words.

use super::hidden::is_hidden;
use super::print::Printer;
use super::tree::{Parameter, Piece, Script, Word};

pub(super) fn word(printer: &mut Printer, word: &Word) {
    pieces(printer, &word.pieces);
}

pub(super) fn pieces(printer: &mut Printer, pieces: &[Piece]) {
    for each in pieces {
        piece(printer, each);
    }
}

/// The lines of a here-document.
pub(super) fn bare_lines(lines: &[Piece]) -> String {
    let mut printer = Printer::default();
    match lines {
        [Piece::Single(text)] => printer.push(text),
        expanded => pieces(&mut printer, expanded),
    }
    printer.text
}

fn piece(printer: &mut Printer, piece: &Piece) {
    match piece {
        Piece::Bare(text) => printer.push(text),
        Piece::Escaped(character) => {
            printer.push("\\");
            printer.text.push(*character);
        }
        Piece::Single(text) => single(printer, text),
        Piece::Double(inner) => {
            printer.push("\"");
            pieces(printer, inner);
            printer.push("\"");
        }
        Piece::Parameter(parameter) => expansion(printer, parameter),
        Piece::Arithmetic(inner) => {
            printer.push("$((");
            pieces(printer, inner);
            printer.push("))");
        }
        Piece::Substitution(script) => enclosed(printer, "$(", script),
        Piece::Process { output, script } => enclosed(printer, if *output { ">(" } else { "<(" }, script),
        Piece::Elements(words) => {
            printer.push("(");
            for (index, each) in words.iter().enumerate() {
                printer.push(if index > 0 { " " } else { "" });
                word(printer, each);
            }
            printer.push(")");
        }
    }
}

/// A substitution. Its here-documents end before the bracket does.
fn enclosed(printer: &mut Printer, open: &str, script: &Script) {
    let mut inner = Printer::default();
    inner.script(script);
    printer.push(open);
    // `$((` would be arithmetic.
    printer.push(if inner.text.starts_with('(') { " " } else { "" });
    printer.push(&inner.text);
    printer.push(")");
}

/// Single quotes; unprintable characters become escapes.
fn single(printer: &mut Printer, text: &str) {
    if !text.chars().any(is_hidden) {
        printer.push("'");
        printer.push(text);
        printer.push("'");
        return;
    }
    printer.push("$'");
    for character in text.chars() {
        match character {
            '\\' => printer.push("\\\\"),
            _ if !is_hidden(character) => printer.text.push(character),
            '\0'..='\x7f' => printer.push(&format!("\\{:03o}", u32::from(character))),
            _ => printer.push(&format!("\\U{:08x}", u32::from(character))),
        }
    }
    printer.push("'");
}

fn expansion(printer: &mut Printer, parameter: &Parameter) {
    printer.push("${");
    printer.push(parameter.prefix);
    printer.push(&parameter.name);
    if let Some(subscript) = &parameter.subscript {
        printer.push("[");
        pieces(printer, subscript);
        printer.push("]");
    }
    printer.push(parameter.operator);
    pieces(printer, &parameter.operand);
    printer.push("}");
}
