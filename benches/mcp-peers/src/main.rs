//! A minimal MCP server with one tool, `echo {text}`, on rmcp: `http`, `stdio`, or `stdio-single` with one thread.
//!
//! Tuned through rmcp's options: no Nagle delay, plain JSON responses, no sessions.

use std::error::Error;
use std::io::Write as _;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt as _, schemars, tool, tool_handler, tool_router};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

type Done = Result<(), Box<dyn Error>>;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArgs {
    text: String,
}

#[derive(Clone)]
struct Peer {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Peer {
    #[tool(description = "Return the text")]
    fn echo(&self, Parameters(EchoArgs { text }): Parameters<EchoArgs>) -> String {
        text
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

fn main() -> Done {
    match std::env::args().nth(1).as_deref() {
        Some("http") => Builder::new_multi_thread().enable_all().build()?.block_on(http()),
        Some("stdio") => Builder::new_multi_thread().enable_all().build()?.block_on(stdio()),
        Some("stdio-single") => Builder::new_current_thread().enable_all().build()?.block_on(stdio()),
        _ => Err("pass `http`, `stdio` or `stdio-single`".into()),
    }
}

fn peer() -> Peer {
    Peer { tool_router: Peer::tool_router() }
}

async fn http() -> Done {
    let peer = peer();
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.sse_keep_alive = None;
    let service = StreamableHttpService::new(
        move || Ok(peer.clone()),
        LocalSessionManager::default().into(),
        config,
    );
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    writeln!(std::io::stdout(), "{}", serde_json::json!({"url": url}))?;
    // Without this, Nagle's algorithm delays the second half of every response.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    Ok(axum::serve(listener, Router::new().nest_service("/mcp", service)).await?)
}

async fn stdio() -> Done {
    peer().serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
