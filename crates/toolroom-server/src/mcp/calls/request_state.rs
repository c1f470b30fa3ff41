//! Request state that a modern client returns with its next request: sealed, bound to the caller, and valid for a time.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallId, Seal};

use crate::mcp::protocol::rpc_error::RpcError;

/// Purpose of the seal.
const PURPOSE: &str = "mcp request state";

/// How long request state is valid.
const STATE_TTL: Duration = Duration::from_mins(30);

/// How long a task id is valid.
pub(in crate::mcp) const TASK_TTL: Duration = Duration::from_hours(24);

/// The largest request state.
const MAX_CHARS: usize = 64 * 1024;

/// The content of request state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::mcp) enum RequestState {
    /// A parked call.
    Parked(CallId),
    /// A task and its start, in microseconds.
    Task { call: CallId, began: i64 },
    /// State of a fixture.
    Own(Value),
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    caller: String,
    /// The tool or prompt it was issued for.
    about: String,
    until: i64,
    carried: RequestState,
}

/// Seals the state for `caller` and the tool or prompt `about`.
pub(in crate::mcp) fn seal(
    seal: &dyn Seal,
    caller: &str,
    about: &str,
    now: Timestamp,
    carried: RequestState,
) -> Result<String, RpcError> {
    let ttl = match carried {
        RequestState::Task { .. } => TASK_TTL,
        RequestState::Parked(_) | RequestState::Own(_) => STATE_TTL,
    };
    let until = now.after(ttl).as_micros();
    let sealed = Sealed { caller: caller.to_owned(), about: about.to_owned(), until, carried };
    let plain = serde_json::to_vec(&sealed).map_err(|error| RpcError::failure(&error))?;
    let bytes = seal.seal(PURPOSE, &plain).map_err(|error| RpcError::failure(&error))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Opens state that `caller` returned.
pub(in crate::mcp) fn open(
    seal: &dyn Seal,
    caller: &str,
    about: &str,
    now: Timestamp,
    text: &str,
) -> Result<RequestState, RpcError> {
    let wrong =
        || RpcError::invalid("invalid `requestState`, or one for another request; make the request anew");
    if text.len() > MAX_CHARS {
        return Err(wrong());
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
    let plain = seal.open(PURPOSE, &bytes).map_err(|_| wrong())?;
    let sealed: Sealed = serde_json::from_slice(&plain).map_err(|_| wrong())?;
    if sealed.caller != caller || sealed.about != about {
        return Err(wrong());
    }
    if now.as_micros() >= sealed.until {
        return Err(RpcError::invalid("`requestState` has expired; make the request anew"));
    }
    Ok(sealed.carried)
}
