//! A proxy between a toolroom and the mock of model APIs that can hold back an answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Long for a machine, and only waited for when a test fails.
const LONG: Duration = Duration::from_secs(60);

/// Passes everything on until a [`Hold`] is set.
pub(crate) struct FaultProxy {
    address: SocketAddr,
    plan: Arc<Plan>,
}

#[derive(Default)]
struct Plan {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    hold: Option<Hold>,
    is_holding: bool,
}

/// An answer that is held back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hold {
    /// How many pass before.
    pub(crate) after: u32,
    /// How much of it comes all the same.
    pub(crate) per_mille: u32,
}

impl FaultProxy {
    /// Before the server at this address.
    pub(crate) fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server: SocketAddr = server.strip_prefix("http://").unwrap().parse().unwrap();
        let plan = Arc::new(Plan::default());
        let shared = Arc::clone(&plan);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, plan) = (client.unwrap(), Arc::clone(&shared));
                // A killed client closes the connection.
                std::thread::spawn(move || drop(pass(client, server, &plan)));
            }
        });
        Self { address, plan }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Holds one answer back, once.
    pub(crate) fn holds(&self, hold: Hold) {
        *self.plan.state.lock().unwrap() = State { hold: Some(hold), is_holding: false };
    }

    /// Waits until that answer is held back.
    #[track_caller]
    pub(crate) fn is_holding(&self) {
        let state = self.plan.state.lock().unwrap();
        let (_state, waited) =
            self.plan.changed.wait_timeout_while(state, LONG, |state| !state.is_holding).unwrap();
        assert!(!waited.timed_out(), "no request came");
    }
}

impl Plan {
    /// How much of the next answer passes, if it is the one to be held back.
    fn next(&self) -> Option<u32> {
        let mut state = self.state.lock().unwrap();
        match &mut state.hold {
            Some(hold) if hold.after > 0 => {
                hold.after -= 1;
                None
            }
            _ => state.hold.take().map(|hold| hold.per_mille),
        }
    }
}

/// One request for each connection, which is all that is needed to count them.
fn pass(mut client: TcpStream, server: SocketAddr, plan: &Plan) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or_default();
        }
        // With the older version the answer ends with the connection.
        head.push_str(&line.replace(" HTTP/1.1\r\n", " HTTP/1.0\r\n"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut server = TcpStream::connect(server)?;
    server.write_all(head.as_bytes())?;
    server.write_all(&body)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    let Some(per_mille) = plan.next() else { return client.write_all(&answer) };
    let passes = answer.len() * usize::try_from(per_mille).unwrap_or_default() / 1_000;
    client.write_all(answer.get(..passes).unwrap_or_default())?;
    plan.state.lock().unwrap().is_holding = true;
    plan.changed.notify_all();
    // Returns when the other side hangs up.
    reader.read_to_end(&mut Vec::new()).map(drop)
}
