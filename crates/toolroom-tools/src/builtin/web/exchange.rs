//! One request, and all of its response.

use std::sync::Arc;
use std::time::Duration;

use toolroom::call::CallContext;
use toolroom::tool::{ErrorKind, IdError, ToolError, ToolId};
use toolroom_host::net::{Bytes, Client, HeaderMap, NetError, Request, StatusCode, Url};

use super::clients::{Web, limits};
use super::error::told;
use super::sending::{in_doubt, sends};

/// How far a reader is led on.
const MAX_REDIRECTS: u32 = 3;

/// What came back.
pub(in super::super) struct Arrived {
    pub(in super::super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Where it came from in the end.
    pub(super) url: Url,
    pub(in super::super) body: Bytes,
}

impl Arrived {
    pub(super) fn content_type(&self) -> Option<&str> {
        self.headers.get("content-type")?.to_str().ok()
    }
}

/// One call of a tool, on its way into the web.
pub(super) struct Errand {
    web: Arc<Web>,
    tool: ToolId,
    context: CallContext,
    longest: Duration,
    sooner: Option<Duration>,
}

impl Errand {
    /// Makes an errand of each call of a tool, none of which takes longer than this.
    pub(super) fn of(
        web: Arc<Web>,
        tool: &str,
        longest: Duration,
    ) -> Result<impl Fn(CallContext) -> Self, IdError> {
        let tool = ToolId::parse(tool)?;
        Ok(move |context| Self { web: Arc::clone(&web), tool: tool.clone(), context, longest, sooner: None })
    }

    /// For a call that waits less. Its client is that of the others.
    pub(super) fn within(self, limit: Duration) -> Self {
        Self { sooner: Some(limit), ..self }
    }

    /// Sends a request. Redirects are followed by readers only; what was sent and not answered is in doubt.
    pub(super) async fn run(&self, request: Request) -> Result<Arrived, ToolError> {
        let sends = sends(request.method());
        let redirects = if sends { 0 } else { MAX_REDIRECTS };
        let client = self.web.client(&self.context, &self.tool, redirects, limits(self.longest));
        let known = self.context.provenance().with_client_results();
        // A yes to the provenance question is for the host that the user was shown.
        let request = if known.private && known.untrusted { request.same_host_only() } else { request };
        let exchanged = ask(&client, request);
        let exchanged = match self.sooner {
            None => exchanged.await,
            Some(limit) => tokio::time::timeout(limit, exchanged).await.unwrap_or_else(|_| {
                let text = format!("there was no complete response within {} ms", limit.as_millis());
                Err(ToolError::new(ErrorKind::Timeout, text))
            }),
        };
        exchanged.map_err(|error| if sends { in_doubt(error) } else { error })
    }
}

/// One request, judged, sent and read to its end.
pub(in super::super) async fn ask(client: &Client, request: Request) -> Result<Arrived, ToolError> {
    let target = client.judge(request.url()).map_err(|error| told(error, None))?;
    let asked = target.place().to_string();
    let received = async {
        let response = client.send(request).await?;
        let (status, headers, url) = (response.status, response.headers, response.target.url().clone());
        Ok::<_, NetError>(Arrived { status, headers, url, body: response.body.bytes().await? })
    };
    received.await.map_err(|error| told(error, Some(&asked)))
}

/// Runs what computes where it holds nobody up.
pub(super) async fn computed<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolError::new(ErrorKind::Crashed, "the response could not be read").caused_by(error)
    })
}
