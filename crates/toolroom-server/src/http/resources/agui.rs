//! Agents for AG-UI front ends.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use toolroom::agent::{OnDisconnect, RunError};
use toolroom::conversation::{BeginRunError, NumberedEvent, RunEvent, RunId, TakeRunError};
use toolroom::ledger::CallId;
use toolroom::scope::Scope;

use crate::agents;
use crate::agui::{Event, Input, Narrator, NextStep, RunAgentInput, Start, StartError, Started};
use crate::http::access::Access;
use crate::http::extract::{Json, Path};
use crate::http::problem::Problem;
use crate::http::resources::runs::choice;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::http::streams::events::{Gone, Stream};
use crate::identity::{Caller, Permission};
use crate::runs::{Position, RunSubscriber, RunUpdate, StartRunError, StartedRun};
use crate::telemetry;

/// How long shutdown waits for the end of a run.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);

pub(crate) fn routes() -> Vec<Route> {
    let chat = Access::Permission(Permission::Chat);
    vec![
        Route::post("/agui/{agent}", chat, "Runs an agent through AG-UI.", run)
            .body::<RunAgentInput>()
            .stream::<Event>(200, "The events of the run.")
            .problem(409, "The thread has an active run.")
            .problem(502, "No model available.")
            .problem(503, "The server is shutting down."),
        Route::get(
            "/agui/{agent}/capabilities",
            chat,
            "Lists the AG-UI capabilities of an agent.",
            capabilities,
        )
        .reply::<Map<String, Value>>(200, "The capabilities.")
        .problem(502, "No model available."),
    ]
}

async fn run(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(agent): Path<String>,
    Json(input): Json<RunAgentInput>,
) -> Result<Response, Problem> {
    let choice = choice(&caller, Some(agent.clone()), None)?;
    let record = agents::record(&server.app, &caller.scope, &agent).await.map_err(StartRunError::from)?;
    let input = Input::try_from(input).map_err(|error| Problem::bad_request(error.to_string()))?;
    let start = Start::new(Arc::clone(&server.app), Arc::clone(&server.runs), &caller, choice, input);
    let (reply, replied) = oneshot::channel();
    // A task of its own, which also notices a client that disconnects while the run starts.
    tokio::spawn(telemetry::in_current_request(async move {
        match start.begin().await {
            Ok(started) => {
                let (stream, response) = Stream::open();
                drop(reply.send(Ok(response)));
                let events = EventStream { server, scope: caller.scope, stream };
                events.run(started, record.record.on_disconnect).await;
            }
            Err(error) => drop(reply.send(Err(Problem::from(error)))),
        }
    }));
    replied.await.unwrap_or_else(|error| Err(Problem::failure(&error)))
}

/// Streams the events of a run to one client.
struct EventStream {
    server: Arc<Server>,
    scope: Scope,
    stream: Stream,
}

impl EventStream {
    async fn run(self, started: Started, on_disconnect: OnDisconnect) {
        let Started { mut narrator, whole, next } = started;
        let mut first = narrator.start(whole);
        let (begun, from) = match next {
            NextStep::Watch { begun, from } => (begun, from),
            NextStep::Rest { pending } => {
                first.extend(narrator.rest(pending));
                return drop(self.send(first).await);
            }
            NextStep::Cancelled => {
                first.extend(narrator.cancel());
                return drop(self.send(first).await);
            }
            NextStep::Refused { refusal, interrupts } => {
                if !interrupts.is_empty() {
                    let value = json!({"interrupts": interrupts});
                    first.push(Event::Custom { name: "toolroom.interrupts", value });
                }
                first.extend(narrator.fail(refusal.code, &refusal.message));
                return drop(self.send(first).await);
            }
        };
        let told = match self.send(first).await {
            Ok(()) => self.follow(&mut narrator, &begun, from).await,
            Err(gone) => Err(gone),
        };
        let run = begun.run;
        // A run that waits for an answer is kept without its client.
        let is_unwanted = told == Err(Gone) && on_disconnect == OnDisconnect::Cancel;
        if is_unwanted
            && self.server.runs.is_live(&run)
            && let Err(error) = self.server.runs.cancel(&self.scope, &run).await
        {
            tracing::debug!("cannot cancel `{run}`: {error}");
        }
    }

    /// Sends events until the run has ended for the client.
    async fn follow(
        &self,
        narrator: &mut Narrator,
        begun: &StartedRun,
        from: Option<Position>,
    ) -> Result<(), Gone> {
        let runs = Arc::clone(&self.server.runs);
        let mut subscriber = RunSubscriber::for_started(runs, self.scope.clone(), begun, from);
        loop {
            self.stream.ready().await?;
            let seen = tokio::select! {
                biased;
                seen = self.stream.keep_alive_until(subscriber.next()) => seen?,
                () = self.released(&begun.run) => match timeout(SHUTDOWN_GRACE, subscriber.next()).await {
                    Ok(seen) => seen,
                    Err(_) => {
                        let message = "the server is shutting down; the next run continues the thread";
                        return self.send(narrator.fail("interrupted", message)).await;
                    }
                },
            };
            let events = match seen {
                Ok(Some(RunUpdate::Event(_, event))) => {
                    let arguments = self.arguments(&event).await;
                    narrator.tell(event.seq, &event.event, arguments)
                }
                Ok(Some(RunUpdate::CatchUp(_, words))) => narrator.catch_up(&words.text, &words.reasoning),
                Ok(None) => narrator.fail("gone", "the run no longer exists"),
                Err(error) => {
                    tracing::warn!("cannot follow a run: {error}");
                    narrator.fail("internal", "the run cannot be followed; the server's log says why")
                }
            };
            let is_over = events.iter().any(Event::is_last);
            self.send(events).await?;
            if is_over {
                return Ok(());
            }
        }
    }

    /// Resolves once the server is shutting down and has released the run.
    async fn released(&self, run: &RunId) {
        self.server.ending.cancelled().await;
        self.server.runs.wait_until_idle(run).await;
    }

    /// The arguments of a call that waits: redacted for approvals, exact for client tools.
    async fn arguments(&self, event: &NumberedEvent) -> Option<Value> {
        let room = &self.server.app.room;
        let (call, is_clients): (&CallId, bool) = match &event.event {
            RunEvent::Asks { call, .. } => (call, false),
            RunEvent::Handed { call, .. } => (call, true),
            _ => return None,
        };
        let asked = room.question_details(&self.scope, call).await.ok().flatten()?;
        match asked.arguments {
            Some(exact) if is_clients => Some(Value::Object(exact)),
            Some(_) | None => Some(asked.question.record.arguments.as_ref().clone()),
        }
    }

    async fn send(&self, events: Vec<Event>) -> Result<(), Gone> {
        let mut text = String::new();
        for event in &events {
            match event.frame() {
                Some(frame) => text.push_str(&frame),
                None if event.is_last() => {
                    let message = "the last event of the run is too large".to_owned();
                    let error = Event::RunError { message, code: "too_large".to_owned(), usage: Vec::new() };
                    text.push_str(&error.frame().unwrap_or_default());
                }
                None => tracing::warn!("an event of a run is too large and was left out"),
            }
        }
        if text.is_empty() { Ok(()) } else { self.stream.send_text(text).await }
    }
}

async fn capabilities(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(agent): Path<String>,
) -> Result<Json<Value>, Problem> {
    let choice = choice(&caller, Some(agent), None)?;
    let known = crate::agui::capabilities(&server.app, &caller.scope, &choice).await;
    Ok(Json(known.map_err(StartRunError::from)?))
}

impl From<StartError> for Problem {
    fn from(error: StartError) -> Self {
        let text = error.to_string();
        match error {
            StartError::Busy => Self::new(StatusCode::CONFLICT, "busy", text),
            // Another input of the same thread came first.
            StartError::Begin(StartRunError::Run(
                RunError::Take(TakeRunError::Busy(_))
                | RunError::Begin(BeginRunError::Open { .. } | BeginRunError::Taken(_)),
            )) => Self::from(StartError::Busy),
            StartError::Begin(error) => error.into(),
            StartError::Part(_) => Self::bad_request(text),
            StartError::Ledger(error) => error.into(),
        }
    }
}
