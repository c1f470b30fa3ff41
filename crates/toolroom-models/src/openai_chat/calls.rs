//! Calls, put together from pieces.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom::model::{Block, ModelCallId, ModelError, ModelErrorKind, ModelEvent, Opaque};

use crate::field::non_empty_text;

/// More calls in one answer are no answer.
const MAX_CALLS: usize = 512;

/// The calls of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The answer's own id, which makes ids of calls that have none.
    answer: Option<String>,
    calls: Vec<Call>,
}

#[derive(Debug, Default)]
struct Call {
    /// Its number on the wire, if it has one.
    index: Option<u64>,
    /// Its id on the wire, if it has one.
    id: Option<String>,
    name: String,
    arguments: String,
    /// What the vendor wants back with it: Gemini's signatures.
    extra: Option<Value>,
    /// The id it goes by, once it has been told.
    told: Option<ModelCallId>,
}

impl Calls {
    /// The answer's id.
    pub(super) fn of_answer(&mut self, id: &str) {
        self.answer.get_or_insert_with(|| id.to_owned());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes the next piece of a call in.
    pub(super) fn delta(
        &mut self,
        piece: &Value,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), ModelError> {
        let function = piece.get("function").unwrap_or(&Value::Null);
        let (id, name) = (non_empty_text(piece, "id"), non_empty_text(function, "name"));
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(piece)) => piece.clone(),
            Some(whole) => whole.to_string(),
        };
        let extra = piece.get("extra_content").filter(|extra| !extra.is_null());
        let index = piece.get("index").and_then(Value::as_u64);
        let at = match self.place(index, id, name) {
            Some(at) => at,
            None if id.is_none() && name.is_none() && arguments.is_empty() => return Ok(()),
            None if self.calls.len() >= MAX_CALLS => {
                let message = format!("the answer holds more than {MAX_CALLS} calls");
                return Err(ModelError::new(ModelErrorKind::Protocol, message));
            }
            None => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        // Some count their calls from 0 and call that an id; results could not be told apart by it.
        let id =
            id.filter(|id| !(self.calls.iter().enumerate()).any(|(other, call)| other != at && call.is(id)));
        let Some(call) = self.calls.get_mut(at) else { return Ok(()) };
        if call.name.is_empty() {
            name.unwrap_or_default().clone_into(&mut call.name);
        }
        if call.id.is_none() {
            call.id = id.map(str::to_owned);
        }
        if let Some(extra) = extra {
            call.extra = Some(extra.clone());
        }
        call.arguments.push_str(&arguments);
        call.tell(at, self.answer.as_deref(), &arguments, on_event);
        Ok(())
    }

    /// Which call a piece belongs to; none if it begins a new one. Without an index, an id or a name begins one. With an
    /// index, both together do if they are not those of the call there: Gemini has counted every call as its first.
    fn place(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let known = |call: &Call| id.is_some_and(|id| call.is(id));
        match index {
            Some(_) => {
                let at = self.calls.iter().rposition(|call| call.index == index)?;
                let call = self.calls.get(at)?;
                let another = name.is_some() && id.is_some() && call.id.is_some() && !known(call);
                if another { self.calls.iter().position(known) } else { Some(at) }
            }
            None => match (id, name) {
                (Some(_), _) => self.calls.iter().position(known),
                (None, Some(_)) => None,
                (None, None) => self.calls.len().checked_sub(1),
            },
        }
    }

    /// The calls as blocks of an answer.
    pub(super) fn into_blocks(self, owner: &Arc<str>) -> Result<Vec<Block>, ModelError> {
        let block = |call: Call| {
            let id = call.told.ok_or_else(|| {
                ModelError::new(
                    ModelErrorKind::Protocol,
                    "the answer holds a call without the name of a tool",
                )
            })?;
            let opaque = call.extra.map(|extra| Opaque {
                owner: owner.clone(),
                part: Arc::new(json!({"extra_content": extra})),
            });
            Ok(Block::Call { id, name: call.name, arguments: call.arguments.into(), opaque })
        };
        self.calls.into_iter().map(block).collect()
    }
}

impl Call {
    fn is(&self, id: &str) -> bool {
        self.id.as_deref() == Some(id)
    }

    /// Tells what is new. A call is told once its name is known; its id stays what was told.
    fn tell(
        &mut self,
        at: usize,
        answer: Option<&str>,
        arguments: &str,
        on_event: &mut dyn FnMut(ModelEvent),
    ) {
        if self.name.is_empty() {
            return;
        }
        let mut news = arguments;
        if self.told.is_none() {
            let id = match (&self.id, answer) {
                (Some(id), _) => ModelCallId::new(id),
                (None, Some(answer)) => ModelCallId::new(&format!("{answer}-call-{at}")),
                (None, None) => ModelCallId::new(&format!("call-{at}")),
            };
            on_event(ModelEvent::Call { index: at, id: id.clone(), name: self.name.clone() });
            self.told = Some(id);
            news = &self.arguments;
        }
        if !news.is_empty() {
            on_event(ModelEvent::Arguments { index: at, text: news.to_owned() });
        }
    }
}
