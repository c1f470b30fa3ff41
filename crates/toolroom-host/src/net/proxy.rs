//! The network access of confined programs: a proxy that connects them to allowed hosts only. Names are resolved and
//! judged by the same connector as our own requests.
//!
//! It supports just enough HTTP to find the destination: `CONNECT host:port`, and requests with an absolute URL, which
//! are forwarded in origin form. The rest is relayed unread.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use url::Url;

use super::connector::EgressConnector;
use super::egress_policy::EgressPolicy;
use super::egress_rule::EgressRule;
use super::error::NetError;
use super::host_port::HostPort;
use super::resolve::{Resolve, SystemResolver};
use crate::work_folder::WorkFolder;

/// Maximum number of concurrent connections; further ones wait.
const MAX_CONCURRENT: usize = 64;

/// Maximum length of a request head.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(50);

/// Timeout of a request head.
const HEAD: Duration = Duration::from_secs(30);

/// A proxy, until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    _folder: WorkFolder,
    socket: PathBuf,
    rules: Rules,
    serving: JoinHandle<()>,
}

/// The allowed hosts.
#[derive(Clone)]
struct Rules {
    hosts: Arc<Mutex<Hosts>>,
    resolver: Arc<dyn Resolve>,
}

#[derive(Clone)]
struct Hosts {
    allowed: Vec<EgressRule>,
    gate: EgressConnector,
}

/// Why a program is not connected.
enum ProxyRejection {
    /// The request is not understood.
    Unread,
    /// The host is not allowed.
    NotAllowed(String),
    /// The connector refused, or the connection failed.
    Refused(NetError),
}

impl Proxy {
    /// Starts a proxy to these hosts. A host with a port may be anywhere; others must be on the public internet and are
    /// reached on the usual ports.
    pub fn open(hosts: &[EgressRule]) -> io::Result<Self> {
        Self::with_resolver(hosts, Arc::new(SystemResolver::default()))
    }

    /// With another resolver.
    #[expect(clippy::disallowed_types, reason = "this is the door: confined programs come in here")]
    pub fn with_resolver(hosts: &[EgressRule], resolver: Arc<dyn Resolve>) -> io::Result<Self> {
        let hosts = Hosts::new(hosts.to_vec(), Arc::clone(&resolver));
        let rules = Rules { hosts: Arc::new(Mutex::new(hosts)), resolver };
        // Socket paths must be short, so it is not in the data folder.
        let folder = WorkFolder::passing()?;
        let socket = folder.path().join("proxy");
        let listener = tokio::net::UnixListener::bind(&socket)?;
        let serving = tokio::spawn(serve(listener, rules.clone()));
        Ok(Self { socket, rules, serving, _folder: folder })
    }

    /// Also allows this host from now on.
    pub(super) fn lead_to(&self, host: EgressRule) {
        let mut hosts = self.rules.hosts();
        let mut allowed = hosts.allowed.clone();
        allowed.push(host);
        *hosts = Hosts::new(allowed, Arc::clone(&self.rules.resolver));
    }

    /// Whether it allows this host.
    pub(super) fn leads_to(&self, host: &EgressRule) -> bool {
        self.rules.hosts().allowed.contains(host)
    }

    /// The path of its socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[expect(clippy::disallowed_types, reason = "this is the door: confined programs come in here")]
async fn serve(listener: tokio::net::UnixListener, rules: Rules) {
    let places = Arc::new(Semaphore::new(MAX_CONCURRENT));
    // Dropping the set ends all connections.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, or the client has disconnected; retried after a pause.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let rules = rules.clone();
        connections.spawn(async move {
            // A program that disconnects early is not an error.
            drop(rules.connect(stream).await);
            drop(place);
        });
    }
}

impl Hosts {
    fn new(allowed: Vec<EgressRule>, resolver: Arc<dyn Resolve>) -> Self {
        let reach = EgressPolicy::public().open(allowed.iter().filter(|host| host.has_port()).cloned());
        Self { allowed, gate: EgressConnector::new(Arc::new(reach), resolver) }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.hosts().allowed).finish()
    }
}

impl Rules {
    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self, mut program: UnixStream) -> io::Result<()> {
        let Ok(head) = tokio::time::timeout(HEAD, read_head(&mut program)).await else { return Ok(()) };
        let (head, rest) = head?;
        let Some((place, onward)) = wanted(&head) else {
            return turn_away(&mut program, &ProxyRejection::Unread).await;
        };
        let Hosts { allowed, gate } = self.hosts().clone();
        if !allowed.iter().any(|host| host.names(&place)) {
            return turn_away(&mut program, &ProxyRejection::NotAllowed(place.to_string())).await;
        }
        let mut server = match gate.tunnel(&place).await {
            Ok(server) => server,
            Err(error) => return turn_away(&mut program, &ProxyRejection::Refused(error)).await,
        };
        match onward {
            Some(request) => server.write_all(request.as_bytes()).await?,
            None => program.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
        }
        server.write_all(&rest).await?;
        copy_bidirectional(&mut program, &mut server).await.map(drop)
    }
}

async fn turn_away(program: &mut UnixStream, turned: &ProxyRejection) -> io::Result<()> {
    let (status, text) = match turned {
        ProxyRejection::Unread => {
            ("400 Bad Request", "this proxy takes `CONNECT host:port` and whole URLs".to_owned())
        }
        ProxyRejection::NotAllowed(place) => {
            ("403 Forbidden", format!("`{place}` is not among the hosts that this sandbox may reach"))
        }
        ProxyRejection::Refused(error @ NetError::Refused { .. }) => ("403 Forbidden", error.to_string()),
        ProxyRejection::Refused(error) => ("502 Bad Gateway", error.to_string()),
    };
    let length = text.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}\n"
    );
    program.write_all(answer.as_bytes()).await?;
    program.shutdown().await
}

/// The head of a request, and the bytes received after it.
async fn read_head(program: &mut UnixStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            let head = String::from_utf8(bytes).map_err(io::Error::other)?;
            return Ok((head, rest));
        }
        if bytes.len() > MAX_HEAD_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if program.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// The destination of a request and, unless it is `CONNECT`, the request to forward.
fn wanted(head: &str) -> Option<(HostPort, Option<String>)> {
    let (line, headers) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        let (host, port) = target.rsplit_once(':')?;
        return Some((HostPort::new(&url::Host::parse(host).ok()?, port.parse().ok()?).ok()?, None));
    }
    let url = Url::parse(target).ok().filter(|url| url.scheme() == "http")?;
    let place = HostPort::new(&url.host()?, url.port_or_known_default()?).ok()?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    // One request per connection: the next one may be for another host.
    let is_ours = |header: &&str| {
        let name = header.split(':').next().unwrap_or_default().to_ascii_lowercase();
        matches!(name.as_str(), "connection" | "host" | "keep-alive") || name.starts_with("proxy-")
    };
    let kept: String = headers
        .lines()
        .filter(|header| !header.is_empty() && !is_ours(header))
        .map(|header| format!("{header}\r\n"))
        .collect();
    // The host that was judged, not the program's header: a server may host others on the same address.
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = format!("{}{port}", url.host_str()?);
    let request =
        format!("{method} {}{query} HTTP/1.1\r\nHost: {host}\r\n{kept}Connection: close\r\n\r\n", url.path());
    Some((place, Some(request)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(head: &str) -> Option<(String, Option<String>)> {
        wanted(head).map(|(place, request)| (format!("{place} {}", place.port()), request))
    }

    #[test]
    fn a_request_names_its_destination() {
        let (place, request) = place_of("CONNECT Example.COM:443 HTTP/1.1\r\nHost: other\r\n\r\n").unwrap();
        assert!(place.starts_with("example.com") && place.ends_with(" 443"), "{place}");
        assert_eq!(request, None);
        let head = "GET http://example.com/a?b=c#d HTTP/1.1\r\nhost: other.com\r\nAccept: */*\r\nProxy-Authorization: s\r\nConnection: keep-alive\r\n\r\n";
        let (place, request) = place_of(head).unwrap();
        assert!(place.ends_with(" 80"), "{place}");
        let expected = "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nConnection: close\r\n\r\n";
        assert_eq!(request.unwrap(), expected);
        let (_, request) = place_of("GET http://[::1]:8080/ HTTP/1.1\r\n\r\n").unwrap();
        assert!(request.unwrap().contains("\r\nHost: [::1]:8080\r\n"));
    }

    #[test]
    fn other_requests_are_not_understood() {
        for head in [
            "",
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://a.b/ HTTP/1.1\r\n\r\n",
            "GET file:///etc/passwd HTTP/1.1\r\n\r\n",
            "CONNECT a.b HTTP/1.1\r\n\r\n",
            "CONNECT a.b:0 HTTP/1.1\r\n\r\n",
            "CONNECT a.b:99999 HTTP/1.1\r\n\r\n",
            "CONNECT a b:1 HTTP/1.1\r\n\r\n",
            "CONNECT a.b:1 SPDY\r\n\r\n",
            "CONNECT a.b:1\r\n\r\n",
        ] {
            assert_eq!(place_of(head), None, "{head:?}");
        }
    }
}
