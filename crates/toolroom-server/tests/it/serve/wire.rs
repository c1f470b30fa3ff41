//! A connection to a server, and what comes back on it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// What does not come by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// One connection, kept open between requests.
pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

/// What was replied.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Fails unless it has this status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Fails unless it is a problem of this status and code, written as every problem is.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!((self.status, problem["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!((problem["status"].as_u64(), problem["detail"].is_string()), (Some(status.into()), true));
        self
    }
}

/// A request to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    host: Option<String>,
}

impl Asked {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { method: method.into(), path: path.into(), headers: Vec::new(), body: None, host: None }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn json(mut self, body: &Value) -> Self {
        self.body = Some(body.to_string());
        self.header("Content-Type", "application/json")
    }

    pub(crate) fn text(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }
}

impl Wire {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream), address }
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        self.stream.get_ref()
    }

    /// Sends, and does not wait for a reply.
    pub(crate) fn send(&mut self, asked: &Asked) {
        let host = asked.host.clone().unwrap_or_else(|| self.address.to_string());
        let mut text = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", asked.method, asked.path);
        for (name, value) in &asked.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = asked.body.as_deref().unwrap_or_default();
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        self.stream.get_mut().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        let body = match reply.header("transfer-encoding") {
            Some("chunked") => self.chunks(),
            _ => {
                let length = reply.header("content-length").map_or(0, |length| length.parse().unwrap());
                self.bytes(length)
            }
        };
        reply.body = String::from_utf8(body).unwrap();
        reply
    }

    /// A reply whose body is still to come.
    pub(crate) fn head(&mut self) -> Reply {
        let mut line = || {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the connection was closed");
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Reply { status, headers, body: String::new() }
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// A body that comes in pieces, to its end.
    pub(crate) fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let piece = self.chunk().unwrap();
            if piece.is_empty() {
                return body;
            }
            body.extend(piece);
        }
    }

    /// The next piece of a body that comes in pieces; the last one is empty.
    pub(crate) fn chunk(&mut self) -> std::io::Result<Vec<u8>> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let length = usize::from_str_radix(line.trim_end(), 16).map_err(std::io::Error::other)?;
        let mut piece = vec![0; length + 2];
        self.stream.read_exact(&mut piece)?;
        assert_eq!(piece.split_off(length), b"\r\n");
        Ok(piece)
    }

    pub(crate) fn ask(&mut self, asked: &Asked) -> Reply {
        self.send(asked);
        self.reply()
    }
}
