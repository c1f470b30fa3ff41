//! The functions over texts, and those that turn values into text.

use std::borrow::Cow;

use super::error::ExpressionProblem as Problem;
use super::function_arguments::{Answer, Arguments};
use super::operand::Operand;
use super::operation;
use super::tree::Comparison;

/// What is found costs a step for each of these, beside the text itself.
const MATCHES_PER_STEP: usize = 4;

pub(super) fn len<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let value = arguments.any();
    if let Operand::Text(text) = &value {
        arguments.budget.spend_text(text)?;
    }
    let count = value.count().ok_or_else(|| arguments.wrong("a text, list or map", &value))?;
    i64::try_from(count).map(Operand::int).map_err(|_| arguments.overflow())
}

pub(super) fn upper<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let text = arguments.text()?;
    arguments.check_length(text.chars().count())?;
    arguments.produced(text.to_uppercase())
}

pub(super) fn lower<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let text = arguments.text()?;
    arguments.check_length(text.chars().count())?;
    arguments.produced(text.to_lowercase())
}

pub(super) fn trim<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    Ok(Operand::Text(match arguments.text()? {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }))
}

pub(super) fn starts_with<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    has_end(arguments, |text, part| text.starts_with(part))
}

pub(super) fn ends_with<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    has_end(arguments, |text, part| text.ends_with(part))
}

/// Null has no end, as it contains nothing.
fn has_end<'a>(arguments: &mut Arguments<'a, '_>, has: fn(&str, &str) -> bool) -> Answer<'a> {
    match (arguments.any(), arguments.any()) {
        (Operand::Null, _) => Ok(Operand::Bool(false)),
        (Operand::Text(text), Operand::Text(part)) => Ok(Operand::Bool(has(&text, &part))),
        (left, right) => Err(Problem::WrongKinds {
            operation: arguments.function,
            needs: "two texts",
            left: left.kind(),
            right: right.kind(),
        }),
    }
}

pub(super) fn contains<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let (whole, part) = (arguments.any(), arguments.any());
    operation::contains(&whole, &part, Comparison::Contains, arguments.budget).map(Operand::Bool)
}

pub(super) fn replace<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let (text, from, to) = (arguments.text()?, arguments.text()?, arguments.text()?);
    if from.is_empty() {
        return Err(arguments.wrong_value("a text to look for", "an empty text".to_owned()));
    }
    let matches = text.matches(&*from).count();
    arguments.budget.spend(matches.div_ceil(MATCHES_PER_STEP))?;
    let kept = text.chars().count() - matches * from.chars().count();
    arguments.check_length(matches.saturating_mul(to.chars().count()).saturating_add(kept))?;
    arguments.produced(text.replace(&*from, &to))
}

/// The characters from one place up to, but not including, another; places after the end are the end.
pub(super) fn substring<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let (text, from) = (arguments.text()?, arguments.place()?);
    let to = if arguments.is_finished() { usize::MAX } else { arguments.place()? };
    let byte = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(byte, _)| byte);
    let range = byte(from)..byte(to.max(from));
    Ok(Operand::Text(match &text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(range).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(range).unwrap_or_default().to_owned()),
    }))
}

pub(super) fn concat<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    let (mut joined, mut characters) = (String::new(), 0);
    while !arguments.is_finished() {
        let part = written(arguments)?;
        characters += part.chars().count();
        arguments.check_length(characters)?;
        joined.push_str(&part);
    }
    arguments.produced(joined)
}

pub(super) fn text<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    written(arguments).map(Operand::Text)
}

fn written<'a>(arguments: &mut Arguments<'a, '_>) -> Result<Cow<'a, str>, Problem> {
    match arguments.any() {
        Operand::Text(text) => {
            arguments.budget.spend_text(&text)?;
            Ok(text)
        }
        Operand::Null => Ok(Cow::Borrowed("null")),
        Operand::Bool(truth) => Ok(Cow::Borrowed(if truth { "true" } else { "false" })),
        Operand::Number(number) => Ok(Cow::Owned(number.to_string())),
        other => Err(arguments.wrong("a text, number, bool or null", &other)),
    }
}

pub(super) fn kind<'a>(arguments: &mut Arguments<'a, '_>) -> Answer<'a> {
    Ok(Operand::Text(Cow::Borrowed(arguments.any().kind().name())))
}
