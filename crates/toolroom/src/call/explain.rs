//! What a call would come to, without making it.

use std::sync::Arc;

use super::record::OpenCall;
use super::report::Denial;
use super::request::CallRequest;
use super::{permit, resolve, validate};
use crate::catalog::Entry;
use crate::policy::Verdict;
use crate::room::Toolroom;
use crate::tool::{Arguments, ToolError};

/// How far a call would get. Nothing is written and nothing runs.
#[derive(Debug)]
pub struct Explanation {
    /// The tool it resolves to.
    pub entry: Arc<Entry>,
    /// The arguments as the tool would get them, or what is wrong with them.
    pub arguments: Result<Arguments, ToolError>,
    /// Whether it may run; only known for arguments that fit.
    pub verdict: Option<Result<Verdict, Denial>>,
}

impl Toolroom {
    /// Walks the first three stations: resolve, validate, permit.
    pub async fn explain(&self, request: CallRequest) -> Result<Explanation, ToolError> {
        let mut call = OpenCall::new(self, request);
        // Nothing happens, so nothing is written.
        call.settled = true;
        let entry = resolve::find(&self.catalog, &call)?;
        let arguments = validate::prepare(&entry, &mut call.request).and_then(|arguments| {
            let bytes = validate::json_bytes(&arguments);
            validate::check(&entry, arguments, bytes)
        });
        let verdict = match &arguments {
            Ok(arguments) => Some(permit::decide(self, &entry, arguments, &call).await),
            Err(_) => None,
        };
        Ok(Explanation { entry, arguments, verdict })
    }
}
