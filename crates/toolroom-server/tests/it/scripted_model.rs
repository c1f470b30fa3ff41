//! A model on loopback that says what a test wrote down, in the words of an OpenAI-compatible endpoint.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Long for a machine, and only waited for when a test fails.
const LONG: Duration = Duration::from_secs(60);

/// What the model does when it is asked.
#[derive(Clone)]
pub(crate) enum Line {
    /// Says this, in pieces.
    Says(Vec<String>),
    /// Wants this tool to be called, after some words.
    Calls(&'static str, Value),
    /// Wants all of these to be called.
    CallsAll(Vec<(&'static str, Value)>),
    /// Thinks this, and then says that.
    Thinks(&'static str, &'static str),
    /// Says this in pieces, and nothing more for as long as the other side listens.
    Stalls(Vec<String>),
    /// Says this in pieces, each when it is let.
    Paced(Arc<Pace>, Vec<String>),
    /// Says this, and hangs up.
    BreaksOff(&'static str),
    /// Refuses with this status.
    Refuses(u16),
    /// Refuses with this status, and in these words.
    RefusesSaying(u16, String),
}

impl Line {
    pub(crate) fn says(text: &str) -> Self {
        Self::Says(text.split_inclusive(' ').map(str::to_owned).collect())
    }

    pub(crate) fn stalls(text: &str) -> Self {
        Self::Stalls(text.split_inclusive(' ').map(str::to_owned).collect())
    }
}

/// How many pieces of an answer may be said.
pub(crate) struct Pace {
    allowed: Mutex<usize>,
    changed: Condvar,
}

impl Pace {
    pub(crate) fn of(pieces: usize) -> Arc<Self> {
        Arc::new(Self { allowed: Mutex::new(pieces), changed: Condvar::new() })
    }

    pub(crate) fn allows(&self, pieces: usize) {
        *self.allowed.lock().unwrap() += pieces;
        self.changed.notify_all();
    }

    /// Waits until so many may be said.
    fn wait_for(&self, pieces: usize) {
        drop(self.changed.wait_while(self.allowed.lock().unwrap(), |allowed| *allowed < pieces).unwrap());
    }
}

/// The model at work. What is left of the script when it ends does not matter.
pub(crate) struct ScriptedModel {
    address: String,
    asked: Arc<Asked>,
}

#[derive(Default)]
struct Asked {
    bodies: Mutex<Vec<Value>>,
    more: Condvar,
}

impl ScriptedModel {
    /// Follows a script, whoever asks.
    pub(crate) fn starts(script: impl IntoIterator<Item = Line>) -> Self {
        let script: Vec<Line> = script.into_iter().collect();
        Self::answers(move |asked| {
            let line = script.get(asked.len() - 1).cloned();
            line.unwrap_or_else(|| Line::says("the script is at its end"))
        })
    }

    /// Makes up its mind about everything that it was asked, the last of which is to be answered now.
    pub(crate) fn answers(line: impl Fn(&[Value]) -> Line + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Asked::default());
        let heard = Arc::clone(&asked);
        let line = Arc::new(line);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, heard, line) = (stream.unwrap(), Arc::clone(&heard), Arc::clone(&line));
                std::thread::spawn(move || answer(stream, &heard, line.as_ref()));
            }
        });
        Self { address, asked }
    }

    /// Configures this model in a data folder, as the one that answers. `more` is the rest of the file.
    pub(crate) fn is_set_up_in(&self, home: &Path, more: &str) {
        self.is_set_up_with_window(home, 32_000, more);
    }

    /// Configures it with a window of so many tokens.
    pub(crate) fn is_set_up_with_window(&self, home: &Path, window: u32, more: &str) {
        let config = format!(
            "model = \"lab/m\"\n[vendor.lab]\nbase_url = \"http://{}/v1\"\nwindow = {window}\n{more}",
            self.address
        );
        std::fs::write(home.join("toolroom.toml"), config).unwrap();
    }

    /// What it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.bodies.lock().unwrap().clone()
    }

    /// Waits until it was asked so often.
    #[track_caller]
    pub(crate) fn is_asked(&self, times: usize) {
        let bodies = self.asked.bodies.lock().unwrap();
        let (bodies, waited) =
            self.asked.more.wait_timeout_while(bodies, LONG, |bodies| bodies.len() < times).unwrap();
        assert!(!waited.timed_out(), "asked {} times only", bodies.len());
    }
}

fn answer(stream: TcpStream, asked: &Asked, line: &dyn Fn(&[Value]) -> Line) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(body) = request(&mut reader) else { return };
    let line = {
        let mut bodies = asked.bodies.lock().unwrap();
        bodies.push(body);
        asked.more.notify_all();
        line(&bodies)
    };
    // Whoever hangs up does not want to hear more.
    drop(play(stream, reader, line));
}

fn request(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn call(index: usize, name: &str, arguments: &Value) -> Value {
    let id = if index == 0 { format!("call_{name}") } else { format!("call_{name}_{index}") };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"index": index, "id": id, "type": "function", "function": function})
}

fn play(mut stream: TcpStream, mut reader: impl Read, line: Line) -> std::io::Result<()> {
    let refusal = match &line {
        Line::Refuses(status) => Some((*status, "the script says no")),
        Line::RefusesSaying(status, words) => Some((*status, words.as_str())),
        _ => None,
    };
    if let Some((status, words)) = refusal {
        let body = json!({"error": {"message": words, "type": "invalid_request_error"}}).to_string();
        return write!(
            stream,
            "HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
    }
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let mut piece = |delta: Value, finish: Option<&str>| {
        let chunk = json!({
            "id": "c1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        });
        write!(stream, "data: {chunk}\n\n").and_then(|()| stream.flush())
    };
    let end = match line {
        Line::Says(pieces) => {
            for text in pieces {
                piece(json!({"content": text}), None)?;
            }
            "stop"
        }
        Line::Calls(name, arguments) => {
            piece(json!({"tool_calls": [call(0, name, &arguments)]}), None)?;
            "tool_calls"
        }
        Line::CallsAll(calls) => {
            for (index, (name, arguments)) in calls.iter().enumerate() {
                piece(json!({"tool_calls": [call(index, name, arguments)]}), None)?;
            }
            "tool_calls"
        }
        Line::Thinks(thought, text) => {
            piece(json!({"reasoning_content": thought}), None)?;
            piece(json!({"content": text}), None)?;
            "stop"
        }
        Line::Stalls(pieces) => {
            for text in pieces {
                piece(json!({"content": text}), None)?;
            }
            // Returns when the other side hangs up.
            reader.read_to_end(&mut Vec::new())?;
            return Ok(());
        }
        Line::Paced(pace, pieces) => {
            for (said, text) in pieces.into_iter().enumerate() {
                pace.wait_for(said + 1);
                piece(json!({"content": text}), None)?;
            }
            "stop"
        }
        Line::BreaksOff(text) => return piece(json!({"content": text}), None),
        Line::Refuses(_) | Line::RefusesSaying(..) => return Ok(()),
    };
    piece(json!({}), Some(end))?;
    let usage = json!({
        "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    });
    write!(stream, "data: {usage}\n\ndata: [DONE]\n\n")
}
