//! Whole results of calls, which clients can read as resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use toolroom::ledger::{Artifact, ArtifactId, Artifacts as _, CallFilter, CallRecord, Journal as _};

use super::desk::Desk;
use super::peer::Asker;
use super::refusal::Refusal;
use super::reply::{Reuse, reply};

/// What the address of an artifact begins with.
const ARTIFACTS: &str = "toolroom://artifacts/";

/// Calls among which resources are looked for.
const RECENT: u32 = 200;

/// The address of an artifact.
pub(super) fn uri_of(artifact: &ArtifactId) -> String {
    format!("{ARTIFACTS}{artifact}")
}

impl Desk {
    /// The whole results of recent calls, the newest first.
    pub(super) async fn list_resources(&self, asker: &Asker) -> Result<String, Refusal> {
        let mut resources = self.fixtures().map(|fixtures| fixtures.resources()).unwrap_or_default();
        if asker.peer.may_read {
            let filter = CallFilter { limit: Some(RECENT), ..CallFilter::default() };
            let calls = self.app.store.calls(&asker.peer.scope, filter).await;
            let calls = calls.map_err(|error| Refusal::failure(&error))?;
            resources.extend(calls.iter().filter_map(listed));
        }
        reply(asker.client.era, Reuse::AWhile, &json!({"resources": resources}))
    }

    /// How resources are addressed.
    pub(super) fn list_templates(&self, asker: &Asker) -> Result<String, Refusal> {
        let mut templates = self.fixtures().map(|fixtures| fixtures.templates()).unwrap_or_default();
        templates.push(json!({
            "uriTemplate": format!("{ARTIFACTS}{{id}}"),
            "name": "artifact",
            "title": "Whole result of a call",
            "description": "The result of a call whose reply was shortened",
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

fn listed(call: &CallRecord) -> Option<Value> {
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
