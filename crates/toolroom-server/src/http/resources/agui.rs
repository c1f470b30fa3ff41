//! Agents for front ends that speak AG-UI.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
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
use crate::agui::{Event, Input, Narrator, Next, RunAgentInput, Start, StartError, Started};
use crate::http::access::Need;
use crate::http::extract::body::Body;
use crate::http::extract::body::Document;
use crate::http::extract::body::Path;
use crate::http::problem::Problem;
use crate::http::resources::runs::choice;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::http::streams::events::Gone;
use crate::http::streams::events::Stream;
use crate::identity::{Caller, Permission};
use crate::runs::{BeginError, Begun, Position, Seen, Watching};
use crate::telemetry;

/// How long the end of a run is waited for when the server ends.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(crate) fn routes() -> Vec<Route> {
    let chat = Need::Permission(Permission::Chat);
    vec![
        Route::post("/agui/{agent}", chat, "Runs an agent, in the words of AG-UI.", run)
            .body::<RunAgentInput>()
            .stream::<Event>(200, "The events of the run.")
            .refuse(409, "Somebody is being answered in the thread.")
            .refuse(502, "No model can be asked.")
            .refuse(503, "The server is about to end."),
        Route::get(
            "/agui/{agent}/capabilities",
            chat,
            "Says what an agent can do, as AG-UI has it.",
            capabilities,
        )
        .reply::<Map<String, Value>>(200, "The capabilities.")
        .refuse(502, "No model can be asked."),
    ]
}

async fn run(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(agent): Path<String>,
    Body(input): Body<RunAgentInput>,
) -> Result<Response, Problem> {
    let choice = choice(&caller, Some(agent.clone()), None)?;
    let record = agents::record(&server.app, &caller.scope, &agent).await.map_err(BeginError::from)?;
    let input = Input::try_from(input).map_err(|error| Problem::bad_request(error.to_string()))?;
    let start = Start::new(Arc::clone(&server.app), Arc::clone(&server.runs), &caller, choice, input);
    let (reply, replied) = oneshot::channel();
    // Whoever goes away while a run begins is heard of, too.
    tokio::spawn(telemetry::carried(async move {
        match start.begin().await {
            Ok(started) => {
                let (stream, response) = Stream::open();
                drop(reply.send(Ok(response)));
                let telling = Telling { server, scope: caller.scope, stream };
                telling.tell(started, record.record.on_disconnect).await;
            }
            Err(error) => drop(reply.send(Err(Problem::from(error)))),
        }
    }));
    replied.await.unwrap_or_else(|error| Err(Problem::failure(&error)))
}

/// Tells one client of one run.
struct Telling {
    server: Arc<Server>,
    scope: Scope,
    stream: Stream,
}

impl Telling {
    async fn tell(self, started: Started, on_disconnect: OnDisconnect) {
        let Started { mut narrator, whole, next } = started;
        let mut first = narrator.start(whole);
        let (begun, from) = match next {
            Next::Watch { begun, from } => (begun, from),
            Next::Rest { pending } => {
                first.extend(narrator.rest(pending));
                return drop(self.send(first).await);
            }
            Next::Cancelled => {
                first.extend(narrator.cancel());
                return drop(self.send(first).await);
            }
            Next::Refused { refusal, interrupts } => {
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
        // A run that waits is waited for, whoever watches.
        let is_unwanted = told == Err(Gone) && on_disconnect == OnDisconnect::Cancel;
        if is_unwanted
            && self.server.runs.is_live(&run)
            && let Err(error) = self.server.runs.cancel(&self.scope, &run).await
        {
            tracing::debug!("`{run}` is not cancelled: {error}");
        }
    }

    /// Tells what happens until the run has ended for the client.
    async fn follow(
        &self,
        narrator: &mut Narrator,
        begun: &Begun,
        from: Option<Position>,
    ) -> Result<(), Gone> {
        let runs = Arc::clone(&self.server.runs);
        let mut watching = Watching::begun(runs, self.scope.clone(), begun, from);
        loop {
            self.stream.ready().await?;
            let seen = tokio::select! {
                biased;
                seen = self.stream.meanwhile(watching.next()) => seen?,
                () = self.given_back(&begun.run) => match timeout(LAST_WORDS, watching.next()).await {
                    Ok(seen) => seen,
                    Err(_) => {
                        let message = "the server ends; the thread goes on with its next run";
                        return self.send(narrator.fail("interrupted", message)).await;
                    }
                },
            };
            let events = match seen {
                Ok(Some(Seen::Event(_, event))) => {
                    let arguments = self.arguments(&event).await;
                    narrator.tell(event.seq, &event.event, arguments)
                }
                Ok(Some(Seen::Words(_, words))) => narrator.catch_up(&words.text, &words.reasoning),
                Ok(None) => narrator.fail("gone", "the run is no longer there"),
                Err(error) => {
                    tracing::warn!("a run cannot be watched: {error}");
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

    /// Resolves once the server ends and nobody works on the run any more.
    async fn given_back(&self, run: &RunId) {
        self.server.ending.cancelled().await;
        self.server.runs.rest(run).await;
    }

    /// The arguments of a call that waits: for a person as the journal shows them, for its client the exact ones.
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
                    let message = "the end of the run is too large to be told".to_owned();
                    let error = Event::RunError { message, code: "too_large".to_owned(), usage: Vec::new() };
                    text.push_str(&error.frame().unwrap_or_default());
                }
                None => tracing::warn!("an event of a run is too large to be told"),
            }
        }
        if text.is_empty() { Ok(()) } else { self.stream.send_text(text).await }
    }
}

async fn capabilities(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Path(agent): Path<String>,
) -> Result<Document<Value>, Problem> {
    let choice = choice(&caller, Some(agent), None)?;
    let known = crate::agui::capabilities(&server.app, &caller.scope, &choice).await;
    Ok(Document(known.map_err(BeginError::from)?))
}

impl From<StartError> for Problem {
    fn from(error: StartError) -> Self {
        let text = error.to_string();
        match error {
            StartError::Busy => Self::new(StatusCode::CONFLICT, "busy", text),
            // Another input of the same thread came first.
            StartError::Begin(BeginError::Run(
                RunError::Take(TakeRunError::Busy(_))
                | RunError::Begin(BeginRunError::Open { .. } | BeginRunError::Taken(_)),
            )) => Self::from(StartError::Busy),
            StartError::Begin(error) => error.into(),
            StartError::Part(_) => Self::bad_request(text),
            StartError::Ledger(error) => error.into(),
        }
    }
}
