//! Station 2: arguments that fit the tool.

use serde_json::Value;

use super::fence::catch_panic;
use super::open_call::OpenCall;
use super::report::Exit;
use super::request::{CallRequest, GivenArguments, MAX_CONTEXT_BYTES};
use super::shorten::dismantle;
use super::size::json_bytes;
use crate::catalog::Entry;
use crate::schema::{self, ArgumentTextError, MAX_PROBLEMS, Problem, SchemaError};
use crate::tool::{Arguments, ErrorKind, ToolError};

pub(super) fn arguments(entry: &Entry, call: &mut OpenCall) -> Result<Arguments, Exit> {
    fitting(entry, call).map_err(Exit::Failed)
}

/// The arguments as the tool would get them, or what is wrong with them.
pub(super) fn fitting(entry: &Entry, call: &mut OpenCall) -> Result<Arguments, ToolError> {
    let arguments = prepare(entry, &mut call.request).map_err(|error| without_excerpt(error, call))?;
    let bytes = call.keep_arguments(&arguments);
    let value = Value::Object(arguments);
    match (check(entry, &value, bytes), value) {
        (Ok(()), Value::Object(arguments)) => Ok(arguments),
        (Ok(()), _) => Err(refusal(&[])),
        (Err(error), value) => Err(without_values(entry, value, error, call)),
    }
}

/// An error may quote a part of a secret, which redaction would not recognise. So arguments with a secret are parsed again
/// after redaction, and the error is about those.
fn without_excerpt(error: ToolError, call: &OpenCall) -> ToolError {
    let GivenArguments::Text(text) = &call.request.arguments else { return error };
    match call.redacted(text).map(|hidden| schema::parse_object(&hidden)) {
        None => error,
        Some(Err(other)) => refused(&other),
        Some(Ok(_)) => withheld(),
    }
}

/// The same for arguments that do not fit.
fn without_values(entry: &Entry, value: Value, error: ToolError, call: &OpenCall) -> ToolError {
    let mut hidden = value.clone();
    call.redact(&mut hidden);
    let same = hidden == value;
    dismantle(value);
    if same {
        return error;
    }
    let bytes = json_bytes(&hidden);
    check(entry, &hidden, bytes).err().unwrap_or_else(withheld)
}

fn withheld() -> ToolError {
    let text = "invalid arguments; details are withheld, as the arguments contain a secret";
    ToolError::new(ErrorKind::InvalidArguments, text).by_kernel()
}

/// Parses and completes the arguments.
fn prepare(entry: &Entry, request: &mut CallRequest) -> Result<Arguments, ToolError> {
    check_context(request)?;
    Ok(entry.completed(parse(&mut request.arguments)?))
}

impl Entry {
    /// Arguments as the tool would get them: with defaults, and whole numbers as integers. Calls with equal completed
    /// arguments are the same call.
    #[must_use]
    pub fn completed(&self, arguments: Arguments) -> Arguments {
        let mut arguments = filled(self, arguments);
        arguments.values_mut().for_each(write_whole);
        arguments
    }
}

/// JSON Schema counts `20.0` as an integer, most programs do not: whole numbers are converted, as far as `f64` is exact.
fn write_whole(value: &mut Value) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT);
            #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
            if let Some(whole) = whole {
                *value = Value::from(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole),
        Value::Object(map) => map.values_mut().for_each(write_whole),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes the arguments out of the request. Invalid ones stay in it as text, for the journal.
fn parse(given: &mut GivenArguments) -> Result<Arguments, ToolError> {
    match given {
        GivenArguments::Object(arguments) => within_depth(std::mem::take(arguments)).map_err(|error| {
            *given = GivenArguments::Text(error.to_string());
            refused(&error)
        }),
        GivenArguments::Text(text) => {
            let arguments = schema::parse_object(text).map_err(|error| refused(&error))?;
            text.clear();
            Ok(arguments)
        }
    }
}

/// Parsed arguments keep to the same depth as text, before anything traverses them.
pub(super) fn within_depth(arguments: Arguments) -> Result<Arguments, ArgumentTextError> {
    let value = Value::Object(arguments);
    if let Err(error) = schema::bounds(&value) {
        dismantle(value);
        return Err(error);
    }
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Arguments::new()),
    }
}

/// The client's context has the same bounds as arguments.
fn check_context(request: &mut CallRequest) -> Result<(), ToolError> {
    if request.context.is_empty() {
        return Ok(());
    }
    let context = within_depth(std::mem::take(&mut request.context)).map_err(|error| refused(&error))?;
    let context = Value::Object(context);
    let bytes = json_bytes(&context);
    if let Value::Object(context) = context {
        request.context = context;
    }
    if bytes > MAX_CONTEXT_BYTES {
        let text = format!("the context has {bytes} bytes, the limit is {MAX_CONTEXT_BYTES}");
        return Err(ToolError::new(ErrorKind::InvalidArguments, text).by_kernel());
    }
    Ok(())
}

fn refused(error: &ArgumentTextError) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, error.to_string()).by_kernel()
}

/// The schema first, then the tool's own check: it may rely on the schema.
fn check(entry: &Entry, value: &Value, bytes: usize) -> Result<(), ToolError> {
    if bytes > schema::MAX_TEXT_BYTES {
        return Err(refused(&ArgumentTextError::TooLong { bytes }));
    }
    let mut problems = entry.schema.check(value).map_err(|error| match error {
        // This one is about the arguments, and says what to do.
        SchemaError::TooMuchWork => {
            ToolError::new(ErrorKind::InvalidArguments, error.to_string()).by_kernel()
        }
        error => {
            let text = "the tool's parameter schema cannot be used, so no call of it can be checked";
            ToolError::new(ErrorKind::Crashed, text).caused_by(error).by_kernel()
        }
    })?;
    let Value::Object(arguments) = value else { return Err(refusal(&problems)) };
    if problems.is_empty() {
        problems = catch_panic(|| entry.tool.check(arguments))?;
    }
    if problems.is_empty() { Ok(()) } else { Err(refusal(&problems)) }
}

fn refusal(problems: &[Problem]) -> ToolError {
    let mut messages: Vec<String> = Vec::new();
    for problem in problems.iter().map(ToString::to_string) {
        // The schema's own list has one more entry, which says that there are more.
        if messages.len() > MAX_PROBLEMS {
            messages.push("and more, listed once these are fixed".to_owned());
            break;
        }
        // Several parts of a schema may find the same fault.
        if !messages.contains(&problem) {
            messages.push(problem);
        }
    }
    let text = messages.join("; ");
    ToolError::new(ErrorKind::InvalidArguments, format!("invalid arguments: {text}")).by_kernel()
}

/// Fills in the defaults of top-level parameters that are absent. Deeper defaults are annotations: whether
/// their object should exist at all is not ours to say.
fn filled(entry: &Entry, mut arguments: Arguments) -> Arguments {
    for (name, default) in &entry.defaults {
        if !arguments.contains_key(name) {
            arguments.insert(name.clone(), default.clone());
        }
    }
    arguments
}
