//! The stdio transport: the server is a program, with one message per line on standard input and output.

use std::sync::Arc;

use memchr::{memchr, memmem};
use serde_json::Value;
use tokio::sync::mpsc;
use toolroom_host::process::{
    Cause, Order, OutputStream, ProcessError, ProgramEnd, Running, Status, Supervisor,
};

use crate::mcp::client::pending::PendingRequests;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{MAX_MESSAGE_BYTES, cancelled, request, shortened, too_large};
use crate::mcp::transport::OutgoingRequest;

/// Queued messages to the server.
const QUEUE: usize = 64;

/// The end of standard error that is searched for the last lines.
const STDERR_CHARS: usize = 4 * 1024;

/// The longest excerpt of standard error in the error of a program that ended.
const MAX_EXCERPT: usize = 400;

/// A running program. Dropping this ends it and its descendants.
pub(crate) struct Stdio {
    running: Running,
    out: mpsc::Sender<Vec<u8>>,
    pending: Arc<PendingRequests>,
}

impl Stdio {
    pub(crate) async fn start(
        supervisor: &Supervisor,
        order: Order,
        pending: Arc<PendingRequests>,
    ) -> Result<Self, McpError> {
        let (out, mut queue) = mpsc::channel::<Vec<u8>>(QUEUE);
        let mut lines = Lines::new(Arc::clone(&pending), out.downgrade());
        let observer = move |stream, bytes: &[u8]| match stream {
            OutputStream::Stdout => lines.push(bytes),
            OutputStream::Stderr => lines.pending.handler().on_stderr(bytes),
        };
        let (running, mut input) =
            supervisor.start_interactive(order, observer).await.map_err(McpError::Start)?;
        let writing = Arc::clone(&pending);
        tokio::spawn(async move {
            while let Some(mut message) = queue.recv().await {
                message.push(b'\n');
                if let Err(error) = input.write(&message).await {
                    return writing.close(&McpError::Write(Arc::new(error)));
                }
            }
        });
        Ok(Self { running, out, pending })
    }

    pub(crate) async fn request(&self, outgoing: &OutgoingRequest) -> Result<Value, McpError> {
        let mut waiting = self.pending.register(outgoing.progress.clone())?;
        if outgoing.is_cancellable {
            let out = self.out.clone();
            // Dropped if the queue is full: the server does not read.
            waiting = waiting.on_cancel(move |id| drop(out.try_send(cancelled(id))));
        }
        let message = request(waiting.id, &outgoing.method, &outgoing.params(waiting.id));
        let response = async {
            self.send(message).await?;
            let idle = waiting.idle(outgoing.timeout);
            tokio::select! {
                biased;
                response = waiting.response() => response,
                () = idle => Err(outgoing.timed_out()),
            }
        };
        let response = tokio::select! {
            biased;
            response = response => response,
            ended = self.running.wait() => Err(self.exited(&ended)),
        };
        // A pipe breaks before its program has ended: how that happened says more.
        match response {
            Err(McpError::Write(_)) => Err(self.exited(&self.running.wait().await)),
            response => response,
        }
    }

    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), McpError> {
        let closed = || McpError::Closed { why: "it no longer reads its input".to_owned() };
        self.out.send(message).await.map_err(|_| self.pending.closed().unwrap_or_else(closed))
    }

    /// Whether the program runs and the connection is open.
    pub(crate) fn is_alive(&self) -> bool {
        self.running.ended().is_none() && self.pending.closed().is_none()
    }

    fn exited(&self, ended: &Result<ProgramEnd, ProcessError>) -> McpError {
        let stderr = self.running.output(OutputStream::Stderr).last_chars(STDERR_CHARS);
        let error = McpError::Exited { how: how(ended, &stderr) };
        self.pending.close(&error);
        error
    }
}

/// How a program ended, with the last lines of standard error.
fn how(ended: &Result<ProgramEnd, ProcessError>, stderr: &str) -> String {
    let mut text = match ended {
        Ok(ProgramEnd { cause: Cause::Limit(limit), .. }) => format!("it reached a limit ({limit:?})"),
        Ok(ProgramEnd { cause: Cause::Trespass, .. }) => "it changed a protected file".to_owned(),
        Ok(ProgramEnd { cause: Cause::Uncovered, .. }) => {
            "a file that is hidden from it was replaced".to_owned()
        }
        Ok(ProgramEnd { cause: Cause::Stopped, .. }) => "it was stopped".to_owned(),
        Ok(ProgramEnd { status: Status::Exited(code), .. }) => format!("it exited with code {code}"),
        Ok(ProgramEnd { status: Status::Signalled(signal), .. }) => {
            format!("it was ended by signal {signal}")
        }
        Err(error) => error.to_string(),
    };
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    if let Some(last) = lines.get(lines.len().saturating_sub(3)..).filter(|last| !last.is_empty()) {
        text.push_str(&format!("; standard error: {}", shortened(&last.join(" | "), MAX_EXCERPT)));
    }
    text
}

/// Splits standard output into lines and dispatches them.
pub(crate) struct Lines {
    pending: Arc<PendingRequests>,
    out: mpsc::WeakSender<Vec<u8>>,
    partial: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(pending: Arc<PendingRequests>, out: mpsc::WeakSender<Vec<u8>>) -> Self {
        Self { pending, out, partial: Vec::new() }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        let is_too_much = self.pending.count_traffic(0, bytes.len()).is_err();
        while !is_too_much
            && self.pending.closed().is_none()
            && let Some(at) = memchr(b'\n', bytes)
        {
            let (line, rest) = bytes.split_at_checked(at).unwrap_or((bytes, b""));
            bytes = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() {
                self.line(line);
            } else {
                self.partial.extend_from_slice(line);
                let whole = std::mem::take(&mut self.partial);
                self.line(&whole);
            }
        }
        // The connection may be closed in the middle of these bytes.
        if self.pending.closed().is_some() {
            self.partial = Vec::new();
            return;
        }
        self.partial.extend_from_slice(bytes);
        if self.partial.len() > MAX_MESSAGE_BYTES {
            self.partial = Vec::new();
            self.pending.close(&too_large());
        }
    }

    fn line(&self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            // Closes the connection if there are too many.
            drop(self.pending.count_traffic(1, 0));
            return;
        }
        match self.pending.receive(None, line) {
            Ok(replies) => {
                let out = self.out.upgrade();
                for reply in replies {
                    // Dropped if the queue is full: the server does not read.
                    drop(out.as_ref().map(|out| out.try_send(reply)));
                }
            }
            // Its request would wait in vain.
            Err(error) if line.starts_with(b"{") && memmem::find(line, b"\"jsonrpc\"").is_some() => {
                self.pending.close(&McpError::Closed { why: error.to_string() });
            }
            // Many programs print logs between their messages.
            Err(error) => tracing::debug!(%error, "ignored a line of a server that is not a message"),
        }
    }
}
