//! Request rates: per API key, session and address.

use std::borrow::Borrow;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderName;
use axum::response::Response;
use tokio::time::Instant;

use crate::config::ServerKeys;
use crate::http::middleware::token_bucket::{LimitExceeded, Quota, TokenBuckets};
use crate::http::problem::Problem;
use crate::identity::{Caller, Who};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");

/// Wrong sign-in links a minute from one address.
const WRONG_LINKS: u32 = 10;

/// Counts requests.
pub(crate) struct RateLimiter {
    keys: Mutex<TokenBuckets<String>>,
    addresses: Mutex<TokenBuckets<IpAddr>>,
    sessions: Mutex<TokenBuckets<String>>,
    wrong_links: Mutex<TokenBuckets<IpAddr>>,
    started: Instant,
}

impl RateLimiter {
    pub(crate) fn new(limits: &ServerKeys) -> Self {
        Self {
            keys: Mutex::new(TokenBuckets::new(limits.key_rate)),
            addresses: Mutex::new(TokenBuckets::new(limits.ip_rate)),
            sessions: Mutex::new(TokenBuckets::new(limits.session_rate)),
            wrong_links: Mutex::new(TokenBuckets::new(WRONG_LINKS)),
            started: Instant::now(),
        }
    }

    /// Applies new limits.
    pub(crate) fn change(&self, limits: &ServerKeys) {
        lock(&self.keys).change(limits.key_rate);
        lock(&self.addresses).change(limits.ip_rate);
        lock(&self.sessions).change(limits.session_rate);
    }

    /// Counts a request without a caller.
    pub(crate) fn address(&self, now: Instant, address: IpAddr) -> Result<(), Problem> {
        self.count(now, &self.addresses, "ip", &network(address)).map(drop)
    }

    /// Counts a sign-in link that is not valid.
    pub(crate) fn wrong_link(&self, now: Instant, address: IpAddr) -> Result<(), Problem> {
        self.address(now, address)?;
        self.count(now, &self.wrong_links, "ip", &network(address)).map(drop)
    }

    /// Counts a request of this caller. Returns what is left for its key, if it has one.
    pub(crate) fn caller(&self, now: Instant, caller: &Caller) -> Result<Option<Quota>, Problem> {
        match &caller.who {
            Who::Owner => self.count(now, &self.sessions, "session", &*caller.name()).map(|_| None),
            Who::Key(key) => self.count(now, &self.keys, "apiKey", key.id.as_str()).map(Some),
            Who::EndUser(user) => {
                self.count(now, &self.sessions, "session", &*caller.name())?;
                self.count(now, &self.keys, "apiKey", user.key.as_str()).map(Some)
            }
        }
    }

    fn count<K, Q>(
        &self,
        now: Instant,
        buckets: &Mutex<TokenBuckets<K>>,
        axis: &str,
        key: &Q,
    ) -> Result<Quota, Problem>
    where
        K: Hash + Eq + Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let now = now.saturating_duration_since(self.started);
        lock(buckets).take(key, now).map_err(|LimitExceeded { limit, retry_after }| {
            let seconds = retry_after.as_secs_f64().ceil().max(1.0);
            let detail =
                format!("rate limit exceeded ({axis}): {limit} requests a minute; try again in {seconds} s");
            Problem::too_many(detail, Duration::from_secs_f64(seconds))
        })
    }
}

fn lock<K>(buckets: &Mutex<TokenBuckets<K>>) -> MutexGuard<'_, TokenBuckets<K>> {
    // No code panics while it holds the lock.
    buckets.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An IPv6 /64 counts as one address, because a single client usually has all of it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::from_segments([a, b, c, d, 0, 0, 0, 0]).into()
        }
    }
}

/// Adds the headers that say what is left.
pub(crate) fn add_headers(quota: Option<Quota>, response: &mut Response) {
    let Some(Quota { limit, remaining }) = quota else { return };
    let headers = response.headers_mut();
    headers.insert(LIMIT, limit.into());
    headers.insert(REMAINING, remaining.into());
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let check = |address: &str, network: &str| {
            assert_eq!(super::network(address.parse().unwrap()).to_string(), network);
        };
        check("10.1.2.3", "10.1.2.3");
        check("::ffff:10.1.2.3", "10.1.2.3");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
    }
}
