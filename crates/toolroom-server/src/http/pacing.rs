//! Who is asked to come again later: by key, by address, by session, or because everybody is busy.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::pace::{Pace, TooSoon, Visit};
use super::problem::Problem;
use crate::config::ServerKeys;
use crate::identity::{Caller, Who};

/// Tries of sign-in links from one address in a minute.
const LINKS: u32 = 10;

/// When to come again if everybody is busy.
const BUSY: Duration = Duration::from_secs(1);

/// Keeps count of visitors.
pub(super) struct Pacing {
    keys: Mutex<Pace>,
    addresses: Mutex<Pace>,
    sessions: Mutex<Pace>,
    links: Mutex<Pace>,
    places: Arc<Semaphore>,
    started: Instant,
}

impl Pacing {
    pub(super) fn new(limits: &ServerKeys) -> Self {
        let pace = |limit| Mutex::new(Pace::new(limit));
        Self {
            keys: pace(limits.key_rate),
            addresses: pace(limits.ip_rate),
            sessions: pace(limits.session_rate),
            links: pace(LINKS),
            places: Arc::new(Semaphore::new(usize::try_from(limits.at_once).unwrap_or(usize::MAX >> 3))),
            started: Instant::now(),
        }
    }

    /// Other limits from now on.
    pub(super) fn change(&self, limits: &ServerKeys) {
        let set = |pace: &Mutex<Pace>, limit| {
            pace.lock().unwrap_or_else(PoisonError::into_inner).change(limit);
        };
        set(&self.keys, limits.key_rate);
        set(&self.addresses, limits.ip_rate);
        set(&self.sessions, limits.session_rate);
    }

    /// A place among those who are worked for; whoever gets none is told at once.
    pub(super) fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| Problem::too_many("the server is working on as many requests as it takes", BUSY))
    }

    /// A request from this address.
    pub(super) fn address(&self, address: IpAddr) -> Result<(), Problem> {
        self.visit(&self.addresses, "ip", &network(address)).map(drop)
    }

    /// A try of a link from this address.
    pub(super) fn link(&self, address: IpAddr) -> Result<(), Problem> {
        self.visit(&self.links, "ip", &network(address)).map(drop)
    }

    /// A request of somebody we know. What is left of their key, if they have one.
    pub(super) fn caller(&self, caller: &Caller) -> Result<Option<Visit>, Problem> {
        match &caller.who {
            Who::Owner => self.visit(&self.sessions, "session", &caller.name()).map(|_| None),
            Who::Key(key) => self.visit(&self.keys, "apiKey", &key.id).map(Some),
            Who::EndUser(user) => {
                self.visit(&self.sessions, "session", &caller.name())?;
                self.visit(&self.keys, "apiKey", &user.key).map(Some)
            }
        }
    }

    fn visit(&self, pace: &Mutex<Pace>, axis: &str, who: &str) -> Result<Visit, Problem> {
        let now = self.started.elapsed();
        // No code panics while it holds the lock.
        let visit = pace.lock().unwrap_or_else(PoisonError::into_inner).visit(who, now);
        visit.map_err(|TooSoon { limit, retry_after }| {
            let seconds = retry_after.as_secs_f64().ceil().max(1.0);
            let detail =
                format!("rate limit exceeded ({axis}): {limit} requests a minute; try again in {seconds} s");
            Problem::too_many(detail, Duration::from_secs_f64(seconds))
        })
    }
}

/// An IPv6 network is one visitor: everybody has 2^64 addresses in theirs.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

/// Tells how much is left.
pub(super) fn tell(visit: Option<Visit>, response: &mut Response) {
    let Some(Visit { limit, remaining }) = visit else { return };
    for (name, value) in [("x-ratelimit-limit", limit), ("x-ratelimit-remaining", remaining)] {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from(value));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_network_is_one_visitor() {
        let check = |address: &str, network: &str| {
            assert_eq!(super::network(address.parse().unwrap()), network);
        };
        check("10.1.2.3", "10.1.2.3");
        check("::ffff:10.1.2.3", "10.1.2.3");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64");
    }
}
