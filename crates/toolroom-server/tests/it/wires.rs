//! The four wires, and a toolroom that speaks one of them to models on loopback.

use std::collections::{HashSet, VecDeque};
use std::process::Command;

use serde_json::Value;

use crate::home::{Home, Ran, ran};

const KEY: &str = "sk-lab-0123456789abcdef";

/// A wire, and a model that is asked on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire {
    /// Its name in configuration.
    pub(crate) name: &'static str,
    vendor: &'static str,
    model: &'static str,
    /// Where its requests go.
    pub(crate) path: &'static str,
}

pub(crate) const OPENAI_CHAT: Wire =
    Wire { name: "openai_chat", vendor: "openai", model: "gpt-4o", path: "/v1/chat/completions" };
pub(crate) const OPENAI_RESPONSES: Wire =
    Wire { name: "openai_responses", vendor: "openai", model: "gpt-4o-mini", path: "/v1/responses" };
pub(crate) const ANTHROPIC: Wire =
    Wire { name: "anthropic", vendor: "anthropic", model: "claude-haiku-4-5", path: "/v1/messages" };
pub(crate) const GEMINI: Wire = Wire {
    name: "gemini",
    vendor: "gemini",
    model: "gemini-2.5-flash",
    path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
};

pub(crate) const WIRES: [Wire; 4] = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI];

/// A toolroom whose model is asked on one wire.
pub(crate) struct Lab {
    pub(crate) home: Home,
}

impl Lab {
    /// `more` are further keys of the vendor.
    pub(crate) fn new(wire: Wire, url: &str, more: &str) -> Self {
        let home = Home::new();
        let Wire { name, vendor, model, .. } = wire;
        let config = format!(
            "model = '{vendor}/{model}'\n[vendor.{vendor}]\nbase_url = '{url}'\nwire = '{name}'\nkey = '$LAB_KEY'\n{more}"
        );
        std::fs::write(home.path().join("toolroom.toml"), config).unwrap();
        Self { home }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.env("LAB_KEY", KEY).current_dir(self.home.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().unwrap())
    }

    /// The events of a message that is answered.
    #[track_caller]
    pub(crate) fn events(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(&[arguments, &["--jsonl"]].concat()).ended(0);
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// What was said in a request, without what the system says. Both in the words of Chat Completions.
pub(crate) fn said(request: &Value) -> Vec<Value> {
    let messages = request["messages"].as_array().unwrap().iter();
    let mut said: Vec<Value> = messages.filter(|message| message["role"] != "system").cloned().collect();
    // Of a turn on Anthropic's wire the mock tells the words first, wherever they stand.
    if request["model"].as_str().is_some_and(|model| model.starts_with("claude")) {
        for at in 1..said.len() {
            let is_between = said[at - 1]["role"] == "user" && said[at]["role"] == "tool";
            if is_between {
                said.swap(at - 1, at);
            }
        }
    }
    said
}

/// The ids of the calls in a conversation. Fails unless each is answered once, at once and in its order, nothing else
/// is answered, and no two have the same id.
#[track_caller]
pub(crate) fn paired(messages: &[Value]) -> Vec<String> {
    let mut open = VecDeque::new();
    let mut ids = Vec::new();
    let mut answers = false;
    for message in messages {
        match message["role"].as_str().unwrap() {
            "tool" => {
                assert_eq!(message["tool_call_id"].as_str(), open.pop_front(), "{messages:#?}");
                answers = !open.is_empty();
            }
            // In one of the formats each call is an item of its own.
            "assistant" if message["tool_calls"].is_array() => {
                assert!(!answers, "{messages:#?}");
                for call in message["tool_calls"].as_array().unwrap() {
                    let id = call["id"].as_str().unwrap();
                    open.push_back(id);
                    ids.push(id.to_owned());
                }
            }
            _ => assert!(open.is_empty(), "{open:?} are not answered: {messages:#?}"),
        }
    }
    assert!(open.is_empty(), "{open:?} are not answered: {messages:#?}");
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
    ids
}
