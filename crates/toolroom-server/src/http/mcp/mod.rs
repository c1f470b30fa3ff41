//! MCP over streamable HTTP, both eras at one address.
//!
//! A response is a JSON document, or the last event of a stream if notifications precede it. A modern client cancels a request
//! by closing the stream, an earlier one with a notification.

mod metadata;
mod post;
mod request_kind;
mod response;
mod session;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::http::access::Access;
use crate::http::route::{ANY_TEXT, Route};
use crate::identity::Permission;
use request_kind::{NAME_HEADERS, VERSION_HEADER};

pub(super) use metadata::challenge;

/// Path of the MCP endpoint.
pub(super) const PATH: &str = "/mcp";

pub(super) fn routes() -> Vec<Route> {
    let call = Access::Permission(Permission::Call);
    let session = |route: Route| route.header("Mcp-Session-Id", ANY_TEXT, "The session, before 2026-07-28.");
    let mut post = session(Route::post(PATH, call, "Sends an MCP message.", post::take))
        .body::<RpcMessage>()
        .reply::<Map<String, Value>>(200, "The response.")
        .stream::<Map<String, Value>>(200, "Notifications, then the response.")
        .response(202, "", "Accepted; there is no response.")
        .reply::<Map<String, Value>>(400, "Invalid message.")
        .reply::<Map<String, Value>>(404, "Unknown method, or the session has ended.")
        .reply::<Map<String, Value>>(429, "Too many requests at once.");
    for name in NAME_HEADERS {
        post = post.header(name, ANY_TEXT, "Repeats a field of the body, since 2026-07-28.");
    }
    let refusing = |route: Route| {
        session(route)
            .header(VERSION_HEADER, ANY_TEXT, "The protocol version of the session.")
            .problem(400, "Missing session id.")
            .problem(404, "Unknown session.")
            .problem(405, "There are no sessions since 2026-07-28.")
    };
    let mut routes = vec![
        post,
        refusing(Route::get(PATH, call, "Opens the notification stream of a session.", session::open_stream))
            .stream::<Map<String, Value>>(200, "Notifications of changes.")
            .problem(406, "The response is an event stream."),
        refusing(Route::delete(PATH, call, "Ends a session.", session::end)).response(204, "", "Ended."),
    ];
    routes.extend(metadata::routes());
    routes
}

/// A JSON-RPC message.
#[derive(Deserialize, Serialize, JsonSchema)]
#[schemars(example = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))]
struct RpcMessage {
    /// `2.0`.
    #[schemars(extend("enum" = ["2.0"]))]
    jsonrpc: String,
    /// Id of the request. Notifications have none.
    id: Option<Value>,
    /// The method.
    method: Option<String>,
    /// Its parameters.
    params: Option<Map<String, Value>>,
}
