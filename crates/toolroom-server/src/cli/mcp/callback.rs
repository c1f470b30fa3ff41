//! The local address that the browser is redirected to after the user has signed in.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use toolroom::BoxFuture;
use toolroom_host::listen::Listener;
use toolroom_host::net::Url;
use toolroom_tools::mcp::McpError;
use toolroom_tools::mcp::oauth::Consent;

use crate::cli::console::output::{Output, visible};

/// Time limit for signing in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Limits of a request to the local address.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_BYTES: usize = 32 * 1024;

const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n\
    Signed in to Toolroom. You can close this page.\n";

const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Shows the authorization URL and waits for the redirect.
pub(super) struct SignInCallback {
    listener: Listener,
    output: Output,
}

impl SignInCallback {
    pub(super) async fn open(port: u16, output: Output) -> std::io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Self { listener: Listener::bind(address).await?, output })
    }

    /// The URL of the redirect with this `state`. Any process on this machine can connect here; other requests are ignored.
    async fn redirect(&self, state: &str) -> std::io::Result<String> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let mut request = Vec::new();
            let mut chunk = [0; 4096];
            let head = async {
                while request.len() < MAX_BYTES && !request.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut chunk).await? {
                        0 => break,
                        count => request.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                    }
                }
                std::io::Result::Ok(())
            };
            // An incomplete request is not the redirect.
            let Ok(Ok(())) = timeout(REQUEST_TIMEOUT, head).await else { continue };
            let text = String::from_utf8_lossy(&request);
            let path = text.strip_prefix("GET /callback").and_then(|rest| rest.split_whitespace().next());
            let redirect = path.map(|query| format!("{}{query}", self.redirect_uri()));
            match redirect.filter(|redirect| state_of(redirect).as_deref() == Some(state)) {
                Some(redirect) => {
                    drop(stream.write_all(PAGE.as_bytes()).await);
                    return Ok(redirect);
                }
                None => drop(stream.write_all(NOT_FOUND.as_bytes()).await),
            }
        }
    }
}

/// The `state` parameter, which connects a redirect with its request.
fn state_of(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    url.query_pairs().find(|(name, _)| name == "state").map(|(_, value)| value.into_owned())
}

impl Consent for SignInCallback {
    fn redirect_uri(&self) -> String {
        format!("http://{}/callback", self.listener.address())
    }

    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, McpError>> {
        Box::pin(async move {
            // Shown instead of opened: a server's text never reaches a shell.
            self.output
                .talk(format_args!("open this URL in your browser and sign in:\n\n  {}\n", visible(url)));
            let failed = |why: String| McpError::Unauthorized { why };
            let state =
                state_of(url).ok_or_else(|| failed("the authorization URL has no `state`".to_owned()))?;
            match timeout(SIGN_IN_TIMEOUT, self.redirect(&state)).await {
                Ok(redirect) => {
                    redirect.map_err(|error| failed(format!("cannot receive the redirect: {error}")))
                }
                Err(_) => Err(failed("sign-in timed out".to_owned())),
            }
        })
    }
}
