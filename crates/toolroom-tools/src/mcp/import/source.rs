//! Programs whose servers can be taken over, and where they keep them.

/// A program that has servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Windsurf.
    Windsurf,
    /// Cline.
    Cline,
    /// Visual Studio Code.
    VsCode,
    /// Codex.
    Codex,
    /// goose.
    Goose,
    /// Gemini CLI.
    Gemini,
    /// Zed.
    Zed,
}

/// Where a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Below the home.
    Home(&'static str),
    /// Below the folder a person works in.
    Folder(&'static str),
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::Windsurf,
        Self::Cline,
        Self::VsCode,
        Self::Codex,
        Self::Goose,
        Self::Gemini,
        Self::Zed,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::Windsurf => "windsurf",
            Self::Cline => "cline",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Goose => "goose",
            Self::Gemini => "gemini",
            Self::Zed => "zed",
        }
    }

    /// The program of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// Where its files are; not every one of them has to be there.
    #[must_use]
    pub const fn places(self) -> &'static [Place] {
        match self {
            Self::ClaudeDesktop => &[
                Place::Home(".config/Claude/claude_desktop_config.json"),
                Place::Home("Library/Application Support/Claude/claude_desktop_config.json"),
            ],
            Self::ClaudeCode => &[
                Place::Home(".claude.json"),
                Place::Home(".claude/settings.json"),
                Place::Folder(".mcp.json"),
                Place::Folder(".claude/settings.json"),
                Place::Folder(".claude/settings.local.json"),
            ],
            Self::Cursor => &[Place::Home(".cursor/mcp.json"), Place::Folder(".cursor/mcp.json")],
            Self::Windsurf => &[Place::Home(".codeium/windsurf/mcp_config.json")],
            Self::Cline => &[
                Place::Home(
                    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                ),
                Place::Home("Documents/Cline/cline_mcp_settings.json"),
            ],
            Self::VsCode => &[Place::Home(".config/Code/User/mcp.json"), Place::Folder(".vscode/mcp.json")],
            Self::Codex => &[Place::Home(".codex/config.toml"), Place::Folder(".codex/config.toml")],
            Self::Goose => &[Place::Home(".config/goose/config.yaml")],
            Self::Gemini => &[Place::Home(".gemini/settings.json"), Place::Folder(".gemini/settings.json")],
            Self::Zed => &[Place::Home(".config/zed/settings.json"), Place::Folder(".zed/settings.json")],
        }
    }

    /// Under which key its servers are.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
            Self::Goose => "extensions",
            Self::Zed => "context_servers",
            Self::ClaudeDesktop
            | Self::ClaudeCode
            | Self::Cursor
            | Self::Windsurf
            | Self::Cline
            | Self::Gemini => "mcpServers",
        }
    }
}
