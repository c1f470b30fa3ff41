//! Syntax that only bash understands.
//!
//! Searched in the tree, so in the printed script: bash syntax that is printed portably (`|&`, `function f {`, most of
//! `$'…'`) does not count.

use super::braces::Braces;
use super::cursor::is_name;
use super::hidden::is_hidden;
use super::tree::{
    ArmEnd, Assignment, Body, Command, Parameter, Piece, Pipeline, Redirection, Script, Simple, Target, Word,
};

/// Builtins that other shells do not have.
const BUILTINS: [&str; 15] = [
    "bind",
    "builtin",
    "caller",
    "compgen",
    "declare",
    "dirs",
    "disown",
    "enable",
    "let",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "shopt",
    "source",
];

/// Arithmetic operators that other shells reject or read differently.
const ARITHMETIC: [&str; 6] = ["++", "--", "**", ",", "#", "["];

const ARRAY: &str = "an array";

/// Describes the first construct in a script that other shells reject or read differently.
#[must_use]
pub fn only_bash(script: &Script) -> Option<&'static str> {
    script.items.iter().find_map(|item| {
        let rest = item.chain.rest.iter().map(|(_, pipeline)| pipeline);
        std::iter::once(&item.chain.first).chain(rest).find_map(in_pipeline)
    })
}

fn in_pipeline(pipeline: &Pipeline) -> Option<&'static str> {
    match pipeline.timed {
        Some(_) => Some("`time` in front of a pipeline"),
        None => pipeline.commands.iter().find_map(in_command),
    }
}

fn in_command(command: &Command) -> Option<&'static str> {
    in_body(&command.body).or_else(|| command.redirections.iter().find_map(in_redirection))
}

fn in_body(body: &Body) -> Option<&'static str> {
    match body {
        Body::Simple(simple) => in_simple(simple),
        Body::Group(script) | Body::Subshell(script) => only_bash(script),
        Body::If(branches, otherwise) => branches
            .iter()
            .flat_map(|(condition, then)| [condition, then])
            .chain(otherwise)
            .find_map(only_bash),
        Body::Loop { condition, body, .. } => only_bash(condition).or_else(|| only_bash(body)),
        Body::For { select: true, .. } => Some("`select`"),
        Body::For { words, body, .. } => words.iter().flatten().find_map(in_word).or_else(|| only_bash(body)),
        Body::Count { .. } => Some("`for ((…))`"),
        Body::Case { word, arms } => in_word(word).or_else(|| {
            arms.iter().find_map(|arm| match arm.end {
                ArmEnd::Leave => arm.patterns.iter().find_map(in_word).or_else(|| only_bash(&arm.body)),
                ArmEnd::Enter => Some("`;&`"),
                ArmEnd::Compare => Some("`;;&`"),
            })
        }),
        Body::Arithmetic(_) => Some("`((…))`"),
        Body::Test(_) => Some("`[[ … ]]`"),
        Body::Function { name, .. } if !is_name(name) => Some("a function whose name has signs in it"),
        Body::Function { body, .. } => in_command(body),
        Body::Coproc(_) => Some("`coproc`"),
    }
}

fn in_simple(simple: &Simple) -> Option<&'static str> {
    let builtin = || match simple.words.first()?.pieces.as_slice() {
        [Piece::Bare(name)] if BUILTINS.contains(&name.as_str()) => Some("a builtin such as `source`"),
        _ => None,
    };
    let assigned = simple.assignments.iter().find_map(in_assignment);
    assigned.or_else(builtin).or_else(|| simple.words.iter().find_map(in_word))
}

fn in_assignment(assignment: &Assignment) -> Option<&'static str> {
    let sign = match assignment.word.pieces.first() {
        Some(Piece::Bare(text)) => text.strip_prefix(&assignment.name).unwrap_or_default(),
        _ => "",
    };
    if sign.starts_with('+') {
        return Some("`+=`");
    }
    // Braces are literal here.
    if sign.starts_with('[') { Some(ARRAY) } else { in_pieces(&assignment.word.pieces) }
}

fn in_redirection(redirection: &Redirection) -> Option<&'static str> {
    match redirection.descriptor.as_bytes() {
        [b'{', ..] => return Some("a descriptor with a name"),
        [_, _, ..] => return Some("a descriptor above 9"),
        _ => {}
    }
    let target = match &redirection.target {
        Target::Here(here) => return in_pieces(here.pieces()),
        Target::Word(word) => word,
    };
    match redirection.operator {
        "&>" | "&>>" => Some("`&>`"),
        "<<<" => Some("`<<<`"),
        ">&" | "<&" if !is_descriptor(target) => Some("`>&` with something else than a number"),
        _ => in_word(target),
    }
}

/// A number, `-`, or an expansion.
fn is_descriptor(word: &Word) -> bool {
    match word.pieces.as_slice() {
        [Piece::Bare(text)] => text == "-" || text.bytes().all(|byte| byte.is_ascii_digit()),
        pieces => pieces.iter().all(|piece| matches!(piece, Piece::Parameter(_))),
    }
}

fn in_word(word: &Word) -> Option<&'static str> {
    let mut braces = Braces::default();
    for piece in &word.pieces {
        if let Piece::Bare(text) = piece {
            braces.read(text);
        }
    }
    if braces.is_expansion() { Some("`{…,…}`") } else { in_pieces(&word.pieces) }
}

fn in_pieces(pieces: &[Piece]) -> Option<&'static str> {
    pieces.iter().find_map(|piece| match piece {
        Piece::Bare(_) | Piece::Escaped(_) => None,
        Piece::Single(text) => text.chars().any(is_hidden).then_some("`$'…'`"),
        Piece::Double(inner) => in_pieces(inner),
        Piece::Parameter(parameter) => in_parameter(parameter),
        Piece::Arithmetic(inner) => in_arithmetic(inner),
        Piece::Substitution(script) => only_bash(script),
        Piece::Process { .. } => Some("`<(…)`"),
        Piece::Elements(_) => Some(ARRAY),
    })
}

fn in_parameter(parameter: &Parameter) -> Option<&'static str> {
    if parameter.subscript.is_some() {
        return Some(ARRAY);
    }
    match (parameter.prefix, parameter.operator) {
        ("!", _) => Some("`${!…}`"),
        (_, "/") => Some("`${…/…}`"),
        (_, ":") => Some("`${…:…}`"),
        (_, "^" | "," | "@") => Some("`${…^}`, `${…,}` or `${…@…}`"),
        _ => in_pieces(&parameter.operand),
    }
}

fn in_arithmetic(pieces: &[Piece]) -> Option<&'static str> {
    let foreign = pieces.iter().any(|piece| match piece {
        Piece::Bare(text) => ARITHMETIC.iter().any(|sign| text.contains(sign)),
        _ => false,
    });
    if foreign { Some("`++`, `--`, `**`, `,`, `#` or `[` in arithmetic") } else { in_pieces(pieces) }
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
