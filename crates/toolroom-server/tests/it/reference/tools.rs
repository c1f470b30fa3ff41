//! The tools, from `toolroom tools show --json`.

use serde_json::Value;

use super::shape::fields;
use crate::home::Home;

pub(super) fn text(home: &Home) -> String {
    let listed = home.run(&["tools", "--all", "--json"]).ended(0).json();
    let ids = listed.as_array().unwrap().iter().map(|tool| tool["id"].as_str().unwrap().to_owned());
    let sections = ids.map(|id| section(&home.run(&["tools", "show", &id, "--json"]).ended(0).json()));
    let text = sections.collect::<String>();
    // Some tools say where the workspace is.
    text.replace(&home.path().display().to_string(), "~/.local/share/toolroom")
}

fn section(tool: &Value) -> String {
    let told = |name: &str| tool[name].as_str().unwrap().to_owned();
    let mut text = format!("## `{}`\n\n{}.\n\n", told("id"), told("description").trim_end_matches('.'));
    let mut facts = vec![
        format!("Effect `{}`", told("effect")),
        match words(&tool["capabilities"]) {
            able if able.is_empty() => "no capabilities".to_owned(),
            able => format!("capabilities {able}"),
        },
        format!("risk {}", told("risk")),
    ];
    if let Some(seconds) = tool["timeout"]["after"].as_u64() {
        facts.push(format!("{seconds} s at most"));
    }
    facts.push(format!("{} characters of result", tool["result_cap"]));
    facts.extend(tool["rates"].as_array().into_iter().flatten().map(rate));
    if tool["family"]["name"].is_string() {
        facts.push(format!("family `{}`", tool["family"]["name"].as_str().unwrap()));
    }
    facts.push(enablement(&tool["enablement"]));
    text.push_str(&format!("{}.\n\n{}", facts.join(", "), fields(&tool["parameters"], &tool["parameters"])));
    text
}

fn words(list: &Value) -> String {
    let words = list.as_array().unwrap().iter().map(|word| format!("`{}`", word.as_str().unwrap()));
    words.collect::<Vec<_>>().join(" ")
}

fn rate(rate: &Value) -> String {
    let per = match rate["per"].as_u64() {
        Some(60) => "a minute".to_owned(),
        Some(3600) => "an hour".to_owned(),
        Some(86_400) => "a day".to_owned(),
        _ => format!("in {} s", rate["per"]),
    };
    format!("{} calls {per} for each {}", rate["max"], rate["key"].as_str().unwrap())
}

fn enablement(tool: &Value) -> String {
    let on = if tool["on_by_default"] == true { "on" } else { "off" };
    match (tool["feature"].as_str(), tool["follows"].as_str()) {
        (Some(feature), _) => format!("{on} with the feature `{feature}`"),
        (None, Some(toggle)) => format!("{on} until `{toggle}` is switched on"),
        (None, None) => format!("{on} unless it is switched"),
    }
}
