//! One call through each interface, with a common result.

use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::desktop::stand_in::{CANARY, StandIn};
use crate::home::{Home, finished, ran};
use crate::mcp::place::{modern, result};
use crate::scripted_model::{Line, ScriptedModel};
use crate::serve::Served;
use crate::serve::wire::Asked;

/// An interface for calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    CommandLine,
    Rest,
    McpOverHttp,
    McpOverStreams,
    Chat,
}

impl Door {
    pub(super) const ALL: [Self; 5] =
        [Self::CommandLine, Self::Rest, Self::McpOverHttp, Self::McpOverStreams, Self::Chat];

    /// Whether its users are at this machine.
    pub(super) const fn is_here(self) -> bool {
        matches!(self, Self::CommandLine | Self::McpOverStreams | Self::Chat)
    }
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct Came {
    pub(super) result: Value,
    /// The offered address, if any.
    pub(super) address: Option<String>,
    /// The offered file, with its name and how to fetch it.
    pub(super) file: Option<(String, Vec<u8>)>,
}

/// A toolroom with a desktop, and one of its interfaces.
pub(super) struct House {
    pub(super) door: Door,
    pub(super) desk: StandIn,
    served: Option<Served>,
    config: String,
    display: Option<String>,
}

impl House {
    pub(super) fn new(door: Door, config: &str) -> Self {
        Self::on(door, config, None)
    }

    /// Uses this screen instead of the recording desktop.
    pub(super) fn on(door: Door, config: &str, display: Option<&str>) -> Self {
        let home = Home::new();
        std::fs::write(home.path().join("toolroom.toml"), config).unwrap();
        home.run_with_stdin(&["secrets", "set", "calendar"], CANARY).ended(0);
        let mut house = Self {
            door,
            desk: StandIn::at(home),
            served: None,
            config: config.to_owned(),
            display: display.map(str::to_owned),
        };
        if !door.is_here() {
            let home = std::mem::replace(&mut house.desk.home, Home::new());
            let variables = house.variables();
            let variables: Vec<(&str, &str)> =
                variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
            house.served = Some(Served::started(home, &[], Stdio::inherit(), &variables));
        }
        house
    }

    pub(super) fn home(&self) -> &Home {
        self.served.as_ref().map_or(&self.desk.home, |served| &served.home)
    }

    /// A file of the workspace.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> String {
        let place = self.home().path().join("workspace").join(name);
        std::fs::write(&place, bytes).unwrap();
        place.canonicalize().unwrap().display().to_string()
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = self.desk.variables();
        variables.extend(self.display.clone().map(|display| ("DISPLAY", display)));
        variables.push(("TOOLROOM_LOG_LEVEL", "warn".to_owned()));
        variables
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.desk.command(words);
        command.envs(self.variables());
        command
    }

    /// Calls a tool, which has to succeed.
    pub(super) fn calls(&self, tool: &'static str, arguments: &Value) -> Came {
        match self.door {
            Door::CommandLine => {
                let words = ["call", tool, &arguments.to_string(), "--json"];
                told(&ran(self.command(&words).output().unwrap()).ended(0).json())
            }
            Door::Chat => self.talks(tool, arguments),
            Door::McpOverStreams => self.speaks(tool, arguments),
            Door::Rest => self.sends(tool, arguments),
            Door::McpOverHttp => self.asks(tool, arguments),
        }
    }

    fn talks(&self, tool: &'static str, arguments: &Value) -> Came {
        let model = ScriptedModel::starts([Line::Calls(tool, arguments.clone()), Line::says("There.")]);
        model.is_set_up_in(self.home().path(), &self.config);
        let document = ran(self.command(&["chat", "do it", "--json"]).output().unwrap()).ended(0).json();
        let call = &document["calls"][0];
        assert_eq!((&call["outcome"], &document["text"]), (&json!("done"), &json!("There.")), "{document}");
        // The model reads the result.
        let read = model.asked()[1]["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(read["role"], "tool", "{read}");
        told(call)
    }

    fn speaks(&self, tool: &str, arguments: &Value) -> Came {
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let call = json!({"name": tool, "arguments": arguments});
        let mut child = self.command(&["mcp", "serve"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut said = child.stdin.take().unwrap();
        for (id, method, params) in [(0, "initialize", hello), (1, "tools/call", call)] {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(said, "{message}").unwrap();
        }
        drop(said);
        let told = finished(child).ended(0).out;
        let answers = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answer = answers.into_iter().find(|answer| answer["id"] == 1).unwrap_or_else(|| panic!("{told}"));
        let (came, links) = content(&answer["result"]);
        assert!(links.is_empty(), "{answer}");
        came
    }

    fn sends(&self, tool: &str, arguments: &Value) -> Came {
        let served = self.served.as_ref().unwrap();
        let key = served.key("local", "read,call");
        let document = served.call(&key, tool, arguments).is(200).json();
        let mut came = told(&document);
        // The journal has the same result.
        let call = document["call_id"].as_str().unwrap();
        let row = served.get(&format!("/v1/calls/{call}"), &key).is(200).json();
        let offers = |of: &Value| of["offers"].as_array().cloned().unwrap_or_default();
        let (kept, told) = (offers(&row), offers(&document));
        assert_eq!(kept.len(), told.len(), "{row}");
        for (kept, told) in kept.into_iter().zip(told) {
            assert!(kept.as_object().unwrap().iter().all(|(name, value)| told[name] == *value), "{row}");
            if let Some(href) = told["href"].as_str() {
                let mut wire = served.wire();
                wire.send(&Asked::new("GET", href).key(&key));
                let head = wire.head().is(200);
                let length = head.header("content-length").unwrap().parse().unwrap();
                came.file = Some((told["name"].as_str().unwrap().to_owned(), wire.bytes(length)));
            }
        }
        came
    }

    fn asks(&self, tool: &str, arguments: &Value) -> Came {
        let served = self.served.as_ref().unwrap();
        let key = served.key("local", "read,call");
        let params = json!({"name": tool, "arguments": arguments});
        let called = result(&served.ask(&modern(&key, "tools/call", params)));
        let (mut came, links) = content(&called);
        for link in links {
            let uri = link["uri"].as_str().unwrap();
            let read = result(&served.ask(&modern(&key, "resources/read", json!({"uri": uri}))));
            let held = &read["contents"][0];
            assert_eq!((&held["uri"], &held["mimeType"]), (&link["uri"], &link["mimeType"]), "{held}");
            let bytes = match (held["text"].as_str(), held["blob"].as_str()) {
                (Some(text), None) => text.as_bytes().to_vec(),
                (None, Some(blob)) => STANDARD.decode(blob).unwrap(),
                _ => panic!("{held}"),
            };
            assert_eq!(link["size"], json!(bytes.len()), "{link}");
            let listed = result(&served.ask(&modern(&key, "resources/list", json!({}))));
            assert!(listed["resources"].as_array().unwrap().iter().any(|one| one["uri"] == *uri), "{listed}");
            came.file = Some((link["name"].as_str().unwrap().to_owned(), bytes));
        }
        came
    }
}

/// The content of a call document.
fn told(document: &Value) -> Came {
    assert_eq!(document["outcome"], "done", "{document}");
    let address = document["offers"][0]["url"].as_str().map(str::to_owned);
    Came { result: document["result"].clone(), address, file: None }
}

/// The content of an MCP result, and its file links.
fn content(result: &Value) -> (Came, Vec<&Value>) {
    assert!(result.get("isError").is_none(), "{result}");
    let blocks = result["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    let told: Value = serde_json::from_str(texts[0]).unwrap();
    assert_eq!(told, result["structuredContent"], "{result}");
    let address = texts.iter().find_map(|text| text.strip_prefix("offers to open ")).map(str::to_owned);
    let links = blocks.iter().filter(|block| block["type"] == "resource_link").collect();
    (Came { result: told, address, file: None }, links)
}
