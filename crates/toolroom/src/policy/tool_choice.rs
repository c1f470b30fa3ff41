//! Which tools an agent may use.

use super::tool_pattern::{PatternError, ToolPattern};
use crate::tool::{Source, ToolSpec};

/// The id of the rule that denies tools an agent may not use.
pub const CHOICE_RULE: &str = "agent.tools";

/// A selection of tools by patterns. The default lets every tool through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolChoice {
    allow: Vec<ToolPattern>,
    deny: Vec<ToolPattern>,
}

impl ToolChoice {
    /// The tools that one of `allow` and none of `deny` matches; an empty `allow` matches everything.
    ///
    /// # Errors
    /// When a pattern is invalid.
    pub fn parse(allow: &[String], deny: &[String]) -> Result<Self, PatternError> {
        let patterns = |texts: &[String]| -> Result<Vec<_>, _> {
            texts.iter().map(|text| ToolPattern::parse(text)).collect()
        };
        Ok(Self { allow: patterns(allow)?, deny: patterns(deny)? })
    }

    /// Whether the selection includes the tool. `allow` does not limit client tools, because the configuration cannot know
    /// them and a client that declares a tool wants it used; `deny = ["client:*"]` excludes them.
    #[must_use]
    pub fn includes(&self, spec: &ToolSpec) -> bool {
        let is_unrestricted = self.allow.is_empty() || spec.id.source() == Source::Client;
        (is_unrestricted || self.allow.iter().any(|pattern| pattern.matches(spec)))
            && !self.deny.iter().any(|pattern| pattern.matches(spec))
    }

    /// Whether a pattern is the tool's own id or bare name, not its family's.
    #[must_use]
    pub fn names(&self, spec: &ToolSpec) -> bool {
        let own = |text: String| text == spec.id.as_str() || text == spec.id.bare();
        self.includes(spec) && self.allow.iter().any(|pattern| pattern.is_exact() && own(pattern.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(allow: &[&str], deny: &[&str]) -> ToolChoice {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        ToolChoice::parse(&owned(allow), &owned(deny)).unwrap()
    }

    #[test]
    fn a_denied_tool_is_excluded_even_if_allowed() {
        let spec = ToolSpec::new("builtin:fs-read", "Read").unwrap().family("read_file", false);
        assert!(choice(&[], &[]).includes(&spec));
        assert!(choice(&["builtin:*"], &[]).includes(&spec));
        assert!(choice(&["read_file"], &[]).includes(&spec));
        assert!(!choice(&["web_*"], &[]).includes(&spec));
        assert!(!choice(&["fs-read"], &["read_file"]).includes(&spec));
    }

    #[test]
    fn tools_of_a_client_are_kept_out_by_a_denial_alone() {
        let spec = ToolSpec::new("client:pick", "Pick").unwrap();
        assert!(choice(&["builtin:*"], &[]).includes(&spec));
        assert!(!choice(&[], &["client:*"]).includes(&spec));
        assert!(!choice(&["pick"], &["pick"]).includes(&spec));
    }

    #[test]
    fn a_variant_is_named_by_its_own_name_only() {
        let spec = ToolSpec::new("builtin:fs-read", "Read").unwrap().family("read_file", false);
        assert!(choice(&["fs-read"], &[]).names(&spec));
        assert!(choice(&["builtin:fs-read"], &[]).names(&spec));
        assert!(!choice(&["read_file"], &[]).names(&spec));
        assert!(!choice(&["fs-*"], &[]).names(&spec));
        assert!(!choice(&["fs-read"], &["fs-read"]).names(&spec));
    }
}
