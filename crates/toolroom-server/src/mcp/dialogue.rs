//! What a call, or a prompt, wants to know from its client before it can go on.
//!
//! A client of the earlier era is asked while it waits. One of the later era gets the questions as an answer, and asks
//! again with what it was asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use toolroom::ledger::CallId;

use super::ability::Ability;
use super::desk::Desk;
use super::peer::Asker;
use super::refusal::Refusal;
use super::state::{self, Carried};

/// What a client of the later era brings with a request it makes again.
#[derive(Debug, Default)]
pub(super) struct Brought {
    pub(super) answers: Map<String, Value>,
    /// As it came; whoever wants it opens it.
    pub(super) state: Option<String>,
}

impl Brought {
    /// Takes it out of the parameters.
    pub(super) fn take(asker: &Asker, params: &mut Map<String, Value>) -> Result<Self, Refusal> {
        if !asker.is_modern() {
            return Ok(Self::default());
        }
        let answers = match params.remove("inputResponses") {
            None => Map::new(),
            Some(Value::Object(answers)) if answers.values().all(Value::is_object) => answers,
            Some(_) => {
                return Err(Refusal::invalid("`inputResponses` has to hold an object for each question"));
            }
        };
        let state = match params.remove("requestState") {
            None => None,
            Some(Value::String(state)) => Some(state),
            Some(_) => return Err(Refusal::invalid("`requestState` has to be a text")),
        };
        Ok(Self { answers, state })
    }
}

/// One question.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) key: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Ask {
    /// A form for the user.
    pub(super) fn form(key: &'static str, message: &str, schema: &Value) -> Self {
        let params = json!({"message": message, "requestedSchema": schema});
        Self { key, method: "elicitation/create", params }
    }

    /// What a client has to be able to do, and what the protocol calls that.
    pub(super) fn needs(&self) -> (Ability, &'static str) {
        match self.method {
            "elicitation/create" => (Ability::Elicitation, "elicitation"),
            "sampling/createMessage" => (Ability::Sampling, "sampling"),
            _ => (Ability::Roots, "roots"),
        }
    }
}

/// What has to come from the client first.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    /// It cannot do this.
    Capability(&'static str),
    /// Answers to these, and this back with them.
    Answers { asks: Vec<Ask>, state: Option<Value> },
}

/// The text of the answer that asks a client of the later era.
pub(super) fn input_required(asks: &[Ask], state: Option<String>) -> String {
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

impl Desk {
    /// What a client of the later era is asked for before the rest.
    pub(super) fn asks_for(&self, asker: &Asker, about: &str, wanted: Wanted) -> Result<String, Refusal> {
        match wanted {
            Wanted::Capability(capability) => Err(Refusal::needs(capability)),
            Wanted::Answers { asks, state } => {
                let now = self.app.room.clock().now();
                let seal =
                    |state| state::seal(&*self.app.vault, &asker.peer.name, about, now, Carried::Own(state));
                Ok(input_required(&asks, state.map(seal).transpose()?))
            }
        }
    }
}

/// A conversation between something that runs and the client it runs for.
pub(super) struct Dialogue {
    asker: Asker,
    answers: Map<String, Value>,
    state: Option<Value>,
    wanted: Mutex<Option<Wanted>>,
}

impl Dialogue {
    pub(super) fn new(asker: Asker, answers: Map<String, Value>, state: Option<Value>) -> Self {
        Self { asker, answers, state, wanted: Mutex::default() }
    }

    /// Whether the client can do this.
    pub(super) const fn can(&self, ability: Ability) -> bool {
        self.asker.client.can(ability)
    }

    /// What the client brought back.
    pub(super) const fn state(&self) -> Option<&Value> {
        self.state.as_ref()
    }

    /// Cannot go on without this.
    pub(super) fn need(&self, wanted: Wanted) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted);
    }

    /// What has to come first, if something does.
    pub(super) fn wanted(&self) -> Option<Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks all of this. Nothing, if it is not answered now.
    pub(super) async fn ask(&self, asks: Vec<Ask>, state: Option<Value>) -> Option<Map<String, Value>> {
        if let Some((_, name)) = asks.iter().map(Ask::needs).find(|(ability, _)| !self.can(*ability)) {
            self.need(Wanted::Capability(name));
            return None;
        }
        let Some(session) = &self.asker.client.session else {
            let is_answered = asks.iter().all(|ask| self.answers.contains_key(ask.key));
            if is_answered {
                return Some(self.answers.clone());
            }
            self.need(Wanted::Answers { asks, state });
            return None;
        };
        let mut answers = Map::new();
        for ask in asks {
            let answer = session.ask(&self.asker.voice, ask.method, &ask.params).await?.ok()?;
            answers.insert(ask.key.to_owned(), answer);
        }
        Some(answers)
    }
}

/// The conversations of calls that run, by call.
#[derive(Default)]
pub(super) struct Dialogues(Mutex<HashMap<CallId, Arc<Dialogue>>>);

impl Dialogues {
    pub(super) fn of(&self, call: &CallId) -> Option<Arc<Dialogue>> {
        self.lock().get(call).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<CallId, Arc<Dialogue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A conversation that can be found until this is dropped.
pub(super) struct HeldDialogue {
    dialogues: Arc<Dialogues>,
    call: CallId,
}

impl HeldDialogue {
    pub(super) fn new(dialogues: Arc<Dialogues>, call: CallId, dialogue: Arc<Dialogue>) -> Self {
        dialogues.lock().insert(call.clone(), dialogue);
        Self { dialogues, call }
    }
}

impl Drop for HeldDialogue {
    fn drop(&mut self) {
        self.dialogues.lock().remove(&self.call);
    }
}
