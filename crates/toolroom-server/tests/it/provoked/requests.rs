//! Requests that go wrong: the same promise over HTTP.

use serde_json::Value;

use super::{Says, at_home};
use crate::serve::Served;
use crate::serve::wire::Asked;

/// Whose request it is.
#[derive(Clone, Copy)]
enum As {
    Nobody,
    /// A key that may only read.
    Reader,
    /// A key that may do everything.
    Everybody,
}

/// A request that goes wrong.
pub(super) struct Refused {
    by: As,
    method: &'static str,
    path: &'static str,
    body: &'static str,
    header: Option<(&'static str, &'static str)>,
    status: u16,
    pub(super) says: Says,
}

const fn row(
    method: &'static str,
    path: &'static str,
    body: &'static str,
    status: u16,
    [what, why, next]: [&'static str; 3],
) -> Refused {
    Refused { by: As::Everybody, method, path, body, header: None, status, says: Says { what, why, next } }
}

impl Refused {
    const fn by(mut self, by: As) -> Self {
        self.by = by;
        self
    }

    const fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }
}

pub(super) const TABLE: &[Refused] = &[
    row(
        "GET",
        "/v1/tools",
        "",
        401,
        ["Authorization", "no API key", "create a key with `toolroom keys create`"],
    )
    .by(As::Nobody),
    row(
        "GET",
        "/v1/tools",
        "",
        401,
        ["this key", "is unknown, expired or revoked", "create one with `toolroom keys create`"],
    )
    .by(As::Nobody)
    .header("Authorization", "Bearer trk_nobody_has_made_this_key"),
    row("GET", "/v1/runs/run_7", "", 404, ["`run_7`", "there is no run", "see `GET /v1/runs`"]),
    row(
        "GET",
        "/v1/conversations/conv_7",
        "",
        404,
        ["`conv_7`", "there is no conversation", "see `GET /v1/conversations`"],
    ),
    row(
        "GET",
        "/v1/artifacts/art_7",
        "",
        404,
        ["`art_7`", "there is no artifact", "`GET /v1/calls/ID` names that of a call"],
    ),
    row(
        "POST",
        "/v1/calls",
        "[]",
        400,
        ["the body", "must be a JSON object", "`GET /openapi.json` describes it"],
    ),
    row(
        "POST",
        "/v1/calls",
        "{}",
        403,
        ["the scope `call`", "this needs", "`toolroom keys create --scope call`"],
    )
    .by(As::Reader),
    row(
        "GET",
        "/v1/projects",
        "",
        403,
        ["the owner", "only the owner of this installation", "sign in with the link"],
    ),
    row("GET", "/v1/nothing", "", 404, ["this address", "there is nothing at", "see `/docs`"]),
    row("DELETE", "/v1/tools", "", 405, ["this address", "does not support that method", "see `/docs`"]),
    row("GET", "/v1/tools/nope", "", 404, ["`nope`", "unknown tool", "see `GET /v1/tools?all=true`"]),
    row(
        "POST",
        "/v1/calls",
        r#"{"tool": "calculator", "argument": {}}"#,
        400,
        ["`argument`", "unknown field", "expected one of `tool`, `arguments`"],
    ),
    row("POST", "/v1/calls", "{}", 400, ["invalid body", "missing field", "`tool`"]),
    row("POST", "/v1/calls", "[]", 400, ["the body", "must be", "a JSON object"]),
    row("POST", "/v1/calls", "{}", 415, ["the body", "must be JSON", "`Content-Type: application/json`"])
        .header("Content-Type", "text/plain"),
    row("GET", "/v1/calls/call_7", "", 404, ["`call_7`", "there is no call", "see `GET /v1/calls`"]),
    row("GET", "/v1/calls?limit=9999", "", 400, ["`limit`", "must be a number", "from 1 to 200"]),
    row("GET", "/v1/calls?cursor=junk", "", 400, ["`cursor`", "invalid", "use the `next_cursor` of a page"]),
    row(
        "GET",
        "/v1/calls?status=dne",
        "",
        400,
        ["status", "unknown variant `dne`", "expected one of `begun`, `done`"],
    ),
    row(
        "POST",
        "/v1/approvals/call_7",
        r#"{"answer": "once"}"#,
        404,
        ["`call_7`", "no call was parked under", "see `GET /v1/approvals`"],
    ),
    row(
        "POST",
        "/v1/approvals/call_7",
        r#"{"answer": "maybe"}"#,
        400,
        ["`maybe`", "unknown variant", "expected one of `once`, `session`, `always`"],
    ),
    row("GET", "/v1/agents/nobody", "", 404, ["`nobody`", "there is no agent", "see `GET /v1/agents`"]),
    row("DELETE", "/v1/keys/nope", "", 404, ["`nope`", "there is no key", "see `GET /v1/keys`"]),
    row(
        "DELETE",
        "/v1/memories/nope",
        "",
        404,
        ["`nope`", "nothing is remembered under", "see `GET /v1/memories`"],
    ),
    row(
        "PUT",
        "/v1/switches/memry",
        r#"{"state": "off"}"#,
        404,
        ["`memry`", "unknown feature", "see `GET /v1/switches`"],
    ),
    row(
        "PUT",
        "/v1/tools/memory_store/state",
        r#"{"state": "off"}"#,
        409,
        ["`builtin:memory_store`", "has no toggle of its own", "`PUT /v1/switches/memory`"],
    ),
    row("POST", "/v1/runs", r#"{"message": ""}"#, 400, ["the message", "is empty", "write something"]),
    row(
        "POST",
        "/v1/runs",
        r#"{"message": "hi", "conversation": "conv_7"}"#,
        404,
        ["`conv_7`", "there is no conversation", "leave it out to start one"],
    ),
    row(
        "POST",
        "/v1/chat/completions",
        r#"{"model": "default", "messages": []}"#,
        400,
        ["`messages`", "is empty", "the last one is answered"],
    ),
    row(
        "POST",
        "/mcp",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#,
        400,
        ["`initialize`", "missing `Mcp-Session-Id`", "open a session"],
    )
    .header("Accept", "application/json, text/event-stream"),
    row("POST", "/mcp", "[]", 400, ["batches", "are not supported", "send messages one by one"])
        .header("Accept", "application/json, text/event-stream"),
    row(
        "GET",
        "/v1/tools",
        "",
        403,
        [
            "`https://elsewhere.example`",
            "may not use this key",
            "add the origin to the key, or create a token",
        ],
    )
    .header("Origin", "https://elsewhere.example"),
    row(
        "GET",
        "/sign-in/nope",
        "",
        403,
        ["this link", "was used or has expired", "`toolroom serve` prints a new one"],
    ),
];

#[test]
fn requests_that_go_wrong_say_what_why_and_what_next() {
    let served = Served::new();
    let (reader, everybody) =
        (served.key("local", "read"), served.key("local", &crate::serve::served::SCOPES.join(",")));
    let mut faults = Vec::new();
    for refused in TABLE {
        let mut asked = Asked::new(refused.method, refused.path);
        asked = match refused.by {
            As::Nobody => asked,
            As::Reader => asked.key(&reader),
            As::Everybody => asked.key(&everybody),
        };
        let told_kind = refused.header.is_some_and(|(name, _)| name == "Content-Type");
        asked = match (refused.body, told_kind) {
            ("", _) => asked,
            (body, true) => asked.text(body),
            (body, false) => asked.json(&serde_json::from_str::<Value>(body).unwrap()),
        };
        if let Some((name, value)) = refused.header {
            asked = asked.header(name, value);
        }
        let reply = served.ask(&asked);
        let missing = refused.says.missing_in(&reply.body);
        if reply.status != refused.status || !missing.is_empty() {
            let (method, path, status) = (refused.method, refused.path, refused.status);
            faults.push(format!("{method} {path}: {status} expected, {missing:?} not said: {reply:?}"));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), TABLE.len(), faults.join("\n"));
}

#[test]
fn what_a_server_stands_in_the_way_of_says_what_why_and_what_next() {
    let served = Served::new();
    let everybody = served.key("local", &crate::serve::served::SCOPES.join(","));
    let stranger =
        served.ask(&Asked::new("GET", "/v1/tools").key(&everybody).host("elsewhere.example")).is(421);
    let says = Says {
        what: "`elsewhere.example`",
        why: "is not a name of this server",
        next: "add it to `server.hosts`",
    };
    assert!(says.missing_in(&stranger.body).is_empty(), "{stranger:?}");
    let named = |sum: &str| {
        let body = serde_json::json!({"tool": "calculator", "arguments": {"expression": sum}});
        served
            .ask(&Asked::new("POST", "/v1/calls").key(&everybody).header("Idempotency-Key", "a").json(&body))
    };
    named("1").is(200);
    let other = named("2").is(422);
    let says = Says {
        what: "`Idempotency-Key`",
        why: "belongs to another request",
        next: "use a new one for each request",
    };
    assert!(says.missing_in(&other.body).is_empty(), "{other:?}");
    at_home(&served.home, &["backup", "create", "room.tar"]).ended(0);
    let busy = at_home(&served.home, &["backup", "restore", "room.tar", "--yes"]).ended(3);
    let says = Says { what: "another toolroom", why: "is at work in", next: "end it, then try again" };
    assert!(says.missing_in(&busy.err).is_empty(), "{busy:?}");
}
