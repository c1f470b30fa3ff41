//! Permits for the requests that are being handled, and for those whose bodies are still arriving.
//!
//! Both are limited, and no API key takes more than half of either, so a runaway client leaves room for the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::extract::json::read_body_with;
use crate::http::problem::Problem;
use crate::identity::{Caller, Who};

/// Unused shares are dropped once there are this many.
const MAX_IDLE_SHARES: usize = 1_000;

/// `Retry-After` of a request that gets no permit.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The concurrency limits of the server.
#[derive(Debug)]
pub(crate) struct Permits {
    requests: PermitPool,
    bodies: PermitPool,
}

impl Permits {
    pub(crate) fn new(limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX >> 3);
        Self { requests: PermitPool::new(limit), bodies: PermitPool::new(limit) }
    }

    /// A permit to handle a request. Fails at once if none is free.
    pub(crate) fn acquire(&self, caller: Option<&Caller>) -> Result<Permit, Problem> {
        self.requests.acquire(caller).map_err(|refused| {
            let detail = match refused {
                NoPermit::LimitReached => "too many requests are running on this server",
                NoPermit::ShareUsed => "too many requests of this key are running on this server",
            };
            Problem::too_many(detail, RETRY_AFTER)
        })
    }

    /// Reads the body into memory, so that a slow client holds no permit of [`Permits::acquire`].
    pub(crate) async fn read_body(&self, caller: &Caller, request: &mut Request) -> Result<(), Problem> {
        if request.method().is_safe() || request.body().is_end_stream() {
            return Ok(());
        }
        let body = std::mem::take(request.body_mut());
        let arriving = || {
            let detail = "the server is waiting for too many request bodies; send each request in one piece";
            self.bodies.acquire(Some(caller)).map_err(|_| Problem::too_many(detail, RETRY_AFTER))
        };
        *request.body_mut() = Body::from(read_body_with(body, arriving).await?);
        Ok(())
    }
}

/// A limited number of permits, shared among API keys.
#[derive(Debug)]
struct PermitPool {
    all: Arc<Semaphore>,
    /// The most permits of one key.
    share: usize,
    shares: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A permit, returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    _of_all: OwnedSemaphorePermit,
    _of_share: Option<OwnedSemaphorePermit>,
}

/// Why there is no permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoPermit {
    LimitReached,
    /// The key has its share.
    ShareUsed,
}

impl PermitPool {
    fn new(all: usize) -> Self {
        let share = all.div_ceil(2);
        Self { all: Arc::new(Semaphore::new(all)), share, shares: Mutex::default() }
    }

    /// Takes a permit out of the share of the caller's key. End users count for the key that made their token.
    fn acquire(&self, caller: Option<&Caller>) -> Result<Permit, NoPermit> {
        let key = caller.and_then(|caller| match &caller.who {
            Who::Owner => None,
            Who::Key(key) => Some(key.id.as_str()),
            Who::EndUser(user) => Some(user.key.as_str()),
        });
        let of_share = key.map(|key| self.share_of(key).try_acquire_owned()).transpose();
        let _of_share = of_share.map_err(|_| NoPermit::ShareUsed)?;
        let _of_all = Arc::clone(&self.all).try_acquire_owned().map_err(|_| NoPermit::LimitReached)?;
        Ok(Permit { _of_all, _of_share })
    }

    fn share_of(&self, key: &str) -> Arc<Semaphore> {
        // No code panics while it holds the lock.
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(key) {
            return Arc::clone(share);
        }
        if shares.len() >= MAX_IDLE_SHARES {
            shares.retain(|_, share| share.available_permits() < self.share);
        }
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(key.to_owned(), Arc::clone(&share));
        share
    }
}
