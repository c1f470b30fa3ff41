//! Names are resolved once per connection, by any resolver; the results are judged.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolroom_host::net::{
    BoxFuture, Client, DestinationRefusal, EgressPolicy, Http, NetError, Request, Resolve, TimeoutKind,
};

/// What a resolver does when it is asked.
enum Finds {
    Addresses(Vec<IpAddr>),
    Error,
    Nothing,
}

struct Book {
    finds: Mutex<Finds>,
    asked: AtomicUsize,
}

impl Book {
    fn new(finds: Finds) -> Arc<Self> {
        Arc::new(Self { finds: Mutex::new(finds), asked: AtomicUsize::new(0) })
    }

    fn of(addresses: &[&str]) -> Arc<Self> {
        Self::new(Finds::Addresses(addresses.iter().map(|address| address.parse().unwrap()).collect()))
    }
}

impl Resolve for Book {
    fn resolve(&self, name: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        assert_eq!(name, "shop.example");
        self.asked.fetch_add(1, Ordering::Relaxed);
        let found = match &*self.finds.lock().unwrap() {
            Finds::Addresses(addresses) => Ok(addresses.clone()),
            Finds::Error => Err(io::Error::other("no name server")),
            Finds::Nothing => return Box::pin(std::future::pending()),
        };
        Box::pin(std::future::ready(found))
    }
}

/// A server on loopback that says hello once for each connection.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let length = stream.read(&mut [0; 4096]).await.unwrap();
            assert!(length > 0, "nothing was asked");
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello").await.unwrap();
        }
    });
    address
}

fn opened() -> EgressPolicy {
    EgressPolicy::public().open(["shop.example".parse().unwrap()])
}

async fn get(client: &dyn Http, port: u16) -> Result<SocketAddr, NetError> {
    let response = client.send(Request::get(format!("http://Shop.Example.:{port}/"))).await?;
    let peer = response.peer;
    assert_eq!(response.body.bytes().await?, "hello");
    Ok(peer)
}

#[tokio::test]
async fn every_connection_asks_once_and_dials_what_it_was_told() {
    let server = server().await;
    let book = Book::of(&["127.0.0.1"]);
    let client = Client::with_resolver(opened(), book.clone());
    for asked in 1..=5 {
        assert_eq!(get(&client, server.port()).await.unwrap(), server);
        assert_eq!(book.asked.load(Ordering::Relaxed), asked);
    }
}

#[tokio::test]
async fn where_one_address_does_not_answer_the_next_one_is_tried() {
    let server = server().await;
    let book = Book::of(&["::1", "127.0.0.2", "127.0.0.1"]);
    let client = Client::with_resolver(opened(), book);
    assert_eq!(get(&client, server.port()).await.unwrap(), server);
    // Where one family leads nowhere, the other one has its turn however many addresses the first one has.
    let many = [["::1"; 20].as_slice(), &["127.0.0.1"]].concat();
    let client = Client::with_resolver(opened(), Book::of(&many));
    assert_eq!(get(&client, server.port()).await.unwrap(), server);
    let nobody = Client::with_resolver(opened(), Book::of(&["::1", "127.0.0.2"]));
    let error = get(&nobody, server.port()).await.unwrap_err();
    assert!(matches!(error, NetError::Connect { .. }), "{error:?}");
}

#[tokio::test]
async fn a_custom_resolver_does_not_open_any_destination() {
    let server = server().await;
    for address in ["127.0.0.1", "::1", "10.0.0.1", "::ffff:127.0.0.1", "169.254.169.254"] {
        let client = Client::with_resolver(EgressPolicy::public(), Book::of(&["8.8.8.8", address]));
        let error = get(&client, server.port()).await.unwrap_err();
        let NetError::Refused { refusal: DestinationRefusal::Address { address: found, name, .. }, .. } =
            error
        else {
            panic!("{error:?}");
        };
        assert_eq!((found.to_string().as_str(), name.as_deref()), (address, Some("shop.example")));
    }
}

#[tokio::test]
async fn a_resolver_that_finds_nothing_fails_or_is_silent_is_told_apart() {
    let mut reach = opened();
    reach.limits.connect = Duration::from_millis(50);
    for (finds, is_late) in
        [(Finds::Error, false), (Finds::Addresses(Vec::new()), false), (Finds::Nothing, true)]
    {
        let error = get(&Client::with_resolver(reach.clone(), Book::new(finds)), 80).await.unwrap_err();
        match error {
            NetError::Unresolvable { .. } if !is_late => {}
            NetError::Timeout { wait: TimeoutKind::Connect, .. } if is_late => {}
            other => panic!("{other:?}"),
        }
    }
}
