//! MCP over standard input and output, for the client that started the process.
//!
//! A single thread reads all available messages at once and writes all pending ones together.

pub(super) mod line_buffer;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolroom_host::standard_streams::{StandardInput, StandardOutput};

use crate::calls::CallService;
use crate::mcp::context::ClientChannel;
use crate::mcp::context::{McpCaller, McpClient, RequestContext, RequestPermit};
use crate::mcp::protocol::MODERN;
use crate::mcp::protocol::message::OutgoingMessage;
use crate::mcp::protocol::message::{
    Id, InvalidMessage, Message, Request, error_text, notification_text, result_text,
};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;
use crate::mcp::sessions::running_requests::{RunningRequest, RunningRequests};
use crate::mcp::sessions::session::McpSession;
use crate::mcp::sessions::subscription::{ChangeSubscription, ListKinds};
use crate::mcp::stdio::line_buffer::{InputLine, LINE_BYTES, LineBuffer};

/// The most concurrent requests.
const MAX_REQUESTS: usize = 1_024;

/// Queued messages to the client.
const QUEUE: usize = 1_024;

/// Capacity of the write buffer that is kept.
const BUFFER_BYTES: usize = 1 << 20;

/// How long calls may continue after the end of the input.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long calls may continue after a signal.
const SIGNAL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the last responses may take to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves until the input ends or `ending` is cancelled.
///
/// # Errors
/// If the streams cannot be used.
pub(crate) async fn serve(
    server: McpServer,
    caller: McpCaller,
    ending: CancellationToken,
) -> std::io::Result<()> {
    let (mut input, output) = (StandardInput::open()?, StandardOutput::open()?);
    let (sender, receiver) = mpsc::channel(QUEUE);
    let writing = tokio::spawn(write(output, receiver));
    let calls = CallService::new(server.app.room.clone(), None);
    let connection = StdioConnection {
        calls: Arc::new(calls),
        server: Arc::new(server),
        caller: Arc::new(caller),
        running: Arc::default(),
        ending: ending.child_token(),
        sender,
    };
    let read = connection.read(&mut input).await;
    let timeout = if ending.is_cancelled() { SIGNAL_TIMEOUT } else { DRAIN_TIMEOUT };
    let StdioConnection { calls, ending, sender, .. } = connection;
    ending.cancel();
    // Running calls may end and send their results, for a limited time.
    let deadline = tokio::spawn({
        let closing = calls.closing().clone();
        async move {
            tokio::time::sleep(timeout).await;
            closing.cancel();
        }
    });
    calls.shut_down().await;
    deadline.abort();
    drop((sender, calls));
    // Calls that do not end are abandoned.
    match tokio::time::timeout(FLUSH_TIMEOUT, writing).await {
        // The client may have closed its end.
        Ok(Ok(Ok(())) | Err(_)) | Err(_) => read,
        Ok(Ok(Err(error))) if error.kind() == std::io::ErrorKind::BrokenPipe => read,
        Ok(Ok(Err(error))) => Err(error),
    }
}

/// Writes queued messages, all that are available at a time.
async fn write(
    mut output: StandardOutput,
    mut receiver: mpsc::Receiver<OutgoingMessage>,
) -> std::io::Result<()> {
    let (mut messages, mut bytes) = (Vec::new(), Vec::new());
    while receiver.recv_many(&mut messages, QUEUE).await > 0 {
        bytes.clear();
        for message in &messages {
            bytes.extend_from_slice(message.as_bytes());
            bytes.push(b'\n');
        }
        output.write(&bytes).await?;
        // Releases the memory budget of large messages.
        messages.clear();
        bytes.shrink_to(BUFFER_BYTES);
    }
    Ok(())
}

/// The connection to the client.
struct StdioConnection {
    calls: Arc<CallService>,
    server: Arc<McpServer>,
    caller: Arc<McpCaller>,
    running: Arc<RunningRequests>,
    /// Cancelled when the connection closes.
    ending: CancellationToken,
    sender: mpsc::Sender<OutgoingMessage>,
}

impl StdioConnection {
    /// Reads until the input ends, the process is asked to end, or the output breaks.
    async fn read(&self, input: &mut StandardInput) -> std::io::Result<()> {
        tokio::select! {
            read = self.lines(input) => read,
            () = self.ending.cancelled() => Ok(()),
            () = self.sender.closed() => Ok(()),
        }
    }

    async fn lines(&self, input: &mut StandardInput) -> std::io::Result<()> {
        let (mut session, mut lines) = (None, LineBuffer::default());
        loop {
            let count = input.read(lines.buffer()).await?;
            while let Some(cut) = lines.next() {
                match cut {
                    InputLine::Line(line) => self.line(line, &mut session).await,
                    InputLine::TooLong => self.refuse(None, &too_long()).await,
                }
            }
            if count == 0 {
                // The last line may lack its line break.
                self.line(lines.rest(), &mut session).await;
                return Ok(());
            }
        }
    }

    async fn line(&self, line: &[u8], session: &mut Option<Arc<McpSession>>) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match Message::parse(line) {
            Ok(Message::Request(request)) => self.request(request, session).await,
            Ok(Message::Notification { method, params }) => {
                self.notification(&method, &params, session.as_ref());
            }
            Ok(Message::Response { id, outcome }) => {
                if let Some(session) = session {
                    session.handle_response(&id, outcome);
                }
            }
            Err(InvalidMessage { id, refusal, wants_answer: true }) => {
                self.refuse(id.as_ref(), &refusal).await;
            }
            Err(InvalidMessage { wants_answer: false, .. }) => {}
        }
    }

    async fn refuse(&self, id: Option<&Id>, refusal: &RpcError) {
        // A broken output is noticed by the writer.
        drop(self.sender.send(error_text(id, refusal).into()).await);
    }

    fn notification(&self, method: &str, params: &Map<String, Value>, session: Option<&Arc<McpSession>>) {
        match (method, session) {
            ("notifications/cancelled", _) => {
                if let Some(id) = params.get("requestId").and_then(|id| Id::deserialize(id).ok()) {
                    self.running.stop(&id);
                }
            }
            ("notifications/initialized", Some(session)) => self.notify_changes(session),
            _ => {}
        }
    }

    /// Notifies a client with a session of changes.
    fn notify_changes(&self, session: &Arc<McpSession>) {
        let stream = session.open_stream();
        let (server, caller) = (Arc::clone(&self.server), Arc::clone(&self.caller));
        let (ending, sender) = (self.ending.clone(), self.sender.clone());
        let tracked = self.calls.detached().track();
        tokio::spawn(async move {
            let follow = async {
                let opened = ChangeSubscription::open(&server, &caller, ListKinds::ALL).await;
                let Ok(mut subscription) = opened else { return };
                loop {
                    let kind = subscription.next().await;
                    if sender.send(notification_text(kind.method(), &json!({})).into()).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = follow => {}
                () = stream.ended() => {}
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
                let text = result_text(&request.id, &McpServer::initialize(&new));
                // A new session ends the earlier one.
                if let Some(before) = session.replace(new) {
                    before.ended.cancel();
                }
                return drop(self.sender.send(text.into()).await);
            }
            None => match session {
                Some(session) => session.client(),
                None => {
                    let text =
                        "initialize first: send `initialize`, or the version in `_meta` of each request";
                    return self.refuse(Some(&request.id), &RpcError::invalid(text)).await;
                }
            },
        };
        if self.calls.detached().len() >= MAX_REQUESTS {
            return self.refuse(Some(&request.id), &RpcError::busy()).await;
        }
        let stop = match request.method.as_str() {
            "subscriptions/listen" => self.ending.child_token(),
            _ => self.calls.closing().child_token(),
        };
        match self.running.register(&request.id, &stop) {
            Ok(running) => self.work(client, request, stop, running),
            Err(refusal) => self.refuse(Some(&request.id), &refusal).await,
        }
    }

    fn work(&self, client: McpClient, request: Request, stop: CancellationToken, running: RunningRequest) {
        let (calls, server, sender) =
            (Arc::clone(&self.calls), Arc::clone(&self.server), self.sender.clone());
        let (ending, closing) = (self.ending.clone(), self.calls.closing().clone());
        let context = RequestContext {
            caller: Arc::clone(&self.caller),
            client,
            channel: ClientChannel::from_sender(sender.clone()),
            permit: RequestPermit::default(),
        };
        let tracked = self.calls.detached().track();
        tokio::spawn(async move {
            let id = request.id.clone();
            let result = server.handle(&calls, &context, request, &stop).await;
            drop(running);
            // A cancelled request gets no response.
            if stop.is_cancelled() && !ending.is_cancelled() {
                return;
            }
            let text = match result {
                Ok(result) => result.wrapped(|result| result_text(&id, result)),
                Err(refusal) => error_text(Some(&id), &refusal).into(),
            };
            // A client that does not read must not delay the shutdown.
            tokio::select! {
                biased;
                _ = sender.send(text) => {}
                () = closing.cancelled() => {}
            }
            drop(tracked);
        });
    }
}

fn too_long() -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, format!("a message must not exceed {LINE_BYTES} bytes"))
}
