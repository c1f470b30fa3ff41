//! What to do about a model that does not answer.

use toolroom::model::ModelErrorKind;

/// Advice by the kind of failure; none where the message says it all. The message names the model.
pub(in crate::cli) const fn remedy(kind: ModelErrorKind) -> Option<&'static str> {
    match kind {
        ModelErrorKind::Auth => Some(
            "look at the key: `toolroom models` says where it comes from, `toolroom models test` tries it",
        ),
        ModelErrorKind::Billing => Some("look at your account there, or ask another model"),
        ModelErrorKind::RateLimit | ModelErrorKind::Overloaded | ModelErrorKind::Server => {
            Some("try again a little later, or ask another model")
        }
        ModelErrorKind::Network | ModelErrorKind::Timeout => {
            Some("see whether it runs and its address is right: `toolroom models` says where it is asked")
        }
        ModelErrorKind::Protocol => {
            Some("see whether `base_url` and `wire` of its vendor are right: what came is no answer")
        }
        ModelErrorKind::NotFound => Some(
            "see whether there is such a model (`toolroom models list --all`) and its vendor's `base_url` is right",
        ),
        ModelErrorKind::ContextOverflow => {
            Some("begin a new conversation, or ask a model that reads more with `--model`")
        }
        ModelErrorKind::Endless => Some("ask for a shorter answer, or ask another model"),
        ModelErrorKind::ContentFilter | ModelErrorKind::BadRequest | ModelErrorKind::Cancelled => None,
    }
}
