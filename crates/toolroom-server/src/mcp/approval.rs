//! Calls that wait for their caller: the question is shown where the call came from, and its answer is the caller's.
//!
//! The ledger's row is the truth. What a client carries only names it, so an answer counts once, for one call, and for
//! whoever made it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{sleep, timeout};
use toolroom::approval::{AnswerError, AnswerRequest, Asked, EditError, EditRequest};
use toolroom::call::{CallReport, Pending, ResumeError, ResumeRequest};
use toolroom::ledger::{Answerer, CallId, DecideError, Question, QuestionState};
use toolroom::provenance::CallSource;
use toolroom::tool::Arguments;

use super::call::Wish;
use super::content;
use super::desk::{Calls, Desk};
use super::dialogue::{Ask, input_required};
use super::form::{self, Said};
use super::parked::key_of;
use super::peer::Asker;
use super::refusal::Refusal;
use super::reply::{Reuse, finish};
use super::state::{self, Carried};
use super::tasks::Made;

/// How long a client may take to answer while it waits for the call itself.
const PATIENCE: Duration = Duration::from_mins(10);

/// Between two looks whether somebody else has answered.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often somebody is asked again whose answer cannot be taken.
const TRIES: u32 = 3;

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
        if wish.asker.peer.answers(pending).is_empty() || !client.can_ask() {
            return Ok(self.left_to_others(wish, call, pending));
        }
        let mut why = None;
        for _ in 0..TRIES {
            let ask = self.question(wish, call, pending, why.as_deref()).await?;
            let Some(session) = &client.session else {
                return self.asked_again(wish, call, ask);
            };
            let reply = session.ask(&wish.asker.voice, ask.method, &ask.params);
            let reply = wish.stop.run_until_cancelled(timeout(PATIENCE, reply));
            let reply = tokio::select! {
                reply = reply => reply,
                () = self.answered_elsewhere(wish, call) => return self.go_on(wish, call.clone()).await,
            };
            let said = match reply {
                Some(Ok(Some(Ok(reply)))) => form::read(&reply),
                // It cannot be asked, has left, or its user has.
                Some(Ok(Some(Err(_)) | None) | Err(_)) | None => Said::Nothing,
            };
            match self.take(wish, call, said).await? {
                Some(Taken::Yes) => return self.go_on(wish, call.clone()).await,
                Some(Taken::No(text)) => why = Some(text),
                None => break,
            }
        }
        Ok(self.left_to_others(wish, call, pending))
    }

    /// Waits until a call has been answered by somebody else: in another process, or at another door.
    async fn answered_elsewhere(&self, wish: &Wish<'_>, call: &CallId) {
        loop {
            sleep(LOOK_EVERY).await;
            // What cannot be read now is looked at again.
            if let Ok(Some(asked)) = self.asked(wish, call).await
                && asked.question.state != QuestionState::Waiting
            {
                return;
            }
        }
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
        let said = match answers.get(form::KEY) {
            Some(reply) => form::read(reply),
            None => Said::Unclear(form::NONE_OF_THEM),
        };
        let pending = pending(&asked.question);
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
            None => Ok(self.left_to_others(wish, call, &pending)),
        }
    }

    /// Records what was said; nothing, if nothing was.
    async fn take(&self, wish: &Wish<'_>, call: &CallId, said: Said) -> Result<Option<Taken>, Refusal> {
        let answer = match said {
            Said::Nothing => return Ok(None),
            Said::Unclear(why) => return Ok(Some(Taken::No(why.to_owned()))),
            Said::Edit(arguments) => return self.take_edit(wish, call, arguments).await.map(Some),
            Said::Answer(answer) => answer,
        };
        let scope = wish.asker.peer.scope.clone();
        let by = wish.asker.peer.responder.clone();
        let request = AnswerRequest { call: call.clone(), scope, by, answer, when: None };
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

    /// Puts other arguments in the place of those that were asked about. Whoever goes on with the call is led to them.
    async fn take_edit(
        &self,
        wish: &Wish<'_>,
        call: &CallId,
        arguments: Arguments,
    ) -> Result<Taken, Refusal> {
        let scope = wish.asker.peer.scope.clone();
        let by = wish.asker.peer.responder.clone();
        let request = EditRequest { call: call.clone(), scope, by, arguments };
        match self.app.room.edit(request).await {
            Ok(_) | Err(EditError::Decide(DecideError::NotWaiting(_))) => Ok(Taken::Yes),
            Err(EditError::Decide(DecideError::Ledger(error))) => Err(Refusal::failure(&error)),
            Err(error @ EditError::Sealed(_)) => Err(Refusal::failure(&error)),
            Err(error) => Ok(Taken::No(format!("{:#}", anyhow::Error::from(error)))),
        }
    }

    /// Goes on with a call that was answered, and waits for its end, or until it is a task.
    async fn resumed(
        &self,
        wish: &Wish<'_>,
        mut request: ResumeRequest,
    ) -> Result<Made<Result<CallReport, ResumeError>>, Refusal> {
        if !wish.asker.client.takes_tasks() {
            return Ok(Made::Ended(Box::new(wish.calls.resume(request).await)));
        }
        let (call, unheard) = (request.call.clone(), Arc::clone(&self.unheard));
        let work = |calls: Arc<dyn Calls>, stop| async move {
            request.cancellation = stop;
            let call = request.call.clone();
            unheard.forget(&call);
            let resumed = calls.resume(request).await;
            if let Err(error) = &resumed {
                unheard.keep(&call, not_resumed(error));
            }
            resumed
        };
        let made = self.or_go_on(wish, &call, work).await;
        if let Ok(Made::Ended(_)) = &made {
            self.unheard.forget(&call);
        }
        made
    }

    /// Runs a call that was answered.
    pub(super) async fn go_on(&self, wish: &Wish<'_>, mut call: CallId) -> Result<String, Refusal> {
        loop {
            let mut request = ResumeRequest::new(call.clone(), wish.asker.peer.scope.clone());
            request.cancellation = wish.stop.clone();
            request.source = Some(wish.asker.source());
            request.progress.clone_from(&wish.progress);
            let resumed = match self.resumed(wish, request).await? {
                Made::Ended(resumed) => *resumed,
                Made::Task(text) => return Ok(text),
            };
            match resumed {
                Ok(report) => return self.told(wish, &report).await,
                // The arguments were edited: the call that took its place is the one to run.
                Err(ResumeError::Replaced { by, .. }) => call = by,
                Err(error) => {
                    let text = not_resumed(&error)?;
                    return Ok(finish(wish.asker.client.era, Reuse::Never, text));
                }
            }
        }
    }

    pub(super) async fn asked(&self, wish: &Wish<'_>, call: &CallId) -> Result<Option<Asked>, Refusal> {
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
        Ok(form::question(wish.entry.spec(), asked.as_ref(), pending, wish.asker.peer.answers(pending), why))
    }

    fn asked_again(&self, wish: &Wish<'_>, call: &CallId, ask: Ask) -> Result<String, Refusal> {
        let (now, carried) = (self.app.room.clock().now(), Carried::Parked(call.clone()));
        let about = wish.entry.spec().id.as_str();
        let state = state::seal(&*self.app.vault, &wish.asker.peer.name, about, now, carried)?;
        Ok(input_required(&[ask], Some(state)))
    }

    /// Says who can approve a call, and how; the same call, made again, is that one.
    fn left_to_others(&self, wish: &Wish<'_>, call: &CallId, pending: &Pending) -> String {
        self.parked.remember(&wish.asker.peer.scope, key_of(wish), call);
        finish(
            wish.asker.client.era,
            Reuse::Never,
            content::failed(&how_to_approve(wish.asker, call, pending)),
        )
    }
}

/// Who can approve a call, and how.
pub(super) fn how_to_approve(asker: &Asker, call: &CallId, pending: &Pending) -> String {
    let why_not_here = match (pending.by, asker.peer.answers(pending)) {
        (Answerer::Caller, []) => " (this key may not, as it has no scope `answer`)",
        (Answerer::Operator, []) => "",
        _ if asker.client.can_ask() => "",
        _ => " (this client cannot show the question to its user)",
    };
    let by_key = match (&asker.peer.source, asker.peer.answers(pending)) {
        (CallSource::Caller(_), [_, ..]) => format!(", and this key's user with `POST /v1/approvals/{call}`"),
        _ => String::new(),
    };
    format!(
        "waits for approval: {}\nhint: the operator can answer with `toolroom approvals approve \
         {call}`{by_key}{why_not_here}; then make the same call again, and it runs",
        pending.reason
    )
}

/// That a call waits, as a question keeps it.
pub(super) fn pending(question: &Question) -> Pending {
    let approval = &question.approval;
    Pending {
        rule: question.record.rule.clone().unwrap_or_default(),
        reason: approval.reason.clone(),
        by: approval.by,
        expires_at: approval.expires_at,
    }
}

/// Why a call cannot go on, as the fields of a result where that is its caller's business.
pub(super) fn not_resumed(error: &ResumeError) -> Result<String, Refusal> {
    match error {
        ResumeError::NotFound(_)
        | ResumeError::Over { .. }
        | ResumeError::Replaced { .. }
        | ResumeError::Unrepeatable { .. }
        | ResumeError::NotKept(_) => Ok(content::failed(&error.to_string())),
        ResumeError::Broken(_) | ResumeError::Sealed(_) | ResumeError::Ledger(_) => {
            Err(Refusal::failure(error))
        }
    }
}

/// Whether a question is about this tool and these arguments. One whose arguments are gone is over: it can be told about, and
/// nothing runs any more.
pub(super) fn is_about(wish: &Wish<'_>, asked: &Asked, arguments: &Map<String, Value>) -> bool {
    let is_tool = *asked.question.record.tool == *wish.entry.spec().id.as_str();
    is_tool
        && match &asked.arguments {
            Some(parked) => *parked == wish.entry.completed(arguments.clone()),
            // Other arguments may have taken its place, and could run.
            None => asked.question.replaced_by.is_none(),
        }
}
