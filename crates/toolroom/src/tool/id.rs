//! Fully qualified tool ids: `source:name`.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Long enough for any server and tool name seen in the wild, short enough for an index and a log line.
const MAX_ID_BYTES: usize = 256;

/// A tool's id: `builtin:calculator`, `declared:book-table`, `mcp:github:create_issue`, `client:pick-file`,
/// `com.example.notes:search`, or an embedder's own `app:name`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ToolId(Arc<str>);

/// Who brought a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// Ships with Toolroom.
    Builtin,
    /// Made in the dashboard or a file.
    ToolTraits,
    /// Offered by the MCP server of that name.
    Mcp(&'a str),
    /// Executed by the caller's own client.
    Client,
    /// An extension, or the application that embeds the kernel.
    Other(&'a str),
}

impl ToolId {
    /// Parses `source:name`. The name holds no colon, except that an MCP id has three parts.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let bad = |why| IdError { id: text.chars().take(MAX_ID_BYTES).collect(), why };
        if text.len() > MAX_ID_BYTES {
            return Err(bad("it is longer than 256 bytes"));
        }
        let (source, rest) = text.split_once(':').ok_or_else(|| bad("it has no `source:` in front"))?;
        let name = if source == "mcp" {
            let (server, tool) = rest.split_once(':').ok_or_else(|| bad("an MCP id is `mcp:server:tool`"))?;
            if !server.chars().all(is_name_char) || server.is_empty() {
                return Err(bad("its server name may hold letters, digits, `.`, `_` and `-`"));
            }
            // Foreign names are taken as they are; the wire name makes them safe for a model.
            if tool.chars().any(char::is_control) {
                return Err(bad("it holds a control character"));
            }
            tool
        } else {
            if source.is_empty() || !source.chars().all(is_name_char) {
                return Err(bad("its source may hold letters, digits, `.`, `_` and `-`"));
            }
            if rest.contains(':') {
                return Err(bad("the name behind the source holds a colon"));
            }
            if !rest.chars().all(|c| is_name_char(c) || c == '/') {
                return Err(bad("its name may hold letters, digits, `.`, `_`, `-` and `/`"));
            }
            rest
        };
        if name.is_empty() {
            return Err(bad("its name is empty"));
        }
        Ok(Self(text.into()))
    }

    /// The whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The whole id, shared.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The name without its source.
    #[must_use]
    pub fn bare(&self) -> &str {
        match self.source() {
            Source::Mcp(_) => self.0.splitn(3, ':').nth(2).unwrap_or_default(),
            _ => self.0.split_once(':').map_or("", |(_, name)| name),
        }
    }

    /// Who brought the tool.
    #[must_use]
    pub fn source(&self) -> Source<'_> {
        match self.0.split_once(':') {
            Some(("builtin", _)) => Source::Builtin,
            Some(("declared", _)) => Source::ToolTraits,
            Some(("client", _)) => Source::Client,
            Some(("mcp", rest)) => Source::Mcp(rest.split_once(':').map_or(rest, |(server, _)| server)),
            Some((other, _)) => Source::Other(other),
            None => Source::Other(""),
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

impl fmt::Display for ToolId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for ToolId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ToolId({})", self.0)
    }
}

impl TryFrom<String> for ToolId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<ToolId> for String {
    fn from(id: ToolId) -> Self {
        id.0.as_ref().to_owned()
    }
}

/// An id that no tool can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{id}` is no tool id: {why}")]
pub struct IdError {
    id: String,
    why: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_source_and_name() {
        let check = |text: &str, source: Source<'_>, bare: &str| {
            let id = ToolId::parse(text).unwrap();
            assert_eq!((id.source(), id.bare()), (source, bare), "{text}");
        };
        check("builtin:calculator", Source::Builtin, "calculator");
        check("declared:book-table", Source::ToolTraits, "book-table");
        check("mcp:github:create_issue", Source::Mcp("github"), "create_issue");
        check("mcp:odd:name with: everything/", Source::Mcp("odd"), "name with: everything/");
        check("client:pick", Source::Client, "pick");
        check("com.example.notes:search", Source::Other("com.example.notes"), "search");
    }

    #[test]
    fn ids_that_mislead_are_refused() {
        for text in
            ["calculator", ":x", "builtin:", "builtin:a:b", "a b:c", "app:a b", "mcp:server", "mcp::x"]
        {
            assert!(ToolId::parse(text).is_err(), "{text}");
        }
        assert!(ToolId::parse(&format!("app:{}", "x".repeat(300))).is_err());
        assert!(ToolId::parse("mcp:s:\u{7}").is_err());
    }
}
