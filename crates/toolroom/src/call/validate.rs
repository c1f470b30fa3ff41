//! Station 2: arguments that fit the tool.

use serde_json::Value;

use super::fence::caught;
use super::record::OpenCall;
use super::report::Exit;
use super::request::GivenArguments;
use crate::catalog::Entry;
use crate::schema::{self, ArgumentTextError, Problem};
use crate::tool::{Arguments, ErrorKind, ToolError};

pub(super) fn arguments(entry: &Entry, call: &mut OpenCall) -> Result<Arguments, Exit> {
    let given = parse(&mut call.request.arguments).map_err(Exit::Failed)?;
    let arguments = filled(entry, given);
    call.keep_arguments(&arguments);
    check(entry, arguments).map_err(Exit::Failed)
}

/// Takes the arguments out of the request. Text that is no JSON object stays in it, for the journal.
pub(super) fn parse(given: &mut GivenArguments) -> Result<Arguments, ToolError> {
    let refused =
        |error: ArgumentTextError| ToolError::new(ErrorKind::InvalidArguments, error.to_string()).by_kernel();
    match given {
        GivenArguments::Object(arguments) => {
            let arguments = std::mem::take(arguments);
            // Before anything else walks them: a value too deep to be walked is not even kept.
            arguments.values().try_for_each(schema::bounds).map_err(refused)?;
            Ok(arguments)
        }
        GivenArguments::Text(text) => {
            let arguments = schema::parse_object(text).map_err(refused)?;
            text.clear();
            Ok(arguments)
        }
    }
}

/// The schema first, then the tool's own check: it may rely on the schema.
pub(super) fn check(entry: &Entry, arguments: Arguments) -> Result<Arguments, ToolError> {
    let value = Value::Object(arguments);
    let crashed = |error| {
        let text = "the tool's parameter schema cannot be used, so no call of it can be checked";
        ToolError::new(ErrorKind::Crashed, text).caused_by(error).by_kernel()
    };
    let mut problems = entry.schema.check(&value).map_err(crashed)?;
    let Value::Object(arguments) = value else { return Err(refusal(&problems)) };
    if problems.is_empty() {
        problems = caught(|| entry.tool.check(&arguments))?;
    }
    if problems.is_empty() { Ok(arguments) } else { Err(refusal(&problems)) }
}

fn refusal(problems: &[Problem]) -> ToolError {
    let text = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    ToolError::new(ErrorKind::InvalidArguments, format!("invalid arguments: {text}")).by_kernel()
}

/// Fills in the defaults of top-level parameters that are absent. Deeper defaults are annotations: whether
/// their object should exist at all is not ours to say.
pub(super) fn filled(entry: &Entry, mut arguments: Arguments) -> Arguments {
    let properties = entry.spec().parameters.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default")
            && !arguments.contains_key(name)
        {
            arguments.insert(name.clone(), default.clone());
        }
    }
    arguments
}
