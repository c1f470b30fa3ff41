//! `toolroom mcp conformance-client`: our client, as the official conformance runner wants to drive it.
//!
//! The runner starts a server for each scenario and gives its address; what it wants to see is in variables. Every tool
//! is called once, with what the runner says or with something that fits its schema.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value, json};
use toolroom::BoxFuture;
use toolroom_host::environment::variable;
use toolroom_host::net::{Client as HttpClient, EgressPolicy, EgressRule, HttpLimits};
use toolroom_host::net::{Http, Request};
use toolroom_tools::mcp::oauth::{Consent, Grant, Grants, Known, OAuthDoor, Site, Turn};
use toolroom_tools::mcp::{Attendant, Client, Definition, Era, McpError, Remote};

use crate::cli::console::exit::Exit;

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the runner says that we are described.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

#[derive(Args)]
pub(super) struct ConformanceArgs {
    /// The address of the server
    url: String,
}

/// Says yes to every question, with the defaults it names.
struct Yes;

impl Attendant for Yes {
    fn capabilities(&self) -> Value {
        json!({"elicitation": {}})
    }

    fn answer(&self, method: &str, params: &Value) -> Option<Value> {
        let schema = params.get("requestedSchema")?;
        (method == "elicitation/create")
            .then(|| json!({"action": "accept", "content": fitting(schema, true)}))
    }
}

/// A person who says yes to everything, as fast as a program.
struct Browser(Arc<HttpClient>);

impl Consent for Browser {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, McpError>> {
        Box::pin(async move {
            let response = self.0.send(Request::get(url)).await?;
            let lost = || McpError::Unauthorized { why: "nobody comes back".to_owned() };
            response.header("location").map(str::to_owned).ok_or_else(lost)
        })
    }
}

/// Kept for as long as the scenario takes.
#[derive(Default)]
struct InMemory(Mutex<Option<Grant>>);

impl Grants for InMemory {
    fn kept(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>> {
        Box::pin(async { Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()) })
    }

    fn keep<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant.clone());
        Box::pin(async { Ok(()) })
    }

    fn turn(&self) -> BoxFuture<'_, Result<Turn, McpError>> {
        Box::pin(async { Ok(Box::new(()) as Turn) })
    }
}

pub(super) async fn run(args: &ConformanceArgs) -> anyhow::Result<Exit> {
    let version = variable("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    let wanted = variable("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|| "{}".to_owned());
    let wanted: Value = serde_json::from_str(&wanted).context("the runner's context is no JSON")?;
    let here: Vec<EgressRule> =
        ["localhost", "127.0.0.1"].iter().filter_map(|host| host.parse().ok()).collect();
    let limits = HttpLimits { idle: PATIENCE, total: None, ..HttpLimits::default() };
    let reach = EgressPolicy::public().open(here).limits(limits);
    let browser = Browser(Arc::new(HttpClient::new(reach.clone().max_redirects(0))));
    let http: Arc<dyn Http> = Arc::new(HttpClient::new(reach));
    let text = |name: &str| wanted.get(name).and_then(Value::as_str).map(str::to_owned);
    let client = text("client_id").map(|id| (id, text("client_secret")));
    let us = Known { client, metadata_url: Some(METADATA.to_owned()) };
    let (url, browser) = (args.url.clone(), Some(Arc::new(browser) as _));
    let site = Site { url: url.clone(), is_internal: false };
    let door = OAuthDoor::open(Arc::clone(&http), site, us, Arc::new(InMemory::default()), browser).await?;
    let remote = Remote { http, url, headers: Vec::new(), door: Arc::new(door) };
    let client = Client::connect(remote, Era::of(&version), Arc::new(Yes)).await?;
    let listing = client.tools().await?;
    for tool in &listing.tools {
        for arguments in arguments(tool, &listing.tools, &wanted) {
            // What a tool says is the runner's business.
            if let Err(error) = client.call(tool, &arguments, PATIENCE, None).await {
                tracing::warn!(tool = tool.name, %error, "a call failed");
            }
        }
    }
    client.close().await;
    Ok(Exit::Done)
}

/// What to call a tool with: as the runner says, or something that fits.
fn arguments(tool: &Definition, all: &[Definition], wanted: &Value) -> Vec<Map<String, Value>> {
    // It wants to see a schema of another tool as we have it.
    if tool.name == "json_schema_echo" {
        let other = all.iter().find(|other| other.name != tool.name);
        return other
            .map(|other| Map::from_iter([("schema".to_owned(), other.input.clone())]))
            .into_iter()
            .collect();
    }
    let calls = wanted.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let named = calls.filter(|call| call.get("name").and_then(Value::as_str) == Some(&tool.name));
    let named: Vec<_> = named.filter_map(|call| call.get("arguments")?.as_object().cloned()).collect();
    if named.is_empty() { vec![fitting(&tool.input, false)] } else { named }
}

/// An object that fits a simple schema: defaults, and the plainest value of each kind for what is required.
fn fitting(schema: &Value, all: bool) -> Map<String, Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.contains(&json!(name)));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let value = |(name, property): (&String, &Value)| {
        let first = property.get("enum").and_then(Value::as_array).and_then(|values| values.first());
        let plain = match property.get("type").and_then(Value::as_str) {
            Some("string") => json!("x"),
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            _ => json!({}),
        };
        let value = property.get("default").or(first).cloned();
        (all || is_required(name)).then(|| (name.clone(), value.unwrap_or(plain)))
    };
    properties.filter_map(value).collect()
}
