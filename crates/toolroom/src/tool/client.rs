//! Tools that a client declares and runs itself.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Arguments, Capabilities, Capability, Effect, ErrorKind, Timeout, Tool, ToolError, ToolId, ToolOutput,
    ToolSpec,
};
use crate::BoxFuture;
use crate::call::{CallContext, json_bytes};
use crate::schema::{PatternRule, Schema, SchemaError};

/// The prefix of client tool ids. No catalog tool has it.
const SOURCE: &str = "client:";

/// Tools of one run, as model services allow.
const MAX_TOOLS: usize = 128;

/// Longest name: that of the services.
const MAX_NAME_CHARS: usize = 64;

const MAX_DESCRIPTION_CHARS: usize = 4_096;

const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// Schemas are stored with every step of the run.
const MAX_ALL_SCHEMAS_BYTES: usize = 512 * 1024;

/// A tool that the declaring client runs: a button of its page, a file picker, a question to its user. The kernel guards
/// and journals its calls like all others, but takes the result from the client.
///
/// Its id is `client:NAME`. It counts as writing and sending outward, because the kernel cannot see what a client does
/// with the arguments; its results count as the caller's own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ClientToolData", into = "ClientToolData")]
pub struct ClientTool {
    spec: ToolSpec,
}

/// The serialized form of a client's tool.
#[derive(Serialize, Deserialize, JsonSchema)]
struct ClientToolData {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
}

/// Why a client tool is rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClientToolError {
    /// Its name is invalid.
    #[error("`{name}` cannot be the name of a client tool: use 1 to 64 letters, digits, `_` and `-`")]
    Name {
        /// The beginning of the name.
        name: String,
    },
    /// Two tools have the same name.
    #[error("the client declares two tools named `{name}`; rename one of them")]
    Twice {
        /// The name.
        name: String,
    },
    /// Its description is too long.
    #[error("the description of the client's tool `{name}` has {chars} characters, at most 4096 are allowed")]
    Description {
        /// The tool.
        name: String,
        /// How long it is.
        chars: usize,
    },
    /// Its schema is too large.
    #[error("the parameters of the client's tool `{name}` have {bytes} bytes, at most 65536 are allowed")]
    Large {
        /// The tool.
        name: String,
        /// How large they are.
        bytes: usize,
    },
    /// Its parameters are no JSON Schema of an object.
    #[error("the parameters of the client's tool `{name}` are not a valid JSON Schema")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong with them.
        source: SchemaError,
    },
    /// It holds a secret, which a model would read.
    #[error("the client's tool `{name}` holds a secret in its name, description or parameters; leave it out")]
    Secret {
        /// The tool.
        name: String,
    },
    /// There are too many.
    #[error("the client declares {count} tools, at most 128 are allowed")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// All of them together are too large.
    #[error("the parameters of all tools of the client have {bytes} bytes, at most 524288 are allowed")]
    TooLarge {
        /// How large they are.
        bytes: usize,
    },
}

impl ClientTool {
    /// A tool of that name. `parameters` is a JSON Schema of an object; `null` takes any object.
    ///
    /// # Errors
    /// When the name or schema is invalid, or a limit is exceeded.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, ClientToolError> {
        let written =
            ClientToolData { name: name.to_owned(), description: description.to_owned(), parameters };
        let tool = Self::try_from(written)?;
        let schema = Schema::new(Arc::clone(&tool.spec.parameters), PatternRule::Relax);
        match schema {
            Ok(_) => Ok(tool),
            Err(source) => Err(ClientToolError::Schema { name: name.to_owned(), source }),
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.spec.id
    }

    /// The name the client knows it by.
    #[must_use]
    pub fn name(&self) -> &str {
        self.spec.id.bare()
    }

    /// The capabilities of all client tools.
    pub(crate) fn capabilities() -> Capabilities {
        Capabilities::of(&[Capability::Writes, Capability::Egress])
    }

    /// Whether `id` is that of a client tool.
    pub(crate) fn has_id(id: &str) -> bool {
        id.starts_with(SOURCE)
    }

    /// The texts that models read, to be searched for secrets.
    pub(crate) fn readable(&self) -> String {
        format!("{}\n{}\n{}", self.name(), self.spec.description, self.spec.parameters)
    }

    fn schema_bytes(&self) -> usize {
        json_bytes(&self.spec.parameters)
    }
}

/// Checks the limits, but not the schema, which was checked when the tool was declared.
impl TryFrom<ClientToolData> for ClientTool {
    type Error = ClientToolError;

    fn try_from(data: ClientToolData) -> Result<Self, ClientToolError> {
        let ClientToolData { name, description, parameters } = data;
        let is_name = (1..=MAX_NAME_CHARS).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let unnamed =
            |name: &str| ClientToolError::Name { name: name.chars().take(MAX_NAME_CHARS).collect() };
        if !is_name {
            return Err(unnamed(&name));
        }
        let chars = description.chars().count();
        if chars > MAX_DESCRIPTION_CHARS {
            return Err(ClientToolError::Description { name, chars });
        }
        let spec = ToolSpec::new(&format!("{SOURCE}{name}"), description).map_err(|_| unnamed(&name))?;
        let parameters = if parameters.is_null() { json!({"type": "object"}) } else { parameters };
        // No timeout: the call is parked and expires instead.
        let mut spec = spec.parameters(parameters).effect(Effect::OnceOnlyWrite).timeout(Timeout::Never);
        spec.capabilities = Some(Self::capabilities());
        let tool = Self { spec };
        match tool.schema_bytes() {
            bytes if bytes > MAX_SCHEMA_BYTES => Err(ClientToolError::Large { name, bytes }),
            _ => Ok(tool),
        }
    }
}

impl From<ClientTool> for ClientToolData {
    fn from(tool: ClientTool) -> Self {
        Self {
            name: tool.name().to_owned(),
            parameters: Value::clone(&tool.spec.parameters),
            description: tool.spec.description,
        }
    }
}

impl Tool for ClientTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Unreachable: a call without a client result is parked.
    fn run<'a>(
        &'a self,
        _context: CallContext,
        _arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let error = ToolError::new(ErrorKind::Crashed, "a tool of a client is run by the client alone");
        Box::pin(std::future::ready(Err(error)))
    }
}

/// The client tools of one run. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<ClientTool>")]
pub struct ClientTools(Arc<[Arc<ClientTool>]>);

impl ClientTools {
    /// These tools.
    ///
    /// # Errors
    /// When there are too many, two have the same name, or they are too large together.
    pub fn new(tools: Vec<ClientTool>) -> Result<Self, ClientToolError> {
        if tools.len() > MAX_TOOLS {
            return Err(ClientToolError::TooMany { count: tools.len() });
        }
        let mut names = HashSet::with_capacity(tools.len());
        if let Some(twice) = tools.iter().find(|tool| !names.insert(tool.name())) {
            return Err(ClientToolError::Twice { name: twice.name().to_owned() });
        }
        let bytes = tools.iter().map(ClientTool::schema_bytes).sum();
        if bytes > MAX_ALL_SCHEMAS_BYTES {
            return Err(ClientToolError::TooLarge { bytes });
        }
        Ok(Self(tools.into_iter().map(Arc::new).collect()))
    }

    /// The tool of that id.
    pub(crate) fn of(&self, id: &str) -> Option<&Arc<ClientTool>> {
        self.0.iter().find(|tool| tool.id().as_str() == id)
    }
}

impl TryFrom<Vec<ClientTool>> for ClientTools {
    type Error = ClientToolError;

    fn try_from(tools: Vec<ClientTool>) -> Result<Self, ClientToolError> {
        Self::new(tools)
    }
}

impl Deref for ClientTools {
    type Target = [Arc<ClientTool>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
