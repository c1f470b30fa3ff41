//! The configuration snippets of MCP clients.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The name of the server in the client's configuration.
const NAME: &str = "toolroom";

/// Placeholder for the API key.
const KEY: &str = "YOUR_KEY";

/// Supported clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ClientProgram {
    /// Claude Code, on the command line
    ClaudeCode,
    /// Claude on the desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// goose
    Goose,
    /// Codex
    Codex,
}

/// How a client connects to Toolroom.
#[derive(Debug, Clone)]
pub(super) enum ClientEndpoint {
    /// It starts this program.
    Stdio {
        /// The program's file.
        program: String,
        /// `TOOLROOM_HOME`, if it is set.
        home: Option<String>,
    },
    /// It connects to a running server.
    Http {
        /// The URL of the MCP endpoint.
        url: String,
    },
}

impl ClientProgram {
    /// Where to put the snippet, and its language.
    pub(super) const fn place(self, endpoint: &ClientEndpoint) -> (&'static str, &'static str) {
        match self {
            Self::ClaudeCode => ("run in a terminal", "sh"),
            Self::ClaudeDesktop => match endpoint {
                ClientEndpoint::Stdio { .. } => {
                    ("claude_desktop_config.json (Settings, Developer, Edit Config)", "json")
                }
                ClientEndpoint::Http { .. } => {
                    ("claude_desktop_config.json (Settings, Developer, Edit Config; needs Node.js)", "json")
                }
            },
            Self::Cursor => ("~/.cursor/mcp.json, or .cursor/mcp.json in a project", "json"),
            Self::Vscode => (".vscode/mcp.json, or the command `MCP: Open User Configuration`", "json"),
            Self::Goose => ("~/.config/goose/config.yaml", "yaml"),
            Self::Codex => ("~/.codex/config.toml", "toml"),
        }
    }

    /// The snippet.
    pub(super) fn snippet(self, endpoint: &ClientEndpoint) -> String {
        match (self, endpoint) {
            (Self::ClaudeCode, ClientEndpoint::Stdio { program, home }) => {
                let home =
                    home.iter().map(|home| format!("--env {} ", word(&format!("TOOLROOM_HOME={home}"))));
                let home: String = home.collect();
                format!("claude mcp add {NAME} {home}-- {} mcp serve", word(program))
            }
            (Self::ClaudeCode, ClientEndpoint::Http { url }) => format!(
                "claude mcp add --transport http {NAME} {} --header 'Authorization: Bearer {KEY}'",
                word(url)
            ),
            (Self::ClaudeDesktop, ClientEndpoint::Stdio { .. }) | (Self::Cursor, _) => {
                document(&json!({"mcpServers": {NAME: entry(endpoint)}}))
            }
            // It supports no headers: a proxy program adds them.
            (Self::ClaudeDesktop, ClientEndpoint::Http { url }) => document(&json!({"mcpServers": {NAME: {
                "command": "npx",
                "args": ["-y", "mcp-remote", url, "--header", "Authorization:${TOOLROOM_AUTH}"],
                "env": {"TOOLROOM_AUTH": format!("Bearer {KEY}")},
            }}})),
            (Self::Vscode, ClientEndpoint::Stdio { .. }) => {
                document(&json!({"servers": {NAME: entry(endpoint)}}))
            }
            (Self::Vscode, ClientEndpoint::Http { url }) => document(&json!({
                "inputs": [{
                    "type": "promptString", "id": "toolroom-key", "description": "Key for Toolroom", "password": true,
                }],
                "servers": {NAME: {
                    "type": "http", "url": url, "headers": {"Authorization": "Bearer ${input:toolroom-key}"},
                }},
            })),
            (Self::Goose, _) => goose(endpoint),
            (Self::Codex, _) => codex(endpoint),
        }
    }
}

/// The entry of a server in the most common form.
fn entry(endpoint: &ClientEndpoint) -> Value {
    let mut entry = Map::new();
    match endpoint {
        ClientEndpoint::Stdio { program, home } => {
            entry.insert("command".to_owned(), json!(program));
            entry.insert("args".to_owned(), json!(["mcp", "serve"]));
            if let Some(home) = home {
                entry.insert("env".to_owned(), json!({"TOOLROOM_HOME": home}));
            }
        }
        ClientEndpoint::Http { url } => {
            entry.insert("url".to_owned(), json!(url));
            entry.insert("headers".to_owned(), json!({"Authorization": format!("Bearer {KEY}")}));
        }
    }
    Value::Object(entry)
}

fn goose(endpoint: &ClientEndpoint) -> String {
    let how = match endpoint {
        ClientEndpoint::Stdio { program, home } => {
            let home = home.iter().map(|home| format!("    envs:\n      TOOLROOM_HOME: {}\n", text(home)));
            let home: String = home.collect();
            format!("    type: stdio\n    cmd: {}\n    args: [mcp, serve]\n{home}", text(program))
        }
        ClientEndpoint::Http { url } => format!(
            "    type: streamable_http\n    uri: {}\n    headers:\n      Authorization: Bearer {KEY}\n",
            text(url)
        ),
    };
    format!("extensions:\n  {NAME}:\n    name: {NAME}\n    enabled: true\n    timeout: 300\n{how}")
}

fn codex(endpoint: &ClientEndpoint) -> String {
    match endpoint {
        ClientEndpoint::Stdio { program, home } => {
            let home = home.iter().map(|home| format!("env = {{ TOOLROOM_HOME = {} }}\n", text(home)));
            let home: String = home.collect();
            format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = [\"mcp\", \"serve\"]\n{home}", text(program))
        }
        ClientEndpoint::Http { url } => format!(
            "[mcp_servers.{NAME}]\nurl = {}\nhttp_headers = {{ Authorization = \"Bearer {KEY}\" }}\n",
            text(url)
        ),
    }
}

fn document(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A quoted string for YAML and TOML.
fn text(value: &str) -> String {
    // TOML requires an escape for this character.
    Value::from(value).to_string().replace('\u{7f}', "\\u007f")
}

/// A word of a shell command.
fn word(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@%+,".contains(c);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stdio(program: &str) -> ClientEndpoint {
        ClientEndpoint::Stdio { program: program.to_owned(), home: Some("/srv/a b".to_owned()) }
    }

    #[test]
    fn a_program_with_an_odd_name_is_quoted_in_every_language() {
        let odd = "/opt/it's \"odd\"\u{7f}/toolroom";
        for client in [ClientProgram::ClaudeDesktop, ClientProgram::Cursor, ClientProgram::Vscode] {
            let read: Value = serde_json::from_str(&client.snippet(&stdio(odd))).unwrap();
            let servers = read.get("mcpServers").or(read.get("servers")).unwrap();
            assert_eq!(servers["toolroom"]["command"], odd);
            assert_eq!(servers["toolroom"]["env"]["TOOLROOM_HOME"], "/srv/a b");
        }
        let read: toml::Table = ClientProgram::Codex.snippet(&stdio(odd)).parse().unwrap();
        assert_eq!(read["mcp_servers"]["toolroom"]["command"].as_str(), Some(odd));
        assert_eq!(word(odd), "'/opt/it'\\''s \"odd\"\u{7f}/toolroom'");
    }

    #[test]
    fn every_client_sends_the_key_in_a_header() {
        let endpoint = ClientEndpoint::Http { url: "https://tools.example/mcp".to_owned() };
        for client in ClientProgram::value_variants() {
            let text = client.snippet(&endpoint);
            assert!(text.contains("https://tools.example/mcp") && text.contains("Authorization"), "{text}");
        }
    }
}
