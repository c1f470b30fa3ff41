//! Runs in the middle of something when the server dies. What a person says names the scene.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;
use crate::scripted_model::{Line, ScriptedModel};
use crate::serve::Served;

/// How often a server is killed in a row: numbers of events are given away more than once then.
pub(crate) const DEATHS: usize = 2;

/// The message of the last run, which is not killed.
pub(crate) const WHOLE: &str = "It was a dark and stormy night.";

/// Notes are written unasked, unless others read them.
const RULES: &str = "[policy]\npreset = 'open'\n[[rule]]\nid = \"ask\"\neffect = \"ask\"\ntool = \"app:publish_note\"\n\
                     reason = \"others read it\"\n";

/// A server whose model plays the scenes.
pub(crate) fn served() -> (Served, ScriptedModel) {
    let home = Home::new();
    let folder = home.path().to_owned();
    let model = ScriptedModel::answers(move |asked| line(asked, &folder));
    model.is_set_up_in(home.path(), RULES);
    (Served::at(home), model)
}

/// Lets the notes of all scenes pass: one that was sent again would arrive.
pub(crate) fn opens_the_ways(served: &Served) {
    for name in ["way", "receipt"] {
        std::fs::write(served.home.path().join(name), "").unwrap();
    }
}

pub(crate) fn closes_the_ways(served: &Served) {
    for name in ["way", "receipt"] {
        // The first time there is none.
        drop(std::fs::remove_file(served.home.path().join(name)));
    }
}

/// How often a note was written.
pub(crate) fn effects(served: &Served, text: &str) -> usize {
    served.written().lines().filter(|line| line.split_once(' ').unwrap().1 == text).count()
}

/// How often the model was asked about what a person said.
pub(crate) fn times_asked(model: &ScriptedModel, said: &str) -> usize {
    model.asked().iter().filter(|body| scene(body).0 == said).count()
}

/// What the model read about its calls in a scene.
pub(crate) fn read(model: &ScriptedModel, said: &str) -> String {
    let asked = model.asked();
    let last = asked.iter().rev().find(|body| scene(body).0 == said).unwrap();
    results(last).iter().map(|message| message["content"].to_string()).collect()
}

/// What the person said last, and how many results have come since.
fn scene(body: &Value) -> (String, usize) {
    let messages = body["messages"].as_array().unwrap();
    let place = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    let content = &messages[place]["content"];
    // An unanswered message may precede it.
    let parts =
        content.as_array().map_or_else(|| content.clone(), |parts| parts.last().unwrap()["text"].clone());
    let said = parts.as_str().unwrap().lines().last().unwrap().to_owned();
    (said, results(body).len())
}

fn results(body: &Value) -> Vec<Value> {
    let messages = body["messages"].as_array().unwrap();
    let place = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    messages[place..].iter().filter(|message| message["role"] == "tool").cloned().collect()
}

/// What the model does: a word says which scene it is, numbers what varies.
fn line(asked: &[Value], folder: &Path) -> Line {
    let (said, results) = scene(asked.last().unwrap());
    let times = asked.iter().filter(|body| scene(body) == (said.clone(), results)).count();
    let path = folder.join("notes");
    let mut parts = said.split(' ');
    let (name, number) = (parts.next().unwrap(), parts.next().unwrap());
    let words = match times {
        // An answer that is cut off.
        1..=DEATHS => {
            let count: usize = number.parse().unwrap_or_default();
            Line::Stalls((0..count).map(|word| format!("{word}, ")).collect())
        }
        _ => Line::says(WHOLE),
    };
    match (name, results) {
        ("words", _) | ("sum", 1) => words,
        ("sum", 0) => Line::Calls("calculator", json!({"expression": "6*7"})),
        ("asks", 0) => Line::Calls("publish_note", json!({"path": path, "text": said})),
        ("quick", 0) => Line::Calls("append_note", json!({"path": path, "text": said})),
        ("before", 0) => {
            Line::Calls("send_note", json!({"path": path, "text": said, "way": folder.join("way")}))
        }
        ("after", 0) => {
            Line::Calls("send_note", json!({"path": path, "text": said, "receipt": folder.join("receipt")}))
        }
        ("client", 0) => Line::Calls("client__get_weather", json!({"city": "Oslo"})),
        _ => Line::says(WHOLE),
    }
}
