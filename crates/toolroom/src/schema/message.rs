//! Validation errors as messages for the model or user who has to correct a call.

use std::fmt;
use std::slice;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, JsonType, ValidationError, Validator};
use serde_json::{Map, Value, json};

use super::pointer::{self, SchemaTrail};
use super::text;
use crate::nearest::nearest_one;

/// Problems listed at once.
pub const MAX_PROBLEMS: usize = 20;

/// Problems shown of the closest alternative.
const MAX_REASONS: usize = 3;

/// Nesting depth of explained alternatives. Each level may multiply the text by [`MAX_REASONS`].
const MAX_NESTING: usize = 2;

/// Items compared to find the repeated one.
const MAX_COMPARED_ITEMS: usize = 200;

/// One problem of the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer into the arguments; empty for the arguments as a whole.
    pub path: String,
    /// A clause that names the argument: `` `days` must be an integer, got the string "x" ``.
    pub message: String,
}

impl Problem {
    /// A problem of the argument at `path`, a name or a JSON pointer. The predicate follows its name: `must not be empty`.
    pub fn new(path: impl Into<String>, predicate: impl fmt::Display) -> Self {
        let path = path.into();
        let message = match path.as_str() {
            "" => format!("the arguments {predicate}"),
            path => format!("`{}` {predicate}", text::field(path)),
        };
        Self { path, message }
    }

    fn of_all(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    pub(super) fn too_large() -> Self {
        Self::of_all(
            "the arguments do not match the schema and are too large to say where; pass fewer or flatter values",
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// Describes why arguments do not match a schema.
pub(super) struct ProblemReader<'a> {
    schema: &'a Value,
    draft: Draft,
    arguments: &'a Value,
    /// How many alternatives enclose the one that is being explained.
    nesting: usize,
}

impl<'a> ProblemReader<'a> {
    pub(super) fn new(schema: &'a Value, draft: Draft, arguments: &'a Value) -> Self {
        Self { schema, draft, arguments, nesting: 0 }
    }

    /// All problems, up to [`MAX_PROBLEMS`].
    pub(super) fn problems(&self, validator: &Validator) -> Vec<Problem> {
        let errors: Vec<ValidationError<'_>> = validator.iter_errors(self.arguments).collect();
        let mut left = errors.iter();
        let mut problems = self.describe(&mut left, MAX_PROBLEMS);
        let more = left.count();
        if more > 0 {
            problems.push(Problem::of_all(format!("{more} more problems, listed once these are fixed")));
        }
        problems
    }

    /// The first problem, found without checking the rest.
    pub(super) fn first_problem(&self, validator: &Validator) -> Vec<Problem> {
        let Err(error) = validator.validate(self.arguments) else { return Vec::new() };
        let mut problems = self.describe(&mut slice::from_ref(&error).iter(), 1);
        problems.push(Problem::of_all("possibly more problems, listed once this one is fixed"));
        problems
    }

    /// Takes errors until there are `limit` problems. Missing properties of one object become one problem.
    fn describe<'e>(&self, errors: &mut slice::Iter<'e, ValidationError<'e>>, limit: usize) -> Vec<Problem> {
        let mut groups: Vec<(&'e ValidationError<'e>, Vec<&'e str>)> = Vec::new();
        while let Some(error) = errors.as_slice().first() {
            let missing = match error.kind() {
                ValidationErrorKind::Required { property: Value::String(name) } => Some(name.as_str()),
                _ => None,
            };
            let full = groups.len() >= limit;
            match (missing, groups.last_mut()) {
                (Some(name), Some((first, names))) if !names.is_empty() && same_object(first, error) => {
                    names.push(name);
                }
                _ if full => break,
                _ => groups.push((error, missing.into_iter().collect())),
            }
            errors.next();
        }
        groups.into_iter().map(|(error, missing)| self.problem(error, &missing)).collect()
    }

    fn problem(&self, error: &ValidationError<'_>, missing: &[&str]) -> Problem {
        let path = error.instance_path().as_str();
        let trail = self.trail(error);
        let mut problem = match error.kind() {
            ValidationErrorKind::Required { .. } => {
                Problem { path: path.to_owned(), message: missing_fields(error, &trail, missing) }
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                Problem { path: path.to_owned(), message: unknown_fields(path, unexpected, &trail) }
            }
            ValidationErrorKind::FalseSchema => self.forbidden(error),
            _ => Problem::new(path, self.predicate(error, &trail)),
        };
        problem.message.push_str(addition(error, &trail));
        problem
    }

    fn trail(&self, error: &ValidationError<'_>) -> SchemaTrail<'a> {
        pointer::follow(self.schema, self.draft, error.evaluation_path().as_str())
    }

    fn predicate(&self, error: &ValidationError<'_>, trail: &SchemaTrail<'_>) -> String {
        let instance = error.instance().as_ref();
        let got = || text::given(instance);
        let preview = || text::preview(instance);
        match error.kind() {
            ValidationErrorKind::Type { kind } => format!("must be {}, got {}", types(kind), got()),
            ValidationErrorKind::Enum { options } => one_of(options, instance),
            ValidationErrorKind::Constant { expected_value } => {
                format!("must be {}, got {}", text::preview(expected_value), preview())
            }
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
                format!("has unexpected items: {items}")
            }
            ValidationErrorKind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default();
                let trail = self.trail(inner);
                let predicate = self.predicate(inner, &trail);
                format!(
                    "has the invalid field name {}, which {predicate}{}",
                    text::name(name),
                    addition(inner, &trail)
                )
            }
            ValidationErrorKind::AnyOf { context } => self.no_alternative(error, context, "at least one"),
            ValidationErrorKind::OneOfNotValid { context } => self.no_alternative(error, context, "one"),
            ValidationErrorKind::OneOfMultipleValid { context } => {
                let fitting = context.iter().enumerate().filter(|(_, errors)| errors.is_empty());
                let numbers = text::listed(fitting.map(|(index, _)| (index + 1).to_string()));
                format!("must match only one of {} alternatives, matches numbers {numbers}", context.len())
            }
            // An empty schema stands for `false`, see `cost`.
            ValidationErrorKind::Not { schema } if schema == &json!({}) => "must be left out".to_owned(),
            ValidationErrorKind::Not { schema } => {
                let written = trail.holder.and_then(|holder| holder.get("not")).unwrap_or(schema);
                format!("must not match {}", text::preview(written))
            }
            ValidationErrorKind::Format { format } => format!("must have the format {}", text::name(format)),
            ValidationErrorKind::ContentEncoding { content_encoding } => {
                format!("must be encoded as {}", text::name(content_encoding))
            }
            ValidationErrorKind::ContentMediaType { content_media_type } => {
                format!("must be of the media type {}", text::name(content_media_type))
            }
            ValidationErrorKind::FromUtf8 { .. } => "must decode to UTF-8 text".to_owned(),
            // Described as whole problems.
            ValidationErrorKind::Required { .. }
            | ValidationErrorKind::AdditionalProperties { .. }
            | ValidationErrorKind::UnevaluatedProperties { .. }
            | ValidationErrorKind::FalseSchema => "does not match the schema".to_owned(),
            ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
            | ValidationErrorKind::Custom { .. }
            | ValidationErrorKind::Referencing(_) => format!("cannot be checked, got {}", got()),
        }
    }

    /// The schema `false`: of a property, an item, or of all properties of an object at once.
    fn forbidden(&self, error: &ValidationError<'_>) -> Problem {
        let path = error.instance_path().as_str();
        let keyword = error.schema_path().as_str().rsplit('/').next();
        match (keyword, self.arguments.pointer(path)) {
            (Some("additionalProperties" | "propertyNames"), Some(Value::Object(map))) => {
                let fields = text::listed(map.keys().map(|name| text::field_in(path, name)));
                let message = format!("unknown {} {fields} (none are allowed)", noun(path, map.len()));
                Problem { path: path.to_owned(), message }
            }
            _ => Problem::new(path, "must be left out"),
        }
    }

    /// Names the types if only the type is wrong, else explains the closest alternative.
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
        let head = format!("must match {how_many} of {} alternatives", context.len());
        let closest = context.iter().enumerate().min_by_key(|(_, errors)| distance(errors, path));
        let Some((index, errors)) = closest.filter(|_| self.nesting < MAX_NESTING) else { return head };
        let inner = ProblemReader { nesting: self.nesting + 1, ..*self };
        let reasons = inner.describe(&mut errors.iter(), MAX_REASONS);
        let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        format!("{head}; closest is number {}: {}", index + 1, reasons.join(" and "))
    }
}

type Path = jsonschema::paths::Location;

fn same_object(one: &ValidationError<'_>, other: &ValidationError<'_>) -> bool {
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

/// Sorts alternatives of another type or another tag behind all others.
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

/// Models often pass `null` for an optional property they mean to leave out.
fn is_optional(trail: &SchemaTrail<'_>, error: &ValidationError<'_>) -> bool {
    let Some(parent) = trail.parent else { return false };
    let Some(name) = pointer::steps(error.instance_path().as_str()).last() else { return false };
    !required(parent).any(|required| required == name)
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// What the reader should know besides the problem.
fn addition(error: &ValidationError<'_>, trail: &SchemaTrail<'_>) -> &'static str {
    match trail.branch {
        _ if error.instance().is_null() && is_optional(trail, error) => " (leave it out instead)",
        Some("then") => " (because the condition `if` holds)",
        Some(_) => " (because the condition `if` does not hold)",
        None => "",
    }
}

fn noun(path: &str, count: usize) -> &'static str {
    match (path.is_empty(), count) {
        (true, 1) => "argument",
        (true, _) => "arguments",
        (false, 1) => "field",
        (false, _) => "fields",
    }
}

fn missing_fields(error: &ValidationError<'_>, trail: &SchemaTrail<'_>, missing: &[&str]) -> String {
    let path = error.instance_path().as_str();
    let fields = text::listed(missing.iter().map(|name| text::field_in(path, name)));
    let head = format!("missing {} {fields}", noun(path, missing.len()));
    let Some(holder) = trail.holder else { return head };
    let keyword = error.evaluation_path().as_str();
    if keyword.ends_with("/dependentRequired") || keyword.ends_with("/dependencies") {
        let because = asking(holder, error.instance(), missing);
        return if because.is_empty() { head } else { format!("{head} (required with {because})") };
    }
    let all: Vec<&str> = required(holder).collect();
    if all.len() > missing.len() { format!("{head} (required: {})", text::names(all)) } else { head }
}

/// The given properties that require the missing ones.
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

/// Names the known fields unless each unknown one has a suggestion.
fn unknown_fields(path: &str, unexpected: &[String], trail: &SchemaTrail<'_>) -> String {
    let properties = trail.holder.and_then(|holder| holder.get("properties")).and_then(Value::as_object);
    let known = || properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let mut all_suggested = true;
    let fields = text::listed(unexpected.iter().map(|name| match nearest_one(name, known()) {
        Some(near) => format!("{} (did you mean {}?)", text::field_in(path, name), text::name(near)),
        None => {
            all_suggested = false;
            text::field_in(path, name)
        }
    }));
    let head = format!("unknown {} {fields}", noun(path, unexpected.len()));
    let all = text::names(known());
    if all_suggested || all.is_empty() { head } else { format!("{head}, known: {all}") }
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

fn contains(error: &ValidationError<'_>, trail: &SchemaTrail<'_>) -> String {
    let holder = |keyword: &str| trail.holder.and_then(|holder| holder.get(keyword));
    let wanted = holder("contains").map_or_else(|| "the schema".to_owned(), text::preview);
    match error.schema_path().as_str().rsplit('/').next() {
        Some(keyword @ ("minContains" | "maxContains")) => {
            let which = if keyword == "minContains" { "at least" } else { "at most" };
            let limit = holder(keyword).map_or_else(|| "some".to_owned(), text::preview);
            format!("must have {which} {limit} items that match {wanted}")
        }
        _ => format!("must have at least 1 item that matches {wanted}"),
    }
}
