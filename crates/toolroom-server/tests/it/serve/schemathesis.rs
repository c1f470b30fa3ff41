//! The OpenAPI document is valid, and the server keeps to it: schemathesis tests every operation with valid and invalid
//! requests.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::served::{SCOPES, Served};
use super::stream::Stream;
use super::wire::Asked;
use crate::home::Home;
use crate::mcp::place::hello;
use crate::scale::scaled;
use crate::scripted_model::ScriptedModel;

/// No rate limits.
const RATES: &str = "[server]\nkey_rate = 1000000\nip_rate = 1000000\nsession_rate = 1000000\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi")
}

fn program(name: &str) -> Command {
    let path = folder().join("venv/bin").join(name);
    assert!(path.is_file(), "{} is missing: run `make setup`", path.display());
    Command::new(path)
}

/// Fails with all that was printed unless it ends well.
#[track_caller]
fn ends_well(command: &mut Command) -> String {
    let ended = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ended.status.success(), "{}\n{}", text(&ended.stdout), text(&ended.stderr));
    text(&ended.stdout)
}

#[test]
fn the_document_is_openapi() {
    let served = Served::new();
    let document = served.home.path().join("openapi.json");
    std::fs::write(&document, served.ask(&Asked::new("GET", "/openapi.json")).is(200).body).unwrap();
    ends_well(program("python").args(["-m", "openapi_spec_validator"]).arg(&document));
}

/// A server where there is something of everything, and how to get at it.
struct Furnished {
    served: Served,
    /// Answers every request.
    _model: ScriptedModel,
    variables: Vec<(&'static str, String)>,
}

impl Furnished {
    fn new() -> Self {
        let (home, model) = (Home::new(), ScriptedModel::starts([]));
        model.is_set_up_in(home.path(), RATES);
        let served = Served::at(home);
        let (key, cookie) = (served.key("local", &SCOPES.join(",")), served.cookie());
        let text = |document: &Value, field: &str| document[field].as_str().unwrap().to_owned();
        served.project("shop");
        served.send("PUT", "/v1/agents/cook", &key, &json!({"prompt": "You cook."})).is(200);
        served.call(&key, "memory_store", &json!({"key": "city", "content": "Tashkent"})).is(200);
        let long = served.call(&key, "repeat", &json!({"text": "long ", "times": 10_000})).is(200).json();
        let parked = served.park(&key, "x");
        let run = || {
            served.send("POST", "/v1/runs", &key, &json!({"message": "Hello", "wait": true})).is(200).json()
        };
        let (run, other) = (run(), run());
        let session = || hello(&served, &key, &json!({}));
        let (listening, spare) = (session(), session());
        let listen = Asked::new("GET", "/mcp").key(&key).header("Mcp-Session-Id", &listening);
        drop(Stream::open(served.wire(), &listen));
        let variables = vec![
            ("TOOLROOM_ARTIFACT", text(&long, "artifact")),
            ("TOOLROOM_CALL", text(&long, "call_id")),
            ("TOOLROOM_CONVERSATION", text(&run, "conversation")),
            ("TOOLROOM_COOKIE", cookie),
            ("TOOLROOM_ORIGIN", served.origin()),
            ("TOOLROOM_PARKED", parked),
            ("TOOLROOM_RUN", text(&run, "id")),
            ("TOOLROOM_SESSION", listening),
            ("TOOLROOM_SPARE_SESSION", spare),
            ("TOOLROOM_SPARE_CONVERSATION", text(&other, "conversation")),
            ("TOOLROOM_SPARE_KEY", text(&served.make_key("local", "read"), "id")),
            ("TOOLROOM_KEY", key),
        ];
        Self { served, _model: model, variables }
    }

    /// Tests the `chosen` operations. Failures are printed with their requests.
    #[track_caller]
    fn is_examined(&self, chosen: [&str; 2]) {
        let examples = scaled(EXAMPLES).min(MOST_EXAMPLES).to_string();
        let document = format!("{}/openapi.json", self.served.origin());
        let mut command = program("schemathesis");
        command.arg("--config-file").arg(folder().join("schemathesis.toml"));
        command.args(["run", &document, "--no-color", "--max-examples", &examples]).args(chosen);
        command.envs(self.variables.iter().cloned()).env("TOOLROOM_HOOKS", folder().join("hooks.py"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("NO_PROXY", "*").current_dir(self.served.home.path());
        ends_well(&mut command);
    }

    /// Whether a request of this kind was ever done, as the server counts them.
    fn has_done(&self, method: &str, path: &str) -> bool {
        let page = self.served.ask(&Asked::new("GET", "/metrics")).is(200).body;
        let counted = format!("toolroom_http_requests_total{{method=\"{method}\",route=\"{path}\",status=\"");
        page.lines().filter_map(|line| line.strip_prefix(&counted)).any(|status| status < "4")
    }
}

/// Requests for each operation that are made up, beside those that its bounds bring with them.
const EXAMPLES: u32 = 10;

/// And in the long run.
const MOST_EXAMPLES: u32 = 300;

/// Runs and calls have ended before a generated request could cancel or resume them.
const TOO_LATE: [&str; 3] = ["/v1/calls/{call}/cancel", "/v1/runs/{run}/cancel", "/v1/runs/{run}/resume"];

#[test]
fn every_operation_does_what_the_document_says() {
    let furnished = Furnished::new();
    // Last, because it ends the session.
    furnished.is_examined(["--exclude-path", "/sign-out"]);
    furnished.is_examined(["--include-path", "/sign-out"]);
    let document = furnished.served.ask(&Asked::new("GET", "/openapi.json")).is(200).json();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            let is_late = TOO_LATE.contains(&path.as_str());
            assert!(is_late || furnished.has_done(&method, path), "{method} {path} was refused each time");
        }
    }
}
