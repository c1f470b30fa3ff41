//! MCP over standard input and output, for the client that started us.
//!
//! One thread does it all: every message that has come is read at once, and answers that are ready are written together.

pub(super) mod line_buffer;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolroom_host::standard_streams::{StandardInput, StandardOutput};

use crate::calls::CallService;
use crate::mcp::client_channel::ClientChannel;
use crate::mcp::context::{McpCaller, McpClient, RequestContext, RequestPermit};
use crate::mcp::protocol::message::{
    Id, InvalidMessage, Message, Request, error_text, notification_text, result_text,
};
use crate::mcp::protocol::outgoing::OutgoingMessage;
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::protocol::version::MODERN;
use crate::mcp::server::McpServer;
use crate::mcp::sessions::running_requests::{RunningRequest, RunningRequests};
use crate::mcp::sessions::session::McpSession;
use crate::mcp::sessions::subscription::{ChangeSubscription, ListKinds};
use crate::mcp::stdio::line_buffer::{InputLine, LINE_BYTES, LineBuffer};

/// Requests that are worked on at once.
const AT_ONCE: usize = 1_024;

/// Messages that wait to be written.
const AHEAD: usize = 1_024;

/// What is kept of the place where messages are put together.
const KEPT_BYTES: usize = 1 << 20;

/// How long calls go on when nobody says anything more.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long they do when we are asked to end.
const SHORT_PATIENCE: Duration = Duration::from_secs(5);

/// How long the last answers may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves until the client says nothing more, or `ending` is cancelled.
///
/// # Errors
/// When the streams cannot be used.
pub(crate) async fn serve(
    desk: McpServer,
    caller: McpCaller,
    ending: CancellationToken,
) -> std::io::Result<()> {
    let (mut input, output) = (StandardInput::open()?, StandardOutput::open()?);
    let (said, heard) = mpsc::channel(AHEAD);
    let writing = tokio::spawn(write(output, heard));
    let calls = CallService::new(desk.app.room.clone(), None);
    let line = StdioConnection {
        calls: Arc::new(calls),
        desk: Arc::new(desk),
        caller: Arc::new(caller),
        running: Arc::default(),
        ending: ending.child_token(),
        said,
    };
    let read = line.read(&mut input).await;
    let patience = if ending.is_cancelled() { SHORT_PATIENCE } else { PATIENCE };
    let StdioConnection { calls, ending, said, .. } = line;
    ending.cancel();
    // What was asked for is told, if it does not take too long.
    let hurry = tokio::spawn({
        let closing = calls.closing().clone();
        async move {
            tokio::time::sleep(patience).await;
            closing.cancel();
        }
    });
    calls.shut_down().await;
    hurry.abort();
    drop((said, calls));
    // What is stopped and does not end is left behind.
    match tokio::time::timeout(LAST_WORDS, writing).await {
        // Whoever left does not read any more.
        Ok(Ok(Ok(())) | Err(_)) | Err(_) => read,
        Ok(Ok(Err(error))) if error.kind() == std::io::ErrorKind::BrokenPipe => read,
        Ok(Ok(Err(error))) => Err(error),
    }
}

/// Writes what is said, as much at a time as there is.
async fn write(
    mut output: StandardOutput,
    mut heard: mpsc::Receiver<OutgoingMessage>,
) -> std::io::Result<()> {
    let (mut messages, mut bytes) = (Vec::new(), Vec::new());
    while heard.recv_many(&mut messages, AHEAD).await > 0 {
        bytes.clear();
        for message in &messages {
            bytes.extend_from_slice(message.as_bytes());
            bytes.push(b'\n');
        }
        output.write(&bytes).await?;
        // What was large has its room until here.
        messages.clear();
        bytes.shrink_to(KEPT_BYTES);
    }
    Ok(())
}

/// The line to one client.
struct StdioConnection {
    calls: Arc<CallService>,
    desk: Arc<McpServer>,
    caller: Arc<McpCaller>,
    running: Arc<RunningRequests>,
    /// Nothing more is said.
    ending: CancellationToken,
    said: mpsc::Sender<OutgoingMessage>,
}

impl StdioConnection {
    /// Reads until nothing more comes, we are asked to end, or nobody hears us: also when somebody does not read what
    /// they are told.
    async fn read(&self, input: &mut StandardInput) -> std::io::Result<()> {
        tokio::select! {
            read = self.lines(input) => read,
            () = self.ending.cancelled() => Ok(()),
            () = self.said.closed() => Ok(()),
        }
    }

    async fn lines(&self, input: &mut StandardInput) -> std::io::Result<()> {
        let (mut session, mut lines) = (None, LineBuffer::default());
        loop {
            let count = input.read(lines.room()).await?;
            while let Some(cut) = lines.next() {
                match cut {
                    InputLine::Line(line) => self.line(line, &mut session).await,
                    InputLine::TooLong => self.refuse(None, &too_long()).await,
                }
            }
            if count == 0 {
                // Whoever left may have said something without ending the line.
                self.line(lines.rest(), &mut session).await;
                return Ok(());
            }
        }
    }

    async fn line(&self, line: &[u8], session: &mut Option<Arc<McpSession>>) {
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
            Err(InvalidMessage { id, refusal, wants_answer: true }) => {
                self.refuse(id.as_ref(), &refusal).await;
            }
            Err(InvalidMessage { wants_answer: false, .. }) => {}
        }
    }

    async fn refuse(&self, id: Option<&Id>, refusal: &RpcError) {
        // Whether anybody reads it shows when it is written.
        drop(self.said.send(error_text(id, refusal).into()).await);
    }

    fn notification(&self, method: &str, params: &Map<String, Value>, session: Option<&Arc<McpSession>>) {
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
    fn watch(&self, session: &Arc<McpSession>) {
        let listening = session.listens();
        let (desk, caller) = (Arc::clone(&self.desk), Arc::clone(&self.caller));
        let (ending, said) = (self.ending.clone(), self.said.clone());
        let tracked = self.calls.detached().track();
        tokio::spawn(async move {
            let follow = async {
                let Ok(mut watch) = ChangeSubscription::begin(&desk, &caller, ListKinds::ALL).await else {
                    return;
                };
                loop {
                    let kind = watch.next().await;
                    if said.send(notification_text(kind.method(), &json!({})).into()).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = follow => {}
                () = listening.over() => {}
                () = ending.cancelled() => {}
            }
            drop(tracked);
        });
    }

    async fn request(&self, request: Request, session: &mut Option<Arc<McpSession>>) {
        let client = match McpClient::named(&request.params.meta) {
            Some(Ok((client, MODERN))) => client,
            Some(Ok((_, version))) => {
                return self.refuse(Some(&request.id), &RpcError::version(version)).await;
            }
            Some(Err(refusal)) => return self.refuse(Some(&request.id), &refusal).await,
            None if request.method == "initialize" => {
                let name = Arc::clone(&self.caller.name);
                let new = Arc::new(McpSession::new(String::new(), name, &request.params.others));
                let text = result_text(&request.id, &McpServer::welcome(&new));
                // Whoever begins anew has left the session before.
                if let Some(before) = session.replace(new) {
                    before.over.cancel();
                }
                return drop(self.said.send(text.into()).await);
            }
            None => match session {
                Some(session) => session.client(),
                None => {
                    let text = "say who you are first: with `initialize`, or in `_meta` of each request";
                    return self.refuse(Some(&request.id), &RpcError::invalid(text)).await;
                }
            },
        };
        if self.calls.detached().len() >= AT_ONCE {
            return self.refuse(Some(&request.id), &RpcError::busy()).await;
        }
        let stop = match request.method.as_str() {
            "subscriptions/listen" => self.ending.child_token(),
            _ => self.calls.closing().child_token(),
        };
        match self.running.begin(&request.id, &stop) {
            Ok(working) => self.work(client, request, stop, working),
            Err(refusal) => self.refuse(Some(&request.id), &refusal).await,
        }
    }

    fn work(&self, client: McpClient, request: Request, stop: CancellationToken, working: RunningRequest) {
        let (calls, desk, said) = (Arc::clone(&self.calls), Arc::clone(&self.desk), self.said.clone());
        let (ending, closing) = (self.ending.clone(), self.calls.closing().clone());
        let context = RequestContext {
            caller: Arc::clone(&self.caller),
            client,
            channel: ClientChannel::of(said.clone()),
            place: RequestPermit::default(),
        };
        let tracked = self.calls.detached().track();
        tokio::spawn(async move {
            let id = request.id.clone();
            let answer = desk.answer(&calls, &context, request, &stop).await;
            drop(working);
            // Whoever cancelled does not wait for an answer.
            if stop.is_cancelled() && !ending.is_cancelled() {
                return;
            }
            let text = match answer {
                Ok(result) => result.wrapped(|result| result_text(&id, result)),
                Err(refusal) => error_text(Some(&id), &refusal).into(),
            };
            // Nor is anybody waited for who does not read, once everything ends.
            tokio::select! {
                biased;
                _ = said.send(text) => {}
                () = closing.cancelled() => {}
            }
            drop(tracked);
        });
    }
}

fn too_long() -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, format!("a message may have up to {LINE_BYTES} bytes"))
}
