//! Features that gate several tools at once.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::ledger::SwitchState;

use crate::documents::{FeatureDocument, FeatureState, features};
use crate::http::access::Access;
use crate::http::extract::{Json, Path};
use crate::http::problem::Problem;
use crate::http::route::Route;
use crate::http::server::Server;
use crate::identity::{Caller, Permission};

pub(crate) fn routes() -> Vec<Route> {
    let (read, manage) = (Access::Permission(Permission::Read), Access::Permission(Permission::Manage));
    vec![
        Route::get("/v1/switches", read, "Lists the features of the project.", list)
            .reply::<FeatureList>(200, "The features, by name."),
        Route::put("/v1/switches/{feature}", manage, "Switches a feature, and all its tools with it.", set)
            .body::<Switch>()
            .reply::<FeatureState>(200, "What it is now."),
    ]
}

/// What something is switched to.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Switch {
    /// The state.
    state: Wanted,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    /// On.
    On,
    /// Off.
    Off,
    /// As it is where nobody says.
    Default,
}

impl Switch {
    pub(crate) const fn state(self) -> Option<SwitchState> {
        match self.state {
            Wanted::On => Some(SwitchState::On),
            Wanted::Off => Some(SwitchState::Off),
            Wanted::Default => None,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct FeatureList {
    /// The features.
    switches: Vec<FeatureDocument>,
}

async fn list(State(server): State<Arc<Server>>, caller: Caller) -> Result<Json<FeatureList>, Problem> {
    let switches = features(&server.app.room, &caller.scope.project).await?;
    Ok(Json(FeatureList { switches }))
}

async fn set(
    State(server): State<Arc<Server>>,
    caller: Caller,
    Path(name): Path<String>,
    Json(switch): Json<Switch>,
) -> Result<Json<FeatureState>, Problem> {
    let known = server.app.room.catalog().feature(&name);
    let feature = known
        .ok_or_else(|| Problem::not_found(format!("unknown feature `{name}`; see `GET /v1/switches`")))?
        .name;
    let state = switch.state();
    server.app.store.set_feature_switch(&caller.scope.project, feature, state).await?;
    Ok(Json(FeatureState { feature, state }))
}
