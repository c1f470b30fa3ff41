//! The clients tools reach the web with: one for each way of reaching it, made when it is first needed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use toolroom::call::CallContext;
use toolroom::scope::ProjectId;
use toolroom::tool::ToolId;
use toolroom_host::net::{Client, EgressPolicy, EgressRule, HttpLimits};

/// Most that is taken of a response, compressed or not.
pub(super) const MAX_BYTES: u64 = 2_000_000;

/// Which internal destinations are opened to a tool of a project.
type Openings = dyn Fn(&ProjectId, &ToolId) -> Vec<EgressRule> + Send + Sync;

/// The web, as far as each tool may reach.
pub struct Web {
    openings: Box<Openings>,
    clients: Mutex<Vec<(Terms, Client)>>,
}

/// What a client is made for. Whoever wants the same gets the same client, and with it its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Terms {
    openings: Vec<EgressRule>,
    max_redirects: u32,
    limits: HttpLimits,
}

impl Web {
    /// The public internet and, for a tool of a project, what `openings` says; that comes from trusted configuration.
    /// Nothing is made or opened yet.
    pub fn new(openings: impl Fn(&ProjectId, &ToolId) -> Vec<EgressRule> + Send + Sync + 'static) -> Self {
        Self { openings: Box::new(openings), clients: Mutex::new(Vec::new()) }
    }

    /// The public internet and nothing else.
    #[must_use]
    pub fn public() -> Self {
        Self::new(|_, _| Vec::new())
    }

    /// The client a call is made with.
    pub(super) fn client(
        &self,
        context: &CallContext,
        tool: &ToolId,
        max_redirects: u32,
        limits: HttpLimits,
    ) -> Client {
        let openings = (self.openings)(&context.scope().project, tool);
        self.client_of(Terms { openings, max_redirects, limits })
    }

    /// The client of a service that is configured, which may be in a private network. It answers within so long.
    pub(in super::super) fn reaching(&self, opening: Option<&EgressRule>, total: Duration) -> Client {
        let openings = opening.into_iter().cloned().collect();
        self.client_of(Terms { openings, max_redirects: 0, limits: limits(total) })
    }

    fn client_of(&self, terms: Terms) -> Client {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(made_for, _)| *made_for == terms) {
            return client.clone();
        }
        let reach = EgressPolicy::public().open(terms.openings.clone());
        let client = Client::new(reach.max_redirects(terms.max_redirects).limits(terms.limits));
        clients.push((terms, client.clone()));
        client
    }
}

/// The bounds of a tool that waits for so long altogether.
pub(super) fn limits(total: Duration) -> HttpLimits {
    HttpLimits {
        wire_bytes: MAX_BYTES,
        decoded_bytes: MAX_BYTES,
        connect: Duration::from_secs(10),
        // Whoever thinks for long and then answers in time has answered in time.
        idle: total,
        total: Some(total),
        ..HttpLimits::default()
    }
}
