//! A schema and its check: surveyed when made, compiled on first use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::arguments;
use super::error::SchemaError;
use super::message;
use super::pattern;
use super::problem::Problem;
use super::reference;
use super::relax;
use super::spread;
use super::survey::PatternPlace;
use super::text;
use super::wellformed;
use super::work;

/// Problems listed at once: enough to mend a call in one go, few enough to be read.
pub const MAX_PROBLEMS: usize = 20;

/// What to do with a pattern that the linear-time engine does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternRule {
    /// Refuse the schema: for own tools, whose author can write it differently.
    Refuse,
    /// Leave the pattern out and say so: for tools that others wrote.
    Relax,
}

/// The schema of a tool's parameters.
#[derive(Debug)]
pub struct Schema {
    /// What is enforced: the schema as it was given, or a copy without some patterns.
    enforced: Arc<Value>,
    not_enforced: Vec<String>,
    draft: Draft,
    /// References can make a check long, so it gets a budget.
    counted: bool,
    validator: OnceLock<Result<Validator, SchemaError>>,
}

impl Schema {
    /// Checks that `schema` is one, in the draft that `$schema` names or 2020-12, for an object.
    ///
    /// # Errors
    /// When it is malformed, too big, refers to another document or to nothing, or, under
    /// [`PatternRule::Refuse`], has a pattern that cannot be matched in linear time.
    pub fn new(schema: impl Into<Arc<Value>>, patterns: PatternRule) -> Result<Self, SchemaError> {
        let schema = schema.into();
        let mut walk = wellformed::walk(&schema)?;
        let links = reference::links(&mut walk)?;
        let survey = walk.found;
        if !links.is_empty() {
            spread::check(&survey, &links)?;
        }
        let (draft, compile_now, counted) = (survey.draft, survey.compile_now, !links.is_empty());
        let unmatchable: Vec<&PatternPlace<'_>> =
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
                let relaxed = relax::without(&schema, draft, &unmatchable, &links);
                (Some(relaxed.schema), relaxed.not_enforced)
            }
        };
        let enforced = enforced.map_or(schema, Arc::new);
        let schema = Self { enforced, not_enforced, draft, counted, validator: OnceLock::new() };
        if compile_now {
            schema.validator()?;
        }
        Ok(schema)
    }

    /// JSON pointers of what the schema asks for and [`Schema::check`] does not enforce.
    pub fn not_enforced(&self) -> &[String] {
        &self.not_enforced
    }

    /// Everything that is wrong with `arguments`, up to [`MAX_PROBLEMS`]; empty when they fit.
    ///
    /// # Errors
    /// When the schema cannot decide. The call has to be denied then.
    pub fn check(&self, arguments: &Value) -> Result<Vec<Problem>, SchemaError> {
        if arguments::bounds(arguments).is_err() {
            let message = format!("must not nest deeper than {} levels", arguments::MAX_DEPTH);
            return Ok(vec![Problem::new("", message)]);
        }
        let validator = self.validator()?;
        if !self.counted {
            return Ok(if validator.is_valid(arguments) {
                Vec::new()
            } else {
                message::problems(validator, &self.enforced, self.draft, arguments)
            });
        }
        let fits =
            work::within(arguments, || validator.is_valid(arguments)).ok_or(SchemaError::TooMuchWork)?;
        if fits {
            return Ok(Vec::new());
        }
        let problems =
            work::within(arguments, || message::problems(validator, &self.enforced, self.draft, arguments));
        Ok(problems.unwrap_or_else(|| {
            vec![Problem::new(
                "",
                "do not fit the schema, and nest too deep to say where: pass a flatter value",
            )]
        }))
    }

    fn validator(&self) -> Result<&Validator, SchemaError> {
        let compiled = self.validator.get_or_init(|| compile(&self.enforced, self.draft, self.counted));
        compiled.as_ref().map_err(SchemaError::clone)
    }
}

fn compile(schema: &Value, draft: Draft, counted: bool) -> Result<Validator, SchemaError> {
    let mut options = jsonschema::options()
        .with_draft(draft)
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(pattern::engine());
    let copy;
    let mut source = schema;
    if counted {
        options = options.with_keyword(work::KEYWORD, work::keyword);
        copy = work::counted(schema, draft);
        source = &copy;
    }
    // The compiler asserts a few things about identifiers that a hostile schema might break.
    let built = catch_unwind(AssertUnwindSafe(|| options.build(source)));
    let reason = match built {
        Ok(Ok(validator)) => return Ok(validator),
        Ok(Err(error)) => text::shown_path(&error.to_string()),
        Err(_) => "the compiler gave up".to_owned(),
    };
    Err(SchemaError::Compile { reason })
}
