//! Agents through the API of OpenAI's chat completions.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolroom::agent::SendRequest;
use toolroom::call::{DeliverError, Delivery};
use toolroom::conversation::{RunEvent, RunId};
use toolroom::ledger::{CallId, Journal as _};
use toolroom::model::ModelErrorKind;

use crate::agents;
use crate::documents::OfferDocument;
use crate::http::access::Access;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::resources::runs::{choice, known};
use crate::http::route::Route;
use crate::http::server::Server;
use crate::http::streams::events::{Gone, Stream};
use crate::identity::{Caller, Permission};
use crate::openai::{
    ChatInput, ChatRequest, Chunk, ChunkChoice, Completion, Delta, ErrorPart, ErrorReply, FinishReason,
    FunctionCall, Piece, ToolCallPart, Usage,
};
use crate::runs::{RunSubscriber, RunUpdate, StartedRun};
use crate::telemetry;

/// The entrance of these runs. They are not resumed after a restart, because their client is gone.
const ENTRANCE: &str = "openai";

/// The header that names the run.
const RUN: &str = "x-toolroom-run";

/// Message for a cancelled run.
const CANCELLED: &str = "the run was cancelled";

/// Last event of a stream.
const TERMINATOR: &str = "[DONE]";

/// Name of the program's instructions in the runtime context.
const INSTRUCTIONS: &str = "instructions";

pub(crate) fn routes() -> Vec<Route> {
    let chat = Access::Permission(Permission::Chat);
    vec![
        Route::post(
            "/v1/chat/completions",
            chat,
            "Runs an agent through the chat completions API of OpenAI.",
            complete,
        )
        .body::<ChatRequest>()
        .reply::<Completion>(200, "The answer, or calls that the client has to run.")
        .with_header(RUN, "The id of the run.")
        .stream::<Piece<'_>>(200, "With `stream`: the answer in chunks.")
        .terminated_by(TERMINATOR)
        .problem(404, "Agent or call not found.")
        .problem(409, "The run does not wait for results, or was cancelled.")
        .problem(502, "No model available, or none has answered.")
        .problem(503, "The server is shutting down.")
        .error_format::<ErrorReply<'_>>(),
        Route::get("/v1/models", chat, "Lists the agents in the format of OpenAI's models.", models)
            .reply::<ModelList>(200, "The agents."),
    ]
}

#[derive(Serialize, JsonSchema)]
struct ModelList {
    /// `list`.
    object: &'static str,
    /// The agents.
    data: Vec<ModelLine>,
}

/// An agent in the list.
#[derive(Serialize, JsonSchema)]
struct ModelLine {
    /// The agent.
    id: String,
    /// `model`.
    object: &'static str,
    /// Always zero.
    created: i64,
    /// `toolroom`.
    owned_by: &'static str,
}

async fn models(State(server): State<Arc<Server>>, caller: Caller) -> Result<Json<ModelList>, Problem> {
    let known = agents::records(&server.app, &caller.scope).await?;
    // An end user sees the one agent they may talk to.
    let own = choice(&caller, None, None)?.agent;
    let data = known
        .into_iter()
        .map(|agent| agent.record.id.to_string())
        .filter(|id| own.as_ref().is_none_or(|own| own == id))
        .map(|id| ModelLine { id, object: "model", created: 0, owned_by: "toolroom" });
    Ok(Json(ModelList { object: "list", data: data.collect() }))
}

async fn complete(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Json(request): Json<ChatRequest>,
) -> Result<Response, OpenAiProblem> {
    let begun = begin(&server, &caller, &request).await?;
    let created = server.app.room.clock().now().as_micros() / 1_000_000;
    let answer = RunAnswer { server, caller, begun, agent: request.model.clone(), created };
    if request.stream == Some(true) {
        let (stream, mut response) = Stream::open();
        name_run(&mut response, &answer.begun.run);
        tokio::spawn(telemetry::in_current_request(answer.stream_chunks(stream, request.wants_usage())));
        return Ok(response);
    }
    Ok(answer.whole().await?)
}

/// A problem in the error format of OpenAI, which its clients can show.
struct OpenAiProblem(Problem);

impl From<Problem> for OpenAiProblem {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for OpenAiProblem {
    fn into_response(self) -> Response {
        let Self(Problem { status, code, detail, retry_after }) = self;
        let kind = if status.is_client_error() { "invalid_request_error" } else { "server_error" };
        let error = ErrorPart { message: &detail, kind, code, param: None };
        let mut response = (status, Json(ErrorReply { error })).into_response();
        if let Some(span) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(span.as_secs().max(1)));
        }
        response
    }
}

/// Starts a run, or resumes the one whose calls the client has run.
async fn begin(server: &Arc<Server>, caller: &Caller, request: &ChatRequest) -> Result<StartedRun, Problem> {
    let wrong = |error: crate::openai::ChatRequestError| Problem::bad_request(error.to_string());
    let choice = choice(caller, Some(request.model.clone()), None)?;
    let tools = request.tools().map_err(wrong)?;
    match request.input().map_err(wrong)? {
        ChatInput::Message { message, history, instructions } => {
            let mut send = SendRequest::new(String::new()).scope(caller.scope.clone());
            (send.message, send.history, send.client_tools) = (message, history, tools);
            send.entrance = ENTRANCE.into();
            send.source = caller.source();
            send.caller = Some(caller.call_owner());
            send.context = instructions
                .map(|text| Map::from_iter([(INSTRUCTIONS.to_owned(), Value::from(text))]))
                .unwrap_or_default();
            Ok(server.runs.send(&choice, send).await?)
        }
        ChatInput::Results(results) => {
            let mut run = None;
            for (id, text) in results {
                let call = CallId::new(&id);
                let unknown = || Problem::not_found(format!("no call `{id}` waits for a result"));
                let record = server.app.store.call(&caller.scope, &call).await?.ok_or_else(unknown)?;
                let owner = RunId::new(record.run.as_deref().ok_or_else(unknown)?);
                if run.get_or_insert_with(|| owner.clone()) != &owner {
                    return Err(Problem::bad_request("these results belong to different runs"));
                }
                let asked = server.app.room.question_details(&caller.scope, &call).await;
                let made_by = asked.map_err(|error| Problem::failure(&error))?.and_then(|asked| asked.caller);
                if made_by.is_some_and(|made_by| made_by != caller.call_owner()) {
                    return Err(unknown());
                }
                if known(server, caller, &owner).await?.agent.as_str() != request.model {
                    return Err(Problem::conflict(format!(
                        "`{id}` is not a call of the agent `{}`",
                        request.model
                    )));
                }
                let result = serde_json::from_str(&text).unwrap_or(Value::String(text));
                let delivery = Delivery::new(call, record.scope.clone(), Ok(result));
                match server.runs.deliver(&owner, delivery).await? {
                    // Sent again after a lost connection: it counts once.
                    Ok(_) | Err(DeliverError::Over { .. }) => {}
                    Err(DeliverError::NotHanded(_)) => return Err(unknown()),
                    Err(error) => return Err(Problem::conflict(error.to_string())),
                }
            }
            let run = run.ok_or_else(|| Problem::bad_request("no results were sent"))?;
            Ok(server.runs.resume_with(&caller.scope, &run, Some(tools)).await?)
        }
    }
}

/// Answers one request with the events of a run.
struct RunAnswer {
    server: Arc<Server>,
    caller: Caller,
    begun: StartedRun,
    agent: String,
    created: i64,
}

impl RunAnswer {
    fn subscriber(&self) -> RunSubscriber {
        // The client has seen the earlier events of a resumed run.
        let runs = Arc::clone(&self.server.runs);
        RunSubscriber::from_newest_segment(runs, self.caller.scope.clone(), &self.begun)
    }

    async fn whole(self) -> Result<Response, Problem> {
        let mut subscriber = self.subscriber();
        let (mut text, mut calls, mut usage) = (String::new(), Vec::new(), Usage::default());
        let mut offered = Vec::new();
        while let Some(seen) = subscriber.next().await? {
            let RunUpdate::Event(_, event) = seen else { continue };
            match &event.event {
                RunEvent::Answered { text: said, .. } => text.clone_from(said),
                RunEvent::Handed { call, tool, .. } => calls.push(self.call(call, tool).await?),
                RunEvent::CallEnded { offers, .. } => offered.extend(offers.iter().map(OfferDocument::of)),
                RunEvent::Asks { tool, reason, call, .. } => text = asks(tool, reason, call),
                RunEvent::Done { text: said, usage: tokens, .. } => {
                    text.clone_from(said);
                    usage = (*tokens).into();
                }
                RunEvent::Failed(failure) => {
                    // The client has to shorten the request.
                    let (status, code) = match failure.kind == ModelErrorKind::ContextOverflow.as_str() {
                        true => (StatusCode::BAD_REQUEST, "context_length_exceeded"),
                        false => (StatusCode::BAD_GATEWAY, "no_answer"),
                    };
                    return Err(Problem::new(status, code, failure.message.clone()));
                }
                RunEvent::Cancelled => {
                    return Err(Problem::new(StatusCode::CONFLICT, "cancelled", CANCELLED));
                }
                RunEvent::Waiting { .. } => break,
                _ => {}
            }
        }
        let (id, agent) = (self.begun.run.to_string(), self.agent.clone());
        let completion = Completion::new(id, self.created, agent, text, calls, offered, usage);
        let mut response = Json(completion).into_response();
        name_run(&mut response, &self.begun.run);
        Ok(response)
    }

    /// Sends the rest of an answer to a client that may have missed chunks of it.
    async fn send_rest(&self, stream: &Stream, said: &mut String, whole: &str) -> Result<(), Gone> {
        if let Some(rest) = whole.strip_prefix(said.as_str()).filter(|rest| !rest.is_empty()) {
            self.say(stream, rest.to_owned()).await?;
            whole.clone_into(said);
        }
        Ok(())
    }

    async fn stream_chunks(self, stream: Stream, wants_usage: bool) {
        if self.tell(&stream, wants_usage).await == Err(Gone)
            && let Err(error) = self.server.runs.cancel(&self.caller.scope, &self.begun.run).await
        {
            tracing::debug!("`{}` is not cancelled: {error}", self.begun.run);
        }
    }

    async fn tell(&self, stream: &Stream, wants_usage: bool) -> Result<(), Gone> {
        let mut subscriber = self.subscriber();
        self.send(stream, Delta { role: Some("assistant"), ..Delta::default() }, None).await?;
        // The answer so far.
        let (mut calls, mut usage, mut said) = (0, Usage::default(), String::new());
        loop {
            stream.ready().await?;
            let seen = match stream.keep_alive_until(subscriber.next()).await? {
                Ok(Some(seen)) => seen,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!("cannot follow a run: {error}");
                    return self.fail(stream, "internal", "the answer cannot be read").await;
                }
            };
            let event = match seen {
                RunUpdate::Event(_, event) => event,
                RunUpdate::CatchUp(_, words) => {
                    self.send_rest(stream, &mut said, &words.text).await?;
                    continue;
                }
            };
            match &event.event {
                RunEvent::Asking { .. } | RunEvent::Void { .. } => said.clear(),
                RunEvent::Text { text } => {
                    said.push_str(text);
                    self.say(stream, text.clone()).await?;
                }
                RunEvent::Answered { text, .. } => {
                    self.send_rest(stream, &mut said, text).await?;
                    said.clear();
                }
                RunEvent::Handed { call, tool, .. } => {
                    if let Ok(part) = self.call(call, tool).await {
                        let part = ToolCallPart { index: Some(calls), ..part };
                        calls += 1;
                        self.send(stream, Delta { tool_calls: vec![part], ..Delta::default() }, None).await?;
                    }
                }
                RunEvent::CallEnded { offers, .. } if !offers.is_empty() => {
                    let offers = offers.iter().map(OfferDocument::of).collect();
                    self.send(stream, Delta { offers, ..Delta::default() }, None).await?;
                }
                RunEvent::Asks { tool, reason, call, .. } => {
                    self.say(stream, asks(tool, reason, call)).await?;
                }
                RunEvent::Failed(failure) => {
                    return self.fail(stream, failure.kind.as_str(), &failure.message).await;
                }
                RunEvent::Cancelled => return self.fail(stream, "cancelled", CANCELLED).await,
                RunEvent::Done { usage: tokens, .. } => usage = (*tokens).into(),
                RunEvent::Waiting { .. } => break,
                _ => {}
            }
        }
        let reason = if calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
        self.send(stream, Delta::default(), Some(reason)).await?;
        if wants_usage {
            let chunk = Chunk { choices: Vec::new(), usage: Some(usage), ..self.chunk() };
            stream.send(None, None, &Piece::Chunk(chunk)).await?;
        }
        stream.send_text(format!("data: {TERMINATOR}\n\n")).await
    }

    async fn fail(&self, stream: &Stream, code: &str, message: &str) -> Result<(), Gone> {
        let error = ErrorPart { message, kind: "server_error", code, param: None };
        stream.send(None, None, &Piece::Error(ErrorReply { error })).await
    }

    async fn say(&self, stream: &Stream, text: String) -> Result<(), Gone> {
        self.send(stream, Delta { content: Some(text), ..Delta::default() }, None).await
    }

    async fn send(&self, stream: &Stream, delta: Delta, reason: Option<FinishReason>) -> Result<(), Gone> {
        let choices = vec![ChunkChoice { index: 0, delta, finish_reason: reason }];
        stream.send(None, None, &Piece::Chunk(Chunk { choices, ..self.chunk() })).await
    }

    fn chunk(&self) -> Chunk<'_> {
        let (id, model) = (self.begun.run.as_str(), self.agent.as_str());
        Chunk {
            id,
            object: Completion::PIECE,
            created: self.created,
            model,
            choices: Vec::new(),
            usage: None,
        }
    }

    /// A call that the client has to run. Its id is that of the journal, which cannot be guessed.
    async fn call(&self, call: &CallId, tool: &str) -> Result<ToolCallPart, Problem> {
        let asked = self.server.app.room.question_details(&self.caller.scope, call).await;
        let asked = asked.map_err(|error| Problem::failure(&error))?;
        let arguments = asked.and_then(|asked| asked.arguments).unwrap_or_default();
        let name = tool.split_once(':').map_or(tool, |(_, name)| name).to_owned();
        let function = FunctionCall { name, arguments: Value::Object(arguments).to_string() };
        Ok(ToolCallPart { index: None, id: call.to_string(), kind: "function", function })
    }
}

/// Text for clients without approvals.
fn asks(tool: &str, reason: &str, call: &CallId) -> String {
    format!("`{tool}` needs approval before it runs: {reason} (`{call}`). Nothing was done yet.")
}

/// Adds the header with the id of the run.
fn name_run(response: &mut Response, run: &RunId) {
    if let Ok(value) = HeaderValue::from_str(run.as_str()) {
        response.headers_mut().insert(RUN, value);
    }
}
