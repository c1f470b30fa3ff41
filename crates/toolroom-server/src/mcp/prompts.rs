//! Agents as prompts.

use serde_json::{Map, Value, json};
use toolroom::scope::Scope;

use crate::agents::{self, ListedAgent};
use crate::mcp::calls::dialogue::{ClientInput, Dialogue};
use crate::mcp::context::RequestContext;
use crate::mcp::protocol::reply::{Reuse, reply};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;

/// The argument of a prompt.
const MESSAGE: &str = "message";

impl McpServer {
    /// The agents that have a prompt, by id.
    pub(super) async fn prompts(&self, scope: &Scope) -> Result<Vec<Value>, RpcError> {
        let mut prompts = self.fixture_prompts();
        prompts.extend(self.agents(scope).await?.iter().map(listed));
        Ok(prompts)
    }

    fn fixture_prompts(&self) -> Vec<Value> {
        self.fixtures().map(|fixtures| fixtures.prompts()).unwrap_or_default()
    }

    pub(super) async fn list_prompts(&self, context: &RequestContext) -> Result<String, RpcError> {
        let prompts = match context.caller.may_read {
            true => self.prompts(&context.caller.scope).await?,
            false => self.fixture_prompts(),
        };
        reply(context.client.era, Reuse::AWhile, &json!({"prompts": prompts}))
    }

    async fn agents(&self, scope: &Scope) -> Result<Vec<ListedAgent>, RpcError> {
        let known = agents::records(&self.app, scope).await;
        let mut known = known.map_err(|error| RpcError::failure(&error))?;
        known.retain(|agent| !agent.record.prompt.trim().is_empty());
        Ok(known)
    }

    /// `prompts/get`: the prompt of an agent and the user's message.
    pub(super) async fn prompt(
        &self,
        context: &RequestContext,
        name: Option<Value>,
        arguments: Option<Value>,
        mut params: Map<String, Value>,
    ) -> Result<String, RpcError> {
        let Some(Value::String(name)) = name else {
            return Err(RpcError::invalid("missing `name` of the prompt"));
        };
        let input = ClientInput::take(context, &mut params)?;
        let given = match arguments {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(given)) if given.values().all(Value::is_string) => given,
            Some(_) => return Err(RpcError::invalid("the arguments of a prompt must be strings")),
        };
        if let Some(reply) = self.fixture_prompt(context, &name, &given, input).await? {
            return Ok(reply);
        }
        let known = match context.caller.may_read {
            true => self.agents(&context.caller.scope).await?,
            false => Vec::new(),
        };
        let Some(agent) = known.iter().find(|known| known.record.id.as_str() == name) else {
            let name: String = name.chars().take(128).collect();
            return Err(RpcError::invalid(format!("unknown prompt `{name}`; see `prompts/list`")));
        };
        let mut text = agent.record.prompt.trim().to_owned();
        if let Some(message) = given.get(MESSAGE).and_then(Value::as_str) {
            text.extend(["\n\n", message]);
        }
        let message = json!({"role": "user", "content": {"type": "text", "text": text}});
        reply(context.client.era, Reuse::Never, &json!({"description": about(agent), "messages": [message]}))
    }

    async fn fixture_prompt(
        &self,
        context: &RequestContext,
        name: &str,
        given: &Map<String, Value>,
        input: ClientInput,
    ) -> Result<Option<String>, RpcError> {
        let Some(fixtures) = self.fixtures() else { return Ok(None) };
        let dialogue = Dialogue::new(context.clone(), input.answers, None);
        let made = fixtures.prompt(name, given, &dialogue).await;
        if let Some(wanted) = dialogue.wanted() {
            return self.asks_for(context, name, wanted).map(Some);
        }
        made.map(|made| reply(context.client.era, Reuse::Never, &made)).transpose()
    }

    /// `completion/complete`: there are no completions.
    pub(super) fn complete(
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let is_there = |name: &str| params.get(name).is_some_and(Value::is_object);
        if !is_there("ref") || !is_there("argument") {
            return Err(RpcError::invalid("missing `ref` or `argument`"));
        }
        let nothing = json!({"completion": {"values": [], "total": 0, "hasMore": false}});
        reply(context.client.era, Reuse::Never, &nothing)
    }
}

fn about(agent: &ListedAgent) -> String {
    format!("Answer as the agent {}", agent.record.name)
}

fn listed(agent: &ListedAgent) -> Value {
    json!({
        "name": agent.record.id,
        "title": agent.record.name,
        "description": about(agent),
        "arguments": [{"name": MESSAGE, "description": "Message to the agent", "required": false}],
    })
}
