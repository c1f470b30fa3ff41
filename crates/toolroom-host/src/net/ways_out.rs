//! The ways out of sandboxes: to the hosts of the profile, and to what a person has opened to single conversations.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::opening::Opening;
use super::proxy::Proxy;

/// Hosts that one conversation can have opened.
const MOST_HOSTS: usize = 16;

/// Conversations that can have opened some. The one that used its way least recently makes room, and has to ask again.
const MOST: usize = 64;

/// A proxy to the hosts of the profile, and one for each conversation that was given hosts of its own. They live as long
/// as this, and nobody writes them down.
#[derive(Debug, Default)]
pub struct WaysOut(Mutex<Ways>);

#[derive(Debug, Default)]
struct Ways {
    /// For all that have none of their own, opened when it is needed.
    shared: Option<Proxy>,
    own: HashMap<String, Way>,
}

#[derive(Debug)]
struct Way {
    proxy: Proxy,
    hosts: usize,
    used: Instant,
}

/// What came of a wish for a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// It is the first one: programs that run already have no way out, or another one.
    First,
    /// Programs that have the way out reach this one, too.
    Another,
    /// It was open.
    Already,
}

/// Why a host stays closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WayError {
    /// There are enough.
    #[error("this conversation has {MOST_HOSTS} hosts open, which is as many as there can be")]
    Full,
    /// The proxy cannot be opened.
    #[error("the way to the network cannot be opened")]
    Io(#[from] io::Error),
}

impl WaysOut {
    /// Opens a host to a conversation. `profile` is what all commands reach, the same for as long as this lives.
    pub fn open(&self, conversation: &str, profile: &[Opening], host: Opening) -> Result<Opened, WayError> {
        let ways = &mut self.ways().own;
        if let Some(way) = ways.get_mut(conversation) {
            if way.proxy.leads_to(&host) {
                return Ok(Opened::Already);
            }
            if way.hosts >= MOST_HOSTS {
                return Err(WayError::Full);
            }
            way.proxy.lead_to(host);
            way.hosts += 1;
            return Ok(Opened::Another);
        }
        if profile.contains(&host) {
            return Ok(Opened::Already);
        }
        let proxy = Proxy::open(&[profile, &[host]].concat())?;
        if ways.len() >= MOST {
            let oldest = ways.iter().min_by_key(|(_, way)| way.used).map(|(name, _)| name.clone());
            oldest.and_then(|oldest| ways.remove(&oldest));
        }
        ways.insert(conversation.to_owned(), Way { proxy, hosts: 1, used: Instant::now() });
        Ok(Opened::First)
    }

    /// The socket of the proxy for a command; `None` if it reaches nobody.
    pub fn socket(&self, conversation: Option<&str>, profile: &[Opening]) -> io::Result<Option<PathBuf>> {
        let mut ways = self.ways();
        if let Some(way) = conversation.and_then(|name| ways.own.get_mut(name)) {
            way.used = Instant::now();
            return Ok(Some(way.proxy.socket().to_owned()));
        }
        if profile.is_empty() {
            return Ok(None);
        }
        let shared = match ways.shared.take() {
            Some(shared) => shared,
            None => Proxy::open(profile)?,
        };
        Ok(Some(ways.shared.insert(shared).socket().to_owned()))
    }

    /// Forgets what was opened to a conversation. Connections end.
    pub fn close(&self, conversation: &str) {
        self.ways().own.remove(conversation);
    }

    /// Ends all of them, for a process that is about to end.
    pub fn close_all(&self) {
        *self.ways() = Ways::default();
    }

    fn ways(&self) -> MutexGuard<'_, Ways> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Opening {
        text.parse().unwrap()
    }

    fn own(ways: &WaysOut, conversation: &str) -> Option<PathBuf> {
        ways.socket(Some(conversation), &[]).unwrap()
    }

    #[tokio::test]
    async fn each_conversation_has_its_own_and_a_bounded_number() {
        let ways = WaysOut::default();
        let profile = [host("example.com")];
        assert_eq!(own(&ways, "a"), None);
        assert_eq!(ways.open("a", &profile, host("example.com")).unwrap(), Opened::Already);
        assert_eq!(own(&ways, "a"), None);
        assert_eq!(ways.open("a", &profile, host("box:22")).unwrap(), Opened::First);
        let socket = own(&ways, "a");
        assert_eq!(ways.open("a", &profile, host("box:22")).unwrap(), Opened::Already);
        for port in 1..16 {
            assert_eq!(ways.open("a", &profile, host(&format!("nas:{port}"))).unwrap(), Opened::Another);
        }
        assert!(matches!(ways.open("a", &profile, host("one-more:22")), Err(WayError::Full)));
        assert_eq!(own(&ways, "a"), socket);
        assert_eq!(own(&ways, "b"), None);
        let shared = ways.socket(Some("b"), &profile).unwrap();
        assert!(shared.is_some() && shared != socket);
        assert_eq!(ways.socket(None, &profile).unwrap(), shared);
        ways.close("a");
        assert_eq!(own(&ways, "a"), None);
        assert_eq!(ways.open("a", &profile, host("box:22")).unwrap(), Opened::First);
    }

    #[tokio::test]
    async fn the_one_used_least_recently_makes_room() {
        let ways = WaysOut::default();
        for number in 0..MOST {
            ways.open(&number.to_string(), &[], host("box:22")).unwrap();
        }
        assert!(own(&ways, "0").is_some());
        ways.open("new", &[], host("box:22")).unwrap();
        assert!(own(&ways, "0").is_some() && own(&ways, "new").is_some());
        assert_eq!(own(&ways, "1"), None);
        ways.close_all();
        assert_eq!((own(&ways, "0"), own(&ways, "new")), (None, None));
    }
}
