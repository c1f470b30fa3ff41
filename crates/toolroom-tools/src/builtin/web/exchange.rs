//! One request, and all of its response.

use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::net::{Bytes, Client, HeaderMap, NetError, Request, StatusCode, Url};

use super::error::told;

/// What came back.
pub(super) struct Arrived {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Where it came from in the end.
    pub(super) url: Url,
    pub(super) body: Bytes,
}

impl Arrived {
    pub(super) fn content_type(&self) -> Option<&str> {
        self.headers.get("content-type")?.to_str().ok()
    }
}

/// Sends a request to `url`, which is the one it was made with.
pub(super) async fn exchange(client: &Client, url: &str, request: Request) -> Result<Arrived, ToolError> {
    let target = client.judge(url).map_err(|error| told(error, None))?;
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
