//! What the validator reports, in words for the model that has to mend its call.

use std::fmt;
use std::slice;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, JsonType, ValidationError, Validator};
use serde_json::{Map, Value, json};

use super::pointer::{self, Trail};
use super::text;
use crate::nearest::nearest_one;

/// Problems listed at once: enough to mend a call in one go, few enough to be read.
pub const MAX_PROBLEMS: usize = 20;

/// Reasons shown of the closest alternative.
const MAX_REASONS: usize = 3;

/// Alternatives inside alternatives that are explained; each level may multiply the text by the reasons.
const MAX_INSIDE: usize = 2;

/// Items compared to find the repeated one; the validator has found that there is one.
const MAX_COMPARED_ITEMS: usize = 200;

/// What is wrong, where, and what would be right, written for the model that has to mend its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer into the arguments; empty for the arguments as a whole.
    pub path: String,
    /// Continues a sentence that begins with the path: `must be an integer, got the string "x"`.
    pub message: String,
}

impl Problem {
    /// A problem at `path`. The message continues a sentence whose subject is the path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(formatter, "the arguments {}", self.message)
        } else {
            write!(formatter, "`{}` {}", text::shown_path(&self.path), self.message)
        }
    }
}

/// Puts into words what is wrong with arguments that do not fit.
pub(super) struct Reader<'a> {
    schema: &'a Value,
    draft: Draft,
    arguments: &'a Value,
    /// Alternatives around the one that is being explained.
    inside: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(schema: &'a Value, draft: Draft, arguments: &'a Value) -> Self {
        Self { schema, draft, arguments, inside: 0 }
    }

    /// Everything that is wrong, up to [`MAX_PROBLEMS`].
    pub(super) fn problems(&self, validator: &Validator) -> Vec<Problem> {
        let errors: Vec<ValidationError<'_>> = validator.iter_errors(self.arguments).collect();
        let mut left = errors.iter();
        let mut problems = self.told(&mut left, MAX_PROBLEMS);
        let more = left.count();
        if more > 0 {
            problems.push(Problem::new("", format!("have {more} more problems, told when these are mended")));
        }
        problems
    }

    /// The first thing that is wrong, found without looking at the rest.
    pub(super) fn first_problem(&self, validator: &Validator) -> Vec<Problem> {
        let Err(error) = validator.validate(self.arguments) else { return Vec::new() };
        let mut problems = self.told(&mut slice::from_ref(&error).iter(), 1);
        problems.push(Problem::new("", "may have more problems, told when this one is mended"));
        problems
    }

    /// Takes errors until `limit` problems are told. Missing properties of one object become one problem.
    fn told<'e>(&self, errors: &mut slice::Iter<'e, ValidationError<'e>>, limit: usize) -> Vec<Problem> {
        let mut groups: Vec<(&'e ValidationError<'e>, Vec<&'e str>)> = Vec::new();
        while let Some(error) = errors.as_slice().first() {
            let missing = match error.kind() {
                ValidationErrorKind::Required { property: Value::String(name) } => Some(name.as_str()),
                _ => None,
            };
            let full = groups.len() >= limit;
            match (missing, groups.last_mut()) {
                (Some(name), Some((first, names))) if !names.is_empty() && same_place(first, error) => {
                    names.push(name);
                }
                _ if full => break,
                _ => groups.push((error, missing.into_iter().collect())),
            }
            errors.next();
        }
        let told = |(error, missing): (&ValidationError<'_>, Vec<&str>)| {
            Problem::new(error.instance_path().as_str(), self.message(error, &missing))
        };
        groups.into_iter().map(told).collect()
    }

    fn message(&self, error: &ValidationError<'_>, missing: &[&str]) -> String {
        let trail = pointer::follow(self.schema, self.draft, error.evaluation_path().as_str());
        let mut message = self.core(error, &trail, missing);
        if error.instance().is_null() && is_optional(&trail, error) {
            message.push_str(" (leave it out instead)");
        }
        match trail.branch {
            Some("then") => message.push_str(" (because the condition `if` holds)"),
            Some(_) => message.push_str(" (because the condition `if` does not hold)"),
            None => {}
        }
        message
    }

    fn core(&self, error: &ValidationError<'_>, trail: &Trail<'_>, missing: &[&str]) -> String {
        let instance = error.instance().as_ref();
        let got = || text::given(instance);
        let preview = || text::preview(instance);
        match error.kind() {
            ValidationErrorKind::Type { kind } => format!("must be {}, got {}", types(kind), got()),
            ValidationErrorKind::Required { .. } => lacking(error, trail, missing),
            ValidationErrorKind::Enum { options } => one_of(options, instance),
            ValidationErrorKind::Constant { expected_value } => {
                format!("must be {}, got {}", text::preview(expected_value), preview())
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => unknown(unexpected, trail),
            ValidationErrorKind::FalseSchema => self.nothing_allowed(error),
            ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}, got {}", preview()),
            ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}, got {}", preview()),
            ValidationErrorKind::ExclusiveMinimum { limit } => {
                format!("must be greater than {limit}, got {}", preview())
            }
            ValidationErrorKind::ExclusiveMaximum { limit } => {
                format!("must be less than {limit}, got {}", preview())
            }
            ValidationErrorKind::MultipleOf { multiple_of } => {
                format!("must be a multiple of {multiple_of}, got {}", preview())
            }
            ValidationErrorKind::MinLength { limit } => bound("at least", *limit, "character", instance),
            ValidationErrorKind::MaxLength { limit } => bound("at most", *limit, "character", instance),
            ValidationErrorKind::MinItems { limit } => bound("at least", *limit, "item", instance),
            ValidationErrorKind::MaxItems { limit } => bound("at most", *limit, "item", instance),
            ValidationErrorKind::AdditionalItems { limit } => format!("must have at most {limit} items"),
            ValidationErrorKind::MinProperties { limit } => bound("at least", *limit, "entry", instance),
            ValidationErrorKind::MaxProperties { limit } => bound("at most", *limit, "entry", instance),
            ValidationErrorKind::Pattern { pattern } => {
                format!("must match the pattern {}, got {}", text::name(pattern), preview())
            }
            ValidationErrorKind::UniqueItems => repeated(instance),
            ValidationErrorKind::Contains => contains(error, trail),
            ValidationErrorKind::UnevaluatedItems { unexpected } => {
                let items = text::listed(unexpected.iter().map(|item| text::shortened(item)));
                format!("must not have the further items {items}")
            }
            ValidationErrorKind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                format!(
                    "must not have the name {}: a name here {}",
                    text::name(name),
                    self.message(inner, &[])
                )
            }
            ValidationErrorKind::AnyOf { context } => self.no_alternative(error, context, "at least one"),
            ValidationErrorKind::OneOfNotValid { context } => self.no_alternative(error, context, "one"),
            ValidationErrorKind::OneOfMultipleValid { context } => {
                let fitting = context.iter().enumerate().filter(|(_, errors)| errors.is_empty());
                let numbers = text::listed(fitting.map(|(index, _)| (index + 1).to_string()));
                format!("must fit only one of {} alternatives, fits numbers {numbers}", context.len())
            }
            // An empty schema stands for `false`, see `cost`.
            ValidationErrorKind::Not { schema } if schema == &json!({}) => "must be left out".to_owned(),
            ValidationErrorKind::Not { schema } => {
                let written = trail.holder.and_then(|holder| holder.get("not")).unwrap_or(schema);
                format!("must not fit {}", text::preview(written))
            }
            ValidationErrorKind::Format { format } => format!("must have the format {}", text::name(format)),
            ValidationErrorKind::ContentEncoding { content_encoding } => {
                format!("must be encoded as {}", text::name(content_encoding))
            }
            ValidationErrorKind::ContentMediaType { content_media_type } => {
                format!("must be of the media type {}", text::name(content_media_type))
            }
            ValidationErrorKind::FromUtf8 { .. } => "must decode to UTF-8 text".to_owned(),
            ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
            | ValidationErrorKind::Custom { .. }
            | ValidationErrorKind::Referencing(_) => format!("cannot be checked, got {}", got()),
        }
    }

    /// `false` as schema: of a property, an item, or of all properties of an object at once.
    fn nothing_allowed(&self, error: &ValidationError<'_>) -> String {
        let keyword = error.schema_path().as_str().rsplit('/').next();
        let value = self.arguments.pointer(error.instance_path().as_str());
        match (keyword, value) {
            (Some("additionalProperties" | "propertyNames"), Some(Value::Object(map))) => {
                format!("must be empty, has {}", text::names(map.keys().map(String::as_str)))
            }
            _ => "must be left out".to_owned(),
        }
    }

    /// When all that is wrong is the type, the types are named; else the closest alternative is explained.
    fn no_alternative(
        &self,
        error: &ValidationError<'_>,
        context: &[Vec<ValidationError<'static>>],
        how_many: &str,
    ) -> String {
        let path = error.instance_path();
        if let Some(kinds) = context.iter().map(|errors| only_type(errors, path)).collect::<Option<Vec<_>>>()
        {
            let mut kinds: Vec<&str> = kinds.into_iter().flatten().collect();
            kinds.dedup();
            return format!("must be {}, got {}", text::alternatives(&kinds), text::given(error.instance()));
        }
        let head = format!("must fit {how_many} of {} alternatives", context.len());
        let closest = context.iter().enumerate().min_by_key(|(_, errors)| distance(errors, path));
        let Some((index, errors)) = closest.filter(|_| self.inside < MAX_INSIDE) else { return head };
        let inner = Reader { inside: self.inside + 1, ..*self };
        let reasons = inner.told(&mut errors.iter(), MAX_REASONS);
        let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        format!("{head}, for number {}: {}", index + 1, reasons.join(" and "))
    }
}

type Path = jsonschema::paths::Location;

fn same_place(one: &ValidationError<'_>, other: &ValidationError<'_>) -> bool {
    one.instance_path() == other.instance_path() && one.evaluation_path() == other.evaluation_path()
}

fn only_type(errors: &[ValidationError<'static>], path: &Path) -> Option<Vec<&'static str>> {
    match errors {
        [only] if only.instance_path() == path => match only.kind() {
            ValidationErrorKind::Type { kind } => Some(type_names(kind)),
            _ => None,
        },
        _ => None,
    }
}

/// An alternative of another type, or whose tag says it is another one, is far however little else is wrong.
fn distance(errors: &[ValidationError<'static>], path: &Path) -> (bool, bool, usize) {
    let other_type = errors.iter().any(|error| {
        error.instance_path() == path && matches!(error.kind(), ValidationErrorKind::Type { .. })
    });
    let other_tag = errors.iter().any(|error| {
        matches!(error.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
    });
    (other_type, other_tag, errors.len())
}

fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(kind) => vec![text::kind(*kind)],
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind: JsonType| text::kind(kind)).collect(),
    }
}

fn types(kind: &TypeKind) -> String {
    text::alternatives(&type_names(kind))
}

/// `null` for a property that need not be there is most often meant as "not given".
fn is_optional(trail: &Trail<'_>, error: &ValidationError<'_>) -> bool {
    let Some(parent) = trail.parent else { return false };
    let Some(name) = pointer::steps(error.instance_path().as_str()).last() else { return false };
    !required(parent).any(|required| required == name)
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn lacking(error: &ValidationError<'_>, trail: &Trail<'_>, missing: &[&str]) -> String {
    let verb = if error.instance_path().as_str().is_empty() { "are" } else { "is" };
    let head = format!("{verb} missing {}", text::names(missing.iter().copied()));
    let Some(holder) = trail.holder else { return head };
    let keyword = error.evaluation_path().as_str();
    if keyword.ends_with("/dependentRequired") || keyword.ends_with("/dependencies") {
        let because = asking(holder, error.instance(), missing);
        return if because.is_empty() { head } else { format!("{head}, needed with {because}") };
    }
    let all: Vec<&str> = required(holder).collect();
    if all.len() > missing.len() { format!("{head} (required: {})", text::names(all)) } else { head }
}

/// The given properties whose presence asks for the missing ones.
fn asking(holder: &Map<String, Value>, instance: &Value, missing: &[&str]) -> String {
    let dependent = ["dependentRequired", "dependencies"];
    let rules = dependent.iter().filter_map(|keyword| holder.get(*keyword)?.as_object()).flatten();
    let asking = rules.filter(|(given, needed)| {
        let needed = needed.as_array().into_iter().flatten().filter_map(Value::as_str);
        instance.get(given.as_str()).is_some() && needed.into_iter().any(|name| missing.contains(&name))
    });
    text::names(asking.map(|(given, _)| given.as_str()))
}

fn one_of(options: &Value, instance: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let head = match options {
        [only] => format!("must be {}, got {}", text::preview(only), text::preview(instance)),
        _ => format!(
            "must be one of {}, got {}",
            text::listed(options.iter().map(text::preview)),
            text::preview(instance)
        ),
    };
    let near =
        instance.as_str().and_then(|given| nearest_one(given, options.iter().filter_map(Value::as_str)));
    match near {
        Some(near) if options.len() > 1 => {
            format!("{head} (did you mean {}?)", text::preview(&Value::String(near.to_owned())))
        }
        _ => head,
    }
}

fn unknown(unexpected: &[String], trail: &Trail<'_>) -> String {
    let properties = trail.holder.and_then(|holder| holder.get("properties")).and_then(Value::as_object);
    let known = || properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let named = text::listed(unexpected.iter().map(|name| match nearest_one(name, known()) {
        Some(near) => format!("{} (did you mean {}?)", text::name(name), text::name(near)),
        None => text::name(name),
    }));
    let all = text::names(known());
    if all.is_empty() {
        format!("must not have {named}")
    } else {
        format!("must not have {named}, known: {all}")
    }
}

fn bound(which: &str, limit: u64, unit: &str, instance: &Value) -> String {
    let has = match instance {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    let units = match (unit, limit) {
        (unit, 1) => unit.to_owned(),
        ("entry", _) => "entries".to_owned(),
        (unit, _) => format!("{unit}s"),
    };
    format!("must have {which} {limit} {units}, has {has}")
}

fn repeated(instance: &Value) -> String {
    let items = instance.as_array().map(Vec::as_slice).unwrap_or_default();
    let compared = items.iter().take(MAX_COMPARED_ITEMS);
    let pair = compared.enumerate().find_map(|(index, item)| {
        let first = items.iter().take(index).position(|earlier| earlier == item)?;
        Some((first, index))
    });
    match pair {
        Some((first, second)) => format!("must not repeat an item, items {first} and {second} are the same"),
        None => "must not repeat an item".to_owned(),
    }
}

fn contains(error: &ValidationError<'_>, trail: &Trail<'_>) -> String {
    let holder = |keyword: &str| trail.holder.and_then(|holder| holder.get(keyword));
    let wanted = holder("contains").map_or_else(|| "the schema".to_owned(), text::preview);
    match error.schema_path().as_str().rsplit('/').next() {
        Some(keyword @ ("minContains" | "maxContains")) => {
            let which = if keyword == "minContains" { "at least" } else { "at most" };
            let limit = holder(keyword).map_or_else(|| "some".to_owned(), text::preview);
            format!("must have {which} {limit} items that fit {wanted}")
        }
        _ => format!("must have at least 1 item that fits {wanted}"),
    }
}
