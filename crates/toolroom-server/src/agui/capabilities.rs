//! The capabilities of an agent.

use serde_json::{Map, Value, json};
use toolroom::catalog::Audience;
use toolroom::scope::Scope;

use super::event::PROTOCOL;
use crate::agents::{self, AgentChoice, OpenAgentError, OpenedAgent};
use crate::app::App;

/// The capabilities of an agent, with its tools.
///
/// # Errors
/// When there is no such agent, or it cannot be used.
pub(crate) async fn capabilities(
    app: &App,
    scope: &Scope,
    choice: &AgentChoice,
) -> Result<Value, OpenAgentError> {
    let id = choice.agent.as_deref().unwrap_or(toolroom::agent::DEFAULT_AGENT);
    let record = agents::record(app, scope, id).await?.record;
    let OpenedAgent { agent, .. } = agents::open(app, scope, choice).await?;
    let standing = app.room.switchboard().standing(&scope.project).await?;
    let offer = app.room.catalog().offer(
        &scope.project,
        &standing.switches,
        &Map::new(),
        Audience::Full,
        agent.choice(),
    );
    let tools = offer.tools.iter().map(|entry| {
        let spec = entry.spec();
        json!({"name": spec.id, "description": spec.description, "parameters": spec.parameters})
    });
    Ok(json!({
        "identity": {"name": record.name, "type": "toolroom", "version": env!("CARGO_PKG_VERSION")},
        "transport": {
            "streaming": true, "websocket": false, "httpBinary": false, "pushNotifications": false, "resumable": false,
        },
        "tools": {
            "supported": true, "items": tools.collect::<Vec<_>>(),
            "parallelCalls": record.limits.parallel > 1, "clientProvided": true,
        },
        "state": {"snapshots": true, "deltas": true, "memory": true, "persistentState": false},
        "reasoning": {"supported": true, "streaming": true, "encrypted": false},
        "multimodal": {"input": {"image": true, "audio": false, "video": false}},
        "execution": {"maxIterations": record.limits.iterations},
        "humanInTheLoop": {
            "supported": true, "approvals": true, "interrupts": true, "approveWithEdits": true,
        },
        "custom": {"protocolVersion": PROTOCOL},
    }))
}
