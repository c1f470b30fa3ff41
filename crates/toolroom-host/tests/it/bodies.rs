//! A response takes bounded memory and time for any server behaviour, and its end is reported.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use async_compression::Level;
use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::runtime::Builder;
use toolroom_host::net::{
    Client, EgressPolicy, HttpLimits, NetError, Request, Response, SizeMeasure, TimeoutKind,
};

const MIB: u64 = 1024 * 1024;

/// The maximum cost of one request, for any response.
const MOST_MEMORY: u64 = 32 * MIB;

/// How much comes out of a bomb: more than may be needed.
const BOMB: usize = 40 * 1024 * 1024;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A server that reads a request and then does as it likes with the connection.
fn serve(act: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && (&stream).read(&mut byte).is_ok_and(|read| read == 1) {
                head.push(byte[0]);
            }
            act(stream);
        }
    });
    address
}

/// A server that says this and then closes.
fn say(reply: impl Into<Vec<u8>>) -> SocketAddr {
    let reply = reply.into();
    serve(move |mut stream| drop(stream.write_all(&reply)))
}

/// A server that says `start` and then `more` until the client has had enough.
fn say_on(start: &str, more: &[u8]) -> SocketAddr {
    let (start, more) = (start.as_bytes().to_vec(), more.to_vec());
    serve(move |mut stream| {
        drop(stream.write_all(&start));
        while stream.write_all(&more).is_ok() {}
    })
}

fn limits() -> HttpLimits {
    HttpLimits { idle: Duration::from_secs(5), total: Some(Duration::from_secs(20)), ..HttpLimits::default() }
}

fn client(limits: HttpLimits) -> Client {
    Client::new(EgressPolicy::public().open(["127.0.0.1".parse().unwrap()]).limits(limits))
}

async fn ask(limits: HttpLimits, server: SocketAddr) -> Result<Response, NetError> {
    client(limits).send(Request::get(format!("http://{server}/"))).await
}

/// All of a response, and by how much the process grew at most meanwhile.
fn fetch(limits: HttpLimits, server: SocketAddr) -> Result<Vec<u8>, NetError> {
    let before = reset_peak();
    let fetched = block_on(async { ask(limits, server).await?.body.bytes().await });
    let grown = memory("VmHWM").saturating_sub(before);
    assert!(grown < MOST_MEMORY, "grew by {} MiB", grown / MIB);
    fetched.map(|bytes| bytes.to_vec())
}

fn reset_peak() -> u64 {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    memory("VmRSS")
}

fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn a_body_comes_whole_however_it_is_framed() {
    for reply in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\ncontent-encoding: identity\r\n\r\nhello",
        "HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    ] {
        assert_eq!(fetch(limits(), say(reply)).unwrap(), b"hello", "{reply}");
    }
}

#[test]
fn a_body_that_is_cut_off_is_not_taken_for_a_whole_one() {
    for reply in [
        "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n50\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "",
    ] {
        let error = fetch(limits(), say(reply)).unwrap_err();
        assert!(matches!(error, NetError::Truncated { .. }), "{reply}: {error:?}");
    }
    // The end of the connection looks like the end of the body; the encoding knows better.
    let mut cut = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n".to_vec();
    cut.extend(&compressed(Coding::Gzip, 1 << 16)[..20]);
    let error = fetch(limits(), say(cut)).unwrap_err();
    assert!(matches!(error, NetError::Truncated { .. }), "{error:?}");
}

#[test]
fn what_failed_goes_on_failing() {
    block_on(async {
        let server = say("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello");
        let mut body = ask(limits(), server).await.unwrap().body;
        assert_eq!(body.chunk().await.unwrap().unwrap(), "hello");
        for _ in 0..3 {
            assert!(matches!(body.chunk().await, Err(NetError::Truncated { .. })));
        }
    });
}

#[test]
fn an_endless_body_ends_at_the_limit() {
    let block = [b'x'; 65536];
    let mut chunk = b"10000\r\n".to_vec();
    chunk.extend(block);
    chunk.extend(b"\r\n");
    let tiny = b"1\r\nx\r\n".repeat(10_000);
    for (server, most) in [
        (say_on("HTTP/1.1 200 OK\r\n\r\n", &block), 2_000_000),
        (say_on("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", &chunk), 2_000_000),
        (say_on("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", &tiny), 20_000),
        (say_on("HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n", &block), 2_000_000),
    ] {
        let error = fetch(HttpLimits { wire_bytes: most, ..limits() }, server).unwrap_err();
        assert!(matches!(error, NetError::TooLarge { what: SizeMeasure::Wire, .. }), "{error:?}");
    }
}

#[test]
fn a_body_that_is_announced_as_too_large_is_not_waited_for() {
    let server = serve(|mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n").unwrap();
        drip(stream, None);
    });
    let found = block_on(async { ask(limits(), server).await.unwrap().body.bytes_up_to(100).await });
    assert!(matches!(found, Err(NetError::TooLarge { limit: 100, .. })), "{found:?}");
}

#[test]
fn a_length_that_is_absurd_is_told() {
    for (length, words) in [
        ("2000001", "announces 2000001 bytes, more than the 2000000 allowed"),
        ("1000000000000000000", "announces 1000000000000000000 bytes, more than the 2000000 allowed"),
        ("99999999999999999999", "the length it announces is no number of bytes, or larger than anything"),
        ("-1", "the length it announces is no number of bytes"),
        ("1, 2", "the length it announces is no number of bytes"),
    ] {
        let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\nhello");
        let error = fetch(limits(), say(reply)).unwrap_err();
        assert!(error.to_string().contains(words), "{length}: {error}");
    }
}

/// Waits until the client goes away, saying one more byte whenever it has waited for a moment.
fn drip(mut stream: TcpStream, every: Option<Duration>) {
    stream.set_read_timeout(every).unwrap();
    while stream.read(&mut [0]).is_err() {
        if stream.write_all(b"x").is_err() {
            return;
        }
    }
}

#[test]
fn silence_and_slowness_have_an_end() {
    let moment = Duration::from_millis(20);
    let silent_body = || {
        serve(|mut stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nx").unwrap();
            drip(stream, None);
        })
    };
    let idle = HttpLimits { idle: 5 * moment, ..limits() };
    let total = HttpLimits { total: Some(10 * moment), ..limits() };
    let slow = serve(move |mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n").unwrap();
        drip(stream, Some(moment));
    });
    let slow_head = serve(move |mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nx: ").unwrap();
        drip(stream, Some(moment));
    });
    for (limits, server, wait) in [
        (idle, silent_body(), TimeoutKind::Idle),
        (total, silent_body(), TimeoutKind::Total),
        (idle, serve(|stream| drip(stream, None)), TimeoutKind::Idle),
        (total, serve(|stream| drip(stream, None)), TimeoutKind::Total),
        (total, slow, TimeoutKind::Total),
        (total, slow_head, TimeoutKind::Total),
    ] {
        let error = fetch(limits, server).unwrap_err();
        assert!(
            matches!(error, NetError::Timeout { wait: found, .. } if found == wait),
            "{wait:?}: {error:?}"
        );
    }
}

#[test]
fn too_many_and_too_large_headers_are_refused() {
    let many: String = (0..100_000).map(|number| format!("x-{number}: y\r\n")).collect();
    let some: String = (0..101).map(|number| format!("x-{number}: y\r\n")).collect();
    let large = format!("x: {}\r\n", "y".repeat(10_000_000));
    let barely = format!("x: {}\r\n", "y".repeat(65_536));
    for headers in [many, some, large, barely] {
        let error = fetch(limits(), say(format!("HTTP/1.1 200 OK\r\n{headers}\r\n"))).unwrap_err();
        assert!(matches!(error, NetError::TooManyHeaders { .. }), "{error:?}");
    }
    for more in ["x: y\r\n", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"] {
        let error = fetch(limits(), say_on("HTTP/1.1 200 OK\r\nx: ", more.as_bytes())).unwrap_err();
        assert!(matches!(error, NetError::TooManyHeaders { .. }), "{error:?}");
    }
    for interim in ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"] {
        let error = fetch(limits(), say_on("", interim.as_bytes())).unwrap_err();
        assert!(matches!(error, NetError::TooManyHeaders { .. }), "{error:?}");
        let ok = format!("{}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", interim.repeat(100));
        fetch(limits(), say(ok)).unwrap();
    }
    let trailers = say_on("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", b"x: y\r\n");
    let error = fetch(limits(), trailers).unwrap_err();
    assert!(matches!(error, NetError::Protocol { .. } | NetError::TooManyHeaders { .. }), "{error:?}");
    let few: String = (0..90).map(|number| format!("x-{number}: y\r\n")).collect();
    fetch(limits(), say(format!("HTTP/1.1 200 OK\r\n{few}content-length: 0\r\n\r\n"))).unwrap();
}

#[test]
fn limits_that_no_clock_can_hold_hold_forever() {
    let limits =
        HttpLimits { connect: Duration::MAX, idle: Duration::MAX, total: Some(Duration::MAX), ..limits() };
    assert_eq!(fetch(limits, say("HTTP/1.1 200 OK\r\n\r\nhello")).unwrap(), b"hello");
}

#[test]
fn what_is_not_http_is_said_not_to_be() {
    for reply in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "220 mail ESMTP\r\n",
        "\0\0\0\0",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
    ] {
        let error = fetch(limits(), say(reply)).unwrap_err();
        assert!(matches!(error, NetError::Protocol { .. }), "{reply:?}: {error:?}");
    }
}

#[derive(Debug, Clone, Copy)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

const CODINGS: [(Coding, &str); 4] =
    [(Coding::Gzip, "gzip"), (Coding::Deflate, "deflate"), (Coding::Brotli, "br"), (Coding::Zstd, "zstd")];

fn compressed(coding: Coding, length: usize) -> Vec<u8> {
    async fn all(mut encoder: impl AsyncWrite + Unpin, length: usize) {
        let block = vec![0; (1 << 20).min(length)];
        let mut left = length;
        while left > 0 {
            let piece = left.min(block.len());
            encoder.write_all(&block[..piece]).await.unwrap();
            left -= piece;
        }
        encoder.shutdown().await.unwrap();
    }
    let mut bytes = Vec::new();
    let out = &mut bytes;
    block_on(async {
        match coding {
            Coding::Gzip => all(GzipEncoder::with_quality(out, Level::Fastest), length).await,
            Coding::Deflate => all(ZlibEncoder::with_quality(out, Level::Fastest), length).await,
            Coding::Brotli => all(BrotliEncoder::with_quality(out, Level::Fastest), length).await,
            Coding::Zstd => all(ZstdEncoder::with_quality(out, Level::Fastest), length).await,
        }
    });
    bytes
}

fn encoded(name: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: {name}\r\ncontent-length: {}\r\n\r\n", body.len());
    let mut reply = head.into_bytes();
    reply.extend(body);
    reply
}

#[test]
fn what_is_encoded_is_decoded() {
    for (coding, name) in CODINGS {
        let plain = vec![0; 100_000];
        let server = say(encoded(name, &compressed(coding, plain.len())));
        assert_eq!(fetch(limits(), server).unwrap(), plain, "{name}");
        block_on(async {
            let response = ask(limits(), server).await.unwrap();
            assert_eq!(response.header("content-encoding"), None);
            assert_eq!(response.header("content-length"), None);
        });
    }
}

#[test]
fn a_bomb_does_not_go_off() {
    for (coding, name) in CODINGS {
        let bomb = compressed(coding, BOMB);
        assert!(BOMB / bomb.len() > 200, "{name}: {} bytes", bomb.len());
        let limits = HttpLimits { wire_bytes: 20_000_000, ..limits() };
        let error = fetch(limits, say(encoded(name, &bomb))).unwrap_err();
        let is_decoded =
            matches!(error, NetError::TooLarge { what: SizeMeasure::Decoded, limit: 8_000_000, .. });
        assert!(is_decoded, "{name}: {error:?}");
    }
}

#[test]
fn an_encoding_that_asks_for_too_much_or_is_unknown_is_refused() {
    // The first bytes of a brotli stream with a window of 1 GiB, and of a zstd one with 128 MiB.
    let brotli = encoded("br", &[0x11, 0x1e, 0, 0, 0, 0, 0, 0]);
    let zstd = encoded("zstd", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0, 0, 0, 0, 0, 0]);
    let nested = encoded("gzip, gzip", &compressed(Coding::Gzip, 100));
    let unknown = encoded("lzma", b"x");
    let twice =
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx";
    let nonsense = encoded("gzip", b"this is not gzip");
    for reply in [brotli, zstd, nested, unknown, twice.to_vec(), nonsense] {
        let error = fetch(limits(), say(reply.clone())).unwrap_err();
        assert!(matches!(error, NetError::Encoding { .. }), "{}: {error:?}", String::from_utf8_lossy(&reply));
    }
}

#[test]
fn an_answer_to_head_has_no_body_to_decode() {
    let server = say("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 500\r\n\r\n");
    let request = Request::new(toolroom_host::net::Method::HEAD, format!("http://{server}/"));
    let bytes = block_on(async { client(limits()).send(request).await.unwrap().body.bytes().await.unwrap() });
    assert!(bytes.is_empty());
}

#[test]
fn a_caller_decides_about_its_own_headers_only() {
    for name in
        ["Host", "content-length", "Transfer-Encoding", "connection", "Proxy-Authorization", "upgrade", "te"]
    {
        let error = Request::get("http://example.com/").header(name, "x").unwrap_err();
        assert!(matches!(error, NetError::BadHeader { .. }), "{name}");
    }
    for (name, value) in [("a b", "x"), ("", "x"), ("x", "a\r\nhost: b"), ("x", "a\0b")] {
        let error = Request::get("http://example.com/").secret_header(name, value).unwrap_err();
        assert!(!error.to_string().contains("host: b"));
    }
    for method in ["CONNECT", "TRACE"] {
        let request = Request::new(method.parse().unwrap(), "http://example.com/");
        let error = block_on(Client::new(EgressPolicy::public()).send(request)).err().unwrap();
        assert!(matches!(error, NetError::BadMethod(_)), "{method}: {error}");
    }
}

#[test]
fn a_connection_is_used_again_by_the_same_client_only() {
    // Each connection says its number until it is closed.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, mut stream) in listener.incoming().map_while(Result::ok).enumerate() {
            thread::spawn(move || {
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|read| read > 0) {
                    let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
                    stream.write_all(reply.as_bytes()).unwrap();
                }
            });
        }
    });
    block_on(async {
        let (one, other) = (client(limits()), client(limits()));
        let mut said = Vec::new();
        for client in [&one, &one.clone(), &other, &one, &other] {
            let response = client.send(Request::get(format!("http://{server}/"))).await.unwrap();
            assert_eq!(response.peer, server);
            said.push(response.body.bytes().await.unwrap()[0]);
        }
        assert_eq!(said, b"00101");
    });
}
