//! One HTTP request of a tool and its complete response.

use std::sync::Arc;
use std::time::Duration;

use toolroom::call::CallContext;
use toolroom::tool::{ErrorKind, IdError, ToolError, ToolId};
use toolroom_host::net::{Bytes, Client, HeaderMap, NetError, Request, StatusCode, Url};

use super::clients::{Web, limits};
use super::error::net_error;
use super::methods::{in_doubt, sends};

/// Maximum number of redirects for requests that only read.
const MAX_REDIRECTS: u32 = 3;

/// A response with its complete body.
pub(in super::super) struct HttpResponse {
    pub(in super::super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The final URL, after redirects.
    pub(super) url: Url,
    pub(in super::super) body: Bytes,
}

impl HttpResponse {
    pub(super) fn content_type(&self) -> Option<&str> {
        self.headers.get("content-type")?.to_str().ok()
    }
}

/// The HTTP request of one tool call.
pub(super) struct ToolRequest {
    web: Arc<Web>,
    tool: ToolId,
    context: CallContext,
    max_duration: Duration,
    timeout: Option<Duration>,
}

impl ToolRequest {
    /// Returns a constructor for the calls of a tool. `max_duration` is the limit of the shared client.
    pub(super) fn factory(
        web: Arc<Web>,
        tool: &str,
        max_duration: Duration,
    ) -> Result<impl Fn(CallContext) -> Self, IdError> {
        let tool = ToolId::parse(tool)?;
        Ok(move |context| Self {
            web: Arc::clone(&web),
            tool: tool.clone(),
            context,
            max_duration,
            timeout: None,
        })
    }

    /// A shorter timeout for this call. The client stays shared.
    pub(super) fn with_timeout(self, limit: Duration) -> Self {
        Self { timeout: Some(limit), ..self }
    }

    /// Sends the request. Only requests that read follow redirects; a request that writes and gets no response is in doubt.
    pub(super) async fn run(&self, request: Request) -> Result<HttpResponse, ToolError> {
        let sends = sends(request.method());
        let redirects = if sends { 0 } else { MAX_REDIRECTS };
        let client = self.web.client(&self.context, &self.tool, redirects, limits(self.max_duration));
        let known = self.context.provenance().with_client_results();
        // Approval of the provenance question covers only the host the user saw.
        let request = if known.private && known.untrusted { request.same_host_only() } else { request };
        let exchanged = exchange(&client, request);
        let exchanged = match self.timeout {
            None => exchanged.await,
            Some(limit) => tokio::time::timeout(limit, exchanged).await.unwrap_or_else(|_| {
                let text = format!("no complete response within {} ms", limit.as_millis());
                Err(ToolError::new(ErrorKind::Timeout, text))
            }),
        };
        exchanged.map_err(|error| if sends { in_doubt(error) } else { error })
    }
}

/// Checks the destination, sends the request and reads the whole response.
pub(in super::super) async fn exchange(client: &Client, request: Request) -> Result<HttpResponse, ToolError> {
    let target = client.judge(request.url()).map_err(|error| net_error(error, None))?;
    let asked = target.place().to_string();
    let received = async {
        let response = client.send(request).await?;
        let (status, headers, url) = (response.status, response.headers, response.target.url().clone());
        Ok::<_, NetError>(HttpResponse { status, headers, url, body: response.body.bytes().await? })
    };
    received.await.map_err(|error| net_error(error, Some(&asked)))
}

/// Runs CPU-bound work on the blocking pool.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolError::new(ErrorKind::Crashed, "the response could not be read").caused_by(error)
    })
}
