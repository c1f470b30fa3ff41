//! Negotiates the protocol era and version with a server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::mcp::client::Client;
use crate::mcp::client::pending::PendingRequests;
use crate::mcp::protocol::error::{McpError, UNSUPPORTED_VERSION};
use crate::mcp::protocol::message::{notification, shortened};
use crate::mcp::protocol::{Era, STATELESS, WITH_SESSIONS};
use crate::mcp::transport::notification_stream::Backoff;
use crate::mcp::transport::{OutgoingRequest, Transport};

/// A server that does not answer `server/discover` within this time is taken for one of the session era.
const DISCOVER_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of `initialize`. Programs have to start first.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(60);

/// A subscription without events is renewed after this time.
const SUBSCRIPTION_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Characters of a version that error messages show.
const SHOWN_CHARS: usize = 80;

impl Client {
    /// Finds the era of the server and negotiates. `known` is the era of the last connection, which is tried first.
    pub(crate) async fn negotiate(
        transport: Transport,
        pending: Arc<PendingRequests>,
        known: Option<Era>,
    ) -> Result<Self, McpError> {
        let (server_info, version) = (Value::Null, STATELESS.to_owned());
        let transport = Arc::new(transport);
        let mut client =
            Self { transport, listening: None, pending, era: Era::Stateless, version, server_info };
        if known == Some(Era::Session) {
            match client.initialize().await {
                Err(error) if error.may_be_older() && client.try_stateless().await? => {}
                result => result?,
            }
        } else if !client.try_stateless().await? {
            client.initialize().await?;
        }
        Ok(client)
    }

    /// Returns whether the server is of the stateless era, and subscribes to changes of its tools if so.
    async fn try_stateless(&mut self) -> Result<bool, McpError> {
        match self.discover().await {
            Ok(true) => {
                self.era = Era::Stateless;
                STATELESS.clone_into(&mut self.version);
                self.subscribe();
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(error) if error.may_be_older() => {
                tracing::debug!(%error, "the server may be of the session era");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends `server/discover`. Returns whether the server supports the stateless era.
    async fn discover(&mut self) -> Result<bool, McpError> {
        self.era = Era::Stateless;
        self.set_version(Some(STATELESS), true);
        let request = || OutgoingRequest {
            is_cancellable: false,
            ..OutgoingRequest::new("server/discover", Map::new(), DISCOVER_TIMEOUT)
        };
        let server_info = match self.request(request()).await {
            Err(McpError::Rpc { code: UNSUPPORTED_VERSION, data, .. }) => {
                let supported = data.as_ref().and_then(|data| data.get("supported"));
                if !versions(supported).any(|version| version == STATELESS) {
                    return Ok(false);
                }
                self.request(request()).await?
            }
            response => response?,
        };
        let supported = server_info.get("supportedVersions");
        if !versions(supported).any(|version| version == STATELESS) {
            return Ok(false);
        }
        self.server_info = server_info;
        Ok(true)
    }

    /// The handshake of the session era.
    async fn initialize(&mut self) -> Result<(), McpError> {
        self.era = Era::Session;
        self.set_version(None, false);
        let params = json!({
            "protocolVersion": WITH_SESSIONS[0],
            "capabilities": self.pending.handler().capabilities(),
            "clientInfo": client_info(),
        });
        let params = params.as_object().cloned().unwrap_or_default();
        let request = OutgoingRequest {
            is_cancellable: false,
            ..OutgoingRequest::new("initialize", params, INITIALIZE_TIMEOUT)
        };
        let server_info = self.transport.request(&request).await?;
        let version = server_info.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !WITH_SESSIONS.contains(&version) {
            return Err(McpError::UnsupportedVersion {
                offered: format!("`{}`", shortened(version, SHOWN_CHARS)),
            });
        }
        version.clone_into(&mut self.version);
        // Earlier versions do not have the header.
        let has_header = version >= "2025-06-18";
        self.set_version(has_header.then(|| version.to_owned()).as_deref(), false);
        self.server_info = server_info;
        self.transport.send(notification("notifications/initialized", &Value::Null)).await?;
        if let Transport::Http(http) = &*self.transport
            && let Some(stream) = http.notification_stream().await
        {
            self.listening = Some(tokio::spawn(stream.read()).abort_handle());
        }
        Ok(())
    }

    /// Subscribes to changes of the tools, if the server supports it.
    fn subscribe(&mut self) {
        if self.server_info.pointer("/capabilities/tools/listChanged") != Some(&Value::Bool(true)) {
            return;
        }
        let params = json!({"notifications": {"toolsListChanged": true}});
        let params = params.as_object().cloned().unwrap_or_default();
        let mut request = OutgoingRequest::new("subscriptions/listen", params, SUBSCRIPTION_TIMEOUT);
        request.params.insert("_meta".to_owned(), self.meta());
        let (transport, pending) = (Arc::clone(&self.transport), Arc::clone(&self.pending));
        let listening = tokio::spawn(async move {
            let mut backoff = Backoff::default();
            while pending.closed().is_none() {
                let began = Instant::now();
                // The response ends the subscription. Changes may have been missed until the next one.
                match transport.request(&request).await {
                    Err(McpError::Rpc { message, .. }) => {
                        tracing::debug!(message, "the server does not support subscriptions");
                        return;
                    }
                    ended => tracing::debug!(error = ?ended.err(), "the subscription to a server ended"),
                }
                tokio::time::sleep(backoff.after(began.elapsed(), None)).await;
                pending.handler().on_tools_changed();
            }
        });
        self.listening = Some(listening.abort_handle());
    }

    /// `_meta` of every request of the stateless era.
    pub(crate) fn meta(&self) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": client_info(),
            "io.modelcontextprotocol/clientCapabilities": self.pending.handler().capabilities(),
        })
    }

    fn set_version(&self, version: Option<&str>, is_stateless: bool) {
        if let Transport::Http(http) = &*self.transport {
            http.set_version(version, is_stateless);
        }
    }
}

fn client_info() -> Value {
    json!({"name": "toolroom", "title": "Toolroom", "version": env!("CARGO_PKG_VERSION")})
}

fn versions(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
