//! Network proxies of sandboxes: to the hosts of the profile, and to hosts opened for single conversations.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::egress_rule::EgressRule;
use super::proxy::Proxy;

/// Maximum number of hosts opened per conversation.
const MOST_HOSTS: usize = 16;

/// Maximum number of conversations with opened hosts. The least recently used one is dropped and has to ask again.
const MAX_CONVERSATIONS: usize = 64;

/// A proxy for the hosts of the profile, and one per conversation with hosts of its own. Kept in memory only.
#[derive(Debug, Default)]
pub struct ConversationProxies(Mutex<ProxyTable>);

#[derive(Debug, Default)]
struct ProxyTable {
    /// For all conversations without a proxy of their own; opened on first use.
    shared: Option<Proxy>,
    own: HashMap<String, ConversationProxy>,
}

#[derive(Debug)]
struct ConversationProxy {
    proxy: Proxy,
    hosts: usize,
    used: Instant,
}

/// The result of opening a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedHost {
    /// It is the first host: running programs have no proxy, or another one.
    First,
    /// Programs with this proxy can reach it too.
    Another,
    /// It was already open.
    Already,
}

/// Why a host was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationProxyError {
    /// The conversation has the maximum number of hosts.
    #[error("this conversation already has {MOST_HOSTS} hosts open, which is the limit")]
    Full,
    /// The proxy cannot be started.
    #[error("the network proxy cannot be started")]
    Io(#[from] io::Error),
}

impl ConversationProxies {
    /// Opens a host to a conversation. `profile` is what all commands reach; it never changes.
    pub fn open(
        &self,
        conversation: &str,
        profile: &[EgressRule],
        host: EgressRule,
    ) -> Result<OpenedHost, ConversationProxyError> {
        let ways = &mut self.ways().own;
        if let Some(way) = ways.get_mut(conversation) {
            if way.proxy.leads_to(&host) {
                return Ok(OpenedHost::Already);
            }
            if way.hosts >= MOST_HOSTS {
                return Err(ConversationProxyError::Full);
            }
            way.proxy.lead_to(host);
            way.hosts += 1;
            return Ok(OpenedHost::Another);
        }
        if profile.contains(&host) {
            return Ok(OpenedHost::Already);
        }
        let proxy = Proxy::open(&[profile, &[host]].concat())?;
        if ways.len() >= MAX_CONVERSATIONS {
            let oldest = ways.iter().min_by_key(|(_, way)| way.used).map(|(name, _)| name.clone());
            oldest.and_then(|oldest| ways.remove(&oldest));
        }
        ways.insert(conversation.to_owned(), ConversationProxy { proxy, hosts: 1, used: Instant::now() });
        Ok(OpenedHost::First)
    }

    /// The socket of the proxy for a command; `None` without any allowed host.
    pub fn socket(&self, conversation: Option<&str>, profile: &[EgressRule]) -> io::Result<Option<PathBuf>> {
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

    /// Closes the proxy of a conversation. Connections end.
    pub fn close(&self, conversation: &str) {
        self.ways().own.remove(conversation);
    }

    /// Closes all proxies. For shutdown.
    pub fn close_all(&self) {
        *self.ways() = ProxyTable::default();
    }

    fn ways(&self) -> MutexGuard<'_, ProxyTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> EgressRule {
        text.parse().unwrap()
    }

    fn own(ways: &ConversationProxies, conversation: &str) -> Option<PathBuf> {
        ways.socket(Some(conversation), &[]).unwrap()
    }

    #[tokio::test]
    async fn each_conversation_has_its_own_proxy_and_a_bounded_number_of_hosts() {
        let ways = ConversationProxies::default();
        let profile = [host("example.com")];
        assert_eq!(own(&ways, "a"), None);
        assert_eq!(ways.open("a", &profile, host("example.com")).unwrap(), OpenedHost::Already);
        assert_eq!(own(&ways, "a"), None);
        assert_eq!(ways.open("a", &profile, host("box:22")).unwrap(), OpenedHost::First);
        let socket = own(&ways, "a");
        assert_eq!(ways.open("a", &profile, host("box:22")).unwrap(), OpenedHost::Already);
        for port in 1..16 {
            assert_eq!(ways.open("a", &profile, host(&format!("nas:{port}"))).unwrap(), OpenedHost::Another);
        }
        assert!(matches!(ways.open("a", &profile, host("one-more:22")), Err(ConversationProxyError::Full)));
        assert_eq!(own(&ways, "a"), socket);
        assert_eq!(own(&ways, "b"), None);
        let shared = ways.socket(Some("b"), &profile).unwrap();
        assert!(shared.is_some() && shared != socket);
        assert_eq!(ways.socket(None, &profile).unwrap(), shared);
        ways.close("a");
        assert_eq!(own(&ways, "a"), None);
        assert_eq!(ways.open("a", &profile, host("box:22")).unwrap(), OpenedHost::First);
    }

    #[tokio::test]
    async fn the_least_recently_used_proxy_is_dropped() {
        let ways = ConversationProxies::default();
        for number in 0..MAX_CONVERSATIONS {
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
