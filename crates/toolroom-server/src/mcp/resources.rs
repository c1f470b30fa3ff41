//! Resources: whole results of calls, and files that calls offer.

use std::sync::Arc;
use std::time::Duration;

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use toolroom::ledger::{Artifact, ArtifactId, Artifacts as _, CallFilter, CallRecord, Journal as _};
use toolroom::scope::Scope;
use toolroom::tool::{Offer, OfferedFile};
use toolroom_store::ArtifactFacts;

use crate::mcp::context::RequestContext;
use crate::mcp::protocol::message::OutgoingMessage;
use crate::mcp::protocol::reply::{Reuse, reply};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;

/// Prefix of artifact URIs.
pub(super) const ARTIFACTS: &str = "toolroom://artifacts/";

/// The newest that are listed.
const LISTED: usize = 200;

/// Calls per query, and queries: most calls have no artifact.
const PAGE: u32 = 500;
const PAGES: usize = 10;

/// The largest resource that is read in one message. Larger ones are downloaded over HTTP.
const READ_BYTES: u64 = 16 << 20;

/// Memory for reads of all clients together, in KiB.
const AT_ONCE_KIB: usize = 64 << 10;

/// How long a read waits for memory.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The URI of an artifact.
pub(super) fn uri_of(artifact: &ArtifactId) -> String {
    format!("{ARTIFACTS}{artifact}")
}

/// A link to an offered file.
pub(super) fn link_to(file: &OfferedFile) -> Value {
    let OfferedFile { name, media_type, bytes, artifact, caption } = file;
    let about = caption.as_deref().unwrap_or("A file for the user");
    json!({
        "type": "resource_link", "uri": uri_of(artifact), "name": name, "description": about,
        "mimeType": media_type, "size": bytes,
    })
}

impl McpServer {
    /// `resources/list`: whole results and offered files of recent calls, newest first.
    pub(super) async fn list_resources(&self, context: &RequestContext) -> Result<String, RpcError> {
        let mut resources = self.fixtures().map(|fixtures| fixtures.resources()).unwrap_or_default();
        if context.caller.may_read {
            resources.extend(self.kept_results(&context.caller.scope).await?);
        }
        reply(context.client.era, Reuse::AWhile, &json!({"resources": resources}))
    }

    async fn kept_results(&self, scope: &Scope) -> Result<Vec<Value>, RpcError> {
        let (mut kept, mut before) = (Vec::new(), None);
        for _ in 0..PAGES {
            let filter = CallFilter { before: before.take(), limit: Some(PAGE), ..CallFilter::default() };
            let calls = self.app.store.calls(scope, filter).await;
            let calls = calls.map_err(|error| RpcError::failure(&error))?;
            kept.extend(calls.iter().flat_map(listed).take(LISTED - kept.len()));
            before = calls.last().map(|call| call.id.clone());
            if kept.len() >= LISTED || before.is_none() {
                break;
            }
        }
        Ok(kept)
    }

    /// `resources/templates/list`.
    pub(super) fn list_templates(&self, context: &RequestContext) -> Result<String, RpcError> {
        let mut templates = self.fixtures().map(|fixtures| fixtures.templates()).unwrap_or_default();
        templates.push(json!({
            "uriTemplate": format!("{ARTIFACTS}{{id}}"),
            "name": "artifact",
            "title": "Whole result of a call, or a file",
            "description": "The result of a call whose reply was shortened, or a file that a call offers",
        }));
        reply(context.client.era, Reuse::AWhile, &json!({"resourceTemplates": templates}))
    }

    /// `resources/read`.
    pub(super) async fn read_resource(
        &self,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<OutgoingMessage, RpcError> {
        let era = context.client.era;
        let (uri, id, facts) = match self.resource(context, params).await? {
            Resource::Fixture(contents) => {
                return reply(era, Reuse::AWhile, &json!({"contents": [contents]}))
                    .map(OutgoingMessage::from);
            }
            Resource::Kept(uri, id, facts) => (uri, id, facts),
        };
        if facts.bytes > READ_BYTES {
            let size = facts.bytes;
            return Err(RpcError::invalid(format!(
                "this resource has {size} bytes, more than the limit of {READ_BYTES}; download it with \
                 `GET /v1/artifacts/{id}/content`, or with `toolroom artifacts save {id}` on the server's machine"
            ))
            .with(json!({"uri": uri})));
        }
        let room = self.read_budget.acquire(facts.bytes).await?;
        let found = self.app.store.artifact(&context.caller.scope, &id).await;
        let artifact = found.map_err(|error| RpcError::failure(&error))?;
        let artifact = artifact.ok_or_else(|| missing(context, uri))?;
        let call = self.row_of(context, &facts.call).await?.ok_or_else(|| missing(context, uri))?;
        self.add_reading(context, &call).await?;
        let text =
            reply(era, Reuse::AWhile, &ReadResult { contents: [ResourceContent::new(uri, &artifact)] })?;
        Ok(OutgoingMessage::with_budget(text, room))
    }

    /// `resources/subscribe`: accepted for existing resources, which never change.
    pub(super) async fn subscribe(
        &self,
        context: &RequestContext,
        params: &Map<String, Value>,
    ) -> Result<String, RpcError> {
        self.resource(context, params).await?;
        Ok("{}".to_owned())
    }

    /// The resource in the parameters, without its content.
    async fn resource<'a>(
        &self,
        context: &RequestContext,
        params: &'a Map<String, Value>,
    ) -> Result<Resource<'a>, RpcError> {
        let uri = params.get("uri").and_then(Value::as_str);
        let uri = uri.ok_or_else(|| RpcError::invalid("missing `uri` of the resource"))?;
        if let Some(contents) = self.fixtures().and_then(|fixtures| fixtures.read(uri)) {
            return Ok(Resource::Fixture(contents));
        }
        let id = uri.strip_prefix(ARTIFACTS).filter(|_| context.caller.may_read);
        let id = ArtifactId::new(id.ok_or_else(|| missing(context, uri))?);
        let found = self.app.store.artifact_facts(&context.caller.scope, &id).await;
        let facts = found.map_err(|error| RpcError::failure(&error))?.ok_or_else(|| missing(context, uri))?;
        Ok(Resource::Kept(uri, id, facts))
    }
}

/// A resource that the caller may read.
enum Resource<'a> {
    Fixture(Value),
    Kept(&'a str, ArtifactId, ArtifactFacts),
}

fn missing(context: &RequestContext, uri: &str) -> RpcError {
    let code = if context.is_modern() { RpcError::INVALID_PARAMS } else { RpcError::NO_RESOURCE };
    RpcError::new(code, "unknown resource, or no permission to read it").with(json!({"uri": uri}))
}

/// Bounds the memory of resources between the store and the last byte sent.
#[derive(Debug)]
pub(super) struct ReadBudget(Arc<Semaphore>);

impl Default for ReadBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE_KIB)))
    }
}

impl ReadBudget {
    /// Waits for memory for this many bytes. A client that reads slowly keeps its share, so the wait is short.
    async fn acquire(&self, bytes: u64) -> Result<OwnedSemaphorePermit, RpcError> {
        let kib = u32::try_from(bytes.div_ceil(1024)).map_err(|error| RpcError::failure(&error))?;
        let room = timeout(READ_TIMEOUT, Arc::clone(&self.0).acquire_many_owned(kib)).await;
        room.map_err(|_| RpcError::busy())?.map_err(|error| RpcError::failure(&error))
    }
}

/// The result, serialized without copies.
#[derive(Serialize)]
struct ReadResult<'a> {
    contents: [ResourceContent<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceContent<'a> {
    uri: &'a str,
    mime_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "base64")]
    blob: Option<&'a [u8]>,
}

impl<'a> ResourceContent<'a> {
    fn new(uri: &'a str, artifact: &'a Artifact) -> Self {
        let bytes: &[u8] = &artifact.bytes;
        let text = std::str::from_utf8(bytes).ok().filter(|text| is_readable(text));
        let blob = if text.is_some() { None } else { Some(bytes) };
        Self { uri, mime_type: &artifact.media_type, text, blob }
    }
}

/// Whether to send bytes as text. Mostly control characters would become six times as long in JSON.
fn is_readable(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_control).filter(|byte| !b"\t\n\r".contains(byte)).count()
        <= text.len() / 8
}

fn base64<S: Serializer>(bytes: &Option<&[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Base64Display::new(bytes.unwrap_or_default(), &STANDARD))
}

/// The artifacts of a call.
fn listed(call: &CallRecord) -> impl Iterator<Item = Value> {
    whole_result(call).into_iter().chain(call.offers.iter().filter_map(Offer::file).map(|file| {
        json!({
            "uri": uri_of(&file.artifact),
            "name": file.name,
            "description": format!("A file of `{}` from the call {}", call.tool, call.id),
            "mimeType": file.media_type,
            "size": file.bytes,
        })
    }))
}

fn whole_result(call: &CallRecord) -> Option<Value> {
    let artifact = call.artifact.as_ref()?;
    let kind = match call.result.as_deref() {
        Some(Value::String(_)) => Artifact::TEXT,
        _ => Artifact::JSON,
    };
    Some(json!({
        "uri": uri_of(artifact),
        "name": artifact,
        "title": format!("Whole result of {}", call.tool),
        "description": format!("What `{}` returned in the call {}", call.tool, call.id),
        "mimeType": kind,
    }))
}
