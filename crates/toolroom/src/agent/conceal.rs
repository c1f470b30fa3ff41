//! What a model says is kept without secrets.
//!
//! No model is told a secret here. One may know a value all the same, from elsewhere or by a guess, and what it says is
//! kept, shown, and told to the next model. Words lose whatever looks like a secret. Calls lose stored values only: a
//! key that a tool is to write as an example is no secret, and stays what the model wrote.

use std::borrow::Cow;

use crate::model::{Block, ModelCallId, Opaque};
use crate::redact::Redactor;

/// Takes secrets out of an answer. What a vendor wants back beside something that held one is not given back, as it may
/// hold it, too.
pub(super) fn conceal(blocks: &mut Vec<Block>, redactor: &Redactor) {
    let stored = redactor.without_patterns();
    blocks.retain_mut(|block| match block {
        Block::Text { text, opaque } => {
            if replace(text, redactor) || opaque.as_ref().is_some_and(|part| tells(part, &stored)) {
                *opaque = None;
            }
            true
        }
        // Thoughts that were changed would be refused by the vendor who signed them.
        Block::Reasoning { text, opaque } => {
            let told = opaque.as_ref().is_some_and(|part| tells(part, &stored));
            let changed = replace(text, redactor);
            !told && (opaque.is_none() || !changed)
        }
        Block::Call { id, name, arguments, opaque } => {
            let mut told = replace(name, &stored);
            if let Cow::Owned(safe) = stored.redact_text(id.as_str()) {
                (*id, told) = (ModelCallId::new(&safe), true);
            }
            if let Cow::Owned(safe) = stored.redact_text(arguments) {
                (*arguments, told) = (safe.into(), true);
            }
            if told || opaque.as_ref().is_some_and(|part| tells(part, &stored)) {
                *opaque = None;
            }
            true
        }
        Block::Image(_) | Block::Result { .. } | Block::Opaque(_) => true,
    });
    blocks.retain(|block| !matches!(block, Block::Opaque(part) if tells(part, &stored)));
}

/// Whether a secret was taken out of the text.
fn replace(text: &mut String, redactor: &Redactor) -> bool {
    let Cow::Owned(safe) = redactor.redact_text(text) else { return false };
    *text = safe;
    true
}

fn tells(opaque: &Opaque, stored: &Redactor) -> bool {
    let mut part = (*opaque.part).clone();
    stored.redact_value(&mut part);
    part != *opaque.part
}
