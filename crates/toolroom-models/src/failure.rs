//! How answers fail, as far as it is the same for all vendors.

use toolroom::model::{ModelError, ModelErrorKind};

/// More of a vendor's words than this helps nobody.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// What an HTTP status means when the body says nothing better.
pub(crate) const fn kind_of_status(status: u16) -> ModelErrorKind {
    match status {
        401 | 403 => ModelErrorKind::Auth,
        402 => ModelErrorKind::Billing,
        404 => ModelErrorKind::NotFound,
        408 | 504 => ModelErrorKind::Timeout,
        // What is too large to be sent is mended like what is too long to be read: by saying less.
        413 => ModelErrorKind::ContextOverflow,
        429 => ModelErrorKind::RateLimit,
        503 | 529 => ModelErrorKind::Overloaded,
        400..=499 => ModelErrorKind::BadRequest,
        500..=599 => ModelErrorKind::Server,
        _ => ModelErrorKind::Protocol,
    }
}

/// What arrived is no answer.
pub(crate) fn not_understood(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Protocol, format!("the answer cannot be understood: {what}"))
}

/// The stream ended before the answer did.
pub(crate) fn broke_off() -> ModelError {
    ModelError::new(ModelErrorKind::Network, "the stream broke off before the answer was complete")
}

/// An error in the vendor's own words, bounded.
pub(crate) fn refused(kind: ModelErrorKind, status: Option<u16>, words: &str) -> ModelError {
    let words = words.trim();
    let message = match (words.is_empty(), status) {
        (false, _) => bounded(words),
        (true, Some(status)) => format!("the vendor answered with status `{status}` and no words"),
        (true, None) => "the vendor reported an error without words".to_owned(),
    };
    ModelError { status, ..ModelError::new(kind, message) }
}

fn bounded(words: &str) -> String {
    match words.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vendors_words_are_bounded_and_never_missing() {
        let long = refused(ModelErrorKind::Server, Some(500), &"ü".repeat(5_000));
        assert_eq!(long.message.chars().count(), MAX_MESSAGE_CHARS + 1);
        let silent = refused(ModelErrorKind::Server, Some(500), " \n");
        assert_eq!(silent.message, "the vendor answered with status `500` and no words");
        assert_eq!(silent.status, Some(500));
    }
}
