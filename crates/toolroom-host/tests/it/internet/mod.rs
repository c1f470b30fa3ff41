//! An internet of its own for a test, with an inside that must not be reached.
//!
//! A test hands itself to [`inside`], which starts the test binary once more in namespaces of its own and runs the
//! body there. The body sees two machines: *this* one, with every class of internal address on it, and a *distant* one
//! behind a wire that carries stand-ins for public addresses (a machine's own addresses are refused, so they cannot be
//! here) and a network of private ones. Names are looked up by the system's resolver, which is pointed at a name
//! server of ours. Connections to addresses that are not public are recorded: tests check what happened, not what was
//! reported.

mod names;
mod web;

use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::{env, fs, io, thread};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

pub(crate) use self::names::{Answer, Names};
pub(crate) use self::web::Web;

/// Set in the process that lives in the namespaces: the name of its test.
const INSIDE: &str = "TOOLROOM_TEST_INSIDE";

/// The distant machine's public addresses. The first is that of [`Internet::host`].
pub(crate) const PUBLIC: &[&str] =
    &["93.184.215.14", "8.8.4.4", "140.82.121.4", "2606:2800:21f::14", "2a00:1450:4001::200e"];

/// Where its name server listens.
const NAME_SERVER: &str = "9.9.9.9";

/// A public address of this machine.
pub(crate) const OWN: &[&str] = &["198.41.0.77", "2a00:1450:4001::77"];

/// Internal addresses of this machine, of every class.
pub(crate) const INTERNAL: &[&str] = &[
    "127.0.0.1",
    "127.9.9.9",
    "10.0.0.5",
    "172.16.0.5",
    "192.168.0.5",
    "100.64.0.5",
    "169.254.9.9",
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.5",
    "::1",
    "fd00:ec2::254",
    "fd12:3456::5",
    "fec0::5",
];

/// Internal addresses of the distant machine, reached through the wire.
pub(crate) const LAN: &[&str] = &[
    "10.9.9.9",
    "172.20.9.9",
    "192.168.9.9",
    "100.99.9.9",
    "fd99::9",
    "64:ff9b::a00:909",
    "2002:a09:909::9",
];

/// Ports that are listened to on both machines.
const PORTS: [u16; 5] = [80, 8080, 22, 6379, 2375];

/// What a test can do with its internet.
pub(crate) struct Internet {
    pub(crate) names: Names,
    pub(crate) web: Web,
    caught: Arc<Caught>,
}

/// Connections that should not have been: who was connected to, and by whom.
#[derive(Default)]
struct Caught {
    seen: Mutex<Vec<(SocketAddr, SocketAddr)>>,
    more: Condvar,
}

/// Runs `body` in an internet of its own. `test` is the test function itself, by whose name it is found again.
pub(crate) fn inside<T: Fn()>(test: T, body: impl FnOnce(&Internet)) {
    drop(test);
    let path = std::any::type_name::<T>();
    let (_, name) = path.split_once("::").unwrap();
    if env::var_os(INSIDE).is_some_and(|inside| inside == name) {
        return body(&Internet::build());
    }
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--net", "--mount", "--"]).arg(env::current_exe().unwrap());
    // A listener on these lines would let a proxy decide where to connect; connections are recorded.
    for variable in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        unshare.env(variable, "http://10.9.9.9:8080");
    }
    let ran = unshare.args([name, "--exact", "--nocapture"]).env(INSIDE, name).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("1 passed"), "in its namespaces:\n{out}\n{err}");
}

impl Internet {
    fn build() -> Self {
        mount_own_files();
        lay_wire();
        let internet = Self { names: Names::default(), web: Web::default(), caught: Arc::default() };
        internet.listen(|_| false);
        let distant = fs::File::open("/run/netns/internet").unwrap();
        thread::scope(|scope| {
            let distant_side = scope.spawn(|| {
                // Threads are in the network their parent is in.
                move_into_link_name_space(distant.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
                internet.listen(|address| PUBLIC.iter().any(|public| *public == address.to_string()));
                internet.names.serve(UdpSocket::bind((NAME_SERVER, 53)).unwrap());
            });
            distant_side.join().unwrap();
        });
        internet
    }

    /// Serves the web where `is_public` says so, and records connections to all other addresses.
    fn listen(&self, is_public: fn(IpAddr) -> bool) {
        for port in PORTS {
            let listener = TcpListener::bind(("::", port)).unwrap();
            let (caught, web) = (Arc::clone(&self.caught), self.web.clone());
            thread::spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    let (Ok(at), Ok(from)) = (stream.local_addr(), stream.peer_addr()) else { continue };
                    let [at, from] = [at, from].map(|it| SocketAddr::new(it.ip().to_canonical(), it.port()));
                    if !is_public(at.ip()) || !matches!(at.port(), 80 | 8080) {
                        caught.seen.lock().unwrap().push((at, from));
                        caught.more.notify_all();
                    }
                    let web = web.clone();
                    thread::spawn(move || web.serve(&stream, at));
                }
            });
        }
    }

    /// No connection went to a forbidden address.
    pub(crate) fn assert_untouched(&self) {
        let caught = self.caught();
        assert!(caught.is_empty(), "connections to {caught:?}");
    }

    /// Forgets and returns who was connected to.
    pub(crate) fn caught(&self) -> Vec<SocketAddr> {
        // Listeners take connections in the order they were made: once ours is seen, so is every earlier one.
        let both =
            ["127.0.0.1", "10.9.9.9"].into_iter().flat_map(|machine| PORTS.map(|port| (machine, port)));
        let ours: Vec<TcpStream> = both.map(|place| TcpStream::connect(place).unwrap()).collect();
        let ours: Vec<SocketAddr> = ours.iter().map(|stream| stream.local_addr().unwrap()).collect();
        let is_missing = |seen: &mut Vec<(SocketAddr, SocketAddr)>| {
            ours.iter().any(|ours| !seen.iter().any(|(_, from)| from == ours))
        };
        let seen = self.caught.more.wait_while(self.caught.seen.lock().unwrap(), is_missing);
        let seen = std::mem::take(&mut *seen.unwrap());
        seen.into_iter().filter(|(_, from)| !ours.contains(from)).map(|(at, _)| at).collect()
    }
}

/// The resolver of the machine reads these.
fn mount_own_files() {
    run("mount", &["-t", "tmpfs", "none", "/run"], "");
    for (file, text) in [
        ("/etc/resolv.conf", format!("nameserver {NAME_SERVER}\noptions timeout:2 attempts:5\n")),
        ("/etc/nsswitch.conf", "hosts: files dns\n".to_owned()),
        ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n10.9.9.9 hosts-file.example\n".to_owned()),
    ] {
        // A link into `/run` has lost its end above; a file is covered.
        match fs::canonicalize(file) {
            Err(_) => {
                let end = fs::read_link(file).unwrap_or_else(|error| panic!("{file}: {error}"));
                let end = std::path::Path::new("/etc").join(end);
                fs::create_dir_all(end.parent().unwrap()).unwrap();
                fs::write(end, text).unwrap();
            }
            Ok(place) => {
                let own = format!("/run/{}", place.file_name().unwrap().to_string_lossy());
                fs::write(&own, text).unwrap();
                run("mount", &["--bind", &own, &place.to_string_lossy()], "");
            }
        }
    }
}

fn lay_wire() {
    run("ip", &["netns", "add", "internet"], "");
    let host = |address: &str| {
        if address.contains(':') { format!("{address}/128 nodad") } else { format!("{address}/32") }
    };
    let mut here = "link set lo up\nlink add wire type veth peer name wire netns internet\n".to_owned();
    here += "addr add 198.51.100.1/30 dev wire\naddr add 2001:db8::1/64 dev wire nodad\nlink set wire up\n";
    let mut there =
        "link set lo up\naddr add 198.51.100.2/30 dev wire\naddr add 2001:db8::2/64 dev wire nodad\n"
            .to_owned();
    there += "link set wire up\n";
    for address in
        INTERNAL.iter().filter(|address| !address.starts_with("127.") && **address != "::1").chain(OWN)
    {
        here += &format!("addr add {} dev lo\n", host(address));
    }
    for address in PUBLIC.iter().chain(LAN).chain([&NAME_SERVER]) {
        there += &format!("addr add {} dev lo\n", host(address));
    }
    run("ip", &["-batch", "-"], &here);
    run("ip", &["-n", "internet", "-batch", "-"], &there);
    run("ip", &["-batch", "-"], "route add default via 198.51.100.2\nroute add ::/0 via 2001:db8::2\n");
}

fn run(program: &str, arguments: &[&str], input: &str) {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
    io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
