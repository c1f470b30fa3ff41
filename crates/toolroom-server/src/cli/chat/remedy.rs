//! What to do about a run that has no answer.

use toolroom::conversation::RunFailure;

use crate::cli::models;

/// Advice for a failure that a model is the reason of; none where the message says it all.
pub(super) fn remedy(failure: &RunFailure) -> Option<&'static str> {
    models::remedy(serde_json::from_value(failure.kind.as_str().into()).ok()?)
}
