//! Resources of MCP servers: two tools of the gateway list and read them. They are registered while there is a server.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use toolroom::call::CallContext;
use toolroom::tool::{
    Arguments, Capability, Destination, Effect, ErrorKind, IdError, Risk, Timeout, Tool, ToolError, ToolSpec,
    tool_fn,
};

use crate::mcp::catalog::content::{descriptive_fields, output};
use crate::mcp::catalog::gateway::RegisteredServer;
use crate::mcp::catalog::tool::DEFAULT_TIMEOUT;
use crate::mcp::connection::{ServerConnection, ServerRequest};

/// The catalog source of both tools.
pub(crate) const SOURCE: &str = "gateway";

/// Further entries of a page are left out.
const MAX_LISTED: usize = 200;

/// Further parts of a resource are left out.
const MAX_PARTS: usize = 32;

/// The gateway's servers.
type Servers = Weak<Mutex<BTreeMap<String, RegisteredServer>>>;

#[derive(Deserialize, JsonSchema)]
struct List {
    /// Name of the server, e.g. `github` of the tool `mcp:github:search`
    #[schemars(length(min = 1, max = 100))]
    server: String,
    /// `nextCursor` of the page before
    #[serde(default)]
    #[schemars(length(max = 1000))]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// Name of the server, e.g. `github` of the tool `mcp:github:search`
    #[schemars(length(min = 1, max = 100))]
    server: String,
    /// Address of the resource, as a result of the server links to it
    #[schemars(length(min = 1, max = 4000))]
    uri: String,
}

/// The tools `gateway:list_resources` and `gateway:read_resource`.
pub(crate) fn tools(servers: &Servers) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let (listed, read) = (servers.clone(), servers.clone());
    let list = tool_fn(
        "gateway:list_resources",
        "List the resources of an MCP server, page by page: their addresses, names and kinds.",
        move |context: CallContext, List { server, cursor }| {
            let servers = listed.clone();
            async move {
                let request = ServerRequest::ListResources { cursor: cursor.as_deref() };
                resource_list(send(&servers, &server, &Arc::new(context), request).await?)
            }
        },
    )?;
    let read = tool_fn(
        "gateway:read_resource",
        "Read a resource of an MCP server, such as one that a result of its tools links to (`resource_link`).",
        move |context: CallContext, Read { server, uri }| {
            let servers = read.clone();
            async move {
                let context = Arc::new(context);
                let request = ServerRequest::ReadResource { uri: &uri };
                let result = send(&servers, &server, &context, request).await?;
                let make_file = |media_type: &str, bytes| context.attachment(media_type, bytes);
                Ok::<_, ToolError>(output(&make_file, None, blocks(result)?, None))
            }
        },
    )?;
    let keywords = ["mcp", "resource", "link", "document"];
    let (list, read) = (list.destination(destination), read.destination(destination));
    let list = list.with(|spec| classified(spec).title("List Resources").category("mcp", &keywords));
    let read = read.with(|spec| classified(spec).title("Read Resource").category("mcp", &keywords));
    Ok(vec![Arc::new(list), Arc::new(read)])
}

/// Resources are untrusted, may be private, and the request itself leaves this process.
fn classified(spec: ToolSpec) -> ToolSpec {
    spec.effect(Effect::Read)
        .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted, Capability::Egress])
        .risk(Risk::Medium)
        .timeout(Timeout::After(DEFAULT_TIMEOUT))
}

/// The server that receives the request.
fn destination(arguments: &Arguments) -> Option<Destination> {
    arguments.get("server").and_then(Value::as_str).map(|server| Destination::new(format!("mcp:{server}")))
}

async fn send(
    servers: &Servers,
    name: &str,
    context: &Arc<CallContext>,
    request: ServerRequest<'_>,
) -> Result<Map<String, Value>, ToolError> {
    connection(servers, name).await?.send(context, &request).await
}

async fn connection(servers: &Servers, name: &str) -> Result<Arc<ServerConnection>, ToolError> {
    let servers = servers.upgrade();
    let servers = servers.ok_or_else(|| ToolError::new(ErrorKind::Crashed, "the gateway is closed"))?;
    let servers = servers.lock().await;
    let found = servers.get(name).map(|server| Arc::clone(&server.connection));
    found.ok_or_else(|| {
        let names: Vec<String> = servers.keys().map(|name| format!("`{name}`")).collect();
        ToolError::not_found(format!("unknown server `{name}`; known servers: {}", names.join(", ")))
    })
}

/// A page of `resources/list`, reduced to descriptive fields.
fn resource_list(mut page: Map<String, Value>) -> Result<Value, ToolError> {
    let Some(Value::Array(listed)) = page.remove("resources") else {
        return Err(ToolError::new(ErrorKind::Upstream, "the server returned no list of resources"));
    };
    let left_out = listed.len().saturating_sub(MAX_LISTED);
    let resources: Vec<Value> = listed
        .into_iter()
        .take(MAX_LISTED)
        .filter_map(|resource| match resource {
            Value::Object(mut resource) if resource.get("uri").is_some_and(Value::is_string) => {
                Some(Value::Object(descriptive_fields(&mut resource)))
            }
            _ => None,
        })
        .collect();
    let mut list = json!({"resources": resources});
    if let Some(list) = list.as_object_mut() {
        list.extend((left_out > 0).then(|| ("left_out".to_owned(), json!(left_out))));
        let next = page.remove("nextCursor").filter(Value::is_string);
        list.extend(next.map(|next| ("nextCursor".to_owned(), next)));
    }
    Ok(list)
}

/// The contents of a resource as blocks of a tool result. A single text becomes a text block.
fn blocks(mut result: Map<String, Value>) -> Result<Vec<Value>, ToolError> {
    let mut parts = match result.remove("contents") {
        Some(Value::Array(parts)) if !parts.is_empty() => parts,
        _ => {
            return Err(ToolError::new(
                ErrorKind::Upstream,
                "the server returned no content for this address",
            ));
        }
    };
    let left_out = parts.len().saturating_sub(MAX_PARTS);
    parts.truncate(MAX_PARTS);
    let mut blocks: Vec<Value> = match parts.as_slice() {
        [only] if only.get("text").is_some_and(Value::is_string) => {
            vec![json!({"type": "text", "text": only["text"]})]
        }
        _ => parts.into_iter().map(|part| json!({"type": "resource", "resource": part})).collect(),
    };
    if left_out > 0 {
        blocks.push(json!({"type": "text", "text": format!("[parts left out: {left_out}]")}));
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("no object") };
        object
    }

    #[test]
    fn a_list_has_descriptive_fields_and_the_next_cursor() {
        let page = object(json!({"resources": [
            {"uri": "a://1", "name": "one", "mimeType": "text/plain", "_meta": {"x": 1}, "size": null, "secret": 1},
            "nonsense", {"uri": 5}, {"name": "nowhere"},
        ], "nextCursor": "2", "other": 1}));
        let list = json!({"resources": [{"uri": "a://1", "name": "one", "mimeType": "text/plain"}], "nextCursor": "2"});
        assert_eq!(resource_list(page).unwrap(), list);
        assert_eq!(
            resource_list(object(json!({"resources": [], "nextCursor": 7}))).unwrap(),
            json!({"resources": []})
        );
        for nothing in [json!({}), json!({"resources": "nope"})] {
            assert_eq!(resource_list(object(nothing)).unwrap_err().kind(), ErrorKind::Upstream);
        }
        let many: Vec<Value> = (0..MAX_LISTED + 5).map(|number| json!({"uri": number.to_string()})).collect();
        let list = resource_list(object(json!({"resources": many}))).unwrap();
        assert_eq!((list["resources"].as_array().unwrap().len(), &list["left_out"]), (MAX_LISTED, &json!(5)));
    }

    #[test]
    fn a_single_text_becomes_a_text_block_and_nothing_is_an_error() {
        let text = object(json!({"contents": [{"uri": "a://1", "text": "words"}]}));
        assert_eq!(blocks(text).unwrap(), [json!({"type": "text", "text": "words"})]);
        let blob = json!({"uri": "a://1", "blob": "AAAA", "mimeType": "image/png"});
        let read = blocks(object(json!({"contents": [blob]}))).unwrap();
        assert_eq!(read, [json!({"type": "resource", "resource": blob})]);
        let many = vec![json!({"uri": "a", "text": "b"}); MAX_PARTS + 1];
        let read = blocks(object(json!({"contents": many}))).unwrap();
        assert_eq!(read.len(), MAX_PARTS + 1);
        assert_eq!(read.last().unwrap()["text"], "[parts left out: 1]");
        for nothing in [json!({}), json!({"contents": []}), json!({"contents": "x"})] {
            assert_eq!(blocks(object(nothing)).unwrap_err().kind(), ErrorKind::Upstream);
        }
    }
}
