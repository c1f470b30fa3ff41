//! Typed parts of requests: the caller, JSON bodies, queries, paths, pages and byte ranges.

pub(crate) mod json;
pub(crate) mod paging;
pub(crate) mod range;

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

pub(crate) use json::{Json, Path, Query};
pub(crate) use paging::Page;

use crate::http::problem::Problem;
use crate::identity::{Caller, WebOrigin};

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::forbidden("the caller of this request is unknown"))
    }
}

/// Address of the client, behind trusted proxies the one they forward.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

/// `Origin` of a request that comes from another site's page.
#[derive(Debug, Clone)]
pub(crate) struct ForeignOrigin(pub(crate) WebOrigin);
