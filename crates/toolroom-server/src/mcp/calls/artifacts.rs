//! Artifacts of a call's result, for clients that receive all of it.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use toolroom::call::{CallReport, Outcome};
use toolroom::ledger::{Artifact, ArtifactId, Artifacts as _};
use toolroom::scope::Scope;

use crate::mcp::calls::content::{OutputContract, protocol_result};
use crate::mcp::protocol::rpc_error::RpcError;
use crate::mcp::server::McpServer;

/// The artifacts of a result.
#[derive(Default)]
pub(in crate::mcp) struct ResultArtifacts {
    /// The whole result, if it was shortened.
    pub(in crate::mcp) whole: Option<Value>,
    /// The files it refers to.
    files: HashMap<String, Artifact>,
}

impl ResultArtifacts {
    #[cfg(test)]
    pub(in crate::mcp) fn for_test(whole: Option<Value>, files: &[(&str, &[u8])]) -> Self {
        let file = |(id, bytes): &(&str, &[u8])| {
            let artifact = Artifact {
                id: ArtifactId::new(id),
                call: toolroom::ledger::CallId::new("call_1"),
                scope: Scope::default(),
                media_type: Artifact::TEXT.into(),
                bytes: bytes.to_vec().into(),
                kept_at: toolroom::clock::Timestamp::from_micros(0),
            };
            ((*id).to_owned(), artifact)
        };
        Self { whole, files: files.iter().map(file).collect() }
    }

    /// A block of content, or a resource in one, with the bytes of its file under `field`. `None` if the file no longer exists.
    pub(in crate::mcp) fn with_bytes(
        &self,
        named: &Map<String, Value>,
        field: &str,
    ) -> Option<Map<String, Value>> {
        let file = self.files.get(named.get("artifact")?.as_str()?)?;
        let is_ours = |name: &str| matches!(name, "artifact" | "bytes");
        let mut block: Map<String, Value> = named
            .iter()
            .filter(|(name, _)| !is_ours(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        block.insert(field.to_owned(), STANDARD.encode(&file.bytes).into());
        Some(block)
    }
}

impl McpServer {
    /// Loads the whole result, if it was shortened and is protocol content or structured data, and the files it refers to. Only
    /// files of the same call: the author of a result could name others.
    pub(in crate::mcp) async fn kept(
        &self,
        scope: &Scope,
        report: &CallReport,
        promise: OutputContract,
    ) -> Result<ResultArtifacts, RpcError> {
        let Outcome::Done(done) = &report.outcome else { return Ok(ResultArtifacts::default()) };
        let is_needed = promise == OutputContract::Schema || done.value.get("content").is_some();
        let whole = match done.artifact.as_ref().filter(|_| done.truncated && is_needed) {
            Some(artifact) => {
                // Boxed: rarely needed, and large.
                let found = Box::pin(self.artifact(scope, artifact)).await?;
                found.and_then(|artifact| serde_json::from_slice(&artifact.bytes).ok())
            }
            None => None,
        };
        let mut files = HashMap::new();
        for name in protocol_result(whole.as_ref().unwrap_or(&done.value))
            .into_iter()
            .flat_map(|form| named(form.content))
        {
            if let Some(file) = Box::pin(self.artifact(scope, &ArtifactId::new(name))).await?
                && file.call == report.call_id
            {
                files.insert(name.to_owned(), file);
            }
        }
        Ok(ResultArtifacts { whole, files })
    }

    async fn artifact(&self, scope: &Scope, id: &ArtifactId) -> Result<Option<Artifact>, RpcError> {
        self.app.store.artifact(scope, id).await.map_err(|error| RpcError::failure(&error))
    }
}

/// The artifact ids in blocks.
fn named(content: &[Value]) -> impl Iterator<Item = &str> {
    let holders = content.iter().flat_map(|block| [Some(block), block.get("resource")]).flatten();
    holders.filter_map(|holder| holder.get("artifact")?.as_str())
}
