//! The mock of model APIs: a process of its own on loopback, with fixtures of the test's own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A running mock. It ends with the test.
pub(crate) struct Aimock {
    process: Child,
    address: SocketAddr,
    _fixtures: TempDir,
}

impl Aimock {
    /// Starts the mock with these fixtures. What none of them matches is an error.
    pub(crate) fn start(fixtures: &[Value]) -> Self {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolroom-models/tests/aimock");
        let program = package.join("node_modules/@copilotkit/aimock/dist/cli.js");
        assert!(program.is_file(), "{} is missing: run `make setup`", program.display());
        let folder = TempDir::new().unwrap();
        let text = json!({ "fixtures": fixtures }).to_string();
        std::fs::write(folder.path().join("fixtures.json"), text).unwrap();
        let mut process = Command::new("node")
            .arg(program)
            .args(["--host", "127.0.0.1", "--port", "0", "--strict", "--fixtures"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines
            .filter_map(|line| {
                line.split_once("listening on http://").map(|(_, address)| address.trim().to_owned())
            })
            .next()
            .unwrap_or_else(|| panic!("the mock did not start"));
        Self { process, address: address.parse().unwrap(), _fixtures: folder }
    }

    /// Where it is, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request it got, oldest first. Bodies are in the format of Chat Completions for every wire.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // With the older version nothing comes in chunks.
        write!(stream, "GET /__aimock/journal HTTP/1.0\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (_, body) = response.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
