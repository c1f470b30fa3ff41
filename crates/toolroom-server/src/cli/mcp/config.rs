//! `toolroom mcp config`: what connects a client to this toolroom.

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use toolroom_host::environment;
use toolroom_host::net::Url;

use super::snippet::{Client, Reach};
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::Output;

/// Where the server answers.
const PATH: &str = "/mcp";

#[derive(Args)]
pub(super) struct ConfigArgs {
    /// The client
    client: Client,
    /// Reach a server that runs already, such as http://127.0.0.1:7300, with a key
    #[arg(long, value_name = "URL")]
    http: Option<String>,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct SnippetDocument<'a> {
    client: Client,
    /// Where it belongs.
    place: &'a str,
    /// In which language it is.
    language: &'a str,
    snippet: String,
}

pub(super) fn run(args: &ConfigArgs, output: Output) -> anyhow::Result<Exit> {
    let reach = match &args.http {
        Some(url) => Reach::Http { url: address(url)? },
        None => {
            let program = environment::program_file().context("cannot find the file of this program")?;
            let text = |path: std::path::PathBuf| {
                path.into_os_string().into_string().map_err(|path| {
                    Usage(format!("`{}` is no UTF-8, which no client can write down", path.display()))
                })
            };
            let home = environment::path_variable("TOOLROOM_HOME").map(text).transpose()?;
            Reach::Stdio { program: text(program)?, home }
        }
    };
    let (place, language) = args.client.place(&reach);
    let snippet = args.client.snippet(&reach);
    if output.is_json() {
        output.document(&SnippetDocument { client: args.client, place, language, snippet })?;
        return Ok(Exit::Done);
    }
    output.talk(format_args!("{place}:"));
    output.data(snippet.trim_end())?;
    if args.http.is_some() {
        output.hint(
            "make the key with `toolroom keys create --name mcp --scope call,read,answer`; without `answer` its client \
             cannot ask you whether a call may run",
        );
    }
    Ok(Exit::Done)
}

/// The whole address: whoever names the server alone means its `/mcp`.
fn address(text: &str) -> Result<String, Usage> {
    let wrong = || Usage(format!("`{text}` is no address of a server; write it as http://127.0.0.1:7300"));
    let mut url = Url::parse(text).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Usage("a key does not belong in the address; it is sent as a header".to_owned()));
    }
    if url.path() == "/" {
        url.set_path(PATH);
    }
    Ok(url.into())
}
