//! Tools: definitions, results and errors.
//!
//! A [`Tool`] is a [`ToolSpec`] and an async `run`. The spec is data for the catalog, the policy, dashboards and models, so
//! the trait stays small. [`tool_fn`] makes a tool from a typed async function. Only [`crate::Toolroom::call`] starts a
//! tool, because only the kernel can make the [`CallContext`] that `run` takes.

mod attachment;
mod client;
mod effect;
mod error;
mod function;
mod id;
mod offer;
mod output;
mod spec;

pub use attachment::Attachment;
pub use client::{ClientTool, ClientToolError, ClientTools};
pub use effect::{Capabilities, Capability, Effect, Risk};
pub(crate) use error::causes;
pub use error::{ErrorKind, RaisedBy, ToolError};
pub use function::{FnTool, IntoOutput, NoArguments, tool_fn};
pub use id::{IdError, Source, ToolId};
pub use offer::{Offer, OfferedFile, bare_name};
pub use output::{Destination, FileTrace, Origin, ToolOutput, Yields};
pub use spec::{DEFAULT_RESULT_CAP, DEFAULT_TIMEOUT, Enablement, Family, LocalText, Pool, Timeout, ToolSpec};

use serde_json::{Map, Value};

use crate::BoxFuture;
use crate::call::CallContext;
use crate::policy::Judgement;
use crate::schema::Problem;
use crate::scope::Scope;

/// A call's arguments: a JSON object that has passed the tool's schema.
pub type Arguments = Map<String, Value>;

/// A function that a model or a person can call.
///
/// ```
/// use toolroom::tool::{Arguments, Effect, Tool, ToolError, ToolOutput, ToolSpec};
/// use toolroom::{BoxFuture, call::CallContext};
///
/// struct Roll(ToolSpec);
///
/// impl Tool for Roll {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///     fn run<'a>(
///         &'a self,
///         _context: CallContext,
///         _arguments: Arguments,
///     ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
///         Box::pin(async { Ok(ToolOutput::new(4)) })
///     }
/// }
///
/// let roll = Roll(ToolSpec::new("app:roll", "Roll a die").unwrap().effect(Effect::Pure));
/// assert_eq!(roll.spec().id.bare(), "roll");
/// ```
pub trait Tool: Send + Sync {
    /// The definition. Always the same value: a changed tool is registered anew.
    fn spec(&self) -> &ToolSpec;

    /// Does the work. The arguments have passed the schema and [`Tool::check`].
    fn run<'a>(
        &'a self,
        context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;

    /// The spec that a call with these arguments is judged and journaled by: effect, capabilities, risk, confirmation. For
    /// tools that read with some arguments and write with others. It can only be stricter than [`Tool::spec`]; a call with a
    /// laxer one is denied.
    fn spec_for(&self, arguments: &Arguments) -> &ToolSpec {
        let _ = arguments;
        self.spec()
    }

    /// Checks the arguments beyond the schema. Returns all problems at once.
    fn check(&self, arguments: &Arguments) -> Vec<Problem> {
        let _ = arguments;
        Vec::new()
    }

    /// Judges these arguments. Can only make the policy's verdict stricter.
    fn judge(&self, arguments: &Arguments) -> Judgement {
        let _ = arguments;
        Judgement::Allow
    }

    /// The destination of a call, for tools that take it from an argument: an answer to the provenance guard holds for that
    /// destination. By default it is the tool or its server.
    fn destination(&self, arguments: &Arguments) -> Option<Destination> {
        let _ = arguments;
        None
    }

    /// The cached answer of an earlier call. A call that changes nothing then ends with it: the tool does not run, and the
    /// call does not count against its rate limits. The same holds for an error that every call would get.
    fn at_hand<'a>(
        &'a self,
        scope: &'a Scope,
        arguments: &'a Arguments,
    ) -> BoxFuture<'a, Result<Option<ToolOutput>, ToolError>> {
        let _ = (scope, arguments);
        Box::pin(std::future::ready(Ok(None)))
    }
}
