//! The routes, from the OpenAPI document.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shape::{cell, fields, row};

pub(super) fn text(document: &Value) -> String {
    let routes = || {
        let paths = document["paths"].as_object().unwrap().iter();
        paths.flat_map(|(path, methods)| {
            methods.as_object().unwrap().iter().map(move |(method, route)| (path, method, route))
        })
    };
    // Errors that many routes share are listed once.
    let mut told: BTreeMap<(&String, &str), usize> = BTreeMap::new();
    for (_, _, route) in routes() {
        for (status, reply) in route["responses"].as_object().unwrap() {
            *told.entry((status, reply["description"].as_str().unwrap())).or_default() += 1;
        }
    }
    let everywhere: Vec<(&String, &str)> = told
        .into_iter()
        .filter(|(told, times)| *times > 8 && told.0.as_str() >= "400")
        .map(|(told, _)| told)
        .collect();
    let mut text = String::from("Errors that many routes share:\n\n| status | when |\n|---|---|\n");
    for (status, about) in &everywhere {
        text.push_str(&format!("| {status} | {} |\n", cell(about)));
    }
    text.push_str("\nA route needs a scope of the key, or one of these:\n\n| needs | who |\n|---|---|\n");
    for (need, who) in NEEDS {
        text.push_str(&format!("| {need} | {who} |\n"));
    }
    text.push('\n');
    for (path, method, route) in routes() {
        text.push_str(&section(path, method, route, document, &everywhere));
    }
    text
}

/// Access rules that are not a scope.
const NEEDS: [(&str, &str); 6] = [
    ("`nothing`", "every client"),
    (
        "`local`",
        "every process on this machine while the server listens on loopback only; otherwise a key with the scope `read`",
    ),
    ("`owner`", "the browser that signed in with the link of `toolroom serve`"),
    (
        "`answerer`",
        "a key with the scope `approve`; for their own calls also a key with `answer`, and end users",
    ),
    ("`recipient`", "a key with the scope `read`; for files that were offered to them also end users"),
    ("`keeper`", "a key of the project `local` with the scope `manage`, or the owner"),
];

fn section(path: &str, method: &str, route: &Value, whole: &Value, everywhere: &[(&String, &str)]) -> String {
    let (about, needs) = (route["summary"].as_str().unwrap(), route["x-needs"].as_str().unwrap());
    let mut text = format!("## `{} {path}`\n\n{about} Needs `{needs}`.\n\n", method.to_uppercase());
    let parameters: String = route["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|parameter| {
            let name = match parameter["in"].as_str().unwrap() {
                "query" => format!("?{}", parameter["name"].as_str().unwrap()),
                "path" => format!("{{{}}}", parameter["name"].as_str().unwrap()),
                _ => format!("{}:", parameter["name"].as_str().unwrap()),
            };
            let mut schema = parameter["schema"].clone();
            if let (Some(schema), true) = (schema.as_object_mut(), parameter["description"].is_string()) {
                schema.insert("description".into(), parameter["description"].clone());
            }
            row(&name, &schema, whole, parameter["required"] == true)
        })
        .collect();
    if !parameters.is_empty() {
        text.push_str(&format!("| beside the body | value | |\n|---|---|---|\n{parameters}\n"));
    }
    text.push_str(&fields(&route["requestBody"]["content"]["application/json"]["schema"], whole));
    let replies = route["responses"].as_object().unwrap().iter();
    let replies = replies.map(|(status, reply)| (status, reply["description"].as_str().unwrap()));
    for (status, about) in replies.filter(|reply| !everywhere.contains(reply)) {
        text.push_str(&format!("- {status}: {about}\n"));
    }
    text.push('\n');
    text
}
