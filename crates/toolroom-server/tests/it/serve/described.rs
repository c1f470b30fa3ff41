//! Replies are what the OpenAPI document says: those that go well, and those that do not.

use serde_json::{Value, json};
use toolroom::schema::{PatternRule, Schema};

use super::served::{SCOPES, Served};
use super::wire::{Asked, Reply};
use crate::home::Home;
use crate::scripted_model::ScriptedModel;

/// The document, and a server to hold against it.
struct Described {
    served: Served,
    _model: ScriptedModel,
    document: Value,
    key: String,
    cookie: String,
}

impl Described {
    fn new() -> Self {
        let (home, model) = (Home::new(), ScriptedModel::starts([]));
        model.is_set_up_in(home.path(), "");
        let served = Served::at(home);
        let document = served.ask(&Asked::new("GET", "/openapi.json")).is(200).json();
        let (key, cookie) = (served.key("local", &SCOPES.join(",")), served.cookie());
        Self { served, _model: model, document, key, cookie }
    }

    /// Asks, and fails unless the reply has this status and is as described.
    #[track_caller]
    fn asks(&self, method: &str, place: &str, id: &str, body: &Value, status: u16) -> Value {
        let path = match place.find('{') {
            Some(from) => place.replace(&place[from..=place.find('}').unwrap()], id),
            None => format!("{place}{id}"),
        };
        let mut asked = Asked::new(method, &path);
        asked = match place.starts_with("/v1/projects") {
            true => asked.header("Cookie", &self.cookie).header("Origin", &self.served.origin()),
            false => asked.key(&self.key),
        };
        let reply = self.served.ask(&asked.json(body)).is(status);
        self.check(method, place, &reply);
        reply.json()
    }

    #[track_caller]
    fn check(&self, method: &str, place: &str, reply: &Reply) {
        let replies = &self.document["paths"][place][method.to_lowercase()]["responses"];
        let status = reply.status.to_string();
        let described =
            replies.get(&status).unwrap_or_else(|| panic!("{method} {place}: {status} is not described"));
        let kind = reply.header("content-type").unwrap().split(';').next().unwrap();
        let content = described["content"].get(kind);
        let content = content.unwrap_or_else(|| panic!("{method} {place} {status}: {kind} is not described"));
        let definitions = &self.document["components"]["schemas"];
        let schema = json!({"allOf": [content["schema"]], "$defs": definitions}).to_string();
        let schema: Value =
            serde_json::from_str(&schema.replace("#/components/schemas/", "#/$defs/")).unwrap();
        let schema = Schema::new(schema, PatternRule::Refuse).unwrap();
        let problems = schema.check(&reply.json()).unwrap();
        assert!(problems.is_empty(), "{method} {place} {status}: {problems:?}\n{}", reply.body);
    }
}

#[test]
fn replies_are_what_the_document_says() {
    let described = Described::new();
    let served = &described.served;
    let ask = |method: &str, place: &str, id: &str, body: Value, status: u16| {
        described.asks(method, place, id, &body, status)
    };
    let none = || json!({});
    for place in
        ["/healthz", "/readyz", "/v1/agents", "/v1/approvals", "/v1/doctor", "/v1/keys", "/v1/memories"]
    {
        ask("GET", place, "", none(), 200);
    }
    for place in ["/v1/projects", "/v1/switches", "/v1/tools?all=true", "/v1/vendors?all=true"] {
        let (place, query) = place.split_at(place.find('?').unwrap_or(place.len()));
        ask("GET", place, query, none(), 200);
    }
    let call = |tool: &str, arguments: Value, status: u16| {
        ask("POST", "/v1/calls", "", json!({"tool": tool, "arguments": arguments}), status)
    };
    call("calculator", json!({"expression": "1"}), 200);
    call("calculator", json!({"expression": "1/0"}), 200);
    call("calculator", none(), 200);
    call("nothing", none(), 404);
    ask("POST", "/v1/calls", "", json!([]), 400);
    let long = call("repeat", json!({"text": "long ", "times": 10_000}), 200);
    ask("GET", "/v1/artifacts/{artifact}", long["artifact"].as_str().unwrap(), none(), 200);
    for _ in 0..3 {
        call("lottery", none(), 200);
    }
    call("lottery", none(), 429);
    let parked = || {
        let note = json!({"path": served.notes(), "text": "x"});
        call("publish_note", note, 202)["call_id"].as_str().unwrap().to_owned()
    };
    let (first, second, third) = (parked(), parked(), parked());
    ask("GET", "/v1/approvals", "", none(), 200);
    ask("GET", "/v1/approvals/{call}", &first, none(), 200);
    ask("POST", "/v1/approvals/{call}", &first, json!({"answer": "always"}), 200);
    ask("POST", "/v1/approvals/{call}", &first, json!({"answer": "no"}), 409);
    let arguments = json!({"path": served.notes(), "text": "y"});
    ask("POST", "/v1/approvals/{call}", &second, json!({"answer": "edit", "arguments": arguments}), 200);
    ask("POST", "/v1/approvals/{call}", &third, json!({"answer": "no"}), 200);
    ask("GET", "/v1/approvals/{call}", &third, none(), 200);
    for (id, status) in [(&first, 200), (&second, 200), (&third, 200), (&first, 409)] {
        ask("POST", "/v1/calls/{call}/resume", id, none(), status);
        ask("GET", "/v1/calls/{call}", id, none(), 200);
    }
    ask("POST", "/v1/calls/{call}/cancel", &first, none(), 409);
    ask("GET", "/v1/calls", "?limit=200", none(), 200);
    ask("GET", "/v1/calls", "?limit=0", none(), 400);
    ask("GET", "/v1/calls/{call}", "nothing", none(), 404);
    for entry in
        served.get("/v1/tools?all=true&limit=200", &described.key).json()["tools"].as_array().unwrap()
    {
        ask("GET", "/v1/tools/{tool}", entry["id"].as_str().unwrap(), none(), 200);
    }
    ask("PUT", "/v1/tools/{tool}/state", "calculator", json!({"state": "off"}), 200);
    call("calculator", json!({"expression": "1"}), 200);
    ask("PUT", "/v1/tools/{tool}/state", "calculator", json!({"state": "default"}), 200);
    ask("PUT", "/v1/switches/{feature}", "nothing", json!({"state": "on"}), 404);
    ask(
        "PUT",
        "/v1/agents/{agent}",
        "cook",
        json!({"ranker": "openai/gpt-4o", "limits": {"max_tokens": 9}}),
        200,
    );
    for agent in ["cook", "default"] {
        ask("GET", "/v1/agents/{agent}", agent, none(), 200);
    }
    ask("DELETE", "/v1/agents/{agent}", "cook", none(), 200);
    call("memory_store", json!({"key": "city", "content": "Tashkent"}), 200);
    ask("GET", "/v1/memories", "", none(), 200);
    ask("DELETE", "/v1/memories/{key}", "city", none(), 200);
    let key = ask("POST", "/v1/keys", "", json!({"name": "new", "expires_in": 60}), 201);
    let new = ask("POST", "/v1/keys/{key}/rotate", key["id"].as_str().unwrap(), none(), 201);
    ask("DELETE", "/v1/keys/{key}", new["id"].as_str().unwrap(), none(), 200);
    ask("POST", "/v1/tokens", "", json!({"user": "ann", "agent": "default"}), 201);
    ask("POST", "/v1/projects", "", json!({"id": "shop"}), 201);
    ask("POST", "/v1/projects", "", json!({"id": "shop"}), 409);
    ask("GET", "/v1/projects/{project}", "shop", none(), 200);
    ask("PUT", "/v1/projects/{project}", "shop", json!({"name": "The shop"}), 200);
    ask("POST", "/v1/projects/{project}/keys", "shop", json!({"name": "till"}), 201);
    ask("GET", "/v1/projects/{project}/keys", "shop", none(), 200);
    ask("DELETE", "/v1/projects/{project}", "shop", none(), 200);
    for (tool, status) in [("calculator", 200), ("publish_note", 200), ("nothing", 404)] {
        ask(
            "POST",
            "/v1/policy/explain",
            "",
            json!({"tool": tool, "arguments": {"expression": "1"}}),
            status,
        );
    }
    let note = json!({"path": served.notes(), "text": "x"});
    ask("POST", "/v1/policy/explain", "", json!({"tool": "erase_notes", "arguments": {"path": "x"}}), 200);
    ask("POST", "/v1/policy/explain", "", json!({"tool": "publish_note", "arguments": note}), 200);
}

#[test]
fn runs_and_conversations_are_what_the_document_says() {
    let described = Described::new();
    let ask = |method: &str, place: &str, id: &str, body: Value, status: u16| {
        described.asks(method, place, id, &body, status)
    };
    let none = || json!({});
    let tool = json!({"type": "function", "function": {"name": "pick", "parameters": {"type": "object"}}});
    let asked =
        json!({"model": "default", "messages": [{"role": "user", "content": "Hello"}], "tools": [tool]});
    ask("POST", "/v1/chat/completions", "", asked, 200);
    ask("POST", "/v1/chat/completions", "", json!({"model": "nobody", "messages": [{"role": "user"}]}), 404);
    ask("GET", "/v1/models", "", none(), 200);
    ask("GET", "/agui/{agent}/capabilities", "default", none(), 200);
    let context = json!({"message": "Hello", "wait": true, "context": {"city": "Tashkent"}});
    let run = ask("POST", "/v1/runs", "", context, 200);
    ask("POST", "/v1/runs", "", json!({"message": "Hello"}), 202);
    ask("POST", "/v1/runs", "", json!({"message": " "}), 400);
    ask("POST", "/v1/runs", "", json!({"message": "Hello", "model": "nobody/none"}), 404);
    let (id, conversation) = (run["id"].as_str().unwrap(), run["conversation"].as_str().unwrap());
    ask("GET", "/v1/runs", "?state=done", none(), 200);
    ask("GET", "/v1/runs", "?state=lost", none(), 400);
    ask("GET", "/v1/runs", "?limit=201", none(), 400);
    ask("GET", "/v1/runs/{run}", id, none(), 200);
    ask("GET", "/v1/runs/{run}/events", "nothing", none(), 404);
    for step in ["cancel", "resume"] {
        ask("POST", &format!("/v1/runs/{{run}}/{step}"), id, none(), 409);
    }
    ask("GET", "/v1/conversations", "", none(), 200);
    ask("GET", "/v1/conversations", "?limit=1001", none(), 400);
    for place in ["/v1/conversations/{conversation}", "/v1/conversations/{conversation}/messages"] {
        ask("GET", place, conversation, none(), 200);
        ask("GET", place, "nothing", none(), 404);
    }
}
