//! Traces, as a collector on loopback gets them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::served::Served;
use super::wire::Asked;
use crate::canary::Canary;
use crate::home::Home;
use crate::processes::until;
use crate::scripted_model::{Line, ScriptedModel};

/// A collector that writes down what it gets: the head of a request and its body.
struct Collector {
    address: String,
    got: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Collector {
    /// Replies to everything with this status, and with this header.
    fn replying(status: &'static str, header: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let got: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let taken = Arc::clone(&got);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, taken, header) = (stream.unwrap(), Arc::clone(&taken), header.clone());
                std::thread::spawn(move || while take(&stream, &taken, status, &header).is_some() {});
            }
        });
        Self { address, got }
    }

    fn new() -> Self {
        Self::replying("200 OK", String::new())
    }

    fn config(&self) -> String {
        format!("[telemetry]\notlp_endpoint = \"http://{}\"\n", self.address)
    }

    fn text(&self) -> String {
        self.got.lock().unwrap().iter().map(|(head, body)| format!("{head}{body}\n")).collect()
    }

    fn spans(&self) -> Vec<Span> {
        let got = self.got.lock().unwrap();
        let resources = got.iter().flat_map(|(_, body)| body["resourceSpans"].as_array().unwrap());
        let scopes = resources.flat_map(|resource| resource["scopeSpans"].as_array().unwrap());
        scopes.flat_map(|scope| scope["spans"].as_array().unwrap()).map(Span::read).collect()
    }
}

fn take(stream: &TcpStream, got: &Mutex<Vec<(String, Value)>>, status: &str, header: &str) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    got.lock().unwrap().push((head, serde_json::from_slice(&body).unwrap()));
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status}\r\n{header}Content-Length: 2\r\n\r\n{{}}").ok()
}

#[derive(Debug, Clone)]
struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    name: String,
    kind: u64,
    start: u128,
    end: u128,
    failed: bool,
    attributes: HashMap<String, Value>,
}

impl Span {
    fn read(span: &Value) -> Self {
        let text = |name: &str| span[name].as_str().map(str::to_owned);
        let attributes = span["attributes"].as_array().unwrap().iter().map(|one| {
            let value = one["value"].as_object().unwrap().values().next().unwrap();
            (one["key"].as_str().unwrap().to_owned(), value.clone())
        });
        let read = Self {
            trace: text("traceId").unwrap(),
            id: text("spanId").unwrap(),
            parent: text("parentSpanId"),
            name: text("name").unwrap(),
            kind: span["kind"].as_u64().unwrap(),
            start: text("startTimeUnixNano").unwrap().parse().unwrap(),
            end: text("endTimeUnixNano").unwrap().parse().unwrap(),
            failed: span["status"]["code"] == 2,
            attributes: attributes.collect(),
        };
        assert!(read.trace.len() == 32 && read.id.len() == 16 && read.start <= read.end, "{read:?}");
        read
    }

    #[track_caller]
    fn says(&self, expected: &[(&str, &str)]) {
        for (name, value) in expected {
            let said = self
                .attributes
                .get(*name)
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            assert_eq!(said.as_deref(), Some(*value), "{name} of {self:?}");
        }
    }
}

#[track_caller]
fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name == name).collect();
    assert_eq!(found.len(), 1, "{name} in {spans:#?}");
    found[0]
}

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn a_request_a_run_its_models_and_its_tools_are_one_tree() {
    let (home, collector) = (Home::new(), Collector::new());
    let canary = Canary::new("said");
    let script = [
        Line::Refuses(500),
        Line::Calls("calculator", json!({"expression": "6*7"})),
        Line::Says(vec![canary.value.clone()]),
    ];
    let model = ScriptedModel::starts(script);
    home.run_with_stdin(&["secrets", "set", "collector"], "Basic b3BlbjpzZXNhbWU=").ended(0);
    let keys = format!("{}otlp_key = \"secret:collector\"\nservice_name = \"shop\"\n", collector.config());
    model.is_set_up_in(home.path(), &keys);
    let mut served = Served::logged(home, &[]);
    let key = served.key("local", "chat,call");
    let asked = Asked::new("POST", "/v1/runs").key(&key).header("traceparent", PARENT);
    let run = served.ask(&asked.json(&json!({"message": canary.value, "wait": true}))).is(200).json();
    assert_eq!(run["state"], "done", "{run}");
    let called = served.call(&key, "calculator", &json!({"expression": canary.value})).is(200).json();
    served.ends();
    let spans = collector.spans();
    let request = named(&spans, "POST /v1/runs");
    assert_eq!(
        (request.trace.as_str(), request.parent.as_deref()),
        ("4bf92f3577b34da6a3ce929d0e0e4736", Some("00f067aa0ba902b7"))
    );
    assert_eq!(request.kind, 2);
    request.says(&[
        ("http.request.method", "POST"),
        ("http.route", "/v1/runs"),
        ("http.response.status_code", "200"),
    ]);
    let agent = named(&spans, "invoke_agent default");
    assert_eq!((&agent.trace, agent.parent.as_ref()), (&request.trace, Some(&request.id)));
    agent.says(&[
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.conversation.id", run["conversation"].as_str().unwrap()),
        ("toolroom.run.id", run["id"].as_str().unwrap()),
        ("toolroom.run.state", "done"),
    ]);
    let chats: Vec<&Span> = spans.iter().filter(|span| span.name == "chat m").collect();
    assert_eq!(chats.iter().map(|chat| chat.failed).collect::<Vec<_>>(), [true, false, false], "{spans:#?}");
    for chat in chats {
        assert_eq!((&chat.trace, chat.parent.as_ref(), chat.kind), (&request.trace, Some(&agent.id), 3));
        chat.says(&[("gen_ai.request.model", "m"), ("gen_ai.provider.name", "lab")]);
        match chat.failed {
            true => chat.says(&[("error.type", "void")]),
            false => {
                chat.says(&[("gen_ai.usage.input_tokens", "100"), ("gen_ai.usage.output_tokens", "20")]);
            }
        }
    }
    let tools: Vec<&Span> = spans.iter().filter(|span| span.name.starts_with("execute_tool ")).collect();
    assert_eq!(tools.len(), 2, "{spans:#?}");
    let (in_run, alone): (Vec<&Span>, Vec<&Span>) =
        tools.into_iter().partition(|tool| tool.trace == request.trace);
    assert_eq!(in_run[0].parent.as_ref(), Some(&agent.id));
    in_run[0].says(&[
        ("gen_ai.tool.call.id", "call_calculator"),
        ("toolroom.outcome", "done"),
        ("toolroom.decision", "allow"),
    ]);
    let direct = named(&spans, "POST /v1/calls");
    assert_eq!((direct.parent.as_ref(), alone[0].parent.as_ref()), (None, Some(&direct.id)));
    alone[0]
        .says(&[("toolroom.call.id", called["call_id"].as_str().unwrap()), ("toolroom.outcome", "failed")]);
    canary.is_not_in(&collector.text());
    let (head, body) = collector.got.lock().unwrap()[0].clone();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: Basic b3BlbjpzZXNhbWU=\r\n"), "{head}");
    let service = &body["resourceSpans"][0]["resource"]["attributes"][0];
    assert_eq!(service, &json!({"key": "service.name", "value": {"stringValue": "shop"}}));
    assert!(!served.log().contains("b3BlbjpzZXNhbWU"), "the key of the collector is not told");
}

#[test]
fn a_call_of_mcp_is_part_of_the_trace_that_its_message_names() {
    let (home, collector) = (Home::new(), Collector::new());
    std::fs::write(home.path().join("toolroom.toml"), collector.config()).unwrap();
    let mut served = Served::logged(home, &[]);
    let key = served.key("local", "call");
    let params = json!({
        "name": "calculator", "arguments": {"expression": "6*7"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "traceparent": PARENT,
        },
    });
    let asked = Asked::new("POST", "/mcp").key(&key).header("MCP-Protocol-Version", "2026-07-28");
    let asked = asked.header("Mcp-Method", "tools/call").header("Mcp-Name", "calculator");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    served.ask(&asked.json(&message)).is(200);
    served.ends();
    let spans = collector.spans();
    let tool = spans.iter().find(|span| span.name.starts_with("execute_tool ")).unwrap();
    assert_eq!(
        (tool.trace.as_str(), tool.parent.as_deref()),
        ("4bf92f3577b34da6a3ce929d0e0e4736", Some("00f067aa0ba902b7"))
    );
    assert_ne!(named(&spans, "POST /mcp").trace, tool.trace);
}

#[test]
fn waiting_runs_are_marked_and_unsampled_requests_are_not_traced() {
    let (home, collector) = (Home::new(), Collector::new());
    let note = json!({"path": home.path().join("notes"), "text": "yes"});
    let model = ScriptedModel::starts([Line::Calls("publish_note", note)]);
    model.is_set_up_in(home.path(), &collector.config());
    let mut served = Served::at(home);
    let key = served.key("local", "chat,call");
    let body = json!({"message": "Note it.", "wait": true});
    assert_eq!(served.send("POST", "/v1/runs", &key, &body).is(200).json()["state"], "waiting");
    let unwanted = PARENT.replace("-01", "-00");
    served.ask(&Asked::new("GET", "/healthz").header("traceparent", &unwanted)).is(200);
    served.ask(&Asked::new("GET", "/healthz").header("traceparent", "00-junk")).is(200);
    served.ask(&Asked::new("GET", "/nowhere/secret")).is(404);
    served.ends();
    let spans = collector.spans();
    let tool = spans.iter().find(|span| span.name.starts_with("execute_tool ")).unwrap();
    tool.says(&[("toolroom.outcome", "pending"), ("toolroom.decision", "ask")]);
    assert!(tool.attributes.contains_key("toolroom.rule"), "{tool:?}");
    named(&spans, "invoke_agent default").says(&[("toolroom.run.state", "waiting")]);
    assert_eq!(named(&spans, "GET /healthz").parent, None, "of two only one is wanted");
    assert!(!named(&spans, "GET").failed && !collector.text().contains("nowhere"));
}

#[test]
fn a_collector_that_is_gone_or_leads_elsewhere_harms_nothing() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let elsewhere = Collector::new();
    let leads = format!("Location: http://{}/v1/traces\r\n", elsewhere.address);
    let redirecting = Collector::replying("307 Temporary Redirect", leads);
    let broken = Collector::replying("500 Oh No", String::new());
    for address in [nobody.to_string(), redirecting.address.clone(), broken.address.clone()] {
        let home = Home::new();
        let config =
            format!("[server]\nip_rate = 1000000\n[telemetry]\notlp_endpoint = \"http://{address}\"\n");
        std::fs::write(home.path().join("toolroom.toml"), config).unwrap();
        let mut served = Served::logged(home, &[]);
        let is_lost = || {
            served
                .ask(&Asked::new("GET", "/metrics"))
                .is(200)
                .body
                .contains("trace_spans_total{fate=\"lost\"}")
        };
        until(is_lost);
        served.ends();
        let told = served.log_lines().into_iter().filter(|line| line["level"] == "warn").count();
        assert_eq!(told, 1, "{}", served.log());
    }
    assert_eq!(elsewhere.spans().len(), 0, "redirects are not followed");
    assert!(!broken.spans().is_empty());
}

#[test]
fn a_collector_that_cannot_be_meant_is_told_at_once() {
    let home = Home::new();
    for (config, told) in [
        ("otlp_endpoint = 'http://u:hunter2@127.0.0.1:1'", "keys have their own setting"),
        ("otlp_endpoint = 'http://127.0.0.1:1'\notlp_key = 'secret:gone'", "no secret `gone`"),
        (
            "otlp_endpoint = 'http://127.0.0.1:1'\notlp_key = '$NOWHERE'",
            "the environment variable `NOWHERE` is not set",
        ),
        ("otlp_endpoint = 'http://127.0.0.1:1'\notlp_key = '$HOME'\notlp_key_header = 'host'", "`host`"),
    ] {
        std::fs::write(home.path().join("toolroom.toml"), format!("[telemetry]\n{config}\n")).unwrap();
        let ran = home.run_own(&["serve", "--listen", "127.0.0.1:0"]);
        assert!(ran.code > 0 && ran.err.contains(told) && !ran.err.contains("hunter2"), "{ran:?}");
    }
}
