//! One registered tool.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::limits::{ConcurrencyLimit, LimitRule, ToolLimits};
use crate::schema::{PatternRule, Schema, SchemaError};
use crate::scope::ProjectId;
use crate::tool::{IdError, Pool, Tool, ToolId, ToolSpec};

/// Default concurrency of a blocking tool: a tool that hangs must not take all threads.
const BLOCKING_CONCURRENCY: usize = 64;

/// A registered tool with what the call path needs beside it. Shared, never changed: a new definition is a new
/// entry.
pub struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) schema: Schema,
    /// The project that owns it; `None` for a tool of every project.
    pub(crate) project: Option<ProjectId>,
    /// For a tool that limits how many of its calls run at a time.
    pub(crate) concurrency: Option<Arc<ConcurrencyLimit>>,
    /// The tool's own limits, changed by the operator's rules.
    limits: ToolLimits,
    /// Top-level parameters that have a default.
    pub(crate) defaults: Vec<(String, Value)>,
    definition: OnceLock<Arc<str>>,
}

impl Entry {
    pub(super) fn new(
        tool: Arc<dyn Tool>,
        project: Option<ProjectId>,
        limits: &[LimitRule],
    ) -> Result<Self, RegisterError> {
        let spec = tool.spec();
        let patterns = if spec.is_external() { PatternRule::Relax } else { PatternRule::Refuse };
        let bad = |source| RegisterError::Schema { id: spec.id.clone(), source };
        let schema = Schema::new(Arc::clone(&spec.parameters), patterns).map_err(bad)?;
        if spec.enablement.feature_only && spec.enablement.feature.is_none() {
            return Err(RegisterError::NoFeature(spec.id.clone()));
        }
        let blocking = (spec.pool == Pool::Blocking).then_some(BLOCKING_CONCURRENCY);
        let limits = ToolLimits::new(spec, limits);
        let concurrency = match limits.concurrency.or(blocking) {
            Some(count) => {
                let concurrency = ConcurrencyLimit::new(count)
                    .ok_or_else(|| RegisterError::Concurrency(spec.id.clone()))?;
                Some(Arc::new(concurrency))
            }
            None => None,
        };
        for alias in &spec.aliases {
            // An alias is a bare name: with a colon it could pass for another tool's id.
            ToolId::parse(&format!("alias:{alias}"))?;
        }
        let properties = spec.parameters.get("properties").and_then(Value::as_object).into_iter().flatten();
        let defaults = properties
            .filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())))
            .collect();
        Ok(Self { schema, project, concurrency, limits, defaults, definition: OnceLock::new(), tool })
    }

    /// What the tool is.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// The limits that hold for its calls.
    #[must_use]
    pub const fn limits(&self) -> &ToolLimits {
        &self.limits
    }

    /// The project that owns it; `None` for a tool of every project.
    #[must_use]
    pub const fn project(&self) -> Option<&ProjectId> {
        self.project.as_ref()
    }

    /// JSON pointers of patterns in a foreign schema that cannot be checked in linear time and so are not.
    #[must_use]
    pub fn patterns_not_enforced(&self) -> &[String] {
        self.schema.not_enforced()
    }

    /// Hash over everything that a rule, an approval or a model relies on. Presentation is left out.
    #[must_use]
    pub fn definition_hash(&self) -> Arc<str> {
        let hash = self.definition.get_or_init(|| {
            let spec = self.spec();
            let mut relied_on = json!({
                "id": spec.id,
                "family": spec.family.as_ref().map(|family| &family.name),
                "description": spec.description,
                "parameters": spec.parameters,
                "output": spec.output,
                "effect": spec.effect,
                "capabilities": spec.capabilities,
                "risk": spec.risk,
                "requires_confirmation": spec.requires_confirmation,
            });
            hash_of(&mut relied_on)
        });
        Arc::clone(hash)
    }
}

/// Hash of a JSON value that does not depend on the order of its keys.
pub(crate) fn hash_of(value: &mut Value) -> Arc<str> {
    value.sort_all_objects();
    hex::encode(Sha256::digest(value.to_string())).into()
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entry").field("id", &self.spec().id).field("project", &self.project).finish()
    }
}

/// Why a tool was not registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The id is invalid.
    #[error(transparent)]
    Id(#[from] IdError),
    /// Another tool has that id or alias already.
    #[error("`{id}` is registered already; give the second tool another name")]
    Duplicate {
        /// The id or alias.
        id: String,
    },
    /// The parameters are not a JSON Schema of an object.
    #[error("the parameters of `{id}` are not a valid JSON Schema")]
    Schema {
        /// The tool.
        id: ToolId,
        /// What is wrong with them.
        source: SchemaError,
    },
    /// The ids of client tools are reserved.
    #[error("the id `{0}` is reserved for tools of clients; give the tool another source")]
    OfClient(ToolId),
    /// The tool needs a feature that is not declared.
    #[error("`{id}` needs the feature `{feature}`, which is not declared; add it to the catalog first")]
    UnknownFeature {
        /// The tool.
        id: ToolId,
        /// The feature.
        feature: String,
    },
    /// The concurrency is zero or too large.
    #[error(
        "the concurrency of `{0}` must be at least 1 and not exceed the semaphore's maximum; leave it out for no limit"
    )]
    Concurrency(ToolId),
    /// The tool has no switch.
    #[error("`{0}` is switched by its feature only, but names no feature")]
    NoFeature(ToolId),
}
