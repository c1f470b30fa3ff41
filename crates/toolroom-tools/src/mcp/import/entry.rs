//! A server's entry in the configuration of another program.

use std::collections::BTreeMap;

use serde_json::Value;
use toolroom_host::net::Url;

use super::source::ImportSource;
use crate::mcp::launch::secret_reference::names_secret;

/// A server that can be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedServer {
    /// A valid name.
    pub name: String,
    /// The name in the other program.
    pub original_name: String,
    /// The folder it applies to, if the file restricts it.
    pub for_folder: Option<String>,
    /// How it is reached.
    pub target: ImportTarget,
    /// Whether the other program has it enabled.
    pub is_enabled: bool,
    /// Timeout of a call.
    pub timeout_seconds: Option<u64>,
}

/// How an imported server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportTarget {
    /// A local program.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its working folder.
        folder: Option<String>,
        /// Its environment variables.
        environment: BTreeMap<String, ImportedValue>,
    },
    /// A server over HTTP.
    Address {
        /// Its URL.
        url: String,
        /// Whether it uses the older HTTP+SSE transport.
        is_sse: bool,
        /// Its HTTP headers.
        headers: BTreeMap<String, ImportedValue>,
    },
}

/// The value of an environment variable or header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedValue {
    /// A literal.
    Text(String),
    /// A template: these parts, concatenated.
    Template(Vec<TemplatePart>),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    /// A literal.
    Text(String),
    /// An input with this id, which the other program prompts for.
    Input(String),
    /// An environment variable of the user, and the default.
    Variable(String, Option<String>),
}

pub(super) fn parse(
    source: ImportSource,
    original_name: &str,
    for_folder: Option<&str>,
    server: &Value,
) -> Result<ImportedServer, String> {
    let name = valid_name(original_name).ok_or_else(|| "its name has no letter or digit".to_owned())?;
    let text = |name: &str| server.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = text("type").or_else(|| text("transport")).unwrap_or_default().to_ascii_lowercase();
    if matches!(kind.as_str(), "builtin" | "platform" | "frontend" | "inline_python" | "ws" | "sdk") {
        return Err(format!("it is of the kind `{kind}`, which Toolroom does not support"));
    }
    let url = text("httpUrl").or_else(|| text("url")).or_else(|| text("serverUrl")).or_else(|| text("uri"));
    let target = match (command(server), url) {
        (Some(words), _) => program(server, words)?,
        (None, Some(url)) => {
            let is_sse = match kind.as_str() {
                "sse" => true,
                "" => {
                    let is_old = matches!(source, ImportSource::Gemini | ImportSource::Cline)
                        && text("httpUrl").is_none();
                    is_old || url.trim_end_matches('/').ends_with("/sse")
                }
                _ => false,
            };
            address(server, url, is_sse)?
        }
        (None, None) => return Err("it has neither a command nor a URL".to_owned()),
    };
    let flag = |name: &str| server.get(name).and_then(Value::as_bool);
    let is_enabled = flag("enabled").unwrap_or(true) && !flag("disabled").unwrap_or(false);
    Ok(ImportedServer {
        name,
        original_name: original_name.to_owned(),
        for_folder: for_folder.map(str::to_owned),
        target,
        is_enabled,
        timeout_seconds: timeout(source, server),
    })
}

/// The name with invalid characters replaced.
pub(super) fn valid_name(original_name: &str) -> Option<String> {
    let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = original_name.trim().chars().map(fine).take(48).collect();
    name.chars().any(|c| c.is_ascii_alphanumeric()).then_some(name)
}

/// The command line. Programs write it as a string, a list, or an object with `path` and `args`.
fn command(server: &Value) -> Option<Vec<String>> {
    let command = server.get("command").or_else(|| server.get("cmd"))?;
    let mut words = match command {
        Value::String(command) if !command.trim().is_empty() => vec![command.clone()],
        Value::Array(_) => texts(Some(command)),
        Value::Object(inner) => {
            let mut words = vec![inner.get("path")?.as_str()?.to_owned()];
            words.extend(texts(inner.get("args")));
            words
        }
        _ => return None,
    };
    words.extend(texts(server.get("args")));
    (!words.is_empty()).then_some(words)
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
}

fn program(server: &Value, words: Vec<String>) -> Result<ImportTarget, String> {
    if words.iter().any(|word| word.contains("${")) {
        return Err(
            "its command contains a placeholder, which is supported in environment variables only".to_owned()
        );
    }
    if words.iter().any(|word| names_secret(word)) {
        return Err("its command refers to a Toolroom secret; imported files must not".to_owned());
    }
    let inner = server.get("command").and_then(|command| command.get("env"));
    let environment = server.get("env").or_else(|| server.get("envs")).or(inner);
    let mut environment = values(environment);
    for name in texts(server.get("env_keys")) {
        environment
            .entry(name.clone())
            .or_insert(ImportedValue::Template(vec![TemplatePart::Variable(name, None)]));
    }
    let folder = server.get("cwd").and_then(Value::as_str).map(str::to_owned);
    let mut words = words.into_iter();
    let command = words.next().unwrap_or_default();
    Ok(ImportTarget::Program { command, arguments: words.collect(), folder, environment })
}

fn address(server: &Value, url: &str, is_sse: bool) -> Result<ImportTarget, String> {
    let parsed = Url::parse(url).map_err(|_| "its URL is invalid or contains a placeholder".to_owned())?;
    if !matches!(parsed.scheme(), "http" | "https") || url.contains("${") {
        return Err("its URL is not `http` or `https`, or contains a placeholder".to_owned());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("its URL contains a password; use a header instead".to_owned());
    }
    if parsed.query_pairs().any(|(_, value)| names_secret(&value)) {
        return Err("its URL refers to a Toolroom secret; imported files must not".to_owned());
    }
    let mut headers = values(server.get("headers").or_else(|| server.get("http_headers")));
    if let Some(variable) = server.get("bearer_token_env_var").and_then(Value::as_str) {
        let parts =
            vec![TemplatePart::Text("Bearer ".to_owned()), TemplatePart::Variable(variable.to_owned(), None)];
        headers.insert("authorization".to_owned(), ImportedValue::Template(parts));
    }
    let variables = server.get("env_http_headers").and_then(Value::as_object).into_iter().flatten();
    for (name, variable) in variables.filter_map(|(name, value)| Some((name, value.as_str()?))) {
        let parts = vec![TemplatePart::Variable(variable.to_owned(), None)];
        headers.insert(name.clone(), ImportedValue::Template(parts));
    }
    Ok(ImportTarget::Address { url: parsed.into(), is_sse, headers })
}

fn values(map: Option<&Value>) -> BTreeMap<String, ImportedValue> {
    let map = map.and_then(Value::as_object).into_iter().flatten();
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    map.filter(|(_, given)| !given.is_null())
        .map(|(name, given)| (name.clone(), parse_value(&value(given))))
        .collect()
}

/// Parses a literal, `$NAME`, or a template with `${input:ID}`, `${env:NAME}`, `${NAME}` or `${NAME:-DEFAULT}`.
fn parse_value(text: &str) -> ImportedValue {
    if let Some(name) = text.strip_prefix('$').filter(|name| is_variable(name)) {
        return ImportedValue::Template(vec![TemplatePart::Variable(name.to_owned(), None)]);
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, (inner, after))) =
        rest.split_once("${").and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        if !before.is_empty() {
            parts.push(TemplatePart::Text(before.to_owned()));
        }
        parts.push(match inner.strip_prefix("input:") {
            Some(id) => TemplatePart::Input(id.to_owned()),
            None => {
                let inner = inner.trim_start_matches("env:");
                let (name, default) = inner
                    .split_once(":-")
                    .map_or((inner, None), |(name, default)| (name, Some(default.to_owned())));
                TemplatePart::Variable(name.to_owned(), default)
            }
        });
        rest = after;
    }
    if parts.is_empty() {
        return ImportedValue::Text(text.to_owned());
    }
    if !rest.is_empty() {
        parts.push(TemplatePart::Text(rest.to_owned()));
    }
    ImportedValue::Template(parts)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn timeout(source: ImportSource, server: &Value) -> Option<u64> {
    let number = |name: &str| server.get(name).and_then(Value::as_u64).filter(|number| *number > 0);
    match source {
        ImportSource::Gemini => number("timeout").map(|milliseconds| milliseconds.div_ceil(1_000)),
        ImportSource::Cline | ImportSource::Goose => number("timeout"),
        ImportSource::Codex => number("tool_timeout_sec"),
        _ => None,
    }
}
