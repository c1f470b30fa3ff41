//! `toolroom mcp conformance-client`: the MCP client under the official conformance runner.
//!
//! The runner starts a server for each scenario and passes its URL; details are in environment variables. Every tool is
//! called once, with the runner's arguments or with ones that fit its schema.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value, json};
use toolroom::BoxFuture;
use toolroom_host::environment::variable;
use toolroom_host::net::{Client as HttpClient, EgressPolicy, EgressRule, HttpLimits};
use toolroom_host::net::{Http, Request};
use toolroom_tools::mcp::oauth::{
    Consent, Grant, GrantStore, OAuthClientConfig, OAuthCredentials, RefreshLock, ServerAddress,
};
use toolroom_tools::mcp::{Client, ClientHandler, Definition, Era, McpError, Remote};

use crate::cli::console::exit::Exit;

const TIMEOUT: Duration = Duration::from_secs(20);

/// Our client id metadata document, as the runner expects it.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

#[derive(Args)]
pub(super) struct ConformanceArgs {
    /// URL of the server
    url: String,
}

/// Accepts every elicitation with its defaults.
struct AcceptAll;

impl ClientHandler for AcceptAll {
    fn capabilities(&self) -> Value {
        json!({"elicitation": {}})
    }

    fn handle_request(&self, method: &str, params: &Value) -> Option<Value> {
        let schema = params.get("requestedSchema")?;
        (method == "elicitation/create")
            .then(|| json!({"action": "accept", "content": fitting(schema, true)}))
    }
}

/// A user who always consents.
struct Browser(Arc<HttpClient>);

impl Consent for Browser {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, McpError>> {
        Box::pin(async move {
            let response = self.0.send(Request::get(url)).await?;
            let lost = || McpError::Unauthorized { why: "no redirect".to_owned() };
            response.header("location").map(str::to_owned).ok_or_else(lost)
        })
    }
}

/// Lives as long as the scenario.
#[derive(Default)]
struct InMemory(Mutex<Option<Grant>>);

impl GrantStore for InMemory {
    fn load(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>> {
        Box::pin(async { Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()) })
    }

    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), McpError>> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant.clone());
        Box::pin(async { Ok(()) })
    }

    fn lock_refresh(&self) -> BoxFuture<'_, Result<RefreshLock, McpError>> {
        Box::pin(async { Ok(Box::new(()) as RefreshLock) })
    }
}

pub(super) async fn run(args: &ConformanceArgs) -> anyhow::Result<Exit> {
    let version = variable("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    let context = variable("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|| "{}".to_owned());
    let context: Value = serde_json::from_str(&context).context("the runner's context is not JSON")?;
    let here: Vec<EgressRule> =
        ["localhost", "127.0.0.1"].iter().filter_map(|host| host.parse().ok()).collect();
    let limits = HttpLimits { idle: TIMEOUT, total: None, ..HttpLimits::default() };
    let policy = EgressPolicy::public().open(here).limits(limits);
    let browser = Browser(Arc::new(HttpClient::new(policy.clone().max_redirects(0))));
    let http: Arc<dyn Http> = Arc::new(HttpClient::new(policy));
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let client = text("client_id").map(|id| (id, text("client_secret")));
    let client = OAuthClientConfig { client, metadata_url: Some(METADATA.to_owned()) };
    let (url, browser) = (args.url.clone(), Some(Arc::new(browser) as _));
    let (address, store) =
        (ServerAddress { url: url.clone(), is_internal: false }, Arc::new(InMemory::default()));
    let credentials = OAuthCredentials::open(Arc::clone(&http), address, client, store, browser).await?;
    let remote = Remote { http, url, headers: Vec::new(), credentials: Arc::new(credentials) };
    let client = Client::connect(remote, Era::for_version(&version), Arc::new(AcceptAll)).await?;
    let listing = client.tools().await?;
    for tool in &listing.tools {
        for arguments in arguments(tool, &listing.tools, &context) {
            // The runner checks the results.
            if let Err(error) = client.call(tool, &arguments, TIMEOUT, None).await {
                tracing::warn!(tool = tool.name, %error, "a call failed");
            }
        }
    }
    client.close().await;
    Ok(Exit::Done)
}

/// The arguments to call a tool with: the runner's, or ones that fit its schema.
fn arguments(tool: &Definition, all: &[Definition], context: &Value) -> Vec<Map<String, Value>> {
    // This tool expects the schema of another tool as we have parsed it.
    if tool.name == "json_schema_echo" {
        let other = all.iter().find(|other| other.name != tool.name);
        return other
            .map(|other| Map::from_iter([("schema".to_owned(), other.input.clone())]))
            .into_iter()
            .collect();
    }
    let calls = context.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let named = calls.filter(|call| call.get("name").and_then(Value::as_str) == Some(&tool.name));
    let named: Vec<_> = named.filter_map(|call| call.get("arguments")?.as_object().cloned()).collect();
    if named.is_empty() { vec![fitting(&tool.input, false)] } else { named }
}

/// An object that fits a simple schema: defaults, and the simplest value of each type for required fields.
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
