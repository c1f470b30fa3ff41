//! Programs whose MCP servers can be imported, and their configuration files.

/// A program to import from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportSource {
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

/// Location of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigLocation {
    /// Relative to the home folder.
    Home(&'static str),
    /// Relative to the working folder.
    Folder(&'static str),
}

impl ImportSource {
    /// All sources.
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

    /// Where its files may be.
    #[must_use]
    pub const fn locations(self) -> &'static [ConfigLocation] {
        match self {
            Self::ClaudeDesktop => &[
                ConfigLocation::Home(".config/Claude/claude_desktop_config.json"),
                ConfigLocation::Home("Library/Application Support/Claude/claude_desktop_config.json"),
            ],
            Self::ClaudeCode => &[
                ConfigLocation::Home(".claude.json"),
                ConfigLocation::Home(".claude/settings.json"),
                ConfigLocation::Folder(".mcp.json"),
                ConfigLocation::Folder(".claude/settings.json"),
                ConfigLocation::Folder(".claude/settings.local.json"),
            ],
            Self::Cursor => {
                &[ConfigLocation::Home(".cursor/mcp.json"), ConfigLocation::Folder(".cursor/mcp.json")]
            }
            Self::Windsurf => &[ConfigLocation::Home(".codeium/windsurf/mcp_config.json")],
            Self::Cline => &[
                ConfigLocation::Home(
                    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                ),
                ConfigLocation::Home("Documents/Cline/cline_mcp_settings.json"),
            ],
            Self::VsCode => &[
                ConfigLocation::Home(".config/Code/User/mcp.json"),
                ConfigLocation::Folder(".vscode/mcp.json"),
            ],
            Self::Codex => {
                &[ConfigLocation::Home(".codex/config.toml"), ConfigLocation::Folder(".codex/config.toml")]
            }
            Self::Goose => &[ConfigLocation::Home(".config/goose/config.yaml")],
            Self::Gemini => &[
                ConfigLocation::Home(".gemini/settings.json"),
                ConfigLocation::Folder(".gemini/settings.json"),
            ],
            Self::Zed => &[
                ConfigLocation::Home(".config/zed/settings.json"),
                ConfigLocation::Folder(".zed/settings.json"),
            ],
        }
    }

    /// The key of its servers.
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
