//! The way out for confined programs: a proxy that connects them to the hosts they are allowed, and to no others. Names
//! are looked up and judged here, by the same gate as our own requests.
//!
//! It speaks as much HTTP as is needed to find out where to: `CONNECT host:port`, and requests with a whole URL, which
//! go on without it. What follows is passed on unread.

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

/// Connections at the same time; further ones wait.
const AT_ONCE: usize = 64;

/// Longer requests are none that a program makes.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long nobody is let in after somebody could not be.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a program may take to say where to.
const HEAD: Duration = Duration::from_secs(30);

/// A proxy, until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    _folder: WorkFolder,
    socket: PathBuf,
    rules: Rules,
    serving: JoinHandle<()>,
}

/// Which hosts there are to connect to, as long as somebody may ask for more.
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
    /// It is not understood.
    Unread,
    /// The host is not in the list.
    NotAllowed(String),
    /// The gate refused, or nobody answered.
    Refused(NetError),
}

impl Proxy {
    /// Opens one that leads to these hosts. One that is named with its port may be anywhere; the others have to be in the
    /// public internet and are spoken to on the usual ports.
    pub fn open(hosts: &[EgressRule]) -> io::Result<Self> {
        Self::with_resolver(hosts, Arc::new(SystemResolver::default()))
    }

    /// The same, with names looked up elsewhere.
    #[expect(clippy::disallowed_types, reason = "this is the door: confined programs come in here")]
    pub fn with_resolver(hosts: &[EgressRule], resolver: Arc<dyn Resolve>) -> io::Result<Self> {
        let hosts = Hosts::of(hosts.to_vec(), Arc::clone(&resolver));
        let rules = Rules { hosts: Arc::new(Mutex::new(hosts)), resolver };
        // The path of a socket must be short, so it is not among our data.
        let folder = WorkFolder::passing()?;
        let socket = folder.path().join("proxy");
        let listener = tokio::net::UnixListener::bind(&socket)?;
        let serving = tokio::spawn(serve(listener, rules.clone()));
        Ok(Self { socket, rules, serving, _folder: folder })
    }

    /// Leads to this host as well, from now on.
    pub(super) fn lead_to(&self, host: EgressRule) {
        let mut hosts = self.rules.hosts();
        let mut allowed = hosts.allowed.clone();
        allowed.push(host);
        *hosts = Hosts::of(allowed, Arc::clone(&self.rules.resolver));
    }

    /// Whether it leads there, if the gate lets it.
    pub(super) fn leads_to(&self, host: &EgressRule) -> bool {
        self.rules.hosts().allowed.contains(host)
    }

    /// Where it listens.
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
    let places = Arc::new(Semaphore::new(AT_ONCE));
    // All of them end with this task.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // There are no descriptors left, or whoever came is gone: the next one may be luckier.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let rules = rules.clone();
        connections.spawn(async move {
            // A program that goes away in the middle is nobody's trouble.
            drop(rules.connect(stream).await);
            drop(place);
        });
    }
}

impl Hosts {
    fn of(allowed: Vec<EgressRule>, resolver: Arc<dyn Resolve>) -> Self {
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

/// The head of a request, and what came behind it already.
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

/// Where a request wants to go; and, unless it asks for a connection, what is to be said there.
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
    // One request for each connection: the next one may be meant for somebody else.
    let is_ours = |header: &&str| {
        let name = header.split(':').next().unwrap_or_default().to_ascii_lowercase();
        matches!(name.as_str(), "connection" | "host" | "keep-alive") || name.starts_with("proxy-")
    };
    let kept: String = headers
        .lines()
        .filter(|header| !header.is_empty() && !is_ours(header))
        .map(|header| format!("{header}\r\n"))
        .collect();
    // The one that was judged, whatever the program says: a server may have others under the same address.
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
    fn a_request_says_where_to() {
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
    fn what_says_nothing_of_that_kind_is_not_understood() {
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
