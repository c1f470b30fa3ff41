//! Tools made of typed async functions.

use std::future::Future;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Arguments, Destination, ErrorKind, IdError, Tool, ToolError, ToolOutput, ToolSpec};
use crate::BoxFuture;
use crate::call::CallContext;
use crate::policy::Judgement;
use crate::schema::Problem;
use crate::scope::Scope;

/// Turns an async function into a tool. The argument struct's fields become the parameters, their doc comments
/// the descriptions.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use toolroom::tool::{Effect, ToolError, tool_fn};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greet {
///     /// Whom to greet.
///     name: String,
/// }
///
/// let greet = tool_fn("app:greet", "Greet a person", |_context, args: Greet| async move {
///     Ok::<_, ToolError>(format!("hello {}", args.name))
/// })
/// .unwrap()
/// .with(|spec| spec.effect(Effect::Pure));
/// ```
pub fn tool_fn<A, R, F, Fut>(id: &str, description: &str, function: F) -> Result<FnTool<A, R, F>, IdError>
where
    A: DeserializeOwned + JsonSchema + Send + Sync,
    R: IntoOutput,
    F: Fn(CallContext, A) -> Fut + Send + Sync,
    Fut: Future<Output = Result<R, ToolError>> + Send,
{
    let mut schema = schemars::schema_for!(A).to_value();
    if let Some(object) = schema.as_object_mut() {
        // The struct's Rust name and the dialect are useless to a model.
        object.remove("title");
        object.remove("$schema");
        object.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
        object.entry("type").or_insert_with(|| "object".into());
        // Rejects misspelt optional arguments. With alternatives (an enum, also a flattened one) only
        // `unevaluatedProperties` knows which properties are allowed.
        let has_parts = ["oneOf", "anyOf", "allOf", "$ref"].iter().any(|part| object.contains_key(*part));
        let closed = if has_parts { "unevaluatedProperties" } else { "additionalProperties" };
        if !object.contains_key("additionalProperties") {
            object.insert(closed.into(), Value::Bool(false));
        }
    }
    let spec = ToolSpec::new(id, description)?.parameters(schema);
    Ok(FnTool {
        spec,
        function,
        check: None,
        judge: None,
        destination: None,
        at_hand: None,
        types: PhantomData,
    })
}

/// The argument type of a tool that takes none.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// Return values of a function: any serializable value, or a whole [`ToolOutput`].
pub trait IntoOutput {
    /// The tool's result.
    fn into_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoOutput for ToolOutput {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl<T: Serialize> IntoOutput for T {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        serde_json::to_value(self).map(ToolOutput::new).map_err(|error| {
            ToolError::new(ErrorKind::Crashed, "the result is not valid JSON").caused_by(error)
        })
    }
}

type Check = dyn Fn(&Arguments) -> Vec<Problem> + Send + Sync;
type Judge = dyn Fn(&Arguments) -> Judgement + Send + Sync;
type SendsTo = dyn Fn(&Arguments) -> Option<Destination> + Send + Sync;
type CachedAnswer = BoxFuture<'static, Result<Option<ToolOutput>, ToolError>>;
type AtHand = dyn Fn(&Scope, &Arguments) -> CachedAnswer + Send + Sync;

/// A tool made by [`tool_fn`].
pub struct FnTool<A, R, F> {
    spec: ToolSpec,
    function: F,
    check: Option<Box<Check>>,
    judge: Option<Box<Judge>>,
    destination: Option<Box<SendsTo>>,
    at_hand: Option<Box<AtHand>>,
    types: PhantomData<fn(A) -> R>,
}

impl<A, R, F> FnTool<A, R, F> {
    /// Changes the definition: effect, risk, timeout, tags…
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        self
    }

    /// Checks arguments beyond what their types can say; see [`Tool::check`].
    #[must_use]
    pub fn check(mut self, check: impl Fn(&Arguments) -> Vec<Problem> + Send + Sync + 'static) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Judges arguments; see [`Tool::judge`].
    #[must_use]
    pub fn judge(mut self, judge: impl Fn(&Arguments) -> Judgement + Send + Sync + 'static) -> Self {
        self.judge = Some(Box::new(judge));
        self
    }

    /// Gives the destination of a call; see [`Tool::destination`].
    #[must_use]
    pub fn destination(
        mut self,
        destination: impl Fn(&Arguments) -> Option<Destination> + Send + Sync + 'static,
    ) -> Self {
        self.destination = Some(Box::new(destination));
        self
    }

    /// Gives cached answers; see [`Tool::at_hand`].
    #[must_use]
    pub fn answers_at_hand<Fut>(
        mut self,
        at_hand: impl Fn(&Scope, &Arguments) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Result<Option<ToolOutput>, ToolError>> + Send + 'static,
    {
        self.at_hand = Some(Box::new(move |scope, arguments| Box::pin(at_hand(scope, arguments))));
        self
    }
}

impl<A, R, F, Fut> Tool for FnTool<A, R, F>
where
    A: DeserializeOwned + Send + Sync,
    R: IntoOutput,
    F: Fn(CallContext, A) -> Fut + Send + Sync,
    Fut: Future<Output = Result<R, ToolError>> + Send,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(
        &'a self,
        context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            // The schema is derived from the same type, so this fails only where the type checks more.
            let typed: A = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
                ToolError::new(ErrorKind::InvalidArguments, format!("invalid arguments: {error}"))
            })?;
            (self.function)(context, typed).await?.into_output()
        })
    }

    fn check(&self, arguments: &Arguments) -> Vec<Problem> {
        self.check.as_ref().map_or_else(Vec::new, |check| check(arguments))
    }

    fn judge(&self, arguments: &Arguments) -> Judgement {
        self.judge.as_ref().map_or(Judgement::Allow, |judge| judge(arguments))
    }

    fn destination(&self, arguments: &Arguments) -> Option<Destination> {
        self.destination.as_ref().and_then(|destination| destination(arguments))
    }

    fn at_hand<'a>(
        &'a self,
        scope: &'a Scope,
        arguments: &'a Arguments,
    ) -> BoxFuture<'a, Result<Option<ToolOutput>, ToolError>> {
        match &self.at_hand {
            Some(at_hand) => at_hand(scope, arguments),
            None => Box::pin(std::future::ready(Ok(None))),
        }
    }
}
