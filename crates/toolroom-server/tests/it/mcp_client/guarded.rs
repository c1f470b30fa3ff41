//! A server over HTTP that requires a token, and its authorization server: all at one address of this
//! machine, and as honest or not as a test wants it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use toolroom_host::net::Url;

/// What renews nothing any more.
const REVOKED: &str = "revoked";

/// What is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    Nothing,
    /// What is said about the issuer is said by another one.
    OtherIssuer,
    /// Tokens are given out where others listen.
    Overheard,
    /// The issuer itself is where others listen.
    OverheardIssuer,
    /// It does not say that it knows PKCE.
    NoPkce,
    /// It knows the kind that protects nothing.
    PlainPkce,
    /// Its metadata is at an internal address.
    Inside(String),
    /// Who asks for a token is sent on.
    Moves(String),
    /// A description without end.
    Huge,
    /// It is described as another server.
    OtherResource,
    /// It does not say who gives out its tokens.
    NoIssuer,
}

/// What it was asked.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) authorization: Option<String>,
    pub(super) body: String,
}

#[derive(Debug)]
struct State {
    fault: Fault,
    access: String,
    refresh: String,
    count: u32,
    was_reused: bool,
    asked: Vec<Asked>,
}

/// It runs until the test ends.
pub(super) struct Guarded {
    origin: String,
    state: Arc<Mutex<State>>,
}

impl Guarded {
    pub(super) fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let state = State {
            fault,
            access: "unissued-access".to_owned(),
            refresh: "unissued-refresh".to_owned(),
            count: 0,
            was_reused: false,
            asked: Vec::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let serving = Self { origin: origin.clone(), state: Arc::clone(&state) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, origin) = (Arc::clone(&state), origin.clone());
                std::thread::spawn(move || drop(answer(stream, &state, &origin)));
            }
        });
        serving
    }

    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// From now on the token that was given out does not hold, and has to be renewed.
    pub(super) fn expire(&self) {
        self.state().access = "expired".to_owned();
    }

    /// Neither does what it is renewed with.
    pub(super) fn revoke(&self) {
        self.expire();
        self.state().refresh = REVOKED.to_owned();
    }

    /// Whether a refresh token was used twice.
    pub(super) fn was_reused(&self) -> bool {
        self.state().was_reused
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>, origin: &str) -> std::io::Result<()> {
    let mut said = Vec::new();
    let mut piece = [0; 16 * 1024];
    let (head, body) = loop {
        let count = stream.read(&mut piece)?;
        said.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&said).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = header(head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                break (head.to_owned(), body.to_owned());
            }
        }
        if count == 0 {
            return Ok(());
        }
    };
    let line: Vec<&str> = head.lines().next().unwrap_or_default().split(' ').collect();
    let (method, path) = (line[0], line[1]);
    let mut state = state.lock().unwrap();
    let authorization = header(&head, "authorization").map(str::to_owned);
    state.asked.push(Asked {
        path: path.to_owned(),
        authorization: authorization.clone(),
        body: body.clone(),
    });
    let (status, more, document) = match (method, path) {
        ("POST", "/mcp") if authorization != Some(format!("Bearer {}", state.access)) => {
            let place = match &state.fault {
                Fault::Inside(place) => place.clone(),
                _ => format!("{origin}/.well-known/oauth-protected-resource/mcp"),
            };
            (401, format!("www-authenticate: Bearer resource_metadata=\"{place}\"\r\n"), Value::Null)
        }
        ("POST", "/mcp") => spoken(&body),
        ("GET", "/.well-known/oauth-protected-resource/mcp") => described(&state.fault, origin),
        ("GET", "/.well-known/oauth-authorization-server") => issuer(&state.fault, origin),
        ("POST", "/register") => (201, String::new(), json!({"client_id": "registered"})),
        ("POST", "/token") => token(&mut state, &body),
        _ => (404, String::new(), Value::Null),
    };
    drop(state);
    let document = if document.is_null() { String::new() } else { document.to_string() };
    let length = document.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n\
         {document}"
    )
}

fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
}

/// The protocol of the older era.
fn spoken(body: &str) -> (u16, String, Value) {
    let message: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(id) = message.get("id") else { return (202, String::new(), Value::Null) };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"}}),
        "tools/list" => {
            json!({"tools": [{"name": "work", "description": "Works", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "ok"}]}),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return (200, String::new(), json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    (200, String::new(), json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn described(fault: &Fault, origin: &str) -> (u16, String, Value) {
    let resource = match fault {
        Fault::OtherResource => "https://other.example/mcp".to_owned(),
        _ => format!("{origin}/mcp"),
    };
    let issuers = match fault {
        Fault::NoIssuer => json!([]),
        Fault::OverheardIssuer => json!(["http://issuer.example"]),
        _ => json!([origin]),
    };
    let filler = if *fault == Fault::Huge { "x".repeat(1024 * 1024) } else { String::new() };
    (200, String::new(), json!({"resource": resource, "authorization_servers": issuers, "x": filler}))
}

fn issuer(fault: &Fault, origin: &str) -> (u16, String, Value) {
    let token = match fault {
        Fault::Overheard => "http://tokens.example/token".to_owned(),
        _ => format!("{origin}/token"),
    };
    let mut document = json!({
        "issuer": if *fault == Fault::OtherIssuer { "https://issuer.example" } else { origin },
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": token,
        "registration_endpoint": format!("{origin}/register"),
        "code_challenge_methods_supported": if *fault == Fault::PlainPkce { json!(["plain"]) } else { json!(["S256"]) },
        "token_endpoint_auth_methods_supported": ["none"],
    });
    if *fault == Fault::NoPkce {
        document.as_object_mut().unwrap().remove("code_challenge_methods_supported");
    }
    (200, String::new(), document)
}

fn token(state: &mut State, body: &str) -> (u16, String, Value) {
    if let Fault::Moves(place) = &state.fault {
        return (307, format!("location: {place}\r\n"), Value::Null);
    }
    let fields = Url::parse(&format!("http://x/?{body}")).unwrap();
    let field = |name: &str| {
        fields.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let is_renewed = field("grant_type").as_deref() == Some("refresh_token");
    if is_renewed && field("refresh_token").as_ref() != Some(&state.refresh) {
        state.was_reused |= state.refresh != REVOKED;
        return (400, String::new(), json!({"error": "invalid_grant"}));
    }
    if !is_renewed && (field("code").as_deref() != Some("the-code") || field("code_verifier").is_none()) {
        return (400, String::new(), json!({"error": "invalid_grant"}));
    }
    state.count += 1;
    state.access = format!("access-canary-{}", state.count);
    state.refresh = format!("refresh-canary-{}", state.count);
    let (access, refresh) = (&state.access, &state.refresh);
    (200, String::new(), json!({"access_token": access, "token_type": "Bearer", "refresh_token": refresh}))
}
