//! MCP over streamable HTTP, both eras at one address.
//!
//! An answer is a document, unless something is told before it: then it is the last event of a stream. In the later era
//! whoever closes the stream cancels; in the earlier one a notification does.

mod answering;
mod listen;
mod metadata;
mod post;
mod said;
mod session;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::http::access::Access;
use crate::http::route::{ANY_TEXT, Route};
use crate::identity::Permission;
use said::{NAME_HEADERS, VERSION_HEADER};

pub(super) use metadata::challenge;

/// Where clients ask.
pub(super) const PATH: &str = "/mcp";

pub(super) fn routes() -> Vec<Route> {
    let call = Access::Permission(Permission::Call);
    let session = |route: Route| route.header("Mcp-Session-Id", ANY_TEXT, "Who it was before 2026-07-28.");
    let mut post = session(Route::post(PATH, call, "Takes a message of MCP.", post::take))
        .body::<RpcMessage>()
        .reply::<Map<String, Value>>(200, "The answer.")
        .stream::<Map<String, Value>>(200, "What is told meanwhile, and then the answer.")
        .response(202, "", "It was taken, and wants no answer.")
        .reply::<Map<String, Value>>(400, "The message is none.")
        .reply::<Map<String, Value>>(404, "There is no such method, or the session is over.")
        .reply::<Map<String, Value>>(429, "Too much is asked at once.");
    for name in NAME_HEADERS {
        post = post.header(name, ANY_TEXT, "What the body says, too, since 2026-07-28.");
    }
    let refusing = |route: Route| {
        session(route)
            .header(VERSION_HEADER, ANY_TEXT, "The version that is spoken in the session.")
            .problem(400, "It is not said which session.")
            .problem(404, "There is no such session.")
            .problem(405, "Since 2026-07-28 there are no sessions.")
    };
    let mut routes = vec![
        post,
        refusing(Route::get(
            PATH,
            call,
            "Tells what changes, to clients of before 2026-07-28.",
            listen::open,
        ))
        .stream::<Map<String, Value>>(200, "What changes.")
        .problem(406, "What changes is told as a stream of events."),
        refusing(Route::delete(PATH, call, "Ends a session.", session::end)).response(204, "", "It is over."),
    ];
    routes.extend(metadata::routes());
    routes
}

/// A message of JSON-RPC.
#[derive(Deserialize, Serialize, JsonSchema)]
#[schemars(example = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))]
struct RpcMessage {
    /// `2.0`.
    #[schemars(extend("enum" = ["2.0"]))]
    jsonrpc: String,
    /// What the answer is to be known by; a message without one wants none.
    id: Option<Value>,
    /// What is wanted.
    method: Option<String>,
    /// What it is wanted with.
    params: Option<Map<String, Value>>,
}
