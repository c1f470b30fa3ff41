//! Explains the verdict about a call without making it.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolroom::call::CallRequest;
use toolroom::tool::ErrorKind;

use crate::documents::Judged;
use crate::http::access::Access;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::resources::calls::{ENTRANCE, check_context};
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let call = Access::Permission(Permission::Call);
    vec![
        Route::post(
            "/v1/policy/explain",
            call,
            "Explains the policy verdict about a call without making it.",
            explain,
        )
        .body::<Hypothesis>()
        .reply::<Judged>(200, "The verdict. Nothing was called.")
        .problem(404, "Tool not found."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"tool": "calculator", "arguments": {"expression": "6*7"}}))]
struct Hypothesis {
    /// The tool: id, alias or unique name.
    tool: String,
    /// Its arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Runtime context of the client about its user and situation, up to 64 KiB.
    #[serde(default)]
    context: Map<String, Value>,
}

async fn explain(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Json(asked): Json<Hypothesis>,
) -> Result<Json<Judged>, Problem> {
    check_context(&asked.context)?;
    let request = CallRequest::new(asked.tool)
        .arguments(asked.arguments)
        .context(asked.context)
        .source(caller.source())
        .scope(caller.scope)
        .entrance(ENTRANCE);
    let explanation = server.app.room.explain(request).await.map_err(|error| {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        let detail = format!("{}{hint}", error.for_model());
        match error.kind() {
            ErrorKind::NotFound => Problem::not_found(detail),
            _ => Problem::bad_request(detail),
        }
    })?;
    Ok(Json(Judged::of(&explanation)))
}
