//! A route: what is there, who may use it, and what goes in and out.

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::need::Need;
use super::reading::JSON;
use super::server::Server;

/// Describes a type.
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// A reply that may be given.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) about: &'static str,
    pub(super) kind: &'static str,
    pub(super) body: Option<Describe>,
}

/// One entry of the table.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) need: Need,
    /// What it does, in a sentence.
    pub(super) about: &'static str,
    pub(super) query: Option<Describe>,
    pub(super) body: Option<Describe>,
    pub(super) replies: Vec<Reply>,
    /// Whether it may be sent twice under one name.
    pub(super) repeatable: bool,
    pub(super) handler: MethodRouter<Arc<Server>>,
}

impl Route {
    pub(super) fn get<H, T>(path: &'static str, need: Need, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::GET, path, need, about, on(MethodFilter::GET, handler))
    }

    pub(super) fn post<H, T>(path: &'static str, need: Need, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::POST, path, need, about, on(MethodFilter::POST, handler))
    }

    pub(super) fn put<H, T>(path: &'static str, need: Need, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::PUT, path, need, about, on(MethodFilter::PUT, handler))
    }

    pub(super) fn delete<H, T>(path: &'static str, need: Need, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::DELETE, path, need, about, on(MethodFilter::DELETE, handler))
    }

    fn new(
        method: Method,
        path: &'static str,
        need: Need,
        about: &'static str,
        handler: MethodRouter<Arc<Server>>,
    ) -> Self {
        Self {
            method,
            path,
            need,
            about,
            query: None,
            body: None,
            replies: Vec::new(),
            repeatable: false,
            handler,
        }
    }

    /// What may stand after the question mark.
    pub(super) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// What has to be sent.
    pub(super) fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// May be sent twice: `Idempotency-Key` names a request, and its reply is given again.
    pub(super) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// A document that may come back.
    pub(super) fn reply<T: JsonSchema>(mut self, status: u16, about: &'static str) -> Self {
        let body = Some(SchemaGenerator::subschema_for::<T> as Describe);
        self.replies.push(Reply { status, about, kind: JSON, body });
        self
    }

    /// Something else that may come back: of this media type, or nothing.
    pub(super) fn reply_of(mut self, status: u16, kind: &'static str, about: &'static str) -> Self {
        self.replies.push(Reply { status, about, kind, body: None });
        self
    }
}
