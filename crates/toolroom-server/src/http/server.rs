//! The server: an open toolroom, and those who may use it from elsewhere.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, any, on, options};
use foldhash::HashSet;
use tokio_util::sync::CancellationToken;
use toolroom_host::listen::Listener;

use crate::app::App;
use crate::calls::CallService;
use crate::config::{AddressRange, ServedName, ServerKeys};
use crate::http::adaptive_yield::Company;
use crate::http::connections::accept;
use crate::http::connections::runtime::Elsewhere;
use crate::http::connections::runtime::Front;
use crate::http::door::DirectDoor;
use crate::http::door::Door;
use crate::http::middleware::host_check;
use crate::http::middleware::rate_limit::Pacing;
use crate::http::problem::Problem;
use crate::http::reception::Reception;
use crate::http::route::RouteHandler;
use crate::http::routes;
use crate::identity::{Doorkeeper, HostName};
use crate::mcp::McpServer;
use crate::mcp::fixtures::Fixtures;
use crate::runs::Runs;
use crate::telemetry::Tracer;

/// How long calls go on once we are asked to end.
const CALL_PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks for answers that somebody gave elsewhere.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is said when the server is started.
pub(crate) struct ServerSettings {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// What the configuration says.
    pub(crate) keys: ServerKeys,
    /// Who takes traces, if somebody does.
    pub(crate) tracer: Option<Arc<Tracer>>,
    /// What the official suites of MCP look for.
    pub(crate) fixtures: Option<Arc<Fixtures>>,
}

/// A toolroom that is reached over HTTP.
pub(crate) struct Server {
    pub(super) app: Arc<App>,
    pub(super) runs: Arc<Runs>,
    /// Where clients of MCP are answered.
    pub(super) mcp: Arc<McpServer>,
    /// Makes the calls of REST and MCP clients.
    pub(super) calls: Arc<CallService>,
    pub(crate) doorkeeper: Doorkeeper,
    names: HashSet<HostName>,
    loopback: bool,
    /// Whose word about senders counts.
    pub(super) trusted_proxies: Vec<AddressRange>,
    /// Who takes traces, if somebody does.
    pub(super) tracer: Option<Arc<Tracer>>,
    pub(super) pacing: Pacing,
    /// Who else is about to be answered.
    pub(super) company: Company,
    /// Asked to end: nothing new is begun.
    pub(super) ending: CancellationToken,
}

impl Server {
    pub(crate) fn new(app: App, settings: &ServerSettings, ending: CancellationToken) -> Arc<Self> {
        let doorkeeper = Doorkeeper::new(app.store.clone(), Arc::clone(&app.vault) as _);
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
            doorkeeper,
            names,
            loopback: address.ip().is_loopback(),
            trusted_proxies: settings.keys.trusted_proxies.clone(),
            tracer: settings.tracer.clone(),
            pacing: Pacing::new(&settings.keys),
            company: Company::default(),
            ending,
        })
    }

    /// What it serves.
    pub(crate) const fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// The name of ours that somebody means who calls us this.
    pub(super) fn name(&self, shown: &str) -> Option<&HostName> {
        // Nearly everybody writes it as we do.
        self.names.get(shown).or_else(|| self.names.get(&shown.parse::<HostName>().ok()?))
    }

    /// Whether only programs of this machine can connect.
    pub(super) const fn is_among_neighbours(&self) -> bool {
        self.loopback
    }

    /// Other rates from now on.
    pub(crate) fn change_rates(&self, keys: &ServerKeys) {
        self.pacing.change(keys);
    }

    /// Serves until asked to end, and then until open requests, runs and what was left to go on are done.
    ///
    /// # Errors
    /// When what was left in the middle cannot be read.
    pub(crate) async fn serve(self: &Arc<Self>, listener: Listener, front: &Front) -> anyhow::Result<()> {
        // Projects that cannot be settled are when they come in; their tools refuse until then.
        if let Err(error) = self.app.machine.settle_all(self.app.room.catalog()).await {
            tracing::warn!("whether projects may use the machine cannot be told: {error}");
        }
        let taken = self.runs.resume_interrupted(crate::http::resources::runs::ENTRANCE).await?;
        if taken > 0 {
            tracing::info!("{taken} runs go on that were left in the middle");
        }
        let (ending, closing) = (self.ending.clone(), self.calls.closing().clone());
        tokio::spawn(async move {
            ending.cancelled().await;
            tokio::time::sleep(CALL_PATIENCE).await;
            closing.cancel();
        });
        let (ending, runs) = (self.ending.clone(), Arc::clone(&self.runs));
        tokio::spawn(ending.clone().run_until_cancelled_owned(async move {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                if let Err(error) = runs.resume_answered(crate::http::resources::runs::ENTRANCE).await {
                    tracing::warn!("what was answered cannot be looked for: {error}");
                }
            }
        }));
        let (ending, runs) = (self.ending.clone(), Arc::clone(&self.runs));
        let ended = tokio::spawn(async move {
            ending.cancelled().await;
            runs.shut_down().await;
        });
        let (reception, ending) = (self.reception(), self.ending.clone());
        front.run(accept::serve(listener, reception, Elsewhere::here(), ending)).await?;
        ended.await?;
        self.calls.shut_down().await;
        Ok(())
    }

    fn reception(self: &Arc<Self>) -> Reception {
        let (mut router, mut direct) = (Router::new(), Vec::new());
        let mut paths = HashSet::default();
        let refused = async || Problem::method_not_allowed();
        for route in routes::all() {
            let door = Door::of(self, &route);
            paths.insert(route.path);
            match route.handler {
                RouteHandler::Routed(handler) => router = router.route(route.path, handler.layer(door)),
                RouteHandler::Direct(answer) => {
                    // Never reached; the router names it when it says what is allowed there.
                    let named =
                        MethodFilter::try_from(route.method.clone()).map(|method| on(method, refused));
                    let routed = named.unwrap_or_default().layer(door.clone());
                    router = router.route(route.path, routed);
                    direct.push((route.method, route.path, DirectDoor { door, answer }));
                }
            }
        }
        for path in paths {
            let asked: MethodRouter<Arc<Self>> = options(host_check::preflight).fallback(refused);
            router = router.route(path, asked.layer(Door::beside(self, Some(path))));
        }
        let nowhere = any(async || Problem::not_found("there is nothing at this address; see `/docs`"));
        let router =
            router.fallback_service(nowhere.layer(Door::beside(self, None))).with_state(Arc::clone(self));
        Reception { direct: direct.into(), router }
    }
}

/// The name of a method, of which there are only so many.
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

/// The names that always lead to an address.
fn own_names(address: SocketAddr) -> impl Iterator<Item = HostName> {
    let port = address.port();
    let mut names = vec![address.to_string()];
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        names.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    names.into_iter().filter_map(|name| name.parse().ok())
}
