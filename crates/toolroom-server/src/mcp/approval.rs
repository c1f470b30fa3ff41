//! Calls that wait for their caller: the question is shown where the call came from, and its answer is the caller's.
//!
//! The ledger's row is the truth. What a client carries only names it, so an answer counts once, for one call, and for
//! whoever made it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use toolroom::approval::{AnswerError, AnswerRequest, Asked};
use toolroom::call::{Pending, ResumeError, ResumeRequest};
use toolroom::ledger::{Answer, Answerer, CallId, DecideError, QuestionState};

use super::call::Wish;
use super::content;
use super::desk::Desk;
use super::dialogue::{Ask, input_required};
use super::refusal::Refusal;
use super::reply::{Reuse, finish};
use super::state::{self, Carried};

/// What the question is called.
const KEY: &str = "approval";

/// The field of the form.
const FIELD: &str = "answer";

/// How long a client may take to answer while it waits for the call itself.
const PATIENCE: Duration = Duration::from_mins(10);

/// How often somebody is asked again whose answer cannot be taken.
const TRIES: u32 = 3;

/// Callers and tools whose calls are remembered for whoever asks for the same again.
const MOST: usize = 1_024;

/// And so many of one caller and one tool, the newest.
const MOST_ALIKE: usize = 16;

/// Calls that wait, by caller and tool.
#[derive(Debug, Default)]
pub(super) struct Parked(Mutex<ParkedCalls>);

/// Whose they are, and of which tool.
type ParkedCalls = HashMap<(Arc<str>, Arc<str>), Vec<CallId>>;

impl Parked {
    fn with<T>(&self, look: impl FnOnce(&mut ParkedCalls) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What somebody said to a question.
enum Said {
    Answer(Answer),
    /// They do not want to say anything.
    Nothing,
    /// It means nothing here.
    Unclear,
}

/// What became of an answer.
enum Taken {
    Yes,
    /// Why not; another one may be.
    No(String),
}

impl Desk {
    /// Asks the caller about a call that waits for them, or says who else has to be asked.
    pub(super) async fn parked(
        &self,
        wish: &Wish<'_>,
        call: &CallId,
        pending: &Pending,
    ) -> Result<String, Refusal> {
        let client = &wish.asker.client;
        if pending.by != Answerer::Caller || !client.can_ask() {
            self.remember(wish, call);
            return Ok(self.how_to_approve(wish, call, pending));
        }
        let mut why = None;
        for _ in 0..TRIES {
            let ask = self.question(wish, call, pending, why.as_deref()).await?;
            let Some(session) = &client.session else {
                return self.asked_again(wish, call, ask);
            };
            let reply = session.ask(&wish.asker.voice, ask.method, &ask.params);
            let reply = wish.stop.run_until_cancelled(timeout(PATIENCE, reply)).await;
            let said = match reply {
                Some(Ok(Some(Ok(reply)))) => read(&reply),
                // It cannot be asked, has left, or its user has.
                Some(Ok(Some(Err(_)) | None) | Err(_)) | None => Said::Nothing,
            };
            match self.take(wish, call, said).await? {
                Some(Taken::Yes) => return self.go_on(wish, call.clone()).await,
                Some(Taken::No(text)) => why = Some(text),
                None => break,
            }
        }
        self.remember(wish, call);
        Ok(self.how_to_approve(wish, call, pending))
    }

    /// Takes the answer that a client of the later era brings to a call that waits.
    pub(super) async fn answered(
        &self,
        wish: &Wish<'_>,
        call: &CallId,
        arguments: &Map<String, Value>,
        answers: &Map<String, Value>,
    ) -> Result<String, Refusal> {
        let asked = self.asked(wish, call).await?;
        let Some(asked) = asked.filter(|asked| is_about(wish, asked, arguments)) else {
            return Err(Refusal::invalid("`requestState` belongs to another call; make the request anew"));
        };
        let is_open = asked.question.state == QuestionState::Waiting;
        let said = match answers.get(KEY) {
            Some(reply) => read(reply),
            None => Said::Unclear,
        };
        let approval = &asked.question.approval;
        let pending = Pending {
            rule: asked.question.record.rule.clone().unwrap_or_default(),
            reason: approval.reason.clone(),
            by: approval.by,
            expires_at: approval.expires_at,
        };
        // What somebody else has answered meanwhile counts, whatever is said now.
        if !is_open {
            return self.go_on(wish, call.clone()).await;
        }
        match self.take(wish, call, said).await? {
            Some(Taken::Yes) => self.go_on(wish, call.clone()).await,
            Some(Taken::No(why)) => {
                let ask = self.question(wish, call, &pending, Some(&why)).await?;
                self.asked_again(wish, call, ask)
            }
            None => {
                self.remember(wish, call);
                Ok(self.how_to_approve(wish, call, &pending))
            }
        }
    }

    /// Records what was said; nothing, if nothing was.
    async fn take(&self, wish: &Wish<'_>, call: &CallId, said: Said) -> Result<Option<Taken>, Refusal> {
        let answer = match said {
            Said::Nothing => return Ok(None),
            Said::Unclear => return Ok(Some(Taken::No("that was none of the answers".to_owned()))),
            Said::Answer(answer) => answer,
        };
        let scope = wish.asker.peer.scope.clone();
        let request = AnswerRequest { call: call.clone(), scope, by: Answerer::Caller, answer, when: None };
        match self.app.room.answer(request).await {
            // Somebody was faster: then theirs counts.
            Ok(_) | Err(AnswerError::Decide(DecideError::NotWaiting(_))) => Ok(Some(Taken::Yes)),
            Err(AnswerError::Decide(DecideError::Ledger(error))) => Err(Refusal::failure(&error)),
            Err(error @ (AnswerError::Sealed(_) | AnswerError::Unreadable(_))) => {
                Err(Refusal::failure(&error))
            }
            Err(error) => Ok(Some(Taken::No(format!("{:#}", anyhow::Error::from(error))))),
        }
    }

    /// Runs a call that was answered.
    pub(super) async fn go_on(&self, wish: &Wish<'_>, mut call: CallId) -> Result<String, Refusal> {
        loop {
            let mut request = ResumeRequest::new(call.clone(), wish.asker.peer.scope.clone());
            request.cancellation = wish.stop.clone();
            request.progress.clone_from(&wish.progress);
            match wish.calls.resume(request).await {
                Ok(report) => return self.told(wish, &report).await,
                // The arguments were edited: the call that took its place is the one to run.
                Err(ResumeError::Replaced { by, .. }) => call = by,
                Err(
                    error @ (ResumeError::NotFound(_)
                    | ResumeError::Over { .. }
                    | ResumeError::Unrepeatable { .. }
                    | ResumeError::NotKept(_)),
                ) => {
                    let text = content::failed(&error.to_string());
                    return Ok(finish(wish.asker.client.era, Reuse::Never, text));
                }
                Err(error @ (ResumeError::Broken(_) | ResumeError::Sealed(_) | ResumeError::Ledger(_))) => {
                    return Err(Refusal::failure(&error));
                }
            }
        }
    }

    async fn asked(&self, wish: &Wish<'_>, call: &CallId) -> Result<Option<Asked>, Refusal> {
        let asked = self.app.room.asked(&wish.asker.peer.scope, call).await;
        asked.map_err(|error| Refusal::failure(&error))
    }

    /// The question, as a form.
    async fn question(
        &self,
        wish: &Wish<'_>,
        call: &CallId,
        pending: &Pending,
        why: Option<&str>,
    ) -> Result<Ask, Refusal> {
        let asked = self.asked(wish, call).await?;
        let arguments = asked.map(|asked| asked.question.record.arguments.to_string()).unwrap_or_default();
        let spec = wish.entry.spec();
        let again = why.map(|why| format!("This was not taken: {why}\n\n")).unwrap_or_default();
        let message = format!(
            "{again}May `{}` run?\n\n{}\n\nArguments: {arguments}\nWhy you are asked: {}",
            spec.id, spec.title, pending.reason
        );
        let schema = json!({
            "type": "object",
            "properties": {FIELD: {
                "type": "string",
                "title": "Answer",
                "description": "once: this call; always: this and later ones; no: not this one; never: none",
                "enum": ["once", "always", "no", "never"],
            }},
            "required": [FIELD],
        });
        Ok(Ask::form(KEY, &message, &schema))
    }

    fn asked_again(&self, wish: &Wish<'_>, call: &CallId, ask: Ask) -> Result<String, Refusal> {
        let (now, carried) = (self.app.room.clock().now(), Carried::Parked(call.clone()));
        let about = wish.entry.spec().id.as_str();
        let state = state::seal(&*self.app.vault, &wish.asker.peer.name, about, now, carried)?;
        Ok(input_required(&[ask], Some(state)))
    }

    /// Says who can approve a call, and how.
    fn how_to_approve(&self, wish: &Wish<'_>, call: &CallId, pending: &Pending) -> String {
        let whose = match pending.by {
            Answerer::Caller | Answerer::Client => "you, or the operator,",
            Answerer::Operator => "the operator",
        };
        let text = format!(
            "waits for approval: {}\nhint: {whose} can answer with `toolroom approvals approve {call}` or in the \
             dashboard; then make the same call again, and it runs",
            pending.reason
        );
        finish(wish.asker.client.era, Reuse::Never, content::failed(&text))
    }

    /// Remembers a call that waits, for whoever asks for the same again.
    fn remember(&self, wish: &Wish<'_>, call: &CallId) {
        let key = (Arc::clone(&wish.asker.peer.name), wish.entry.spec().id.shared());
        self.parked.with(|parked| {
            if parked.len() >= MOST {
                parked.clear();
            }
            let calls = parked.entry(key).or_default();
            if !calls.contains(call) {
                calls.truncate(MOST_ALIKE - 1);
                calls.insert(0, call.clone());
            }
        });
    }

    /// A call of the same caller with the same arguments that was parked and can still run, or be answered.
    pub(super) async fn parked_before(
        &self,
        wish: &Wish<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Option<CallId>, Refusal> {
        let key = (Arc::clone(&wish.asker.peer.name), wish.entry.spec().id.shared());
        let known = self.parked.with(|parked| match parked.is_empty() {
            true => None,
            false => parked.get(&key).cloned(),
        });
        for call in known.unwrap_or_default() {
            let asked = self.asked(wish, &call).await?;
            let now = self.app.room.clock().now();
            let is_alive = asked.as_ref().is_some_and(|asked| {
                matches!(asked.question.state, QuestionState::Waiting | QuestionState::Granted)
                    && !asked.question.is_late(now)
            });
            if !is_alive {
                self.parked.with(|parked| {
                    if let Some(calls) = parked.get_mut(&key) {
                        calls.retain(|known| *known != call);
                    }
                });
            } else if asked.is_some_and(|asked| is_about(wish, &asked, arguments)) {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }
}

/// Whether a question is about this tool and these arguments. One whose arguments are gone is over: it can be told about, and
/// nothing runs any more.
fn is_about(wish: &Wish<'_>, asked: &Asked, arguments: &Map<String, Value>) -> bool {
    let is_tool = *asked.question.record.tool == *wish.entry.spec().id.as_str();
    is_tool
        && asked.arguments.as_ref().is_none_or(|parked| *parked == wish.entry.completed(arguments.clone()))
}

/// What the client of somebody says they said.
fn read(reply: &Value) -> Said {
    let answer = reply.get("content").and_then(|content| content.get(FIELD)).and_then(Value::as_str);
    match (reply.get("action").and_then(Value::as_str), answer) {
        (Some("accept"), Some("once")) => Said::Answer(Answer::Once),
        (Some("accept"), Some("always")) => Said::Answer(Answer::Always),
        (Some("accept"), Some("no")) | (Some("decline"), _) => Said::Answer(Answer::No),
        (Some("accept"), Some("never")) => Said::Answer(Answer::Never),
        (Some("cancel"), _) => Said::Nothing,
        _ => Said::Unclear,
    }
}
