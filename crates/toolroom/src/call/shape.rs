//! Station 7: a result without secrets, of a size its reader can take.

use std::sync::Arc;

use serde_json::Value;

use super::record::OpenCall;
use super::report::Done;
use super::shorten::{MIN_CAP, dismantle, has_longer_text, shorten, shorten_texts};
use super::size::size_chars;
use crate::catalog::Entry;
use crate::ledger::{Artifact, ArtifactId};
use crate::room::Toolroom;
use crate::schema;
use crate::tool::ToolOutput;

/// What is larger is not kept: a database row has to stay readable in one piece.
const ARTIFACT_MAX_BYTES: usize = 64 * 1024 * 1024;

pub(super) fn result(room: &Toolroom, entry: &Entry, output: ToolOutput, call: &mut OpenCall) -> Done {
    let ToolOutput { mut value, message } = output;
    let message = message.map(|message| call.tellable(&message).unwrap_or(message));
    let caps = Caps::of(entry, call);
    let origin = entry.spec().origin();
    let readable = schema::bounds(&value).is_ok();
    call.hide(&mut value);
    let chars = size_chars(&value);
    if readable && caps.let_pass(&value, chars) {
        return Done { value: Arc::new(value), message, chars, artifact: None, truncated: false, origin };
    }
    // What no reader of JSON can follow is not kept either.
    call.artifact = if readable { keep(room, &value, call).map(Box::new) } else { None };
    let artifact = call.artifact.as_ref().map(|artifact| artifact.id.clone());
    let short = match caps.shorten(&value, artifact.as_ref().map(ArtifactId::as_str)) {
        Some(short) => {
            dismantle(value);
            short
        }
        None => value,
    };
    Done { value: Arc::new(short), message, chars, artifact, truncated: true, origin }
}

/// How much of a result its reader gets.
struct Caps {
    whole: usize,
    text: usize,
}

impl Caps {
    fn of(entry: &Entry, call: &OpenCall) -> Self {
        let (whole, spec) = (entry.limits().result_cap.max(MIN_CAP), entry.spec());
        // Runs are those of models.
        match call.request.run.as_ref().and(spec.model_cap) {
            Some(cap) => Self { whole: whole.min(cap.max(MIN_CAP)), text: usize::MAX },
            None => Self { whole, text: spec.text_cap.unwrap_or(usize::MAX) },
        }
    }

    fn let_pass(&self, value: &Value, chars: usize) -> bool {
        chars <= self.whole && (self.text == usize::MAX || !has_longer_text(value, self.text))
    }

    /// `None` if it fits. Either each text is cut or the whole: never both, which would leave two marks in one text.
    fn shorten(&self, value: &Value, artifact: Option<&str>) -> Option<Value> {
        let texts = shorten_texts(value, self.text, artifact);
        match texts.filter(|texts| size_chars(texts) <= self.whole) {
            Some(texts) => Some(texts),
            None => shorten(value, self.whole, artifact),
        }
    }
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
