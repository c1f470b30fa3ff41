//! The HTTP clients of tools: one for each egress policy and set of limits, created on first use.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use toolroom::call::CallContext;
use toolroom::scope::ProjectId;
use toolroom::tool::ToolId;
use toolroom_host::net::{Client, EgressPolicy, EgressRule, HttpLimits};

/// Maximum size of a response, before and after decompression.
pub(super) const MAX_BYTES: u64 = 2_000_000;

/// The internal destinations that are open to a tool of a project.
type Openings = dyn Fn(&ProjectId, &ToolId) -> Vec<EgressRule> + Send + Sync;

/// Creates and shares HTTP clients.
pub struct Web {
    openings: Box<Openings>,
    clients: Mutex<Vec<(ClientKey, Client)>>,
}

/// What a client is configured with. Requests with an equal key share a client, and its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ClientKey {
    openings: Vec<EgressRule>,
    max_redirects: u32,
    limits: HttpLimits,
}

impl Web {
    /// Reaches the public internet and, per project and tool, what `openings` returns from trusted configuration. Opens
    /// nothing yet.
    pub fn new(openings: impl Fn(&ProjectId, &ToolId) -> Vec<EgressRule> + Send + Sync + 'static) -> Self {
        Self { openings: Box::new(openings), clients: Mutex::new(Vec::new()) }
    }

    /// Reaches only the public internet.
    #[must_use]
    pub fn public() -> Self {
        Self::new(|_, _| Vec::new())
    }

    /// The client for a call.
    pub(super) fn client(
        &self,
        context: &CallContext,
        tool: &ToolId,
        max_redirects: u32,
        limits: HttpLimits,
    ) -> Client {
        let openings = (self.openings)(&context.scope().project, tool);
        self.shared_client(ClientKey { openings, max_redirects, limits })
    }

    /// The client for a configured service, which may be in a private network, with a total timeout.
    pub(in super::super) fn client_for_service(
        &self,
        opening: Option<&EgressRule>,
        total: Duration,
    ) -> Client {
        let openings = opening.into_iter().cloned().collect();
        self.shared_client(ClientKey { openings, max_redirects: 0, limits: limits(total) })
    }

    fn shared_client(&self, key: ClientKey) -> Client {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(made_for, _)| *made_for == key) {
            return client.clone();
        }
        let reach = EgressPolicy::public().open(key.openings.clone());
        let client = Client::new(reach.max_redirects(key.max_redirects).limits(key.limits));
        clients.push((key, client.clone()));
        client
    }
}

/// The limits of a tool with this total timeout.
pub(super) fn limits(total: Duration) -> HttpLimits {
    HttpLimits {
        wire_bytes: MAX_BYTES,
        decoded_bytes: MAX_BYTES,
        connect: Duration::from_secs(10),
        // Only the total timeout counts: a server may take long before its first byte.
        idle: total,
        total: Some(total),
        ..HttpLimits::default()
    }
}
