//! Checks documents against the known keys.

pub(super) mod lint;
pub(super) mod problem;
pub(super) mod shape;

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};
use toolroom::nearest::nearest_one;
use toolroom_models::vendor::ModelName;

use crate::config::check::problem::{Problems, escaped, shortened, shown};
use crate::config::check::shape::{Key, Shape};
use crate::config::text::document::{Document, entries_in_order};
use crate::config::text::toml::joined;
use crate::config::values::{
    AllowedCommand, Destination, Folder, Rate, SandboxProfile, SecretRef, ServiceUrl, Span, parse_span,
};
use crate::config::{AddressRange, ListenAddress, ServedName};

/// Number of known keys listed if none is similar.
const LISTED: usize = 20;

/// Reports everything in `document` that is invalid.
pub(in crate::config) fn check(document: &Document<'_>, problems: &mut Problems) {
    let start = problems.len();
    let root = Key::root();
    Checker { document, problems }.table(root.keys(), &document.root, "");
    problems.sort_from(start);
}

struct Checker<'a, 't> {
    document: &'a Document<'t>,
    problems: &'a mut Problems,
}

impl<'t> Checker<'_, 't> {
    fn value(&mut self, shape: &Shape, value: &Spanned<DeValue<'t>>, path: &str) {
        if self.problems.is_full() {
            return;
        }
        let span = value.span();
        match (shape, value.get_ref()) {
            (Shape::Table { keys, required }, DeValue::Table(table)) => {
                self.table(keys, table, path);
                for name in required.iter().filter(|name| !table.contains_key(name.as_str())) {
                    self.report(&span, &joined(path, name), "is missing");
                }
            }
            (Shape::Names { each, most }, DeValue::Table(table)) => {
                self.at_most(*most, table.len(), &span, path);
                for (name, value) in entries_in_order(table) {
                    self.value(&each.shape, value, &joined(path, shortened(name.get_ref())));
                }
            }
            (Shape::List { each, most }, DeValue::Array(items)) => {
                self.at_most(*most, items.len(), &span, path);
                for item in items.iter() {
                    self.value(&each.shape, item, path);
                }
            }
            (Shape::Choice(choices), DeValue::String(text)) => {
                if !choices.iter().any(|choice| choice == text) {
                    let near = nearest_one(text, choices.iter().map(String::as_str));
                    let hint = near.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
                    self.invalid(shape, value, path, &hint);
                }
            }
            (Shape::Span { least, most }, DeValue::String(text)) => match parse_span(text) {
                Ok(duration) if (*least..=*most).contains(&Span::new(duration)) => {}
                Ok(_) => self.invalid(shape, value, path, ""),
                Err(why) => self.invalid(shape, value, path, &format!(": {}", shown(&why))),
            },
            (Shape::Rate, DeValue::String(text)) => {
                if let Err(why) = Rate::parse(text) {
                    self.invalid(shape, value, path, &format!(": {why}"));
                }
            }
            (Shape::Folder, DeValue::String(text)) => {
                if let Err(why) = Folder::parse(text) {
                    self.invalid(shape, value, path, &format!(": {why}"));
                }
            }
            (Shape::Destination, DeValue::String(text)) => {
                if let Err(why) = Destination::try_from(text.to_string()) {
                    self.invalid(shape, value, path, &format!(": {}", escaped(&why)));
                }
            }
            (Shape::Command, DeValue::String(text)) => {
                if let Err(why) = AllowedCommand::try_from(text.to_string()) {
                    self.invalid(shape, value, path, &format!(": {}", escaped(&why)));
                }
            }
            (Shape::SandboxProfile, DeValue::String(text)) => {
                if let Err(why) = SandboxProfile::try_from(text.to_string()) {
                    self.invalid(shape, value, path, &format!(": {}", escaped(&why)));
                }
            }
            (Shape::ListenAddress, DeValue::String(text)) => {
                if let Err(why) = ListenAddress::try_from(text.to_string()) {
                    self.invalid(shape, value, path, &format!(": {}", escaped(&why)));
                }
            }
            (Shape::ServedName, DeValue::String(text)) => {
                if let Err(why) = ServedName::try_from(text.to_string()) {
                    self.invalid(shape, value, path, &format!(": {}", escaped(&why)));
                }
            }
            (Shape::AddressRange, DeValue::String(text)) => {
                if let Err(why) = AddressRange::try_from(text.to_string()) {
                    self.invalid(shape, value, path, &format!(": {}", escaped(&why)));
                }
            }
            (Shape::ServiceUrl, DeValue::String(text)) => {
                // URLs may contain keys, so the value is not printed.
                if let Err(why) = ServiceUrl::try_from(text.to_string()) {
                    let message = format!("must be {}: {}", shape.expected(), escaped(&why));
                    self.report(&span, path, &message);
                }
            }
            (Shape::Model, DeValue::String(text)) => {
                if let Err(why) = text.parse::<ModelName>() {
                    self.invalid(shape, value, path, &format!(": {}", escaped(&why.to_string())));
                }
            }
            (Shape::SecretRef, DeValue::String(text)) => {
                // The value may be the key itself, so it is not printed.
                if SecretRef::parse(text).is_none() {
                    let message = format!("must be {}; do not put the key itself here", SecretRef::EXPECTED);
                    self.report(&span, path, &message);
                }
            }
            (Shape::Whole { least, most }, DeValue::Integer(number)) => {
                if !whole(number).is_some_and(|number| (*least..=*most).contains(&number)) {
                    self.invalid(shape, value, path, "");
                }
            }
            (Shape::Amount { least }, DeValue::Integer(_) | DeValue::Float(_)) => {
                if !amount(value.get_ref()).is_some_and(|amount| amount >= *least) {
                    self.invalid(shape, value, path, "");
                }
            }
            (Shape::Text, DeValue::String(_)) | (Shape::Switch, DeValue::Boolean(_)) => {}
            (Shape::Either(shapes), found) => match shapes.iter().find(|shape| shape.admits(found)) {
                Some(shape) => self.value(shape, value, path),
                None => self.invalid(shape, value, path, ""),
            },
            (Shape::Anything, _) => self.anything(value, path),
            _ => self.invalid(shape, value, path, ""),
        }
    }

    fn table(&mut self, keys: &[(String, Key)], table: &DeTable<'t>, path: &str) {
        for (name, value) in entries_in_order(table) {
            let inner = joined(path, shortened(name.get_ref()));
            match keys.iter().find(|(known, _)| known == name.get_ref()) {
                Some((_, key)) => self.value(&key.shape, value, &inner),
                None if self.problems.is_full() => return,
                None => {
                    let message = format!("is not a known key; {}", remedy(name.get_ref(), keys, path));
                    self.report(&name.span(), &inner, &message);
                }
            }
        }
    }

    /// Reports values in free-form tables that rules cannot use.
    fn anything(&mut self, value: &Spanned<DeValue<'t>>, path: &str) {
        let span = value.span();
        match value.get_ref() {
            DeValue::Datetime(_) => self.report(&span, path, "must not contain a date without quotes"),
            DeValue::Integer(number) if whole(number).is_none() => {
                self.report(&span, path, "must not contain a number beyond 64 bits");
            }
            DeValue::Float(number) if !number.as_str().parse::<f64>().is_ok_and(f64::is_finite) => {
                self.report(&span, path, "must not contain a number that is not finite");
            }
            DeValue::Array(items) => items.iter().for_each(|item| self.anything(item, path)),
            DeValue::Table(table) => {
                for (name, value) in entries_in_order(table) {
                    self.anything(value, &joined(path, shortened(name.get_ref())));
                }
            }
            DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {}
        }
    }

    fn at_most(&mut self, most: usize, count: usize, span: &Range<usize>, path: &str) {
        if count > most {
            self.report(span, path, &format!("must have at most {most} entries, has {count}"));
        }
    }

    fn invalid(&mut self, shape: &Shape, value: &Spanned<DeValue<'t>>, path: &str, hint: &str) {
        let message = format!("must be {}, got {}{hint}", shape.expected(), found(value.get_ref()));
        self.report(&value.span(), path, &message);
    }

    fn report(&mut self, span: &Range<usize>, path: &str, message: &str) {
        self.problems.push(self.document.problem(span, path, message));
    }
}

fn whole(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn amount(value: &DeValue<'_>) -> Option<f64> {
    let amount: f64 = match value {
        DeValue::Integer(number) => whole(number)?.to_string().parse().ok()?,
        DeValue::Float(number) => number.as_str().parse().ok()?,
        _ => return None,
    };
    Some(amount).filter(|amount| amount.is_finite())
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{}\"", shown(text)),
        DeValue::Integer(number) => format!("the number {}", shown(&number.to_string())),
        DeValue::Float(number) => format!("the number {}", shown(number.as_str())),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Suggests a similar key of the same table, else a key of the same name elsewhere.
fn remedy(wanted: &str, keys: &[(String, Key)], path: &str) -> String {
    let names = || keys.iter().map(|(name, _)| name.as_str());
    if let Some(near) = nearest_one(wanted, names()) {
        return format!("did you mean `{}`?", joined(path, near));
    }
    let settings = Key::root().settings();
    let last = |path: &Vec<&'static str>| path.last().copied().unwrap_or_default();
    if let Some((elsewhere, _)) = settings.iter().find(|(path, _)| last(path) == wanted) {
        return format!("did you mean `{}`?", elsewhere.join("."));
    }
    let known: Vec<String> = names().take(LISTED).map(|name| format!("`{}`", joined(path, name))).collect();
    format!("known here: {}", known.join(", "))
}
