//! What a call, or a prompt, wants to know from its client before it can go on.
//!
//! A client of the earlier era is asked while it waits. One of the later era gets the questions as an answer, and asks
//! again with what it was asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use toolroom::ledger::CallId;

use crate::mcp::calls::request_state::{self, RequestState};
use crate::mcp::client_capabilities::ClientCapability;
use crate::mcp::context::RequestContext;
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;

/// What a client of the later era brings with a request it makes again.
#[derive(Debug, Default)]
pub(in crate::mcp) struct ClientInput {
    pub(in crate::mcp) answers: Map<String, Value>,
    /// As it came; whoever wants it opens it.
    pub(in crate::mcp) state: Option<String>,
}

impl ClientInput {
    /// Takes it out of the parameters.
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
                return Err(RpcError::invalid("`inputResponses` has to hold an object for each question"));
            }
        };
        let state = match params.remove("requestState") {
            None => None,
            Some(Value::String(state)) => Some(state),
            Some(_) => return Err(RpcError::invalid("`requestState` has to be a text")),
        };
        Ok(Self { answers, state })
    }
}

/// One question.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct InputRequest {
    pub(in crate::mcp) key: &'static str,
    pub(in crate::mcp) method: &'static str,
    pub(in crate::mcp) params: Value,
}

impl InputRequest {
    /// A form for the user.
    pub(in crate::mcp) fn form(key: &'static str, message: &str, schema: &Value) -> Self {
        let params = json!({"message": message, "requestedSchema": schema});
        Self { key, method: "elicitation/create", params }
    }

    /// What a client has to be able to do, and what the protocol calls that.
    pub(in crate::mcp) fn needs(&self) -> (ClientCapability, &'static str) {
        match self.method {
            "elicitation/create" => (ClientCapability::Elicitation, "elicitation"),
            "sampling/createMessage" => (ClientCapability::Sampling, "sampling"),
            _ => (ClientCapability::Roots, "roots"),
        }
    }
}

/// What has to come from the client first.
#[derive(Debug, Clone)]
pub(in crate::mcp) enum MissingInput {
    /// It cannot do this.
    Capability(&'static str),
    /// Answers to these, and this back with them.
    Answers { asks: Vec<InputRequest>, state: Option<Value> },
}

/// The text of the answer that asks a client of the later era.
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
    /// What a client of the later era is asked for before the rest.
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

/// A conversation between something that runs and the client it runs for.
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

    /// Whether the client can do this.
    pub(in crate::mcp) const fn can(&self, ability: ClientCapability) -> bool {
        self.context.client.can(ability)
    }

    /// What the client brought back.
    pub(in crate::mcp) const fn state(&self) -> Option<&Value> {
        self.state.as_ref()
    }

    /// Cannot go on without this.
    pub(in crate::mcp) fn need(&self, wanted: MissingInput) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted);
    }

    /// What has to come first, if something does.
    pub(in crate::mcp) fn wanted(&self) -> Option<MissingInput> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks all of this. Nothing, if it is not answered now.
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
            let answer = session.ask(&self.context.channel, ask.method, &ask.params).await?.ok()?;
            answers.insert(ask.key.to_owned(), answer);
        }
        Some(answers)
    }
}

/// The conversations of calls that run, by call.
#[derive(Default)]
pub(in crate::mcp) struct Dialogues(Mutex<HashMap<CallId, Arc<Dialogue>>>);

impl Dialogues {
    pub(in crate::mcp) fn of(&self, call: &CallId) -> Option<Arc<Dialogue>> {
        self.lock().get(call).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, Arc<Dialogue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A conversation that can be found until this is dropped.
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
