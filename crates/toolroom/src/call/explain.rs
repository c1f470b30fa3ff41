//! Explains what would happen to a call, without making it.

use std::sync::Arc;

use super::open_call::OpenCall;
use super::report::Denial;
use super::request::CallRequest;
use super::{history, permit, resolve, validate};
use crate::catalog::Entry;
use crate::policy::{Trace, Verdict};
use crate::tool::{Arguments, ToolError, ToolSpec};
use crate::toolroom::Toolroom;

/// How far a call would get. Nothing is written and nothing runs.
#[derive(Debug)]
pub struct Explanation {
    /// The tool it resolves to.
    pub entry: Arc<Entry>,
    /// The arguments as the tool would get them, or what is wrong with them.
    pub arguments: Result<Arguments, ToolError>,
    /// Whether it may run; only known for arguments that fit.
    pub verdict: Option<Result<Verdict, Denial>>,
    /// Every rule that was evaluated, if the call got that far.
    pub trace: Option<Trace>,
}

impl Explanation {
    /// The spec that applies to the call.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        let described =
            self.arguments.as_ref().ok().and_then(|arguments| permit::described(&self.entry, arguments).ok());
        described.unwrap_or_else(|| self.entry.spec())
    }
}

impl Toolroom {
    /// Walks the first three stations: resolve, validate, permit.
    pub async fn explain(&self, request: CallRequest) -> Result<Explanation, ToolError> {
        let mut call = OpenCall::new(self, request);
        // Nothing happens, so nothing is written.
        call.settled = true;
        call.open(self).await;
        let entry = resolve::find(&self.catalog, &call)?;
        let arguments = validate::fitting(&entry, &mut call);
        let (verdict, trace) = match &arguments {
            Ok(arguments) => {
                if let Err(denial) = history::look_back(self, &entry, arguments, &mut call).await {
                    let arguments = Ok(arguments.clone());
                    return Ok(Explanation { entry, arguments, verdict: Some(Err(denial)), trace: None });
                }
                let (verdict, trace) = permit::explain(self, &entry, arguments, &mut call);
                (Some(verdict), trace)
            }
            Err(_) => (None, None),
        };
        Ok(Explanation { entry, arguments, verdict, trace })
    }
}
