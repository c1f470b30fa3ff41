//! The exact request of a parked call.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::{CallRequest, CancellationToken, UserLocation};
use crate::ledger::{CallId, CallRecord, Question, SealError};
use crate::policy::Provenance;
use crate::provenance::CallSource;
use crate::tool::{Arguments, ClientTool};
use crate::toolroom::Toolroom;

/// What is needed to make the call later, besides its row.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SealedRequest {
    pub(crate) arguments: Arguments,
    context: Map<String, Value>,
    /// The caller; absent in requests sealed by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) caller: Option<Arc<str>>,
    pub(super) metadata: Map<String, Value>,
    pub(crate) provenance: Provenance,
    timeout: Option<Duration>,
    /// Where the user is.
    #[serde(rename = "seat", default, skip_serializing_if = "UserLocation::is_remote")]
    user_location: UserLocation,
    /// The tool, if the client brought it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_tool: Option<Arc<ClientTool>>,
    /// Where the call came from.
    #[serde(default)]
    source: CallSource,
    /// What an approval of the provenance question covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lift: Option<Lift>,
    /// Part of the hash of the arguments.
    pub(crate) salt: String,
}

/// A conversation, session or caller, and where its calls may send something without being asked about again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lift {
    pub(crate) origin: Arc<str>,
    pub(crate) destination: Arc<str>,
}

impl SealedRequest {
    /// The request behind a question, if it is still stored.
    pub(crate) fn open(room: &Toolroom, question: &Question) -> Result<Option<Self>, SealError> {
        let (Some(seal), Some(sealed)) = (&room.seal, &question.approval.sealed) else {
            return Ok(None);
        };
        let plain = seal.open(&purpose(&question.approval.call), sealed)?;
        serde_json::from_slice(&plain).map(Some).map_err(SealError::new)
    }

    /// The original request. Its scope comes from the row, not from the sealed data.
    pub(crate) fn into_request(self, record: &CallRecord) -> CallRequest {
        let stop = CancellationToken::new();
        let mut request = CallRequest::through(&record.entrance, &*record.tool, record.scope.clone(), stop)
            .arguments(self.arguments)
            .context(self.context)
            .metadata(self.metadata)
            .provenance(self.provenance)
            .source(self.source)
            .user_location(self.user_location);
        request.caller = self.caller;
        request.thread.clone_from(&record.thread);
        request.run.clone_from(&record.run);
        request.model_call.clone_from(&record.model_call);
        request.timeout = self.timeout;
        request.client_tool = self.client_tool;
        request
    }
}

/// Seals a request together with the arguments the tool would have got. `None` without a seal.
pub(crate) fn seal_request(
    room: &Toolroom,
    call: &CallId,
    request: &CallRequest,
    arguments: &Arguments,
    lift: Option<Lift>,
    salt: String,
) -> Result<Option<Arc<[u8]>>, SealError> {
    let Some(seal) = &room.seal else {
        return Ok(None);
    };
    let kept = SealedRequest {
        arguments: arguments.clone(),
        context: request.context.clone(),
        caller: request.caller.clone(),
        metadata: request.metadata.clone(),
        provenance: request.provenance,
        source: request.source.clone(),
        lift,
        timeout: request.timeout,
        user_location: request.user_location,
        client_tool: request.client_tool.clone(),
        salt,
    };
    let plain = serde_json::to_vec(&kept).map_err(SealError::new)?;
    Ok(Some(seal.seal(&purpose(call), &plain)?.into()))
}

/// The purpose a parked request is sealed for. It is bound to its call, so a request sealed for one call cannot be opened for
/// another. Key rotation needs it to seal stored requests anew.
#[must_use]
pub fn purpose(call: &CallId) -> String {
    format!("approval/{call}")
}
