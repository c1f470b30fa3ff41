//! Somebody who asks over and over, on connections that stay open.

use std::net::SocketAddr;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// Larger than any answer here.
const BUFFER: usize = 16 * 1024;

/// The bytes of a request with a body of JSON.
pub(crate) fn post(
    server: SocketAddr,
    path: &str,
    key: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {server}\r\nauthorization: Bearer {key}\r\n{headers}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The bytes of a request for a page.
pub(crate) fn get(server: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {server}\r\n\r\n").into_bytes()
}

/// Asks `n` times over so many connections, over each the same: these in turn. Says how long each answer took, in microseconds.
pub(crate) fn storm(
    runtime: &Runtime,
    server: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
    n: usize,
) -> Result<Vec<f64>, String> {
    runtime.block_on(async {
        let requests = requests.iter().cycle().take(connections);
        let callers: Vec<_> = requests
            .map(|request| tokio::spawn(ask_repeatedly(server, request.clone(), n / connections)))
            .collect();
        let mut latencies = Vec::with_capacity(n);
        for caller in callers {
            latencies.extend(caller.await.map_err(|error| error.to_string())??);
        }
        Ok(latencies)
    })
}

async fn ask_repeatedly(server: SocketAddr, request: Vec<u8>, times: usize) -> Result<Vec<f64>, String> {
    let mut connection = Connection::open(server).await?;
    let mut latencies = Vec::with_capacity(times);
    for _ in 0..times {
        let start = Instant::now();
        connection.ask(&request).await?;
        latencies.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(latencies)
}

/// An open connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// How much of the buffer is the last answer.
    filled: usize,
}

impl Connection {
    pub(crate) async fn open(server: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(server).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Self { stream, buffer: vec![0; BUFFER], filled: 0 })
    }

    /// Sends a request and reads the whole answer, which has to be one of success.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<(), String> {
        self.stream.write_all(request).await.map_err(|error| error.to_string())?;
        self.filled = 0;
        loop {
            let room = self.buffer.get_mut(self.filled..).filter(|room| !room.is_empty());
            let room = room.ok_or("the answer is longer than expected")?;
            let read = self.stream.read(room).await.map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the server hung up".to_owned());
            }
            self.filled += read;
            let answer = self.buffer.get(..self.filled).unwrap_or_default();
            if let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") {
                let text = String::from_utf8_lossy(answer);
                if !text.starts_with("HTTP/1.1 20") {
                    return Err(format!("it answered {text}"));
                }
                // What says nothing has no length.
                let length = match header(&text, "content-length") {
                    None if text.starts_with("HTTP/1.1 202") => 0,
                    length => {
                        length.and_then(|length| length.parse().ok()).ok_or("an answer without a length")?
                    }
                };
                if self.filled >= head + 4 + length {
                    return Ok(());
                }
            }
        }
    }

    /// The last answer.
    pub(crate) fn answer(&self) -> String {
        String::from_utf8_lossy(self.buffer.get(..self.filled).unwrap_or_default()).into_owned()
    }
}

/// What the head of an answer says under this name.
pub(crate) fn header<'a>(answer: &'a str, wanted: &str) -> Option<&'a str> {
    answer.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then_some(value.trim())
    })
}
