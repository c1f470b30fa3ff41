//! A server that is a program: one message per line on its standard input and output.

use std::sync::Arc;

use memchr::{memchr, memmem};
use serde_json::Value;
use tokio::sync::mpsc;
use toolroom_host::process::{
    Cause, Order, OutputStream, ProcessError, ProgramEnd, Running, Status, Supervisor,
};

use crate::mcp::client::pending::Desk;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::{MAX_MESSAGE_BYTES, cancelled, request, shortened, too_large};
use crate::mcp::transport::Ask;

/// Messages that wait to be read by the server.
const QUEUE: usize = 64;

/// Where its last words are looked for.
const KEPT_CHARS: usize = 4 * 1024;

/// How much of its last words is told when it ends.
const LAST_WORDS: usize = 400;

/// A running server. Dropping it ends the program, and everything that came from it.
pub(crate) struct Stdio {
    running: Running,
    out: mpsc::Sender<Vec<u8>>,
    desk: Arc<Desk>,
}

impl Stdio {
    pub(crate) async fn start(
        supervisor: &Supervisor,
        order: Order,
        desk: Arc<Desk>,
    ) -> Result<Self, McpError> {
        let (out, mut queue) = mpsc::channel::<Vec<u8>>(QUEUE);
        let mut lines = Lines::new(Arc::clone(&desk), out.downgrade());
        let observer = move |stream, bytes: &[u8]| match stream {
            OutputStream::Stdout => lines.push(bytes),
            OutputStream::Stderr => lines.desk.attendant().printed(bytes),
        };
        let (running, mut input) =
            supervisor.start_interactive(order, observer).await.map_err(McpError::Start)?;
        let told = Arc::clone(&desk);
        tokio::spawn(async move {
            while let Some(mut message) = queue.recv().await {
                message.push(b'\n');
                if let Err(error) = input.write(&message).await {
                    return told.close(&McpError::Unwritable(Arc::new(error)));
                }
            }
        });
        Ok(Self { running, out, desk })
    }

    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Value, McpError> {
        let mut ticket = self.desk.open(ask.progress.clone())?;
        if ask.may_cancel {
            let out = self.out.clone();
            // A server that reads nothing is told nothing.
            ticket = ticket.telling(move |id| drop(out.try_send(cancelled(id))));
        }
        let message = request(ticket.id, &ask.method, &ask.params(ticket.id));
        let answer = async {
            self.say(message).await?;
            let patience = ticket.silence(ask.patience);
            tokio::select! {
                biased;
                answer = ticket.answer() => answer,
                () = patience => Err(ask.silent()),
            }
        };
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            ended = self.running.wait() => Err(self.lost(&ended)),
        };
        // A pipe breaks before its program has ended: how that happened says more.
        match answer {
            Err(McpError::Unwritable(_)) => Err(self.lost(&self.running.wait().await)),
            answer => answer,
        }
    }

    pub(crate) async fn tell(&self, message: Vec<u8>) -> Result<(), McpError> {
        self.say(message).await
    }

    async fn say(&self, message: Vec<u8>) -> Result<(), McpError> {
        let closed = || McpError::Closed { why: "it does not read any more".to_owned() };
        self.out.send(message).await.map_err(|_| self.desk.closed().unwrap_or_else(closed))
    }

    /// Whether it still runs and can be asked.
    pub(crate) fn is_alive(&self) -> bool {
        self.running.ended().is_none() && self.desk.closed().is_none()
    }

    fn lost(&self, ended: &Result<ProgramEnd, ProcessError>) -> McpError {
        let errors = self.running.output(OutputStream::Stderr).last_chars(KEPT_CHARS);
        let error = McpError::Ended { how: how(ended, &errors) };
        self.desk.close(&error);
        error
    }
}

/// How a program ended, with its last words.
fn how(ended: &Result<ProgramEnd, ProcessError>, errors: &str) -> String {
    let mut text = match ended {
        Ok(ProgramEnd { cause: Cause::Limit(limit), .. }) => format!("it reached a limit ({limit:?})"),
        Ok(ProgramEnd { cause: Cause::Trespass, .. }) => "it changed a protected file".to_owned(),
        Ok(ProgramEnd { cause: Cause::Uncovered, .. }) => {
            "a file that is kept from it was replaced".to_owned()
        }
        Ok(ProgramEnd { cause: Cause::Stopped, .. }) => "it was stopped".to_owned(),
        Ok(ProgramEnd { status: Status::Exited(code), .. }) => format!("it left with code {code}"),
        Ok(ProgramEnd { status: Status::Signalled(signal), .. }) => format!("signal {signal} ended it"),
        Err(error) => error.to_string(),
    };
    let lines: Vec<&str> = errors.lines().filter(|line| !line.trim().is_empty()).collect();
    if let Some(last) = lines.get(lines.len().saturating_sub(3)..).filter(|last| !last.is_empty()) {
        text.push_str(&format!("; it said: {}", shortened(&last.join(" | "), LAST_WORDS)));
    }
    text
}

/// Cuts what comes into lines, and gives them to the desk.
pub(crate) struct Lines {
    desk: Arc<Desk>,
    out: mpsc::WeakSender<Vec<u8>>,
    partial: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(desk: Arc<Desk>, out: mpsc::WeakSender<Vec<u8>>) -> Self {
        Self { desk, out, partial: Vec::new() }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        let is_too_much = self.desk.count(0, bytes.len()).is_err();
        while !is_too_much
            && self.desk.closed().is_none()
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
        // Nobody listens any more, be it in the middle of what came.
        if self.desk.closed().is_some() {
            self.partial = Vec::new();
            return;
        }
        self.partial.extend_from_slice(bytes);
        if self.partial.len() > MAX_MESSAGE_BYTES {
            self.partial = Vec::new();
            self.desk.close(&too_large());
        }
    }

    fn line(&self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            // Too many of them close the desk, which says so itself.
            drop(self.desk.count(1, 0));
            return;
        }
        match self.desk.take(None, line) {
            Ok(replies) => {
                let out = self.out.upgrade();
                for reply in replies {
                    // A server that asks and does not read the answers goes without them.
                    drop(out.as_ref().map(|out| out.try_send(reply)));
                }
            }
            // Whoever waits for this one would wait in vain.
            Err(error) if line.starts_with(b"{") && memmem::find(line, b"\"jsonrpc\"").is_some() => {
                self.desk.close(&McpError::Closed { why: error.to_string() });
            }
            // Many print what they do between their messages.
            Err(error) => tracing::debug!(%error, "a line of a server is no message"),
        }
    }
}
