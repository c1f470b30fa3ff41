//! What to do about a run that has no answer.

use toolroom::conversation::RunFailure;
use toolroom::model::ModelErrorKind;

/// Advice for a failure, by its kind; none where the message says it all. The message names the model.
pub(super) fn remedy(failure: &RunFailure) -> Option<&'static str> {
    let kind = serde_json::from_value(failure.kind.as_str().into()).ok()?;
    match kind {
        ModelErrorKind::Auth => Some(
            "look at the key: `toolroom models` says where it comes from, `toolroom models test` tries it",
        ),
        ModelErrorKind::Billing => Some("look at your account there, or ask another model with `--model`"),
        ModelErrorKind::RateLimit | ModelErrorKind::Overloaded | ModelErrorKind::Server => {
            Some("send a message again a little later, or ask another model with `--model`")
        }
        ModelErrorKind::Network | ModelErrorKind::Timeout | ModelErrorKind::Protocol => {
            Some("see whether its address is right: `toolroom models` says where it is asked")
        }
        ModelErrorKind::NotFound => Some("see whether there is such a model: `toolroom models list --all`"),
        ModelErrorKind::ContextOverflow => {
            Some("begin a new conversation, or ask a model that reads more with `--model`")
        }
        ModelErrorKind::Endless => Some("ask for a shorter answer, or ask another model with `--model`"),
        ModelErrorKind::ContentFilter | ModelErrorKind::BadRequest | ModelErrorKind::Cancelled => None,
    }
}
