//! A tool's schema: validated when created, compiled on first use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::argument_text;
use super::cost::{self, Counter};
use super::error::SchemaError;
use super::message::{Problem, ProblemReader};
use super::pattern;
use super::reference;
use super::text;
use super::wellformed::{self, SchemaPattern};

/// What to do with a pattern that the linear-time engine does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternRule {
    /// Reject the schema: for tools whose author can change it.
    Refuse,
    /// Leave the pattern out and report it: for foreign tools.
    Relax,
}

/// The schema of a tool's parameters.
#[derive(Debug)]
pub struct Schema {
    /// The schema as given, or a copy without some patterns.
    enforced: Arc<Value>,
    not_enforced: Vec<String>,
    draft: Draft,
    /// Whether checks have a budget, because references can make them long.
    counted: bool,
    validator: OnceLock<Result<Validator, SchemaError>>,
    /// Compiled on its own, because explaining problems has other costs than judging.
    explainer: OnceLock<Result<Validator, SchemaError>>,
}

impl Schema {
    /// Validates `schema` in the draft that `$schema` names or 2020-12. It must describe an object.
    ///
    /// # Errors
    /// When it is malformed, too big, refers to another document or to nothing, or, under
    /// [`PatternRule::Refuse`], has a pattern that cannot be matched in linear time.
    pub fn new(schema: impl Into<Arc<Value>>, patterns: PatternRule) -> Result<Self, SchemaError> {
        let schema = schema.into();
        let mut walk = wellformed::walk(&schema)?;
        let links = reference::links(&mut walk)?;
        let survey = walk.found;
        let counted = !links.is_empty() || survey.schemas.iter().any(|schema| cost::has_unevaluated(schema));
        if counted {
            cost::check_spread(&survey, &links)?;
        }
        let (draft, compile_now) = (survey.draft, survey.compile_now);
        let unmatchable: Vec<&SchemaPattern<'_>> =
            survey.patterns.iter().filter(|place| !pattern::compiles(place.text, place.draft)).collect();
        let (enforced, not_enforced) = match (unmatchable.first(), patterns) {
            (None, _) => (None, Vec::new()),
            (Some(place), PatternRule::Refuse) => {
                return Err(SchemaError::Pattern {
                    pointer: text::shown_path(&place.pointer),
                    pattern: text::shortened(place.text),
                });
            }
            (Some(_), PatternRule::Relax) => {
                let relaxed = pattern::without(&schema, draft, &unmatchable, &links);
                (Some(relaxed.schema), relaxed.not_enforced)
            }
        };
        let enforced = enforced.map_or(schema, Arc::new);
        let (validator, explainer) = (OnceLock::new(), OnceLock::new());
        let schema = Self { enforced, not_enforced, draft, counted, validator, explainer };
        if compile_now {
            schema.validator()?;
        }
        Ok(schema)
    }

    /// JSON pointers of constraints that [`Schema::check`] does not enforce.
    pub fn not_enforced(&self) -> &[String] {
        &self.not_enforced
    }

    /// All problems of `arguments`, up to [`MAX_PROBLEMS`](super::MAX_PROBLEMS); empty when they fit.
    ///
    /// # Errors
    /// When the schema cannot decide. The call must be denied then.
    pub fn check(&self, arguments: &Value) -> Result<Vec<Problem>, SchemaError> {
        if argument_text::bounds(arguments).is_err() {
            let message = format!("must not nest deeper than {} levels", argument_text::MAX_DEPTH);
            return Ok(vec![Problem::new("", message)]);
        }
        let validator = self.validator()?;
        let fits = if self.counted {
            cost::within(cost::budget(arguments), || validator.is_valid(arguments))
                .ok_or(SchemaError::TooMuchWork)?
        } else {
            validator.is_valid(arguments)
        };
        if fits { Ok(Vec::new()) } else { self.problems(arguments) }
    }

    /// All problems of `arguments` that do not match; of very large ones the first, or only that there are some.
    fn problems(&self, arguments: &Value) -> Result<Vec<Problem>, SchemaError> {
        let explainer =
            self.explainer.get_or_init(|| compile(&self.enforced, self.draft, Some(cost::problems)));
        let explainer = explainer.as_ref().map_err(SchemaError::clone)?;
        let reader = ProblemReader::new(&self.enforced, self.draft, arguments);
        let problems = cost::within(cost::EXPLANATION, || reader.problems(explainer))
            .or_else(|| cost::within(cost::EXPLANATION, || reader.first_problem(explainer)))
            .filter(|problems| !problems.is_empty());
        Ok(problems.unwrap_or_else(|| vec![Problem::too_large()]))
    }

    fn validator(&self) -> Result<&Validator, SchemaError> {
        let counter: Option<Counter> = if self.counted { Some(cost::judgements) } else { None };
        let compiled = self.validator.get_or_init(|| compile(&self.enforced, self.draft, counter));
        compiled.as_ref().map_err(SchemaError::clone)
    }
}

fn compile(schema: &Value, draft: Draft, counter: Option<Counter>) -> Result<Validator, SchemaError> {
    let mut options = jsonschema::options()
        .with_draft(draft)
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(pattern::engine());
    let copy;
    let mut source = schema;
    if let Some(counter) = counter {
        options = options.with_keyword(cost::KEYWORD, counter);
        copy = cost::counted(schema, draft);
        source = &copy;
    }
    // The compiler has assertions about identifiers that a hostile schema may violate.
    let built = catch_unwind(AssertUnwindSafe(|| options.build(source)));
    let reason = match built {
        Ok(Ok(validator)) => return Ok(validator),
        Ok(Err(error)) => text::shown_path(&error.to_string()),
        Err(_) => "the compiler gave up".to_owned(),
    };
    Err(SchemaError::Compile { reason })
}
