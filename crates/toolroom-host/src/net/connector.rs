//! The only place where connections are made. The address that was judged is the address that is dialled, and nothing is
//! sent before the peer is verified.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tower_service::Service;

use super::egress_policy::EgressPolicy;
use super::error::{DestinationRefusal, NetError, TimeoutKind, UrlProblem};
use super::host_port::HostPort;
use super::interfaces::own_addresses;
use super::resolve::{BoxFuture, Resolve};
use super::tls::Tls;
use super::transport::Wire;
use crate::listen::is_ours;

/// Maximum number of addresses tried per name. All of them are judged.
const TRIED: usize = 8;

/// Head start of an address before the next is tried in parallel (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub(super) struct EgressConnector(Arc<Inner>);

struct Inner {
    reach: Arc<EgressPolicy>,
    resolver: Arc<dyn Resolve>,
    tls: Tls,
}

impl EgressConnector {
    pub(super) fn new(reach: Arc<EgressPolicy>, resolver: Arc<dyn Resolve>) -> Self {
        let tls = Tls::new(reach.roots().to_vec());
        Self(Arc::new(Inner { reach, resolver, tls }))
    }

    /// A raw connection for the proxy.
    pub(super) async fn tunnel(&self, place: &HostPort) -> Result<TcpStream, NetError> {
        let limit = self.0.reach.limits.connect;
        let opened = tokio::time::timeout(limit, async {
            let addresses = self.0.addresses(place).await?;
            dial(place, &addresses).await.map(|(_, stream)| stream)
        });
        let late = |_| NetError::Timeout { host: place.to_string(), wait: TimeoutKind::Connect, limit };
        opened.await.map_err(late)?
    }
}

impl Service<Uri> for EgressConnector {
    type Response = TokioIo<Wire>;
    type Error = NetError;
    type Future = BoxFuture<'static, Result<TokioIo<Wire>, NetError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NetError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { inner.open(&uri).await.map(TokioIo::new) })
    }
}

impl Inner {
    async fn open(&self, uri: &Uri) -> Result<Wire, NetError> {
        let is_secure = uri.scheme_str() == Some("https");
        let place = place(uri, is_secure).map_err(NetError::BadUrl)?;
        let limit = self.reach.limits.connect;
        let opened = tokio::time::timeout(limit, async {
            let addresses = self.addresses(&place).await?;
            let (peer, stream) = dial(&place, &addresses).await?;
            if is_secure {
                Ok(Wire::encrypted(peer, self.tls.connect(&place, stream).await?))
            } else {
                Ok(Wire::plain(peer, stream))
            }
        });
        let late = |_| NetError::Timeout { host: place.to_string(), wait: TimeoutKind::Connect, limit };
        opened.await.map_err(late)?
    }

    /// Resolves a host. Fails if any of its addresses is not allowed: a name with allowed and forbidden addresses is either a
    /// mistake or an attack.
    async fn addresses(&self, place: &HostPort) -> Result<Vec<SocketAddr>, NetError> {
        let refused = |refusal| NetError::Refused { host: place.to_string(), refusal };
        place.judge(&self.reach).map_err(refused)?;
        let unresolvable =
            |source| NetError::Unresolvable { host: place.to_string(), source: Arc::new(source) };
        let found = match place.address() {
            Some(address) => vec![address],
            None => self.resolver.resolve(place.name()).await.map_err(unresolvable)?,
        };
        if found.is_empty() {
            return Err(unresolvable(io::ErrorKind::NotFound.into()));
        }
        let own = own_addresses()
            .map_err(|source| NetError::Connect { host: place.to_string(), source: Arc::new(source) })?;
        for address in &found {
            self.reach.admit(place, *address, |address| own.contains(&address)).map_err(refused)?;
            // No rule can open this server itself: requests from it would count as local.
            if is_ours(SocketAddr::new(*address, place.port()), |address| own.contains(address)) {
                return Err(refused(DestinationRefusal::Ourselves));
            }
        }
        let tried = alternating(&found).into_iter().take(TRIED);
        Ok(tried.map(|address| SocketAddr::new(address, place.port())).collect())
    }
}

/// Alternates IPv4 and IPv6, starting with the best address, so that a broken family does not delay the other.
fn alternating(found: &[IpAddr]) -> Vec<IpAddr> {
    let is_first = |address: &IpAddr| found.first().map(IpAddr::is_ipv4) == Some(address.is_ipv4());
    let (ours, others): (Vec<IpAddr>, Vec<IpAddr>) = found.iter().partition(|address| is_first(address));
    let longest = ours.len().max(others.len());
    (0..longest).flat_map(|turn| ours.get(turn).into_iter().chain(others.get(turn))).copied().collect()
}

/// The host is parsed again from the URI to connect to, so that nothing bypasses the check of the client.
fn place(uri: &Uri, is_secure: bool) -> Result<HostPort, UrlProblem> {
    let host = url::Host::parse(uri.host().unwrap_or_default())
        .map_err(|error| UrlProblem::Unreadable(error.to_string()))?;
    HostPort::new(&host, uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 }))
}

/// The first of several addresses that answers; each has a head start before the next.
async fn dial(place: &HostPort, addresses: &[SocketAddr]) -> Result<(SocketAddr, TcpStream), NetError> {
    let failed = |source: io::Error| NetError::Connect { host: place.to_string(), source: Arc::new(source) };
    let mut waiting = addresses.iter().copied();
    let mut tries = JoinSet::new();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let (dialled, stream) = loop {
        if let Some(address) = waiting.next() {
            tries.spawn(connect(address));
        } else if tries.is_empty() {
            return Err(failed(last));
        }
        tokio::select! {
            Some(tried) = tries.join_next() => match tried {
                Ok(Ok(connection)) => break connection,
                Ok(Err(error)) => last = error,
                Err(error) => last = io::Error::other(error),
            },
            () = tokio::time::sleep(HEAD_START), if waiting.len() > 0 => {}
        }
    };
    let found: IpAddr = stream.peer_addr().map_err(failed)?.ip();
    if found != dialled.ip() {
        let refusal = DestinationRefusal::Elsewhere { checked: dialled.ip(), found };
        return Err(NetError::Refused { host: place.to_string(), refusal });
    }
    Ok((dialled, stream))
}

#[expect(clippy::disallowed_methods, reason = "this is the door: connections to judged addresses")]
async fn connect(address: SocketAddr) -> io::Result<(SocketAddr, TcpStream)> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok((address, stream))
}
