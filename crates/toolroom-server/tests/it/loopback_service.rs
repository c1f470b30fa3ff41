//! A service on loopback that answers everything alike, and remembers what it was told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) struct LoopbackService {
    address: String,
    told: Arc<Mutex<Vec<String>>>,
}

impl LoopbackService {
    /// One that answers with this status, with headers behind it if there are any, and this body.
    pub(crate) fn answering(head: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let told = Arc::new(Mutex::new(Vec::new()));
        let length = body.len();
        let answer =
            format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        let kept = Arc::clone(&told);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                kept.lock().unwrap().push(request(&stream));
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { address, told }
    }

    /// A place on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far, with heads and bodies.
    pub(crate) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        request.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    request.push_str(&String::from_utf8(body).unwrap());
    request
}
