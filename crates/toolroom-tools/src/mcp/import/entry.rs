//! One server, as another program describes it.

use std::collections::BTreeMap;

use serde_json::Value;
use toolroom_host::net::Url;

use super::source::Source;
use crate::mcp::launch::secret_reference::names_secret;

/// A server that can be entered here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// A name it can have here.
    pub name: String,
    /// What it is called there.
    pub called: String,
    /// The folder it is meant for, where the file says one.
    pub within: Option<String>,
    /// How it is reached.
    pub way: Way,
    /// Whether it is on there.
    pub is_enabled: bool,
    /// How long a call may take.
    pub timeout_seconds: Option<u64>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// It is a program.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Where it starts.
        folder: Option<String>,
        /// Its variables.
        environment: BTreeMap<String, Given>,
    },
    /// It is an address.
    Address {
        /// The address.
        url: String,
        /// Whether it is one of the older transport.
        is_sse: bool,
        /// Its headers.
        headers: BTreeMap<String, Given>,
    },
}

/// A value of a variable or a header: as it is, or made of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// As it is.
    Text(String),
    /// Made of these, one after the other.
    Pieces(Vec<Piece>),
}

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// It is asked for there, under this name.
    Asked(String),
    /// It is that of a variable of the person; this text, where there is none.
    Variable(String, Option<String>),
}

pub(super) fn read(
    source: Source,
    called: &str,
    within: Option<&str>,
    server: &Value,
) -> Result<Imported, String> {
    let name = name_of(called).ok_or_else(|| "its name has no letter or digit".to_owned())?;
    let text = |name: &str| server.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let kind = text("type").or_else(|| text("transport")).unwrap_or_default().to_ascii_lowercase();
    if matches!(kind.as_str(), "builtin" | "platform" | "frontend" | "inline_python" | "ws" | "sdk") {
        return Err(format!("it is of the kind `{kind}`, which only exists there"));
    }
    let url = text("httpUrl").or_else(|| text("url")).or_else(|| text("serverUrl")).or_else(|| text("uri"));
    let way = match (command(server), url) {
        (Some(words), _) => program(server, words)?,
        (None, Some(url)) => {
            let is_sse = match kind.as_str() {
                "sse" => true,
                "" => {
                    let is_old =
                        matches!(source, Source::Gemini | Source::Cline) && text("httpUrl").is_none();
                    is_old || url.trim_end_matches('/').ends_with("/sse")
                }
                _ => false,
            };
            address(server, url, is_sse)?
        }
        (None, None) => return Err("it says neither a program nor an address".to_owned()),
    };
    let flag = |name: &str| server.get(name).and_then(Value::as_bool);
    let is_enabled = flag("enabled").unwrap_or(true) && !flag("disabled").unwrap_or(false);
    Ok(Imported {
        name,
        called: called.to_owned(),
        within: within.map(str::to_owned),
        way,
        is_enabled,
        timeout_seconds: timeout(source, server),
    })
}

/// A name that a server may have here.
pub(super) fn name_of(called: &str) -> Option<String> {
    let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = called.trim().chars().map(fine).take(48).collect();
    name.chars().any(|c| c.is_ascii_alphanumeric()).then_some(name)
}

/// The program and its arguments, in whichever of three shapes.
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

fn program(server: &Value, words: Vec<String>) -> Result<Way, String> {
    if words.iter().any(|word| word.contains("${")) {
        return Err(
            "its command wants something to be filled in, which only a variable can have here".to_owned()
        );
    }
    if words.iter().any(|word| names_secret(word)) {
        return Err("its command names a secret of this place, which no file of others may".to_owned());
    }
    let inner = server.get("command").and_then(|command| command.get("env"));
    let environment = server.get("env").or_else(|| server.get("envs")).or(inner);
    let mut environment = values(environment);
    for name in texts(server.get("env_keys")) {
        environment.entry(name.clone()).or_insert(Given::Pieces(vec![Piece::Variable(name, None)]));
    }
    let folder = server.get("cwd").and_then(Value::as_str).map(str::to_owned);
    let mut words = words.into_iter();
    let command = words.next().unwrap_or_default();
    Ok(Way::Program { command, arguments: words.collect(), folder, environment })
}

fn address(server: &Value, url: &str, is_sse: bool) -> Result<Way, String> {
    let parsed =
        Url::parse(url).map_err(|_| "its address is none, or wants something to be filled in".to_owned())?;
    if !matches!(parsed.scheme(), "http" | "https") || url.contains("${") {
        return Err("its address is none that can be asked".to_owned());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("its address holds a password, which belongs into a header".to_owned());
    }
    if parsed.query_pairs().any(|(_, value)| names_secret(&value)) {
        return Err("its address names a secret of this place, which no file of others may".to_owned());
    }
    let mut headers = values(server.get("headers").or_else(|| server.get("http_headers")));
    if let Some(variable) = server.get("bearer_token_env_var").and_then(Value::as_str) {
        let pieces = vec![Piece::Text("Bearer ".to_owned()), Piece::Variable(variable.to_owned(), None)];
        headers.insert("authorization".to_owned(), Given::Pieces(pieces));
    }
    let variables = server.get("env_http_headers").and_then(Value::as_object).into_iter().flatten();
    for (name, variable) in variables.filter_map(|(name, value)| Some((name, value.as_str()?))) {
        headers.insert(name.clone(), Given::Pieces(vec![Piece::Variable(variable.to_owned(), None)]));
    }
    Ok(Way::Address { url: parsed.into(), is_sse, headers })
}

fn values(map: Option<&Value>) -> BTreeMap<String, Given> {
    let map = map.and_then(Value::as_object).into_iter().flatten();
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    map.filter(|(_, given)| !given.is_null())
        .map(|(name, given)| (name.clone(), given_of(&value(given))))
        .collect()
}

/// Text with `${input:ID}`, `${env:NAME}`, `${NAME}` or `${NAME:-otherwise}` in it, `$NAME`, or the text itself.
fn given_of(text: &str) -> Given {
    if let Some(name) = text.strip_prefix('$').filter(|name| is_variable(name)) {
        return Given::Pieces(vec![Piece::Variable(name.to_owned(), None)]);
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, (inner, after))) =
        rest.split_once("${").and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(match inner.strip_prefix("input:") {
            Some(id) => Piece::Asked(id.to_owned()),
            None => {
                let inner = inner.trim_start_matches("env:");
                let (name, otherwise) = inner
                    .split_once(":-")
                    .map_or((inner, None), |(name, otherwise)| (name, Some(otherwise.to_owned())));
                Piece::Variable(name.to_owned(), otherwise)
            }
        });
        rest = after;
    }
    if pieces.is_empty() {
        return Given::Text(text.to_owned());
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Given::Pieces(pieces)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn timeout(source: Source, server: &Value) -> Option<u64> {
    let number = |name: &str| server.get(name).and_then(Value::as_u64).filter(|number| *number > 0);
    match source {
        Source::Gemini => number("timeout").map(|milliseconds| milliseconds.div_ceil(1_000)),
        Source::Cline | Source::Goose => number("timeout"),
        Source::Codex => number("tool_timeout_sec"),
        _ => None,
    }
}
