//! Station 7: a result of a size its reader can take.

use std::sync::Arc;

use serde_json::Value;

use super::record::OpenCall;
use super::report::Done;
use super::shorten::{MIN_CAP, shorten, size_chars};
use crate::catalog::Entry;
use crate::ledger::{Artifact, ArtifactId};
use crate::room::Toolroom;
use crate::tool::ToolOutput;

/// What is larger is not kept: a database row has to stay readable in one piece.
const ARTIFACT_MAX_BYTES: usize = 64 * 1024 * 1024;

pub(super) fn result(room: &Toolroom, entry: &Entry, output: ToolOutput, call: &mut OpenCall) -> Done {
    let ToolOutput { value, message } = output;
    let cap = entry.spec().result_cap.max(MIN_CAP);
    let origin = entry.spec().origin();
    let chars = size_chars(&value);
    if chars <= cap {
        return Done { value, message, chars, artifact: None, truncated: false, origin };
    }
    call.artifact = keep(room, &value, call);
    let artifact = call.artifact.as_ref().map(|artifact| artifact.id.clone());
    let short = shorten(&value, cap, artifact.as_ref().map(ArtifactId::as_str)).unwrap_or(value);
    Done { value: short, message, chars, artifact, truncated: true, origin }
}

fn keep(room: &Toolroom, value: &Value, call: &OpenCall) -> Option<Artifact> {
    let (media_type, bytes) = match value {
        Value::String(text) => (Artifact::TEXT, text.clone().into_bytes()),
        _ => (Artifact::JSON, value.to_string().into_bytes()),
    };
    (bytes.len() <= ARTIFACT_MAX_BYTES).then(|| Artifact {
        id: ArtifactId::fresh(room.clock.as_ref()),
        call: call.record.id.clone(),
        scope: call.record.scope.clone(),
        media_type,
        bytes: Arc::from(bytes),
        kept_at: room.clock.now(),
    })
}
