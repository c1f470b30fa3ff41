//! `toolroom mcp config`: prints the configuration that connects a client to this Toolroom.

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use toolroom_host::environment;
use toolroom_host::net::Url;

use super::snippet::{ClientEndpoint, ClientProgram};
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::Output;

/// Path of the MCP endpoint.
const PATH: &str = "/mcp";

#[derive(Args)]
pub(super) struct McpConfigArgs {
    /// The client
    client: ClientProgram,
    /// Connect to a running server at this URL, such as http://127.0.0.1:7300, with an API key
    #[arg(long, value_name = "URL")]
    http: Option<String>,
}

/// The JSON output.
#[derive(Serialize)]
struct SnippetDocument<'a> {
    client: ClientProgram,
    /// Where to put the snippet.
    place: &'a str,
    /// The language of the snippet.
    language: &'a str,
    snippet: String,
}

pub(super) fn run(args: &McpConfigArgs, output: Output) -> anyhow::Result<Exit> {
    let endpoint = match &args.http {
        Some(url) => ClientEndpoint::Http { url: mcp_url(url)? },
        None => {
            let program = environment::program_file().context("cannot find the file of this program")?;
            let text = |path: std::path::PathBuf| {
                path.into_os_string()
                    .into_string()
                    .map_err(|path| Usage(format!("the path `{}` is not valid UTF-8", path.display())))
            };
            let home = environment::path_variable("TOOLROOM_HOME").map(text).transpose()?;
            ClientEndpoint::Stdio { program: text(program)?, home }
        }
    };
    let (place, language) = args.client.place(&endpoint);
    let snippet = args.client.snippet(&endpoint);
    if output.is_json() {
        output.document(&SnippetDocument { client: args.client, place, language, snippet })?;
        return Ok(Exit::Done);
    }
    output.talk(format_args!("{place}:"));
    output.data(snippet.trim_end())?;
    if args.http.is_some() {
        output.hint(
            "create the API key with `toolroom keys create --name mcp --scope call,read,answer`; without `answer` its \
             client cannot ask you to approve calls",
        );
    }
    Ok(Exit::Done)
}

/// The URL of the MCP endpoint. A URL without a path gets `/mcp`.
fn mcp_url(text: &str) -> Result<String, Usage> {
    let wrong = || Usage(format!("`{text}` is not a valid URL; write it like http://127.0.0.1:7300"));
    let mut url = Url::parse(text).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Usage("the URL must not contain a key; the key is sent as a header".to_owned()));
    }
    if url.path() == "/" {
        url.set_path(PATH);
    }
    Ok(url.into())
}
