//! The first words to a server: which era it is of, and what is agreed upon.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::mcp::client::Client;
use crate::mcp::client::pending::Desk;
use crate::mcp::protocol::era::{Era, STATELESS, WITH_SESSIONS};
use crate::mcp::protocol::error::{McpError, UNSUPPORTED_VERSION};
use crate::mcp::protocol::message::{note, shortened};
use crate::mcp::transport::listening::Backoff;
use crate::mcp::transport::{Ask, Wire};

/// How long a server of unknown age may be silent before it counts as an older one.
const PROBE: Duration = Duration::from_secs(10);

/// How long the first words may take: programs have to start first.
const HANDSHAKE: Duration = Duration::from_secs(60);

/// How long a server may be silent about changes; then it is asked anew.
const SUBSCRIBED: Duration = Duration::from_secs(3_600);

/// What is shown of a version.
const SHOWN_CHARS: usize = 80;

impl Client {
    /// Finds the era the server is of, and begins as it wants it. What it was of the last time is only where to begin.
    pub(crate) async fn agree(wire: Wire, desk: Arc<Desk>, known: Option<Era>) -> Result<Self, McpError> {
        let (about, version) = (Value::Null, STATELESS.to_owned());
        let wire = Arc::new(wire);
        let mut client = Self { wire, listening: None, desk, era: Era::Stateless, version, about };
        if known == Some(Era::Session) {
            match client.initialize().await {
                Err(error) if error.may_be_older() && client.discovered().await? => {}
                agreed => agreed?,
            }
        } else if !client.discovered().await? {
            client.initialize().await?;
        }
        Ok(client)
    }

    /// Whether the server is of the newer era; then it is talked to in its words.
    async fn discovered(&mut self) -> Result<bool, McpError> {
        match self.discover().await {
            Ok(true) => {
                self.era = Era::Stateless;
                STATELESS.clone_into(&mut self.version);
                self.subscribe();
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(error) if error.may_be_older() => {
                tracing::debug!(%error, "the server may be an older one");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Asks in the words of the newer era; says whether the server understands them.
    async fn discover(&mut self) -> Result<bool, McpError> {
        self.era = Era::Stateless;
        self.speak(Some(STATELESS), true);
        let ask = || Ask { may_cancel: false, ..Ask::new("server/discover", Map::new(), PROBE) };
        let about = match self.ask(ask()).await {
            Err(McpError::Refused { code: UNSUPPORTED_VERSION, data, .. }) => {
                let supported = data.as_ref().and_then(|data| data.get("supported"));
                if !versions(supported).any(|version| version == STATELESS) {
                    return Ok(false);
                }
                self.ask(ask()).await?
            }
            answer => answer?,
        };
        let supported = about.get("supportedVersions");
        if !versions(supported).any(|version| version == STATELESS) {
            return Ok(false);
        }
        self.about = about;
        Ok(true)
    }

    /// The handshake of the older era.
    async fn initialize(&mut self) -> Result<(), McpError> {
        self.era = Era::Session;
        self.speak(None, false);
        let params = json!({
            "protocolVersion": WITH_SESSIONS[0],
            "capabilities": self.desk.attendant().capabilities(),
            "clientInfo": own_name(),
        });
        let params = params.as_object().cloned().unwrap_or_default();
        let ask = Ask { may_cancel: false, ..Ask::new("initialize", params, HANDSHAKE) };
        let about = self.wire.ask(&ask).await?;
        let version = about.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !WITH_SESSIONS.contains(&version) {
            return Err(McpError::Version { offered: format!("`{}`", shortened(version, SHOWN_CHARS)) });
        }
        version.clone_into(&mut self.version);
        // Before that there was no such header.
        let is_told = version >= "2025-06-18";
        self.speak(is_told.then(|| version.to_owned()).as_deref(), false);
        self.about = about;
        self.wire.tell(note("notifications/initialized", &Value::Null)).await?;
        if let Wire::Http(http) = &*self.wire
            && let Some(listening) = http.listen().await
        {
            self.listening = Some(tokio::spawn(listening.read()).abort_handle());
        }
        Ok(())
    }

    /// Wants to be told when the tools change, if the server can tell.
    fn subscribe(&mut self) {
        if self.about.pointer("/capabilities/tools/listChanged") != Some(&Value::Bool(true)) {
            return;
        }
        let params = json!({"notifications": {"toolsListChanged": true}});
        let mut ask =
            Ask::new("subscriptions/listen", params.as_object().cloned().unwrap_or_default(), SUBSCRIBED);
        ask.params.insert("_meta".to_owned(), self.meta());
        let (wire, desk) = (Arc::clone(&self.wire), Arc::clone(&self.desk));
        let listening = tokio::spawn(async move {
            let mut backoff = Backoff::default();
            while desk.closed().is_none() {
                let began = Instant::now();
                // Its answer is its end. What was not said meanwhile may be that the tools have changed.
                match wire.ask(&ask).await {
                    Err(McpError::Refused { message, .. }) => {
                        tracing::debug!(message, "a server does not tell of changes");
                        return;
                    }
                    ended => tracing::debug!(error = ?ended.err(), "a server tells of no changes for now"),
                }
                tokio::time::sleep(backoff.after(began.elapsed(), None)).await;
                desk.attendant().tools_changed();
            }
        });
        self.listening = Some(listening.abort_handle());
    }

    /// What goes with every request of the newer era.
    pub(crate) fn meta(&self) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": own_name(),
            "io.modelcontextprotocol/clientCapabilities": self.desk.attendant().capabilities(),
        })
    }

    fn speak(&self, version: Option<&str>, is_stateless: bool) {
        if let Wire::Http(http) = &*self.wire {
            http.speak(version, is_stateless);
        }
    }
}

fn own_name() -> Value {
    json!({"name": "toolroom", "title": "Toolroom", "version": env!("CARGO_PKG_VERSION")})
}

fn versions(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
