//! A toolroom with the shell family enabled, and chats whose model wants commands.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::home::{Home, Ran, belongs_to_programs, ran};
use crate::scripted_model::{Line, ScriptedModel};

/// A toolroom with the family enabled, and a workspace.
pub(crate) struct Shop {
    pub(crate) home: Home,
    pub(crate) workspace: PathBuf,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        home.run(&["tools", "enable", "execute_shell_command"]).ended(0);
        let workspace = home.path().join("workspace");
        std::fs::create_dir_all(workspace.join("sub")).unwrap();
        belongs_to_programs(&workspace);
        belongs_to_programs(&workspace.join("sub"));
        Self { home, workspace: workspace.canonicalize().unwrap() }
    }

    /// Calls with approval.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Ran {
        let call = ["call", tool, &arguments.to_string(), "--yes", "--json"];
        ran(self.home.command(&call).env("SHOP_API_KEY", "canary-4711").output().unwrap())
    }

    pub(crate) fn result(&self, tool: &str, arguments: &Value) -> Value {
        self.call(tool, arguments).ended(0).json()["result"].clone()
    }

    pub(crate) fn error(&self, tool: &str, arguments: &Value) -> Value {
        self.call(tool, arguments).ended(1).json()["error"].clone()
    }

    pub(crate) fn command(&self, arguments: &Value) -> Value {
        self.result("execute_shell_command", arguments)
    }

    pub(crate) fn text(&self, command: &str) -> String {
        self.result("run_command", &json!({"command": command})).as_str().unwrap().to_owned()
    }

    /// The results the model got for its calls, in a chat with this script.
    pub(crate) fn chat(&self, script: impl IntoIterator<Item = Line>) -> (Vec<Value>, ScriptedModel) {
        self.chat_of(&mut self.home.command(&["chat", "go on", "--yes"]), "", script)
    }

    /// All results in the last conversation, including those of earlier calls.
    pub(crate) fn chat_on(&self, script: impl IntoIterator<Item = Line>) -> Vec<Value> {
        self.chat_of(&mut self.home.command(&["chat", "--continue", "go on", "--yes"]), "", script).0
    }

    /// Starts the chat with further configuration.
    pub(crate) fn chat_of(
        &self,
        command: &mut Command,
        config: &str,
        script: impl IntoIterator<Item = Line>,
    ) -> (Vec<Value>, ScriptedModel) {
        let model = ScriptedModel::starts(script.into_iter().chain([Line::says("done")]));
        model.is_set_up_in(self.home.path(), config);
        ran(command.output().unwrap()).ended(0);
        (told(&model), model)
    }
}

/// The results the model got in the last conversation.
pub(crate) fn told(model: &ScriptedModel) -> Vec<Value> {
    let asked = model.asked();
    let messages = asked.last().unwrap()["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    let value = |message: &Value| -> Value {
        let text = message["content"].as_str().unwrap();
        let json = text.find('{').map_or(text, |at| &text[at..=text.rfind('}').unwrap()]);
        serde_json::from_str(json).unwrap_or_else(|_| json!(text))
    };
    results.map(value).collect()
}

pub(crate) fn shell(command: &str) -> Line {
    Line::Calls("execute_shell_command", json!({"command": command}))
}
