//! The state of the HTTP server, its router, and its life from start to shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Method;
use axum::routing::{MethodRouter, any, options};
use foldhash::HashSet;
use tokio_util::sync::CancellationToken;
use toolroom_host::listen::Listener;

use crate::app::App;
use crate::calls::CallService;
use crate::config::{AddressRange, ServedName, ServerKeys};
use crate::http::adaptive_yield::AdaptiveYield;
use crate::http::connections::accept;
use crate::http::connections::runtime::{ConnectionRuntime, ConnectionTimers};
use crate::http::middleware::host_check;
use crate::http::middleware::permits::Permits;
use crate::http::middleware::rate_limit::RateLimiter;
use crate::http::pipeline::PipelineLayer;
use crate::http::problem::{NO_ROUTE, Problem};
use crate::http::resources::runs::ENTRANCE;
use crate::http::routes;
use crate::identity::{Authenticator, HostName};
use crate::mcp::McpServer;
use crate::mcp::fixtures::Fixtures;
use crate::runs::Runs;
use crate::telemetry::Tracer;

/// How long running calls may take after shutdown begins.
const CALL_GRACE: Duration = Duration::from_secs(5);

/// How often approvals given in other processes are looked for.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct ServerSettings {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Its part of the configuration.
    pub(crate) keys: ServerKeys,
    pub(crate) tracer: Option<Arc<Tracer>>,
    /// What the official test suites of MCP expect.
    pub(crate) fixtures: Option<Arc<Fixtures>>,
}

/// A toolroom that is reached over HTTP: the state of all handlers.
pub(crate) struct Server {
    pub(super) app: Arc<App>,
    pub(super) runs: Arc<Runs>,
    /// Handles MCP requests.
    pub(super) mcp: Arc<McpServer>,
    /// Makes the calls of REST and MCP clients.
    pub(super) calls: Arc<CallService>,
    pub(crate) authenticator: Authenticator,
    names: HashSet<HostName>,
    listens_on_loopback: bool,
    pub(super) trusted_proxies: Vec<AddressRange>,
    pub(super) tracer: Option<Arc<Tracer>>,
    pub(super) rate_limiter: RateLimiter,
    pub(super) permits: Permits,
    pub(super) adaptive_yield: AdaptiveYield,
    /// Cancelled when shutdown begins: nothing new is started.
    pub(super) ending: CancellationToken,
}

impl Server {
    pub(crate) fn new(app: App, settings: &ServerSettings, ending: CancellationToken) -> Arc<Self> {
        let authenticator = Authenticator::new(app.store.clone(), Arc::clone(&app.vault) as _);
        let address = settings.address;
        let mut names: HashSet<HostName> = settings.keys.hosts.iter().map(ServedName::host).collect();
        names.extend(own_names(address));
        let app = Arc::new(app);
        let runs = Runs::new(Arc::clone(&app), settings.tracer.clone());
        Arc::new(Self {
            mcp: Arc::new(McpServer::new(Arc::clone(&app), settings.fixtures.clone())),
            calls: Arc::new(CallService::new(app.room.clone(), settings.tracer.clone())),
            app,
            runs,
            authenticator,
            names,
            listens_on_loopback: address.ip().is_loopback(),
            trusted_proxies: settings.keys.trusted_proxies.clone(),
            tracer: settings.tracer.clone(),
            rate_limiter: RateLimiter::new(&settings.keys),
            permits: Permits::new(settings.keys.at_once),
            adaptive_yield: AdaptiveYield::default(),
            ending,
        })
    }

    pub(crate) const fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// The configured host name that a client wrote like this.
    pub(super) fn own_name(&self, shown: &str) -> Option<&HostName> {
        // Most clients write it in its normal form.
        self.names.get(shown).or_else(|| self.names.get(&shown.parse::<HostName>().ok()?))
    }

    /// Whether only processes on this machine can connect.
    pub(super) const fn listens_on_loopback(&self) -> bool {
        self.listens_on_loopback
    }

    /// Applies new rate limits.
    pub(crate) fn change_rates(&self, keys: &ServerKeys) {
        self.rate_limiter.change(keys);
    }

    /// Serves until `ending` is cancelled, then until requests, runs and detached calls are done.
    ///
    /// # Errors
    /// When interrupted runs cannot be read.
    pub(crate) async fn serve(
        self: &Arc<Self>,
        listener: Listener,
        connections: &ConnectionRuntime,
    ) -> anyhow::Result<()> {
        // A project that fails here is settled with its next request; its tools refuse until then.
        if let Err(error) = self.app.host_tools.sync_all(self.app.room.catalog()).await {
            tracing::warn!("cannot tell which projects may use host tools: {error}");
        }
        // The server resumes only runs that came through REST. Other runs continue with the next request of their client (AG-UI,
        // OpenAI), in the process of the chat, or with `toolroom runs resume` or `POST /v1/runs/{run}/resume`.
        let resumed = self.runs.resume_interrupted(ENTRANCE).await?;
        if resumed > 0 {
            tracing::info!("resumed {resumed} interrupted runs");
        }
        let (ending, closing) = (self.ending.clone(), self.calls.closing().clone());
        tokio::spawn(async move {
            ending.cancelled().await;
            tokio::time::sleep(CALL_GRACE).await;
            closing.cancel();
        });
        let (ending, runs) = (self.ending.clone(), Arc::clone(&self.runs));
        tokio::spawn(ending.clone().run_until_cancelled_owned(async move {
            loop {
                tokio::time::sleep(POLL_INTERVAL).await;
                if let Err(error) = runs.resume_answered(ENTRANCE).await {
                    tracing::warn!("cannot look for answered approvals: {error}");
                }
            }
        }));
        let (ending, runs) = (self.ending.clone(), Arc::clone(&self.runs));
        let ended = tokio::spawn(async move {
            ending.cancelled().await;
            runs.shut_down().await;
        });
        let (router, ending) = (self.router(), self.ending.clone());
        connections.run(accept::serve(listener, router, ConnectionTimers::here(), ending)).await?;
        ended.await?;
        self.calls.shut_down().await;
        Ok(())
    }

    /// The table of routes as an axum router. Every handler is behind the pipeline.
    fn router(self: &Arc<Self>) -> Router {
        let mut router = Router::new();
        let mut paths = HashSet::default();
        for route in routes::all() {
            paths.insert(route.path);
            let layer = PipelineLayer::for_route(self, &route);
            router = router.route(route.path, route.handler.layer(layer));
        }
        for path in paths {
            let others: MethodRouter<Arc<Self>> =
                options(host_check::preflight).fallback(async || Problem::method_not_allowed());
            router = router.route(path, others.layer(PipelineLayer::without_route(self, Some(path))));
        }
        let not_found = any(async || Problem::not_found(NO_ROUTE));
        let not_found = not_found.layer(PipelineLayer::without_route(self, None));
        router.fallback_service(not_found).with_state(Arc::clone(self))
    }
}

/// The name of a method in logs and metrics, where the set of names is bounded.
pub(super) fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// The host names that an address has without configuration.
fn own_names(address: SocketAddr) -> impl Iterator<Item = HostName> {
    let port = address.port();
    let mut names = vec![address.to_string()];
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        names.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    names.into_iter().filter_map(|name| name.parse().ok())
}
