//! What a request is called: by its sender, if the name can stand in a log, or else by us.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use toolroom::clock::{Clock, Uuid};

/// The header that says it, in both directions.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longest name.
const MOST_CHARS: usize = 128;

/// The name of a request with these headers.
pub(crate) fn of(headers: &HeaderMap, clock: &dyn Clock) -> String {
    let given = headers.get(HEADER).and_then(|value| value.to_str().ok());
    match given.filter(|name| is_harmless(name)) {
        Some(name) => name.to_owned(),
        None => clock.ordered_id().hyphenated().encode_lower(&mut Uuid::encode_buffer()).to_owned(),
    }
}

/// A name as it is sent back.
pub(crate) fn told(name: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(name).ok()
}

fn is_harmless(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    (1..=MOST_CHARS).contains(&name.len()) && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use toolroom::clock::SystemClock;

    use super::*;

    #[test]
    fn a_senders_name_is_kept_if_it_can_stand_anywhere() {
        let of_header = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_bytes(value).unwrap());
            of(&headers, &SystemClock)
        };
        let longest = "x".repeat(MOST_CHARS);
        for name in ["a", "550e8400-e29b-41d4-a716-446655440000", "front.1:2_3", &longest] {
            assert_eq!(of_header(name.as_bytes()), name);
        }
        let longer = format!("{longest}x");
        for name in ["", "a b", "a\tb", "a\"b", "a{b}", "tüte", "a\u{1b}[31m", &longer] {
            let Ok(value) = HeaderValue::from_bytes(name.as_bytes()) else { continue };
            let made = of_header(value.as_bytes());
            assert_ne!(made, name);
            assert!(is_harmless(&made), "{made}");
        }
        assert!(is_harmless(&of(&HeaderMap::new(), &SystemClock)));
    }
}
