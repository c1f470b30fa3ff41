//! Who is asked to come again later: by key, by address, by session, or because everybody is busy.

use std::borrow::Borrow;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderName;
use axum::response::Response;
use tokio::time::Instant;

use crate::config::ServerKeys;
use crate::http::middleware::permits::NoPlace;
use crate::http::middleware::permits::Places;
use crate::http::middleware::permits::TakenPlace;
use crate::http::middleware::token_bucket::Pace;
use crate::http::middleware::token_bucket::TooSoon;
use crate::http::middleware::token_bucket::Visit;
use crate::http::problem::Problem;
use crate::identity::{Caller, Who};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");

/// Wrong sign-in links from one address in a minute.
const LINKS: u32 = 10;

/// When to come again if everybody is busy.
const BUSY: Duration = Duration::from_secs(1);

/// Keeps count of visitors.
pub(crate) struct Pacing {
    keys: Mutex<Pace<String>>,
    addresses: Mutex<Pace<IpAddr>>,
    sessions: Mutex<Pace<String>>,
    links: Mutex<Pace<IpAddr>>,
    /// Requests that are worked on.
    places: Places,
    /// Requests whose bodies are awaited.
    arriving: Places,
    started: Instant,
}

impl Pacing {
    pub(crate) fn new(limits: &ServerKeys) -> Self {
        let at_once = usize::try_from(limits.at_once).unwrap_or(usize::MAX >> 3);
        Self {
            keys: Mutex::new(Pace::new(limits.key_rate)),
            addresses: Mutex::new(Pace::new(limits.ip_rate)),
            sessions: Mutex::new(Pace::new(limits.session_rate)),
            links: Mutex::new(Pace::new(LINKS)),
            places: Places::new(at_once),
            arriving: Places::new(at_once),
            started: Instant::now(),
        }
    }

    /// Other limits from now on.
    pub(crate) fn change(&self, limits: &ServerKeys) {
        held(&self.keys).change(limits.key_rate);
        held(&self.addresses).change(limits.ip_rate);
        held(&self.sessions).change(limits.session_rate);
    }

    /// A place among the requests that are worked on. A request that gets none is refused at once.
    pub(crate) fn place(&self, caller: Option<&Caller>) -> Result<TakenPlace, Problem> {
        self.places.take(caller).map_err(|no_place| match no_place {
            NoPlace::Full => Problem::too_many("the server is working on as many requests as it takes", BUSY),
            NoPlace::ShareUsed => {
                Problem::too_many("the server is working on as many requests as it takes of one key", BUSY)
            }
        })
    }

    /// A place among the requests whose bodies are awaited.
    pub(crate) fn arriving(&self, caller: &Caller) -> Result<TakenPlace, Problem> {
        let detail = "the server is waiting for as many bodies as it does at once; send requests whole";
        self.arriving.take(Some(caller)).map_err(|_| Problem::too_many(detail, BUSY))
    }

    /// A request from this address of a sender that is not known.
    pub(crate) fn address(&self, now: Instant, address: IpAddr) -> Result<(), Problem> {
        self.visit(now, &self.addresses, "ip", &network(address)).map(drop)
    }

    /// A link that does not hold, from this address.
    pub(crate) fn wrong_link(&self, now: Instant, address: IpAddr) -> Result<(), Problem> {
        self.address(now, address)?;
        self.visit(now, &self.links, "ip", &network(address)).map(drop)
    }

    /// A request of somebody we know. What is left of their key, if they have one.
    pub(crate) fn caller(&self, now: Instant, caller: &Caller) -> Result<Option<Visit>, Problem> {
        match &caller.who {
            Who::Owner => self.visit(now, &self.sessions, "session", &*caller.name()).map(|_| None),
            Who::Key(key) => self.visit(now, &self.keys, "apiKey", key.id.as_str()).map(Some),
            Who::EndUser(user) => {
                self.visit(now, &self.sessions, "session", &*caller.name())?;
                self.visit(now, &self.keys, "apiKey", user.key.as_str()).map(Some)
            }
        }
    }

    fn visit<K, Q>(&self, now: Instant, pace: &Mutex<Pace<K>>, axis: &str, who: &Q) -> Result<Visit, Problem>
    where
        K: Hash + Eq + Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let now = now.saturating_duration_since(self.started);
        held(pace).visit(who, now).map_err(|TooSoon { limit, retry_after }| {
            let seconds = retry_after.as_secs_f64().ceil().max(1.0);
            let detail =
                format!("rate limit exceeded ({axis}): {limit} requests a minute; try again in {seconds} s");
            Problem::too_many(detail, Duration::from_secs_f64(seconds))
        })
    }
}

fn held<K>(pace: &Mutex<Pace<K>>) -> MutexGuard<'_, Pace<K>> {
    // No code panics while it holds the lock.
    pace.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An IPv6 network is one visitor: everybody has 2^64 addresses in theirs.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::from_segments([a, b, c, d, 0, 0, 0, 0]).into()
        }
    }
}

/// Tells how much is left.
pub(crate) fn tell(visit: Option<Visit>, response: &mut Response) {
    let Some(Visit { limit, remaining }) = visit else { return };
    let headers = response.headers_mut();
    headers.insert(LIMIT, limit.into());
    headers.insert(REMAINING, remaining.into());
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_network_is_one_visitor() {
        let check = |address: &str, network: &str| {
            assert_eq!(super::network(address.parse().unwrap()).to_string(), network);
        };
        check("10.1.2.3", "10.1.2.3");
        check("::ffff:10.1.2.3", "10.1.2.3");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
    }
}
