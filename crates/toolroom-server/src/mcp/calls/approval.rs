//! Approval of parked calls by their caller: the client shows the question to its user.
//!
//! The ledger's row is the truth. Request state only names it, so an answer counts once, for one call, and for its caller.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{sleep, timeout};
use toolroom::approval::QuestionDetails;
use toolroom::call::{CallReport, Pending, ResumeError, ResumeRequest};
use toolroom::ledger::{Answerer, CallId, Question, QuestionState};
use toolroom::provenance::CallSource;

use crate::approvals::{ApprovalService, ReplyError};
use crate::calls::CallService;
use crate::mcp::calls::approval_form::{self, FormReply};
use crate::mcp::calls::content;
use crate::mcp::calls::dialogue::{InputRequest, input_required};
use crate::mcp::calls::parked::key_of;
use crate::mcp::calls::request_state::{self, RequestState};
use crate::mcp::calls::tasks::CallOrTask;
use crate::mcp::calls::tool_call::ToolRequest;
use crate::mcp::context::RequestContext;
use crate::mcp::protocol::reply::{Reuse, finish};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;

/// How long the user of a client with a session may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);

/// How often the ledger is polled for an answer given elsewhere.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often the user is asked after invalid answers.
const TRIES: u32 = 3;

/// Whether a reply became an answer.
enum ReplyOutcome {
    Recorded,
    /// Why not. The user may reply again.
    Rejected(String),
}

impl McpServer {
    /// Asks the caller to approve a parked call, or says who else can.
    pub(in crate::mcp) async fn ask_caller_to_approve(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
        pending: &Pending,
    ) -> Result<String, RpcError> {
        let client = &request.context.client;
        if request.context.caller.answers(pending).is_empty() || !client.can_ask() {
            return Ok(self.tell_who_can_approve(request, call, pending));
        }
        let mut why = None;
        for _ in 0..TRIES {
            let ask = self.question(request, call, pending, why.as_deref()).await?;
            let Some(session) = &client.session else {
                return self.request_approval_again(request, call, ask);
            };
            let reply = session.request(&request.context.channel, ask.method, &ask.params);
            let reply = request.stop.run_until_cancelled(timeout(ANSWER_TIMEOUT, reply));
            let reply = tokio::select! {
                reply = reply => reply,
                () = self.answered_elsewhere(request, call) => return self.resume_call(request, call.clone()).await,
            };
            let form_reply = match reply {
                Some(Ok(Some(Ok(reply)))) => approval_form::read(&reply),
                // The client cannot ask, has disconnected, or its user did not reply.
                Some(Ok(Some(Err(_)) | None) | Err(_)) | None => FormReply::Nothing,
            };
            match self.record_reply(request, call, form_reply).await? {
                Some(ReplyOutcome::Recorded) => return self.resume_call(request, call.clone()).await,
                Some(ReplyOutcome::Rejected(text)) => why = Some(text),
                None => break,
            }
        }
        Ok(self.tell_who_can_approve(request, call, pending))
    }

    /// Waits until a call is answered through another interface or process.
    async fn answered_elsewhere(&self, request: &ToolRequest<'_>, call: &CallId) {
        loop {
            sleep(LOOK_EVERY).await;
            // After a failed read, the next poll tries again.
            if let Ok(Some(asked)) = self.load_question(request, call).await
                && asked.question.state != QuestionState::Waiting
            {
                return;
            }
        }
    }

    /// Accepts the reply to a parked call in the next request of a client of the later era.
    pub(in crate::mcp) async fn accept_reply(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
        arguments: &Map<String, Value>,
        answers: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        let asked = self.load_question(request, call).await?;
        let Some(asked) = asked.filter(|asked| is_about(request, asked, arguments)) else {
            return Err(RpcError::invalid("`requestState` belongs to another call; make the request anew"));
        };
        let is_open = asked.question.state == QuestionState::Waiting;
        let form_reply = match answers.get(approval_form::KEY) {
            Some(reply) => approval_form::read(reply),
            None => FormReply::Unclear(approval_form::NONE_OF_THEM),
        };
        let pending = pending(&asked.question);
        // An answer given elsewhere counts; this one is ignored.
        if !is_open {
            return self.resume_call(request, call.clone()).await;
        }
        match self.record_reply(request, call, form_reply).await? {
            Some(ReplyOutcome::Recorded) => self.resume_call(request, call.clone()).await,
            Some(ReplyOutcome::Rejected(why)) => {
                let ask = self.question(request, call, &pending, Some(&why)).await?;
                self.request_approval_again(request, call, ask)
            }
            None => Ok(self.tell_who_can_approve(request, call, &pending)),
        }
    }

    /// Records the reply. Returns `None` if the user did not reply.
    async fn record_reply(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
        form_reply: FormReply,
    ) -> Result<Option<ReplyOutcome>, RpcError> {
        let reply = match form_reply {
            FormReply::Nothing => return Ok(None),
            FormReply::Unclear(why) => return Ok(Some(ReplyOutcome::Rejected(why.to_owned()))),
            FormReply::Reply(reply) => reply,
        };
        let caller = &request.context.caller;
        let approvals = ApprovalService::new(&self.app.room, &caller.scope, &caller.responder);
        match approvals.reply(call, reply).await {
            Ok(()) => Ok(Some(ReplyOutcome::Recorded)),
            Err(ReplyError::Failed(error)) => Err(RpcError::failure(&error)),
            Err(error) => Ok(Some(ReplyOutcome::Rejected(format!("{:#}", anyhow::Error::from(error))))),
        }
    }

    /// Resumes an answered call, and waits until it ends or becomes a task.
    async fn resumed(
        &self,
        request: &ToolRequest<'_>,
        mut resume: ResumeRequest,
    ) -> Result<CallOrTask<Result<CallReport, ResumeError>>, RpcError> {
        if !request.context.client.takes_tasks() {
            return Ok(CallOrTask::Ended(Box::new(request.calls.resume(resume).await)));
        }
        let (call, undelivered) = (resume.call.clone(), Arc::clone(&self.undelivered));
        let work = |calls: Arc<CallService>, stop| async move {
            resume.cancellation = stop;
            let call = resume.call.clone();
            undelivered.remove(&call);
            let resumed = calls.resume(resume).await;
            if let Err(error) = &resumed {
                undelivered.insert(&call, not_resumed(error));
            }
            resumed
        };
        let made = self.run_or_detach(request, &call, work).await;
        if let Ok(CallOrTask::Ended(_)) = &made {
            self.undelivered.remove(&call);
        }
        made
    }

    /// Runs an answered call.
    pub(in crate::mcp) async fn resume_call(
        &self,
        request: &ToolRequest<'_>,
        mut call: CallId,
    ) -> Result<String, RpcError> {
        loop {
            let mut resume = ResumeRequest::new(call.clone(), request.context.caller.scope.clone());
            resume.cancellation = request.stop.clone();
            resume.source = Some(request.context.source());
            resume.progress.clone_from(&request.progress);
            let resumed = match self.resumed(request, resume).await? {
                CallOrTask::Ended(resumed) => *resumed,
                CallOrTask::Task(text) => return Ok(text),
            };
            match resumed {
                Ok(report) => return self.call_result(request, &report).await,
                // The arguments were edited: the call that took its place is the one to run.
                Err(ResumeError::Replaced { by, .. }) => call = by,
                Err(error) => {
                    let text = not_resumed(&error)?;
                    return Ok(finish(request.context.client.era, Reuse::Never, text));
                }
            }
        }
    }

    pub(in crate::mcp) async fn load_question(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
    ) -> Result<Option<QuestionDetails>, RpcError> {
        let asked = self.app.room.question_details(&request.context.caller.scope, call).await;
        asked.map_err(|error| RpcError::failure(&error))
    }

    /// The question, as a form.
    async fn question(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
        pending: &Pending,
        why: Option<&str>,
    ) -> Result<InputRequest, RpcError> {
        let asked = self.load_question(request, call).await?;
        Ok(approval_form::question(
            request.entry.spec(),
            asked.as_ref(),
            pending,
            request.context.caller.answers(pending),
            why,
        ))
    }

    fn request_approval_again(
        &self,
        request: &ToolRequest<'_>,
        call: &CallId,
        ask: InputRequest,
    ) -> Result<String, RpcError> {
        let (now, carried) = (self.app.room.clock().now(), RequestState::Parked(call.clone()));
        let about = request.entry.spec().id.as_str();
        let state = request_state::seal(&*self.app.vault, &request.context.caller.name, about, now, carried)?;
        Ok(input_required(&[ask], Some(state)))
    }

    /// Tells the client who can approve the call, and how. If the client repeats the call, the parked one continues.
    fn tell_who_can_approve(&self, request: &ToolRequest<'_>, call: &CallId, pending: &Pending) -> String {
        self.parked.remember(&request.context.caller.scope, key_of(request), call);
        finish(
            request.context.client.era,
            Reuse::Never,
            content::failed(&approval_hint(request.context, call, pending)),
        )
    }
}

/// Who can approve a call, and how.
pub(in crate::mcp) fn approval_hint(context: &RequestContext, call: &CallId, pending: &Pending) -> String {
    let why_not_here = match (pending.by, context.caller.answers(pending)) {
        (Answerer::Caller, []) => " (this key may not, as it has no scope `answer`)",
        (Answerer::Operator, []) => "",
        _ if context.client.can_ask() => "",
        _ => " (this client cannot show the question to its user)",
    };
    let by_key = match (&context.caller.source, context.caller.answers(pending)) {
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
pub(in crate::mcp) fn pending(question: &Question) -> Pending {
    let approval = &question.approval;
    Pending {
        rule: question.record.rule.clone().unwrap_or_default(),
        reason: approval.reason.clone(),
        by: approval.by,
        expires_at: approval.expires_at,
    }
}

/// Why a call cannot go on, as the fields of a result where that is its caller's business.
pub(in crate::mcp) fn not_resumed(error: &ResumeError) -> Result<String, RpcError> {
    match error {
        ResumeError::NotFound(_)
        | ResumeError::Over { .. }
        | ResumeError::Replaced { .. }
        | ResumeError::Unrepeatable { .. }
        | ResumeError::NotKept(_) => Ok(content::failed(&error.to_string())),
        ResumeError::Broken(_) | ResumeError::Sealed(_) | ResumeError::Ledger(_) => {
            Err(RpcError::failure(error))
        }
    }
}

/// Whether a question is about this tool and these arguments. One whose arguments are gone is over: it can be told about, and
/// nothing runs any more.
pub(in crate::mcp) fn is_about(
    request: &ToolRequest<'_>,
    asked: &QuestionDetails,
    arguments: &Map<String, Value>,
) -> bool {
    let is_tool = *asked.question.record.tool == *request.entry.spec().id.as_str();
    is_tool
        && match &asked.arguments {
            Some(parked) => *parked == request.entry.completed(arguments.clone()),
            // Other arguments may have taken its place, and could run.
            None => asked.question.replaced_by.is_none(),
        }
}
