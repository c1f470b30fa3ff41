//! The only way out of a sandbox with hosts: through our proxy, to those hosts.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use toolroom_host::net::{BoxFuture, Proxy, Resolve};
use toolroom_host::process::{Order, Supervisor};
use toolroom_host::sandbox::{Level, Network, Profile};

use super::world::own;
use crate::process::bench::sandbox;
use crate::process::helper;

/// Names of a fictitious network.
struct Names(BTreeMap<&'static str, IpAddr>);

impl Resolve for Names {
    fn resolve(&self, name: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        let found = self.0.get(name).copied().ok_or(io::ErrorKind::NotFound.into());
        Box::pin(async move { found.map(|address| vec![address]) })
    }
}

/// A server that says what it was asked, and counts.
fn server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4_096];
            let count = stream.read(&mut request).unwrap_or(0);
            let line =
                String::from_utf8_lossy(&request[..count]).lines().next().unwrap_or_default().to_owned();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{line}", line.len());
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    (port, asked)
}

async fn run(hosts: &[String], script: &str) -> String {
    let loopback = IpAddr::from([127, 0, 0, 1]);
    let metadata = IpAddr::from([169, 254, 169, 254]);
    let names = [
        ("allowed.test", loopback),
        ("other.test", loopback),
        ("public.test", loopback),
        ("cloud.test", metadata),
    ];
    let hosts: Vec<_> = hosts.iter().map(|host| host.parse().unwrap()).collect();
    let proxy = Proxy::with_resolver(&hosts, Arc::new(Names(names.into()))).unwrap();
    let folder = TempDir::new().unwrap();
    own(folder.path());
    let network = Network::Proxy { socket: proxy.socket().to_owned() };
    let profile = Profile { network, ..Profile::workspace(folder.path()) };
    let mut order = Order::new("bash", folder.path()).with_arguments(["-c", script]);
    order.confinement = Some(sandbox(Level::Namespaces).confine(&profile).unwrap());
    let ended = Supervisor::new(helper()).run(order, &Default::default()).await.unwrap();
    let socket = proxy.socket().to_owned();
    drop(proxy);
    assert!(!socket.exists() && !socket.parent().unwrap().exists());
    ended.stdout.text(10_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn allowed_hosts_are_reached_and_no_others() {
    let ((allowed, asked), (other, unasked)) = (server(), server());
    let hosts = [format!("allowed.test:{allowed}"), "public.test".to_owned(), "cloud.test:80".to_owned()];
    let script = format!(
        "curl -s -m 20 http://allowed.test:{allowed}/a?b; echo; \
         curl -s -m 20 -p http://allowed.test:{allowed}/tunnel; echo; \
         say() {{ curl -s -m 20 -o /dev/null -w '%{{http_code}} ' $1; }}; \
         say http://other.test:{allowed}/; say http://allowed.test:{other}/; say http://127.0.0.2:{allowed}/; \
         say http://public.test:{allowed}/; say http://cloud.test/latest; say http://unknown.test/; echo; \
         (echo > /dev/tcp/127.0.0.1/{allowed}) 2> /dev/null && echo YES; \
         (echo > /dev/tcp/127.0.0.1/{other}) 2> /dev/null && echo YES; env | grep -ci ^https_proxy"
    );
    let told = run(&hosts, &script).await;
    assert_eq!(told, "GET /a?b HTTP/1.1\nGET /tunnel HTTP/1.1\n403 403 403 403 403 403 \n2\n");
    assert_eq!((asked.load(Ordering::SeqCst), unasked.load(Ordering::SeqCst)), (2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_speaks_no_http_to_the_proxy_is_told() {
    let hosts = ["allowed.test".to_owned()];
    let script = "port=${http_proxy##*:}; for line in 'GET / HTTP/1.1' 'CONNECT x HTTP/1.1' 'hello'; do \
        exec 3<> /dev/tcp/127.0.0.1/$port; printf '%s\\r\\n\\r\\n' \"$line\" >&3; head -n 1 <&3; exec 3>&-; done";
    let told = run(&hosts, script).await;
    assert_eq!(told.replace('\r', ""), "HTTP/1.1 400 Bad Request\n".repeat(3));
}
