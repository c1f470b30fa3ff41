//! Who cannot show who they are is not talked to.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use toolroom_host::net::{Client, EgressPolicy, Method, NetError, Request, TimeoutKind};

/// A certificate authority.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    /// A server on loopback with a certificate of this authority.
    async fn serve(&self, protocol: &str, change: impl FnOnce(&mut CertificateParams)) -> SocketAddr {
        self.serve_with(protocol, change, |stream| async {
            let is_two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            answer(TokioIo::new(stream), is_two).await;
        })
        .await
    }

    /// One that does as it likes with a connection.
    async fn serve_with<F: Future<Output = ()> + Send + 'static>(
        &self,
        protocol: &str,
        change: impl FnOnce(&mut CertificateParams),
        act: impl Fn(TlsStream<TcpStream>) -> F + Clone + Send + 'static,
    ) -> SocketAddr {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone()], key)
                .unwrap();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, act) = (acceptor.clone(), act.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        act(stream).await;
                    }
                });
            }
        });
        address
    }
}

/// `/N/M` answers with N headers of M bytes each; HEAD with those of a large, compressed body, and 304 to what is
/// known already.
async fn answer(io: TokioIo<TlsStream<TcpStream>>, is_two: bool) {
    let service = service_fn(|request: http::Request<hyper::body::Incoming>| async move {
        let mut response = http::Response::new(Full::new(Bytes::from(format!("{:?}", request.version()))));
        let is_known = request.headers().contains_key("if-none-match");
        if is_known || request.method() == Method::HEAD {
            let status = if is_known { http::StatusCode::NOT_MODIFIED } else { http::StatusCode::OK };
            let response = http::Response::builder().status(status);
            let response = response.header("content-length", "5000000").header("content-encoding", "gzip");
            return Ok(response.body(Full::default()).unwrap());
        }
        let mut numbers = request.uri().path().split('/').filter_map(|number| number.parse::<usize>().ok());
        let (count, length) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        for number in 0..count {
            let name = http::HeaderName::try_from(format!("x-{number}")).unwrap();
            response.headers_mut().insert(name, "y".repeat(length).parse().unwrap());
        }
        Ok::<_, Infallible>(response)
    });
    // The client may end it as it likes.
    if is_two {
        drop(
            hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(io, service)
                .await,
        );
    } else {
        drop(hyper::server::conn::http1::Builder::new().serve_connection(io, service).await);
    }
}

fn reach() -> EgressPolicy {
    EgressPolicy::public().open(["localhost".parse().unwrap(), "127.0.0.1".parse().unwrap()])
}

async fn get(client: &Client, url: String) -> Result<String, NetError> {
    let response = client.send(Request::get(url)).await?;
    Ok(String::from_utf8_lossy(&response.body.bytes().await?).into_owned())
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_is_believed() {
    let authority = Authority::new();
    let client = Client::new(reach().trust_pem(&authority.pem()).unwrap());
    for (protocol, version) in [("http/1.1", "HTTP/1.1"), ("h2", "HTTP/2.0")] {
        let port = authority.serve(protocol, |_| {}).await.port();
        for host in ["localhost", "127.0.0.1", "localhost."] {
            assert_eq!(get(&client, format!("https://{host}:{port}/")).await.unwrap(), version, "{host}");
        }
    }
}

#[tokio::test]
async fn every_other_certificate_is_refused() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let trusting = || Client::new(reach().trust_pem(&authority.pem()).unwrap());
    let other_name = |params: &mut CertificateParams| {
        *params = CertificateParams::new(vec!["example.com".to_owned()]).unwrap();
    };
    let expired = |params: &mut CertificateParams| params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let not_yet = |params: &mut CertificateParams| params.not_before = rcgen::date_time_ymd(4000, 1, 1);
    for (client, server, word) in [
        // It calls itself by the same name, and has another key.
        (trusting(), stranger.serve("h2", |_| {}).await, "BadSignature"),
        (Client::new(reach()), authority.serve("h2", |_| {}).await, "UnknownIssuer"),
        (trusting(), authority.serve("h2", other_name).await, "not valid for name"),
        (trusting(), authority.serve("h2", expired).await, "expired"),
        (trusting(), authority.serve("h2", not_yet).await, "not valid yet"),
    ] {
        let error = get(&client, format!("https://localhost:{}/", server.port())).await.unwrap_err();
        assert!(matches!(error, NetError::Tls { .. }), "{error:?}");
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
}

#[tokio::test]
async fn who_does_not_speak_tls_is_refused_and_who_says_nothing_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let plain = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        // The second one is heard and never answered.
        listener.accept().await.unwrap().0.read_to_end(&mut Vec::new()).await.unwrap();
    });
    let authority = Authority::new();
    let mut reach = reach().trust_pem(&authority.pem()).unwrap();
    reach.limits.connect = Duration::from_millis(300);
    let client = Client::new(reach);
    let error = get(&client, format!("https://127.0.0.1:{port}/")).await.unwrap_err();
    assert!(matches!(error, NetError::Tls { .. }), "{error:?}");
    let error = get(&client, format!("https://127.0.0.1:{port}/")).await.unwrap_err();
    assert!(matches!(error, NetError::Timeout { wait: TimeoutKind::Connect, .. }), "{error:?}");
    plain.await.unwrap();
}

#[tokio::test]
async fn headers_are_bounded_over_http_2_too() {
    let authority = Authority::new();
    let client = Client::new(reach().trust_pem(&authority.pem()).unwrap());
    let port = authority.serve("h2", |_| {}).await.port();
    let ask = |path: &str| get(&client, format!("https://localhost:{port}{path}"));
    ask("/90/10").await.unwrap();
    let error = ask("/200/10").await.unwrap_err();
    assert!(matches!(error, NetError::TooManyHeaders { .. }), "{error:?}");
    for path in ["/50/10000", "/1/200000"] {
        let error = ask(path).await.unwrap_err();
        assert!(
            matches!(error, NetError::TooManyHeaders { .. } | NetError::Protocol { .. }),
            "{path}: {error:?}"
        );
    }
    ask("/1/1").await.unwrap();
}

/// A frame of the first stream.
fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags, 0, 0, 0, 1]);
    frame.extend(payload);
    frame
}

/// Says nothing that matters over HTTP/2, and waits for a request.
async fn hear(stream: &mut TlsStream<TcpStream>) -> std::io::Result<()> {
    stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await?;
    stream.read_exact(&mut [0; "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()]).await?;
    loop {
        let mut header = [0; 9];
        stream.read_exact(&mut header).await?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        stream.read_exact(&mut vec![0; length as usize]).await?;
        if header[3] == 1 {
            return Ok(());
        }
    }
}

#[tokio::test]
async fn interim_responses_have_an_end_over_http_2_too() {
    let authority = Authority::new();
    let mut reach = reach().trust_pem(&authority.pem()).unwrap();
    // Nothing but the number of heads ends it.
    (reach.limits.idle, reach.limits.total) = (Duration::MAX, None);
    let client = Client::new(reach);
    let ask = |server: SocketAddr| get(&client, format!("https://localhost:{}/", server.port()));
    // `:status: 103`, alone and with a header that takes as much as one may.
    let early = b"\x08\x03103".to_vec();
    let large = [early.as_slice(), b"\x00\x01x\x7f\x81\x7c", &[b'y'; 16_000]].concat();
    for interim in [early.clone(), large] {
        let interim = frame(1, 4, &interim);
        let endless = move |mut stream: TlsStream<TcpStream>| {
            let interim = interim.clone();
            async move {
                hear(&mut stream).await.unwrap();
                while stream.write_all(&interim).await.is_ok() {}
            }
        };
        let server = authority.serve_with("h2", |_| {}, endless).await;
        let error = ask(server).await.unwrap_err();
        assert!(matches!(error, NetError::TooManyHeaders { .. }), "{error:?}");
    }
    let some = move |mut stream: TlsStream<TcpStream>| {
        let interim = frame(1, 4, &early).repeat(100);
        async move {
            hear(&mut stream).await.unwrap();
            // `:status: 200`, and a body.
            let reply = [interim, frame(1, 4, b"\x88"), frame(0, 1, b"hello")].concat();
            stream.write_all(&reply).await.unwrap();
            drop(stream.read_to_end(&mut Vec::new()).await);
        }
    };
    assert_eq!(ask(authority.serve_with("h2", |_| {}, some).await).await.unwrap(), "hello");
}

#[tokio::test]
async fn a_response_without_a_body_keeps_its_length_headers() {
    let authority = Authority::new();
    let client = Client::new(reach().trust_pem(&authority.pem()).unwrap());
    for protocol in ["http/1.1", "h2"] {
        let port = authority.serve(protocol, |_| {}).await.port();
        let url = format!("https://localhost:{port}/");
        let known = Request::get(&url).header("if-none-match", "x").unwrap();
        for request in [Request::new(Method::HEAD, &url), known] {
            let response = client.send(request).await.unwrap();
            // The server itself leaves it out of a 304 over HTTP/1.
            if response.status == 200 {
                assert_eq!(response.header("content-length"), Some("5000000"), "{protocol}");
            }
            assert_eq!(response.header("content-encoding"), Some("gzip"), "{protocol}: {response:?}");
            assert!(response.body.bytes().await.unwrap().is_empty());
        }
    }
}

#[test]
fn what_is_no_root_says_so() {
    for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(reach().trust_pem(pem).is_err(), "{pem}");
    }
    let key = KeyPair::generate().unwrap().serialize_pem();
    assert!(reach().trust_pem(&key).is_err());
}
