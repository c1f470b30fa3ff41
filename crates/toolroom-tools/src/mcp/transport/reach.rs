//! How far the connections to a server go.

use std::time::Duration;

use toolroom::foreign::AddressEntry;
use toolroom_host::net::{EgressPolicy, EgressRule, HttpLimits, Url};

use crate::mcp::protocol::message::MAX_MESSAGE_BYTES;

/// A stream of one answer may not be longer, and no answer may be waited for longer; calls have limits of their own.
const MAX_STREAM_BYTES: u64 = 8 * MAX_MESSAGE_BYTES as u64;
const LONGEST_SILENCE: Duration = Duration::from_secs(3_600);

/// Redirects that are followed, each judged anew.
const MAX_REDIRECTS: u32 = 3;

/// The public internet, what the configuration opens, and the one place its entry names if a person has named something
/// internal. A public name opens nothing: those who own it could let it lead anywhere. Nothing goes from one origin to
/// another: what is said to a server is for that server.
#[must_use]
pub fn reach(address: &AddressEntry, opened: &[EgressRule]) -> EgressPolicy {
    let limits = HttpLimits {
        wire_bytes: MAX_STREAM_BYTES,
        decoded_bytes: MAX_STREAM_BYTES,
        idle: LONGEST_SILENCE,
        total: None,
        ..HttpLimits::default()
    };
    let openings = opened.iter().cloned().chain(inside(address));
    EgressPolicy::public().open(openings).max_redirects(MAX_REDIRECTS).within_origin().limits(limits)
}

/// The place of an entry, if a person has said that it is inside: by its address, or in so many words.
fn inside(address: &AddressEntry) -> Option<EgressRule> {
    let url = Url::parse(&address.url).ok()?;
    if !address.is_internal {
        return EgressRule::for_internal_host(&url);
    }
    let host = url.host_str()?.trim_matches(['[', ']']);
    EgressRule::for_port(host, url.port_or_known_default()?).ok()
}

/// Whether others can listen to what is said to it on the way: nothing secret goes there.
#[must_use]
pub fn is_overheard(address: &AddressEntry) -> bool {
    Url::parse(&address.url).is_ok_and(|url| EgressRule::is_overheard(&url)) && inside(address).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_listen_to_what_is_neither_encrypted_nor_inside() {
        let at = |url: &str, is_internal| {
            is_overheard(&AddressEntry { url: url.to_owned(), headers: Default::default(), is_internal })
        };
        for url in ["http://a.example/mcp", "HTTP://a.example/mcp", "http://8.8.8.8"] {
            assert!(at(url, false), "{url}");
            assert!(!at(url, true), "a person has said that it is inside: {url}");
        }
        for url in ["https://a.example", "http://127.0.0.1:1", "http://box/mcp"] {
            assert!(!at(url, false), "{url}");
        }
    }
}
