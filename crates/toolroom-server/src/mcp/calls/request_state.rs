//! What a client of the later era carries for us between two rounds: sealed, for itself alone, and for a while.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallId, Seal};

use crate::mcp::protocol::rpc_error::RpcError;

/// What the seal is for.
const PURPOSE: &str = "mcp request state";

/// How long it can be brought back.
const LASTS: Duration = Duration::from_mins(30);

/// How long a task can be asked for.
pub(in crate::mcp) const TASK_LASTS: Duration = Duration::from_hours(24);

/// The largest one that is looked at.
const MOST_CHARS: usize = 64 * 1024;

/// What is carried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::mcp) enum RequestState {
    /// A call that waits for its caller.
    Parked(CallId),
    /// A call that goes on, and since when, in microseconds.
    Task { call: CallId, began: i64 },
    /// Whatever a tool or a prompt of the fixtures has to know.
    Own(Value),
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    caller: String,
    /// The tool or prompt it was given for.
    about: String,
    until: i64,
    carried: RequestState,
}

/// Seals what `caller` is to bring back when it asks about the same again.
pub(in crate::mcp) fn seal(
    seal: &dyn Seal,
    caller: &str,
    about: &str,
    now: Timestamp,
    carried: RequestState,
) -> Result<String, RpcError> {
    let lasts = match carried {
        RequestState::Task { .. } => TASK_LASTS,
        RequestState::Parked(_) | RequestState::Own(_) => LASTS,
    };
    let until = now.after(lasts).as_micros();
    let sealed = Sealed { caller: caller.to_owned(), about: about.to_owned(), until, carried };
    let plain = serde_json::to_vec(&sealed).map_err(|error| RpcError::failure(&error))?;
    let bytes = seal.seal(PURPOSE, &plain).map_err(|error| RpcError::failure(&error))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Opens what `caller` brought back.
pub(in crate::mcp) fn open(
    seal: &dyn Seal,
    caller: &str,
    about: &str,
    now: Timestamp,
    text: &str,
) -> Result<RequestState, RpcError> {
    let wrong = || RpcError::invalid("this is not what was given for this; make the request anew");
    if text.len() > MOST_CHARS {
        return Err(wrong());
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
    let plain = seal.open(PURPOSE, &bytes).map_err(|_| wrong())?;
    let sealed: Sealed = serde_json::from_slice(&plain).map_err(|_| wrong())?;
    if sealed.caller != caller || sealed.about != about {
        return Err(wrong());
    }
    if now.as_micros() >= sealed.until {
        return Err(RpcError::invalid("this came too late; make the request anew"));
    }
    Ok(sealed.carried)
}
