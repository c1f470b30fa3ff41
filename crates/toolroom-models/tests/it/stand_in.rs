//! A stand-in for a vendor: says on a socket what a test wants it to say, and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What is done with a connection once a request has been read from it.
type Reply = Box<dyn Fn(&mut TcpStream) + Send + Sync>;

pub(crate) struct StandIn {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The request line and the headers, in lower case but for values.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let of =
            |line: &'_ str| line.split_once(": ").is_some_and(|(found, _)| found.eq_ignore_ascii_case(name));
        self.head.lines().find(|line| of(line)).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }
}

impl StandIn {
    /// Replies to the first request with the first of these, and to those after the last one with the last.
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (kept, replies) = (Arc::clone(&asked), Arc::new(replies));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (kept, replies) = (Arc::clone(&kept), Arc::clone(&replies));
                thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    let at = {
                        let mut kept = kept.lock().unwrap();
                        kept.push(request);
                        kept.len() - 1
                    };
                    if let Some(reply) = replies.get(at).or(replies.last()) {
                        reply(&mut stream);
                    }
                });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).ok()? > 2 {}
    let asked = Asked { head, body: String::new() };
    let length = asked.header("content-length").and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { body: String::from_utf8(body).ok()?, ..asked })
}

fn send(stream: &mut TcpStream, text: &str) {
    // The client may have disconnected.
    drop(stream.write_all(text.as_bytes()));
    drop(stream.flush());
}

/// A whole response, after which the connection ends.
pub(crate) fn respond(status: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let response = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    Box::new(move |stream| send(stream, &response))
}

/// A stream of these events, to its end.
pub(crate) fn stream(events: &str) -> Reply {
    respond("200 OK", &[("content-type", "text/event-stream")], events)
}

/// The beginning of a stream without a length, and what happens then.
pub(crate) fn stream_and(events: &str, then: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Reply {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{}",
        chunk(events)
    );
    Box::new(move |stream| {
        send(stream, &head);
        then(stream);
    })
}

/// A piece of such a stream.
pub(crate) fn chunk(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{:x}\r\n{text}\r\n", text.len()) }
}

/// Waits until the other side has gone.
pub(crate) fn until_gone(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    drop(stream.read_to_end(&mut rest));
}
