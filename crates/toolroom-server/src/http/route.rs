//! A route: what is there, who may use it, and what goes in and out.

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::Method;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use toolroom::BoxFuture;

use crate::http::access::Need;
use crate::http::door::Visitor;
use crate::http::extract::body::JSON;
use crate::http::middleware::idempotency;
use crate::http::problem::PROBLEM;
use crate::http::problem::ProblemDocument;
use crate::http::server::Server;

/// Describes a type.
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// Any text.
pub(super) const ANYTHING: &str = "";

/// The media type of event streams.
pub(super) const EVENTS: &str = "text/event-stream";

/// A reply that may be given.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) about: &'static str,
    pub(super) kind: &'static str,
    /// What the document is, or each event of a stream.
    pub(super) body: Option<Describe>,
    /// The last event of a stream, where it is no document.
    pub(super) last_word: Option<&'static str>,
    /// The headers that it always has, and what they say.
    pub(super) headers: Vec<(&'static str, &'static str)>,
}

/// A header that may be sent along.
pub(super) struct Header {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What it has to be.
    pub(super) pattern: &'static str,
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
    /// What the variable part of the path has to be.
    pub(super) place: &'static str,
    pub(super) headers: Vec<Header>,
    pub(super) replies: Vec<Reply>,
    /// Another form in which its own refusals are written.
    pub(super) dialect: Option<Describe>,
    /// Whether it may be sent twice under one name.
    pub(super) repeatable: bool,
    pub(super) handler: RouteHandler,
}

/// What answers at a route.
pub(super) enum RouteHandler {
    /// Found by the router, which hands it what it asks for.
    Routed(Box<MethodRouter<Arc<Server>>>),
    /// Found by its path and method alone: for what is asked so often that a router would cost more than the rest of the
    /// door.
    Direct(Direct),
}

/// Answers a request that has come in.
pub(super) type Direct = fn(Arc<Server>, Box<Visitor>) -> BoxFuture<'static, Response>;

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

    /// One whose path has no variable part, reached without the router.
    pub(super) fn post_direct(path: &'static str, need: Need, about: &'static str, answer: Direct) -> Self {
        Self::with_handler(Method::POST, path, need, about, RouteHandler::Direct(answer))
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
        Self::with_handler(method, path, need, about, RouteHandler::Routed(Box::new(handler)))
    }

    fn with_handler(
        method: Method,
        path: &'static str,
        need: Need,
        about: &'static str,
        handler: RouteHandler,
    ) -> Self {
        Self {
            method,
            path,
            need,
            about,
            query: None,
            body: None,
            place: ANYTHING,
            headers: Vec::new(),
            replies: Vec::new(),
            dialect: None,
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

    /// What the variable part of the path has to be.
    pub(super) fn place(mut self, pattern: &'static str) -> Self {
        self.place = pattern;
        self
    }

    /// A header that it looks at.
    pub(super) fn header(mut self, name: &'static str, pattern: &'static str, about: &'static str) -> Self {
        self.headers.push(Header { name, about, pattern });
        self
    }

    /// May be sent twice: `Idempotency-Key` names a request, and its reply is given again.
    pub(super) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        let about = "Names the request: sent again under its name, it gets the same reply, and nothing is done twice.";
        self.header("Idempotency-Key", idempotency::NAME_PATTERN, about)
    }

    /// A document that may come back.
    pub(super) fn reply<T: JsonSchema>(self, status: u16, about: &'static str) -> Self {
        self.replies_with(status, about, JSON, Some(SchemaGenerator::subschema_for::<T>))
    }

    /// A stream that may come back, and what each of its events is.
    pub(super) fn stream<T: JsonSchema>(self, status: u16, about: &'static str) -> Self {
        self.replies_with(status, about, EVENTS, Some(SchemaGenerator::subschema_for::<T>))
    }

    /// Something else that may come back: of this media type, or nothing.
    pub(super) fn reply_of(self, status: u16, kind: &'static str, about: &'static str) -> Self {
        self.replies_with(status, about, kind, None)
    }

    /// Why it may be refused, beside what its needs and its input bring with them.
    pub(super) fn refuse(self, status: u16, about: &'static str) -> Self {
        self.replies_with(status, about, PROBLEM, Some(SchemaGenerator::subschema_for::<ProblemDocument<'_>>))
    }

    /// The word with which the stream just named ends.
    pub(super) fn ending_with(mut self, word: &'static str) -> Self {
        if let Some(reply) = self.replies.last_mut() {
            reply.last_word = Some(word);
        }
        self
    }

    /// The header that the reply just named always has.
    pub(super) fn with(mut self, name: &'static str, about: &'static str) -> Self {
        if let Some(reply) = self.replies.last_mut() {
            reply.headers.push((name, about));
        }
        self
    }

    /// What it refuses itself may be written in another form, too.
    pub(super) fn in_words_of<T: JsonSchema>(mut self) -> Self {
        self.dialect = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    fn replies_with(
        mut self,
        status: u16,
        about: &'static str,
        kind: &'static str,
        body: Option<Describe>,
    ) -> Self {
        self.replies.push(Reply { status, about, kind, body, last_word: None, headers: Vec::new() });
        self
    }
}
