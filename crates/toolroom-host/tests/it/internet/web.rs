//! A web server that says what the path asks it to say, and remembers what it was sent.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// Where it arrived.
    pub(crate) at: SocketAddr,
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// What is said to a request, byte for byte.
type Reply = Vec<u8>;

/// What has arrived, wherever, and what is said there.
#[derive(Clone, Default)]
pub(crate) struct Web {
    received: Arc<Mutex<Vec<Received>>>,
    pages: Arc<Mutex<HashMap<String, Reply>>>,
}

impl Web {
    /// Forgets and returns what was received.
    pub(crate) fn received(&self) -> Vec<Received> {
        std::mem::take(&mut self.received.lock().unwrap())
    }

    /// Returns this response, head included, for a path.
    pub(crate) fn say(&self, path: &str, reply: impl Into<Vec<u8>>) {
        self.pages.lock().unwrap().insert(path.to_owned(), reply.into());
    }

    /// One request, one reply, and goodbye: so every request has to look its name up.
    pub(super) fn serve(&self, mut stream: &TcpStream, at: SocketAddr) {
        let Some(received) = read(stream, at) else { return };
        let page = self.pages.lock().unwrap().get(&received.path).cloned();
        let reply = page.unwrap_or_else(|| reply(&received));
        self.received.lock().unwrap().push(received);
        // The client may have disconnected.
        drop(stream.write_all(&reply));
    }
}

/// `/to/STATUS?URL` redirects, `/chain/N?URL` does so after N redirects to itself, everything else says hello.
fn reply(received: &Received) -> Reply {
    let (path, query) = received.path.split_once('?').unwrap_or((&received.path, ""));
    match path.split('/').collect::<Vec<_>>().as_slice() {
        ["", "to", status] => redirect(status, query),
        ["", "chain", "0"] => redirect("302", query),
        ["", "chain", more] => {
            let fewer = more.parse::<u32>().unwrap_or(1) - 1;
            redirect("302", &format!("/chain/{fewer}?{query}"))
        }
        _ => {
            let body = format!("hello from {}", received.at.ip());
            let length = body.len();
            format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
                .into_bytes()
        }
    }
}

fn redirect(status: &str, to: &str) -> Reply {
    format!("HTTP/1.1 {status} Elsewhere\r\nconnection: close\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
        .into_bytes()
}

fn read(stream: &TcpStream, at: SocketAddr) -> Option<Received> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap_or(0))];
    lines.read_exact(&mut body).ok()?;
    Some(Received { at, method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
