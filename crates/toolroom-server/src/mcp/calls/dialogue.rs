//! Input that a call or a prompt needs from its client.
//!
//! A client with a session is asked while it waits. A modern client receives the input requests as a result, and repeats
//! its request with the responses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use toolroom::ledger::CallId;

use crate::mcp::calls::request_state::{self, RequestState};
use crate::mcp::client_capabilities::ClientCapability;
use crate::mcp::context::RequestContext;
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;

/// The input in a repeated request.
#[derive(Debug, Default)]
pub(in crate::mcp) struct ClientInput {
    pub(in crate::mcp) answers: Map<String, Value>,
    /// Sealed request state.
    pub(in crate::mcp) state: Option<String>,
}

impl ClientInput {
    /// Removes the input from the parameters.
    pub(in crate::mcp) fn take(
        context: &RequestContext,
        params: &mut Map<String, Value>,
    ) -> Result<Self, RpcError> {
        if !context.is_modern() {
            return Ok(Self::default());
        }
        let answers = match params.remove("inputResponses") {
            None => Map::new(),
            Some(Value::Object(answers)) if answers.values().all(Value::is_object) => answers,
            Some(_) => {
                return Err(RpcError::invalid(
                    "`inputResponses` must contain an object for each input request",
                ));
            }
        };
        let state = match params.remove("requestState") {
            None => None,
            Some(Value::String(state)) => Some(state),
            Some(_) => return Err(RpcError::invalid("`requestState` must be a string")),
        };
        Ok(Self { answers, state })
    }
}

/// An input request.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct InputRequest {
    pub(in crate::mcp) key: &'static str,
    pub(in crate::mcp) method: &'static str,
    pub(in crate::mcp) params: Value,
}

impl InputRequest {
    /// An elicitation form.
    pub(in crate::mcp) fn form(key: &'static str, message: &str, schema: &Value) -> Self {
        let params = json!({"message": message, "requestedSchema": schema});
        Self { key, method: "elicitation/create", params }
    }

    /// The capability that the client needs, and its name in the protocol.
    pub(in crate::mcp) fn needs(&self) -> (ClientCapability, &'static str) {
        match self.method {
            "elicitation/create" => (ClientCapability::Elicitation, "elicitation"),
            "sampling/createMessage" => (ClientCapability::Sampling, "sampling"),
            _ => (ClientCapability::Roots, "roots"),
        }
    }
}

/// Why input is missing.
#[derive(Debug, Clone)]
pub(in crate::mcp) enum MissingInput {
    /// The client lacks this capability.
    Capability(&'static str),
    /// These input requests are unanswered; `state` is returned with the responses.
    Answers { asks: Vec<InputRequest>, state: Option<Value> },
}

/// The result that asks a modern client for input.
pub(in crate::mcp) fn input_required(asks: &[InputRequest], state: Option<String>) -> String {
    let requests: Map<String, Value> = asks
        .iter()
        .map(|ask| (ask.key.to_owned(), json!({"method": ask.method, "params": ask.params})))
        .collect();
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let (Some(state), Some(fields)) = (state, result.as_object_mut()) {
        fields.insert("requestState".to_owned(), state.into());
    }
    result.to_string()
}

impl McpServer {
    /// Asks a modern client for input.
    pub(in crate::mcp) fn asks_for(
        &self,
        context: &RequestContext,
        about: &str,
        wanted: MissingInput,
    ) -> Result<String, RpcError> {
        match wanted {
            MissingInput::Capability(capability) => Err(RpcError::needs(capability)),
            MissingInput::Answers { asks, state } => {
                let now = self.app.room.clock().now();
                let seal = |state| {
                    request_state::seal(
                        &*self.app.vault,
                        &context.caller.name,
                        about,
                        now,
                        RequestState::Own(state),
                    )
                };
                Ok(input_required(&asks, state.map(seal).transpose()?))
            }
        }
    }
}

/// The dialogue between a running call or prompt and its client.
pub(in crate::mcp) struct Dialogue {
    context: RequestContext,
    answers: Map<String, Value>,
    state: Option<Value>,
    wanted: Mutex<Option<MissingInput>>,
}

impl Dialogue {
    pub(in crate::mcp) fn new(
        context: RequestContext,
        answers: Map<String, Value>,
        state: Option<Value>,
    ) -> Self {
        Self { context, answers, state, wanted: Mutex::default() }
    }

    /// Whether the client has this capability.
    pub(in crate::mcp) const fn can(&self, ability: ClientCapability) -> bool {
        self.context.client.can(ability)
    }

    /// The request state that the client returned.
    pub(in crate::mcp) const fn state(&self) -> Option<&Value> {
        self.state.as_ref()
    }

    /// Notes input that is missing.
    pub(in crate::mcp) fn need(&self, wanted: MissingInput) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted);
    }

    /// The missing input, if there is any.
    pub(in crate::mcp) fn wanted(&self) -> Option<MissingInput> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Sends input requests. `None` if they are not answered now.
    pub(in crate::mcp) async fn ask(
        &self,
        asks: Vec<InputRequest>,
        state: Option<Value>,
    ) -> Option<Map<String, Value>> {
        if let Some((_, name)) = asks.iter().map(InputRequest::needs).find(|(ability, _)| !self.can(*ability))
        {
            self.need(MissingInput::Capability(name));
            return None;
        }
        let Some(session) = &self.context.client.session else {
            let is_answered = asks.iter().all(|ask| self.answers.contains_key(ask.key));
            if is_answered {
                return Some(self.answers.clone());
            }
            self.need(MissingInput::Answers { asks, state });
            return None;
        };
        let mut answers = Map::new();
        for ask in asks {
            let answer = session.request(&self.context.channel, ask.method, &ask.params).await?.ok()?;
            answers.insert(ask.key.to_owned(), answer);
        }
        Some(answers)
    }
}

/// The dialogues of running calls.
#[derive(Default)]
pub(in crate::mcp) struct Dialogues(Mutex<HashMap<CallId, Arc<Dialogue>>>);

impl Dialogues {
    pub(in crate::mcp) fn get(&self, call: &CallId) -> Option<Arc<Dialogue>> {
        self.lock().get(call).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, Arc<Dialogue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a dialogue registered until it is dropped.
pub(in crate::mcp) struct RegisteredDialogue {
    dialogues: Arc<Dialogues>,
    call: CallId,
}

impl RegisteredDialogue {
    pub(in crate::mcp) fn new(dialogues: Arc<Dialogues>, call: CallId, dialogue: Arc<Dialogue>) -> Self {
        dialogues.lock().insert(call.clone(), dialogue);
        Self { dialogues, call }
    }
}

impl Drop for RegisteredDialogue {
    fn drop(&mut self) {
        self.dialogues.lock().remove(&self.call);
    }
}
