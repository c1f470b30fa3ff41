//! Resources of other servers: what their tools link to can be listed and read. They are two tools of the gateway, which are
//! there while there is a server.

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

use crate::mcp::catalog::content::{describing, output};
use crate::mcp::catalog::gateway::Docked;
use crate::mcp::catalog::tool::DEFAULT_TIMEOUT;
use crate::mcp::connection::{Berth, Wanted};

/// Whose tools these are: of the gateway, and of no server.
pub(crate) const SOURCE: &str = "gateway";

/// Entries of a page of a list that are told.
const MAX_LISTED: usize = 200;

/// Parts of a resource that are told.
const MAX_PARTS: usize = 32;

/// All servers, as far as they are still there.
type Servers = Weak<Mutex<BTreeMap<String, Docked>>>;

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

/// Both tools.
pub(crate) fn tools(servers: &Servers) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let (listed, read) = (servers.clone(), servers.clone());
    let list = tool_fn(
        "gateway:list_resources",
        "List the resources that an MCP server has, page by page: their addresses, names and kinds.",
        move |context: CallContext, List { server, cursor }| {
            let servers = listed.clone();
            async move {
                let wanted = Wanted::Resources { cursor: cursor.as_deref() };
                listing(asked(&servers, &server, &Arc::new(context), wanted).await?)
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
                let result = asked(&servers, &server, &context, Wanted::Resource { uri: &uri }).await?;
                let make_file = |media_type: &str, bytes| context.attachment(media_type, bytes);
                Ok::<_, ToolError>(output(&make_file, None, blocks(result)?, None))
            }
        },
    )?;
    let words = ["mcp", "resource", "link", "document"];
    let (list, read) = (list.destination(destination), read.destination(destination));
    let list = list.with(|spec| guarded(spec).title("List Resources").category("mcp", &words));
    let read = read.with(|spec| guarded(spec).title("Read Resource").category("mcp", &words));
    Ok(vec![Arc::new(list), Arc::new(read)])
}

/// What a server gives is a stranger's, what it knows may be private, and what it is asked for goes out to it.
fn guarded(spec: ToolSpec) -> ToolSpec {
    spec.effect(Effect::Read)
        .capabilities(&[Capability::ReadsPrivate, Capability::ReadsUntrusted, Capability::Egress])
        .risk(Risk::Medium)
        .timeout(Timeout::After(DEFAULT_TIMEOUT))
}

/// The server that is asked.
fn destination(arguments: &Arguments) -> Option<Destination> {
    arguments.get("server").and_then(Value::as_str).map(|server| Destination::new(format!("mcp:{server}")))
}

async fn asked(
    servers: &Servers,
    name: &str,
    context: &Arc<CallContext>,
    wanted: Wanted<'_>,
) -> Result<Map<String, Value>, ToolError> {
    berth(servers, name).await?.ask(context, &wanted).await
}

async fn berth(servers: &Servers, name: &str) -> Result<Arc<Berth>, ToolError> {
    let docked = servers.upgrade();
    let docked = docked.ok_or_else(|| ToolError::new(ErrorKind::Crashed, "everything has ended"))?;
    let docked = docked.lock().await;
    let found = docked.get(name).map(|seat| Arc::clone(&seat.berth));
    found.ok_or_else(|| {
        let names: Vec<String> = docked.keys().map(|name| format!("`{name}`")).collect();
        ToolError::not_found(format!("there is no server `{name}`; there are {}", names.join(", ")))
    })
}

/// A page of a list, with nothing in it but what describes a resource.
fn listing(mut page: Map<String, Value>) -> Result<Value, ToolError> {
    let Some(Value::Array(listed)) = page.remove("resources") else {
        return Err(ToolError::new(ErrorKind::Upstream, "the server gave no list of resources"));
    };
    let left_out = listed.len().saturating_sub(MAX_LISTED);
    let resources: Vec<Value> = listed
        .into_iter()
        .take(MAX_LISTED)
        .filter_map(|resource| match resource {
            Value::Object(mut resource) if resource.get("uri").is_some_and(Value::is_string) => {
                Some(Value::Object(describing(&mut resource)))
            }
            _ => None,
        })
        .collect();
    let mut told = json!({"resources": resources});
    if let Some(told) = told.as_object_mut() {
        told.extend((left_out > 0).then(|| ("left_out".to_owned(), json!(left_out))));
        let next = page.remove("nextCursor").filter(Value::is_string);
        told.extend(next.map(|next| ("nextCursor".to_owned(), next)));
    }
    Ok(told)
}

/// What a resource holds, in the blocks of a result: a single text is that text.
fn blocks(mut result: Map<String, Value>) -> Result<Vec<Value>, ToolError> {
    let mut parts = match result.remove("contents") {
        Some(Value::Array(parts)) if !parts.is_empty() => parts,
        _ => return Err(ToolError::new(ErrorKind::Upstream, "the server gave nothing for this address")),
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
        blocks.push(json!({"type": "text", "text": format!("[{left_out} more, left out]")}));
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
    fn a_list_says_what_describes_a_resource_and_where_it_goes_on() {
        let page = object(json!({"resources": [
            {"uri": "a://1", "name": "one", "mimeType": "text/plain", "_meta": {"x": 1}, "size": null, "secret": 1},
            "nonsense", {"uri": 5}, {"name": "nowhere"},
        ], "nextCursor": "2", "other": 1}));
        let told = json!({"resources": [{"uri": "a://1", "name": "one", "mimeType": "text/plain"}], "nextCursor": "2"});
        assert_eq!(listing(page).unwrap(), told);
        assert_eq!(
            listing(object(json!({"resources": [], "nextCursor": 7}))).unwrap(),
            json!({"resources": []})
        );
        for nothing in [json!({}), json!({"resources": "nope"})] {
            assert_eq!(listing(object(nothing)).unwrap_err().kind(), ErrorKind::Upstream);
        }
        let many: Vec<Value> = (0..MAX_LISTED + 5).map(|number| json!({"uri": number.to_string()})).collect();
        let told = listing(object(json!({"resources": many}))).unwrap();
        assert_eq!((told["resources"].as_array().unwrap().len(), &told["left_out"]), (MAX_LISTED, &json!(5)));
    }

    #[test]
    fn a_single_text_is_that_text_and_nothing_is_an_error() {
        let text = object(json!({"contents": [{"uri": "a://1", "text": "words"}]}));
        assert_eq!(blocks(text).unwrap(), [json!({"type": "text", "text": "words"})]);
        let blob = json!({"uri": "a://1", "blob": "AAAA", "mimeType": "image/png"});
        let read = blocks(object(json!({"contents": [blob]}))).unwrap();
        assert_eq!(read, [json!({"type": "resource", "resource": blob})]);
        let many = vec![json!({"uri": "a", "text": "b"}); MAX_PARTS + 1];
        let read = blocks(object(json!({"contents": many}))).unwrap();
        assert_eq!(read.len(), MAX_PARTS + 1);
        assert_eq!(read.last().unwrap()["text"], "[1 more, left out]");
        for nothing in [json!({}), json!({"contents": []}), json!({"contents": "x"})] {
            assert_eq!(blocks(object(nothing)).unwrap_err().kind(), ErrorKind::Upstream);
        }
    }
}
