//! Whole results of calls and files that they offer, which clients can read as resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use toolroom::ledger::{Artifact, ArtifactId, Artifacts as _, CallFilter, CallRecord, Journal as _};
use toolroom::scope::Scope;
use toolroom::tool::{Offer, OfferedFile};

use super::desk::Desk;
use super::peer::Asker;
use super::refusal::Refusal;
use super::reply::{Reuse, reply};

/// What the address of an artifact begins with.
pub(super) const ARTIFACTS: &str = "toolroom://artifacts/";

/// How many are listed, the newest.
const LISTED: usize = 200;

/// Calls that are read at a time, and how often that is done: most have no whole result to be read.
const PAGE: u32 = 500;
const PAGES: usize = 10;

/// The address of an artifact.
pub(super) fn uri_of(artifact: &ArtifactId) -> String {
    format!("{ARTIFACTS}{artifact}")
}

/// A file that a call offers, as a block of its result.
pub(super) fn link_to(file: &OfferedFile) -> Value {
    let OfferedFile { name, media_type, bytes, artifact, caption } = file;
    let about = caption.as_deref().unwrap_or("A file for the user");
    json!({
        "type": "resource_link", "uri": uri_of(artifact), "name": name, "description": about,
        "mimeType": media_type, "size": bytes,
    })
}

impl Desk {
    /// The whole results of recent calls and the files that they offer, the newest first.
    pub(super) async fn list_resources(&self, asker: &Asker) -> Result<String, Refusal> {
        let mut resources = self.fixtures().map(|fixtures| fixtures.resources()).unwrap_or_default();
        if asker.peer.may_read {
            resources.extend(self.kept_results(&asker.peer.scope).await?);
        }
        reply(asker.client.era, Reuse::AWhile, &json!({"resources": resources}))
    }

    async fn kept_results(&self, scope: &Scope) -> Result<Vec<Value>, Refusal> {
        let (mut kept, mut before) = (Vec::new(), None);
        for _ in 0..PAGES {
            let filter = CallFilter { before: before.take(), limit: Some(PAGE), ..CallFilter::default() };
            let calls = self.app.store.calls(scope, filter).await;
            let calls = calls.map_err(|error| Refusal::failure(&error))?;
            kept.extend(calls.iter().flat_map(listed).take(LISTED - kept.len()));
            before = calls.last().map(|call| call.id.clone());
            if kept.len() >= LISTED || before.is_none() {
                break;
            }
        }
        Ok(kept)
    }

    /// How resources are addressed.
    pub(super) fn list_templates(&self, asker: &Asker) -> Result<String, Refusal> {
        let mut templates = self.fixtures().map(|fixtures| fixtures.templates()).unwrap_or_default();
        templates.push(json!({
            "uriTemplate": format!("{ARTIFACTS}{{id}}"),
            "name": "artifact",
            "title": "Whole result of a call, or a file",
            "description": "The result of a call whose reply was shortened, or a file that a call offers",
        }));
        reply(asker.client.era, Reuse::AWhile, &json!({"resourceTemplates": templates}))
    }

    /// One resource.
    pub(super) async fn read_resource(
        &self,
        asker: &Asker,
        params: &Map<String, Value>,
    ) -> Result<String, Refusal> {
        let contents = self.resource(asker, params).await?;
        reply(asker.client.era, Reuse::AWhile, &json!({"contents": [contents]}))
    }

    /// Whoever wants to hear of changes is told that they will; results never change.
    pub(super) async fn subscribe(
        &self,
        asker: &Asker,
        params: &Map<String, Value>,
    ) -> Result<String, Refusal> {
        self.resource(asker, params).await?;
        Ok("{}".to_owned())
    }

    async fn resource(&self, asker: &Asker, params: &Map<String, Value>) -> Result<Value, Refusal> {
        let uri = params.get("uri").and_then(Value::as_str);
        let uri = uri.ok_or_else(|| Refusal::invalid("`uri` says which resource"))?;
        if let Some(contents) = self.fixtures().and_then(|fixtures| fixtures.read(uri)) {
            return Ok(contents);
        }
        let missing = || {
            let code = if asker.is_modern() { Refusal::INVALID_PARAMS } else { Refusal::NO_RESOURCE };
            Refusal::new(code, "there is no such resource, or you may not read it").with(json!({"uri": uri}))
        };
        let id = uri.strip_prefix(ARTIFACTS).filter(|_| asker.peer.may_read).ok_or_else(missing)?;
        let found = self.app.store.artifact(&asker.peer.scope, &ArtifactId::new(id)).await;
        let artifact = found.map_err(|error| Refusal::failure(&error))?.ok_or_else(missing)?;
        Ok(contents(uri, &artifact))
    }
}

fn contents(uri: &str, artifact: &Artifact) -> Value {
    match std::str::from_utf8(&artifact.bytes) {
        Ok(text) => json!({"uri": uri, "mimeType": artifact.media_type, "text": text}),
        Err(_) => {
            json!({"uri": uri, "mimeType": artifact.media_type, "blob": STANDARD.encode(&artifact.bytes)})
        }
    }
}

/// What is kept of a call and can be read.
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
