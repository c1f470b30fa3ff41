//! Switches of features, which gate several tools each.

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
        Route::put("/v1/switches/{feature}", manage, "Turns a feature and all its tools on or off.", set)
            .body::<Switch>()
            .reply::<FeatureState>(200, "The new state."),
    ]
}

/// The state of a switch.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Switch {
    /// The new state.
    state: SwitchChange,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SwitchChange {
    /// On.
    On,
    /// Off.
    Off,
    /// The default state.
    Default,
}

impl Switch {
    pub(crate) const fn state(self) -> Option<SwitchState> {
        match self.state {
            SwitchChange::On => Some(SwitchState::On),
            SwitchChange::Off => Some(SwitchState::Off),
            SwitchChange::Default => None,
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
