//! MCP over standard input and output, for the client that started us.
//!
//! One thread does it all: every message that has come is read at once, and answers that are ready are written together.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom_host::standard_streams::{StandardInput, StandardOutput};

use super::changes::{Kinds, Watch};
use super::desk::{Calls, Desk, OwnCalls};
use super::message::{Id, Message, Request, error_text, notification_text, result_text};
use super::peer::{Asker, Client, Peer};
use super::refusal::Refusal;
use super::running::Running;
use super::session::Session;
use super::version::MODERN;
use super::voice::Voice;

/// The longest message.
const LINE_BYTES: usize = 4 * 1024 * 1024;

/// Requests that are worked on at once.
const AT_ONCE: usize = 1_024;

/// Messages that wait to be written.
const AHEAD: usize = 1_024;

/// How long calls go on when nobody says anything more.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the last answers may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves until the client says nothing more, or `ending` is cancelled.
///
/// # Errors
/// When the streams cannot be used.
pub(crate) async fn serve(desk: Desk, peer: Peer, ending: CancellationToken) -> std::io::Result<()> {
    let (mut input, output) = (StandardInput::open()?, StandardOutput::open()?);
    let (said, heard) = mpsc::channel(AHEAD);
    let writing = tokio::spawn(write(output, heard));
    let closing = CancellationToken::new();
    let calls = OwnCalls { app: Arc::clone(&desk.app), running: Mutex::default(), closing: closing.clone() };
    let line = Line {
        calls: Arc::new(calls),
        desk: Arc::new(desk),
        peer: Arc::new(peer),
        running: Arc::default(),
        tasks: TaskTracker::new(),
        ending: ending.child_token(),
        closing,
        said,
    };
    let read = line.read(&mut input).await;
    let Line { tasks, ending, closing, said, .. } = line;
    ending.cancel();
    tasks.close();
    // What was asked for is told, if it does not take too long.
    let waited = tokio::time::timeout(PATIENCE, tasks.wait()).await;
    closing.cancel();
    if waited.is_err() {
        tracing::warn!("calls were stopped: the client has left");
    }
    drop(said);
    // What is stopped and does not end is left behind.
    match tokio::time::timeout(LAST_WORDS, writing).await {
        // Whoever left does not read any more.
        Ok(Ok(Ok(())) | Err(_)) | Err(_) => read,
        Ok(Ok(Err(error))) if error.kind() == std::io::ErrorKind::BrokenPipe => read,
        Ok(Ok(Err(error))) => Err(error),
    }
}

/// Writes what is said, as much at a time as there is.
async fn write(mut output: StandardOutput, mut heard: mpsc::Receiver<String>) -> std::io::Result<()> {
    let (mut messages, mut bytes) = (Vec::new(), Vec::new());
    while heard.recv_many(&mut messages, AHEAD).await > 0 {
        bytes.clear();
        for message in messages.drain(..) {
            bytes.extend_from_slice(message.as_bytes());
            bytes.push(b'\n');
        }
        output.write(&bytes).await?;
    }
    Ok(())
}

/// The line to one client.
struct Line {
    calls: Arc<dyn Calls>,
    desk: Arc<Desk>,
    peer: Arc<Peer>,
    running: Arc<Running>,
    tasks: TaskTracker,
    /// Nothing more is said.
    ending: CancellationToken,
    /// What still runs is stopped.
    closing: CancellationToken,
    said: mpsc::Sender<String>,
}

impl Line {
    async fn read(&self, input: &mut StandardInput) -> std::io::Result<()> {
        let mut session: Option<Arc<Session>> = None;
        let mut bytes = Vec::new();
        // A line that is too long is read to its end, and forgotten.
        let mut skips = false;
        loop {
            let count = tokio::select! {
                count = input.read(&mut bytes) => count?,
                () = self.ending.cancelled() => return Ok(()),
                () = self.said.closed() => return Ok(()),
            };
            let mut rest = bytes.as_slice();
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let (line, behind) = rest.split_at(end);
                rest = behind.get(1..).unwrap_or_default();
                match std::mem::take(&mut skips) {
                    true => {}
                    false => self.line(line, &mut session).await,
                }
            }
            let left = rest.len();
            if count == 0 {
                return Ok(());
            }
            bytes.drain(..bytes.len() - left);
            if bytes.len() > LINE_BYTES {
                bytes.clear();
                if !std::mem::replace(&mut skips, true) {
                    let text = format!("a message may have up to {LINE_BYTES} bytes");
                    self.refuse(None, &Refusal::new(Refusal::INVALID_REQUEST, text)).await;
                }
            }
        }
    }

    async fn line(&self, line: &[u8], session: &mut Option<Arc<Session>>) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match Message::read(line) {
            Ok(Message::Request(request)) => self.request(request, session).await,
            Ok(Message::Notification { method, params }) => {
                self.notification(&method, &params, session.as_ref());
            }
            Ok(Message::Response { id, outcome }) => {
                if let Some(session) = session {
                    session.answer(&id, outcome);
                }
            }
            Err((id, refusal)) => self.refuse(id.as_ref(), &refusal).await,
        }
    }

    async fn refuse(&self, id: Option<&Id>, refusal: &Refusal) {
        // Whether anybody reads it shows when it is written.
        drop(self.said.send(error_text(id, refusal)).await);
    }

    fn notification(&self, method: &str, params: &Map<String, Value>, session: Option<&Arc<Session>>) {
        match (method, session) {
            ("notifications/cancelled", _) => {
                if let Some(id) = params.get("requestId").and_then(|id| Id::deserialize(id).ok()) {
                    self.running.stop(&id);
                }
            }
            ("notifications/initialized", Some(session)) => self.watch(session),
            _ => {}
        }
    }

    /// Tells a client of the earlier era what changes.
    fn watch(&self, session: &Arc<Session>) {
        let only = session.listens();
        let (desk, ending, said) = (Arc::clone(&self.desk), self.ending.clone(), self.said.clone());
        let asker = Asker { peer: Arc::clone(&self.peer), client: session.client(), voice: Voice::silent() };
        self.tasks.spawn(async move {
            let mut watch = Watch::begin(&desk, &asker, Kinds::ALL).await;
            let follow = async {
                loop {
                    let kind = watch.next().await;
                    if said.send(notification_text(kind.method(), &json!({}))).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = follow => {}
                () = only.cancelled() => {}
                () = ending.cancelled() => {}
            }
        });
    }

    async fn request(&self, request: Request, session: &mut Option<Arc<Session>>) {
        let client = match Client::named(&request.params) {
            Some(Ok((client, MODERN))) => client,
            Some(Ok((_, version))) => {
                return self.refuse(Some(&request.id), &Refusal::version(version)).await;
            }
            Some(Err(refusal)) => return self.refuse(Some(&request.id), &refusal).await,
            None if request.method == "initialize" => {
                let name = Arc::clone(&self.peer.name);
                let new = Arc::new(Session::new(String::new(), name, &request.params));
                let text = result_text(&request.id, &Desk::welcome(&new));
                *session = Some(new);
                return drop(self.said.send(text).await);
            }
            None => match session {
                Some(session) => session.client(),
                None => {
                    let text = "say who you are first: with `initialize`, or in `_meta` of each request";
                    return self.refuse(Some(&request.id), &Refusal::invalid(text)).await;
                }
            },
        };
        if self.tasks.len() >= AT_ONCE {
            let text = "too much is asked at once; wait for some answers";
            return self.refuse(Some(&request.id), &Refusal::new(Refusal::INTERNAL, text)).await;
        }
        self.work(client, request);
    }

    fn work(&self, client: Client, request: Request) {
        let stop = match request.method.as_str() {
            "subscriptions/listen" => self.ending.child_token(),
            _ => self.closing.child_token(),
        };
        let (calls, desk, running) =
            (Arc::clone(&self.calls), Arc::clone(&self.desk), Arc::clone(&self.running));
        let (said, ending) = (self.said.clone(), self.ending.clone());
        let asker = Asker { peer: Arc::clone(&self.peer), client, voice: Voice::of(said.clone()) };
        self.tasks.spawn(async move {
            let id = request.id.clone();
            let working = running.begin(&id, &stop);
            let answer = desk.answer(&calls, &asker, request, &stop).await;
            drop(working);
            // Whoever cancelled does not wait for an answer.
            if stop.is_cancelled() && !ending.is_cancelled() {
                return;
            }
            let text = match answer {
                Ok(result) => result_text(&id, &result),
                Err(refusal) => error_text(Some(&id), &refusal),
            };
            drop(said.send(text).await);
        });
    }
}
