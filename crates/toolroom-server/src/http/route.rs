//! One entry of the table of routes: path, access rule, handler, input and responses.

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::http::access::Access;
use crate::http::extract::json::JSON;
use crate::http::middleware::idempotency;
use crate::http::problem::{PROBLEM, ProblemDocument};
use crate::http::server::Server;

/// Generates the JSON Schema of a type.
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// The pattern of any text.
pub(super) const ANY_TEXT: &str = "";

/// The media type of event streams.
pub(super) const EVENTS: &str = "text/event-stream";

/// A possible response.
pub(super) struct RouteResponse {
    pub(super) status: u16,
    pub(super) about: &'static str,
    pub(super) media_type: &'static str,
    /// Schema of the document, or of each event of a stream.
    pub(super) body: Option<Describe>,
    /// Last event of the stream, if it is not a document.
    pub(super) terminator: Option<&'static str>,
    /// Headers that it always has, with their descriptions.
    pub(super) headers: Vec<(&'static str, &'static str)>,
}

/// An optional header of the request.
pub(super) struct RouteHeader {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) pattern: &'static str,
}

/// An entry of the table.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// What it does, in one sentence.
    pub(super) about: &'static str,
    pub(super) query: Option<Describe>,
    pub(super) body: Option<Describe>,
    /// Pattern of the path parameter.
    pub(super) path_pattern: &'static str,
    pub(super) headers: Vec<RouteHeader>,
    pub(super) responses: Vec<RouteResponse>,
    /// Second format of its errors, beside problem documents.
    pub(super) error_format: Option<Describe>,
    /// Whether it accepts `Idempotency-Key`.
    pub(super) idempotent: bool,
    pub(super) handler: MethodRouter<Arc<Server>>,
}

impl Route {
    pub(super) fn get<H, T>(path: &'static str, access: Access, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::GET, path, access, about, on(MethodFilter::GET, handler))
    }

    pub(super) fn post<H, T>(path: &'static str, access: Access, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::POST, path, access, about, on(MethodFilter::POST, handler))
    }

    pub(super) fn put<H, T>(path: &'static str, access: Access, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::PUT, path, access, about, on(MethodFilter::PUT, handler))
    }

    pub(super) fn delete<H, T>(path: &'static str, access: Access, about: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>>,
        T: 'static,
    {
        Self::new(Method::DELETE, path, access, about, on(MethodFilter::DELETE, handler))
    }

    fn new(
        method: Method,
        path: &'static str,
        access: Access,
        about: &'static str,
        handler: MethodRouter<Arc<Server>>,
    ) -> Self {
        Self {
            method,
            path,
            access,
            about,
            query: None,
            body: None,
            path_pattern: ANY_TEXT,
            headers: Vec::new(),
            responses: Vec::new(),
            error_format: None,
            idempotent: false,
            handler,
        }
    }

    /// The type of its query.
    pub(super) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// The type of its JSON body.
    pub(super) fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    pub(super) fn path_pattern(mut self, pattern: &'static str) -> Self {
        self.path_pattern = pattern;
        self
    }

    /// A request header that it reads.
    pub(super) fn header(mut self, name: &'static str, pattern: &'static str, about: &'static str) -> Self {
        self.headers.push(RouteHeader { name, about, pattern });
        self
    }

    /// Accepts `Idempotency-Key`.
    pub(super) fn idempotent(mut self) -> Self {
        self.idempotent = true;
        let about = "Makes a retry safe: the same request with the same key gets the stored reply and is not repeated.";
        self.header("Idempotency-Key", idempotency::KEY_PATTERN, about)
    }

    /// A JSON response.
    pub(super) fn reply<T: JsonSchema>(self, status: u16, about: &'static str) -> Self {
        self.add_response(status, about, JSON, Some(SchemaGenerator::subschema_for::<T>))
    }

    /// An event stream, and the type of each event.
    pub(super) fn stream<T: JsonSchema>(self, status: u16, about: &'static str) -> Self {
        self.add_response(status, about, EVENTS, Some(SchemaGenerator::subschema_for::<T>))
    }

    /// A response of another media type, or without a body.
    pub(super) fn response(self, status: u16, media_type: &'static str, about: &'static str) -> Self {
        self.add_response(status, about, media_type, None)
    }

    /// An error of its own, beside the [common ones](Self::common_problems).
    pub(super) fn problem(self, status: u16, about: &'static str) -> Self {
        self.add_response(status, about, PROBLEM, Some(SchemaGenerator::subschema_for::<ProblemDocument<'_>>))
    }

    /// The last event of the stream added before.
    pub(super) fn terminated_by(mut self, event: &'static str) -> Self {
        if let Some(response) = self.responses.last_mut() {
            response.terminator = Some(event);
        }
        self
    }

    /// A header of the response added before.
    pub(super) fn with_header(mut self, name: &'static str, about: &'static str) -> Self {
        if let Some(response) = self.responses.last_mut() {
            response.headers.push((name, about));
        }
        self
    }

    /// Its errors may also have this format.
    pub(super) fn error_format<T: JsonSchema>(mut self) -> Self {
        self.error_format = Some(SchemaGenerator::subschema_for::<T>);
        self
    }

    fn add_response(
        mut self,
        status: u16,
        about: &'static str,
        media_type: &'static str,
        body: Option<Describe>,
    ) -> Self {
        let response =
            RouteResponse { status, about, media_type, body, terminator: None, headers: Vec::new() };
        self.responses.push(response);
        self
    }

    /// Errors that follow from its access rule and its input.
    pub(super) fn common_problems(&self) -> Vec<(u16, &'static str)> {
        let takes_body = self.body.is_some() || self.idempotent;
        let takes_input = takes_body || self.query.is_some() || !self.headers.is_empty();
        let problems = [
            (true, 403, "Missing scope, or origin not allowed."),
            (true, 421, "Unknown host name."),
            (true, 429, "Too many requests; try again after `Retry-After` seconds."),
            (true, 500, "Internal error; see the server's log."),
            (self.access != Access::Public, 401, "API key missing or invalid."),
            (self.path.contains('{'), 404, "Not found in this project."),
            (takes_input, 400, "Invalid request; see `detail`."),
            (takes_body, 408, "The body did not arrive in time."),
            (takes_body, 413, "The body is too large."),
            (self.body.is_some(), 415, "The body is not JSON."),
            (self.idempotent, 409, "The request with this `Idempotency-Key` is still running."),
            (self.idempotent, 422, "This `Idempotency-Key` belongs to another request."),
        ];
        problems
            .into_iter()
            .filter(|(applies, ..)| *applies)
            .map(|(_, status, about)| (status, about))
            .collect()
    }
}
