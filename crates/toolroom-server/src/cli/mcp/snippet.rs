//! What each client wants to read before it reaches this toolroom.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a client calls us.
const NAME: &str = "toolroom";

/// Where the key goes that nobody has made yet.
const KEY: &str = "YOUR_KEY";

/// The clients that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Client {
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

/// How a client reaches us.
#[derive(Debug, Clone)]
pub(super) enum Reach {
    /// It starts this program.
    Stdio {
        /// The program's file.
        program: String,
        /// `TOOLROOM_HOME`, if it is set.
        home: Option<String>,
    },
    /// It asks a server.
    Http {
        /// Where.
        url: String,
    },
}

impl Client {
    /// Where the snippet belongs, and its language.
    pub(super) const fn place(self, reach: &Reach) -> (&'static str, &'static str) {
        match self {
            Self::ClaudeCode => ("run in a terminal", "sh"),
            Self::ClaudeDesktop => match reach {
                Reach::Stdio { .. } => {
                    ("claude_desktop_config.json (Settings, Developer, Edit Config)", "json")
                }
                Reach::Http { .. } => {
                    ("claude_desktop_config.json (Settings, Developer, Edit Config; needs Node.js)", "json")
                }
            },
            Self::Cursor => ("~/.cursor/mcp.json, or .cursor/mcp.json in a project", "json"),
            Self::Vscode => (".vscode/mcp.json, or the command `MCP: Open User Configuration`", "json"),
            Self::Goose => ("~/.config/goose/config.yaml", "yaml"),
            Self::Codex => ("~/.codex/config.toml", "toml"),
        }
    }

    /// What connects it.
    pub(super) fn snippet(self, reach: &Reach) -> String {
        match (self, reach) {
            (Self::ClaudeCode, Reach::Stdio { program, home }) => {
                let home =
                    home.iter().map(|home| format!("--env {} ", word(&format!("TOOLROOM_HOME={home}"))));
                let home: String = home.collect();
                format!("claude mcp add {NAME} {home}-- {} mcp serve", word(program))
            }
            (Self::ClaudeCode, Reach::Http { url }) => format!(
                "claude mcp add --transport http {NAME} {} --header 'Authorization: Bearer {KEY}'",
                word(url)
            ),
            (Self::ClaudeDesktop, Reach::Stdio { .. }) | (Self::Cursor, _) => {
                document(&json!({"mcpServers": {NAME: entry(reach)}}))
            }
            // It takes no headers of its own, so a program in between adds them.
            (Self::ClaudeDesktop, Reach::Http { url }) => document(&json!({"mcpServers": {NAME: {
                "command": "npx",
                "args": ["-y", "mcp-remote", url, "--header", "Authorization:${TOOLROOM_AUTH}"],
                "env": {"TOOLROOM_AUTH": format!("Bearer {KEY}")},
            }}})),
            (Self::Vscode, Reach::Stdio { .. }) => document(&json!({"servers": {NAME: entry(reach)}})),
            (Self::Vscode, Reach::Http { url }) => document(&json!({
                "inputs": [{
                    "type": "promptString", "id": "toolroom-key", "description": "Key for Toolroom", "password": true,
                }],
                "servers": {NAME: {
                    "type": "http", "url": url, "headers": {"Authorization": "Bearer ${input:toolroom-key}"},
                }},
            })),
            (Self::Goose, _) => goose(reach),
            (Self::Codex, _) => codex(reach),
        }
    }
}

/// A server, as most clients write one down.
fn entry(reach: &Reach) -> Value {
    let mut entry = Map::new();
    match reach {
        Reach::Stdio { program, home } => {
            entry.insert("command".to_owned(), json!(program));
            entry.insert("args".to_owned(), json!(["mcp", "serve"]));
            if let Some(home) = home {
                entry.insert("env".to_owned(), json!({"TOOLROOM_HOME": home}));
            }
        }
        Reach::Http { url } => {
            entry.insert("url".to_owned(), json!(url));
            entry.insert("headers".to_owned(), json!({"Authorization": format!("Bearer {KEY}")}));
        }
    }
    Value::Object(entry)
}

fn goose(reach: &Reach) -> String {
    let how = match reach {
        Reach::Stdio { program, home } => {
            let home = home.iter().map(|home| format!("    envs:\n      TOOLROOM_HOME: {}\n", text(home)));
            let home: String = home.collect();
            format!("    type: stdio\n    cmd: {}\n    args: [mcp, serve]\n{home}", text(program))
        }
        Reach::Http { url } => format!(
            "    type: streamable_http\n    uri: {}\n    headers:\n      Authorization: Bearer {KEY}\n",
            text(url)
        ),
    };
    format!("extensions:\n  {NAME}:\n    name: {NAME}\n    enabled: true\n    timeout: 300\n{how}")
}

fn codex(reach: &Reach) -> String {
    match reach {
        Reach::Stdio { program, home } => {
            let home = home.iter().map(|home| format!("env = {{ TOOLROOM_HOME = {} }}\n", text(home)));
            let home: String = home.collect();
            format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = [\"mcp\", \"serve\"]\n{home}", text(program))
        }
        Reach::Http { url } => format!(
            "[mcp_servers.{NAME}]\nurl = {}\nhttp_headers = {{ Authorization = \"Bearer {KEY}\" }}\n",
            text(url)
        ),
    }
}

fn document(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A text in quotes, which YAML and TOML read as JSON does.
fn text(value: &str) -> String {
    // TOML takes this one character only in the form of an escape.
    Value::from(value).to_string().replace('\u{7f}', "\\u007f")
}

/// One word of a shell.
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

    fn stdio(program: &str) -> Reach {
        Reach::Stdio { program: program.to_owned(), home: Some("/srv/a b".to_owned()) }
    }

    #[test]
    fn a_program_with_an_odd_name_is_named_as_it_is_in_every_language() {
        let odd = "/opt/it's \"odd\"\u{7f}/toolroom";
        for client in [Client::ClaudeDesktop, Client::Cursor, Client::Vscode] {
            let read: Value = serde_json::from_str(&client.snippet(&stdio(odd))).unwrap();
            let servers = read.get("mcpServers").or(read.get("servers")).unwrap();
            assert_eq!(servers["toolroom"]["command"], odd);
            assert_eq!(servers["toolroom"]["env"]["TOOLROOM_HOME"], "/srv/a b");
        }
        let read: toml::Table = Client::Codex.snippet(&stdio(odd)).parse().unwrap();
        assert_eq!(read["mcp_servers"]["toolroom"]["command"].as_str(), Some(odd));
        assert_eq!(word(odd), "'/opt/it'\\''s \"odd\"\u{7f}/toolroom'");
    }

    #[test]
    fn a_server_is_reached_with_a_key_in_a_header() {
        let reach = Reach::Http { url: "https://tools.example/mcp".to_owned() };
        for client in Client::value_variants() {
            let text = client.snippet(&reach);
            assert!(text.contains("https://tools.example/mcp") && text.contains("Authorization"), "{text}");
        }
    }
}
