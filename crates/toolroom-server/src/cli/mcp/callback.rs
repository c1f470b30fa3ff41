//! Where a person's browser comes back to after they have said yes: an address of this machine, open for that alone.

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

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// How long a browser may take to say what it wants, and how much it may say.
const SAID_WITHIN: Duration = Duration::from_secs(5);
const MAX_BYTES: usize = 32 * 1024;

const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n\
    Toolroom has what it needs. You can close this page.\n";

const NOTHING: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// The person at the terminal, and the way back from their browser.
pub(super) struct Callback {
    listener: Listener,
    output: Output,
}

impl Callback {
    pub(super) async fn open(port: u16, output: Output) -> std::io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Self { listener: Listener::bind(address).await?, output })
    }

    /// The address that the one comes back with who knows this word. Anybody on this machine can knock here; nobody else
    /// ends the wait.
    async fn answer(&self, state: &str) -> std::io::Result<String> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let mut said = Vec::new();
            let mut piece = [0; 4096];
            let head = async {
                while said.len() < MAX_BYTES && !said.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut piece).await? {
                        0 => break,
                        count => said.extend_from_slice(piece.get(..count).unwrap_or_default()),
                    }
                }
                std::io::Result::Ok(())
            };
            // Whoever says nothing, or nonsense, is not the one who is waited for.
            let Ok(Ok(())) = timeout(SAID_WITHIN, head).await else { continue };
            let text = String::from_utf8_lossy(&said);
            let path = text.strip_prefix("GET /callback").and_then(|rest| rest.split_whitespace().next());
            let answer = path.map(|query| format!("{}{query}", self.redirect_uri()));
            match answer.filter(|answer| state_of(answer).as_deref() == Some(state)) {
                Some(answer) => {
                    drop(stream.write_all(PAGE.as_bytes()).await);
                    return Ok(answer);
                }
                None => drop(stream.write_all(NOTHING.as_bytes()).await),
            }
        }
    }
}

/// The word in an address by which question and answer belong together.
fn state_of(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    url.query_pairs().find(|(name, _)| name == "state").map(|(_, value)| value.into_owned())
}

impl Consent for Callback {
    fn redirect_uri(&self) -> String {
        format!("http://{}/callback", self.listener.address())
    }

    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, McpError>> {
        Box::pin(async move {
            // It is shown and not opened: nothing that a server wrote is ever given to a shell.
            self.output.talk(format_args!(
                "open this address in your browser and say yes there:\n\n  {}\n",
                visible(url)
            ));
            let lost = |why: String| McpError::Unauthorized { why };
            let state =
                state_of(url).ok_or_else(|| lost("nobody could tell the answer from others".to_owned()))?;
            match timeout(PATIENCE, self.answer(&state)).await {
                Ok(answer) => answer.map_err(|error| lost(format!("nobody can come back: {error}"))),
                Err(_) => Err(lost("nobody came back in time".to_owned())),
            }
        })
    }
}
