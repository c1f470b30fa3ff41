//! Station 7: a result without secrets, of a size its reader can take.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::open_call::OpenCall;
use super::report::Done;
use super::shorten::{MIN_CAP, dismantle, has_longer_text, shorten, shorten_texts};
use super::size::size_chars;
use crate::catalog::Entry;
use crate::ledger::{Artifact, ArtifactId};
use crate::schema;
use crate::tool::{Offer, ToolOutput};
use crate::toolroom::Toolroom;

/// Larger results are not stored: a database row has to stay readable in one piece.
pub(super) const ARTIFACT_MAX_BYTES: usize = 64 * 1024 * 1024;

/// Shapes the output; its attachments are stored already.
pub(super) fn result(room: &Toolroom, entry: &Entry, output: ToolOutput, call: &mut OpenCall) -> Done {
    let ToolOutput { mut value, message, offers, .. } = output;
    let offers = redacted_offers(offers, call);
    let message = message.map(|message| call.presentable(&message).unwrap_or(message));
    let caps = Caps::for_call(entry, call);
    let origin = entry.spec().origin();
    let readable = schema::bounds(&value).is_ok();
    call.redact(&mut value);
    let chars = size_chars(&value);
    if readable && caps.let_pass(&value, chars) {
        let value = Arc::new(value);
        return Done { value, message, chars, artifact: None, truncated: false, origin, offers };
    }
    // Too deeply nested JSON is not stored either.
    let whole = if readable { artifact_of(room, &value, call) } else { None };
    let artifact = whole.as_ref().map(|whole| whole.id.clone());
    call.artifacts.extend(whole);
    let short = match caps.shorten(&value, artifact.as_ref().map(ArtifactId::as_str)) {
        Some(short) => {
            dismantle(value);
            short
        }
        None => value,
    };
    Done { value: Arc::new(short), message, chars, artifact, truncated: true, origin, offers }
}

/// The offers without secrets. Files that were not stored are dropped.
fn redacted_offers(mut offers: Vec<Offer>, call: &OpenCall) -> Vec<Offer> {
    offers.retain_mut(|offer| {
        offer.rewrite(|text| call.presentable(text));
        let Some(file) = offer.file_mut() else { return true };
        let kept = call.artifacts.iter().find(|artifact| artifact.id == file.artifact);
        // Without secrets it may be shorter.
        kept.map(|kept| file.bytes = kept.bytes.len() as u64).is_some()
    });
    offers
}

/// How much of a result its reader gets.
struct Caps {
    whole: usize,
    text: usize,
}

impl Caps {
    fn for_call(entry: &Entry, call: &OpenCall) -> Self {
        let (whole, spec) = (entry.limits().result_cap.max(MIN_CAP), entry.spec());
        // Only agents make calls in a run.
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

fn artifact_of(room: &Toolroom, value: &Value, call: &OpenCall) -> Option<Artifact> {
    let (media_type, bytes) = match value {
        Value::String(text) => (Artifact::TEXT, text.clone().into_bytes()),
        _ => (Artifact::JSON, value.to_string().into_bytes()),
    };
    (bytes.len() <= ARTIFACT_MAX_BYTES).then(|| Artifact {
        id: ArtifactId::fresh(room.clock.as_ref()),
        call: call.record.id.clone(),
        scope: call.record.scope.clone(),
        media_type: Cow::Borrowed(media_type),
        bytes: bytes.into(),
        kept_at: room.clock.now(),
    })
}
