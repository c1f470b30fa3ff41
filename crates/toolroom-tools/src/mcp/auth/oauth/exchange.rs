//! One question to those who give out tokens, and its whole answer.

use std::time::Duration;

use tokio::time::timeout;
use toolroom_host::net::{Bytes, Http, Request, StatusCode};

use super::refused;
use crate::mcp::protocol::error::McpError;

/// Nobody is waited for longer: what a server is asked for may take as long as its calls do, a description or a token may
/// not.
const LIMIT: Duration = Duration::from_secs(30);

/// Asks, and reads all of the answer, which may not be larger than `most` bytes.
pub(super) async fn answered(
    http: &dyn Http,
    request: Request,
    most: u64,
) -> Result<(StatusCode, Bytes), McpError> {
    let answer = async {
        let response = http.send(request).await?;
        let status = response.status;
        Ok((status, response.body.bytes_up_to(most).await?))
    };
    let late = |_| refused(format!("who gives out its tokens has not answered within {} s", LIMIT.as_secs()));
    timeout(LIMIT, answer).await.map_err(late)?
}

#[cfg(test)]
mod tests {
    use toolroom_host::net::{BoxFuture, NetError, Response};

    use super::*;

    struct Silent;

    impl Http for Silent {
        fn send(&self, _request: Request) -> BoxFuture<'_, Result<Response, NetError>> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_never_answers_is_not_waited_for() {
        let began = tokio::time::Instant::now();
        let late = answered(&Silent, Request::get("https://issuer.example/x"), 1).await.unwrap_err();
        assert!(late.to_string().contains("within 30 s"), "{late}");
        assert_eq!(began.elapsed(), LIMIT);
    }
}
