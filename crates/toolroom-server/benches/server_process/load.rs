//! An HTTP load generator on keep-alive connections.

use std::net::SocketAddr;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// Larger than any response.
const BUFFER: usize = 16 * 1024;

/// The bytes of a POST request with a JSON body.
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

/// The bytes of a GET request.
pub(crate) fn get(server: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {server}\r\n\r\n").into_bytes()
}

/// Sends `n` requests over concurrent connections, and returns the latencies in microseconds. Each connection repeats one of
/// `requests`.
pub(crate) fn send_all(
    runtime: &Runtime,
    server: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
    n: usize,
) -> Result<Vec<f64>, String> {
    runtime.block_on(async {
        let requests = requests.iter().cycle().take(connections);
        let callers: Vec<_> = requests
            .map(|request| tokio::spawn(send_repeatedly(server, request.clone(), n / connections)))
            .collect();
        let mut latencies = Vec::with_capacity(n);
        for caller in callers {
            latencies.extend(caller.await.map_err(|error| error.to_string())??);
        }
        Ok(latencies)
    })
}

async fn send_repeatedly(server: SocketAddr, request: Vec<u8>, times: usize) -> Result<Vec<f64>, String> {
    let mut connection = Connection::open(server).await?;
    let mut latencies = Vec::with_capacity(times);
    for _ in 0..times {
        let start = Instant::now();
        connection.send(&request).await?;
        latencies.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(latencies)
}

/// An open connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Length of the last response in the buffer.
    filled: usize,
}

impl Connection {
    pub(crate) async fn open(server: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(server).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Self { stream, buffer: vec![0; BUFFER], filled: 0 })
    }

    /// Sends a request and reads the whole response. Fails unless its status is 20x.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<(), String> {
        self.stream.write_all(request).await.map_err(|error| error.to_string())?;
        self.filled = 0;
        loop {
            let room = self.buffer.get_mut(self.filled..).filter(|room| !room.is_empty());
            let room = room.ok_or("the response is longer than the buffer")?;
            let read = self.stream.read(room).await.map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the server closed the connection".to_owned());
            }
            self.filled += read;
            let response = self.buffer.get(..self.filled).unwrap_or_default();
            if let Some(head) = response.windows(4).position(|window| window == b"\r\n\r\n") {
                let text = String::from_utf8_lossy(response);
                if !text.starts_with("HTTP/1.1 20") {
                    return Err(format!("unexpected response: {text}"));
                }
                // A response without a body has no length.
                let length = match header(&text, "content-length") {
                    None if text.starts_with("HTTP/1.1 202") => 0,
                    length => {
                        length.and_then(|length| length.parse().ok()).ok_or("a response without a length")?
                    }
                };
                if self.filled >= head + 4 + length {
                    return Ok(());
                }
            }
        }
    }

    /// The last response.
    pub(crate) fn response(&self) -> String {
        String::from_utf8_lossy(self.buffer.get(..self.filled).unwrap_or_default()).into_owned()
    }
}

/// The value of a response header.
pub(crate) fn header<'a>(response: &'a str, name: &str) -> Option<&'a str> {
    response.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}
