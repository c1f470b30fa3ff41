//! Which tools an agent may use.

use super::tool_pattern::{PatternError, ToolPattern};
use crate::tool::{Source, ToolSpec};

/// The id of the rule that refuses what an agent may not use.
pub const CHOICE_RULE: &str = "agent.tools";

/// A selection of tools by patterns. The default lets every tool through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolChoice {
    allow: Vec<ToolPattern>,
    deny: Vec<ToolPattern>,
}

impl ToolChoice {
    /// What one of `allow` fits and none of `deny`; an empty `allow` fits everything.
    ///
    /// # Errors
    /// When a pattern is none.
    pub fn parse(allow: &[String], deny: &[String]) -> Result<Self, PatternError> {
        let patterns = |texts: &[String]| -> Result<Vec<_>, _> {
            texts.iter().map(|text| ToolPattern::parse(text)).collect()
        };
        Ok(Self { allow: patterns(allow)?, deny: patterns(deny)? })
    }

    /// Whether the tool is among them. What is allowed is a choice among the tools of the house: nobody who makes it can
    /// know what a client will bring, and a client that brings a tool wants it used. So of a client's tools those are
    /// among them that are not denied; whoever wants none denies `client:*`.
    #[must_use]
    pub fn includes(&self, spec: &ToolSpec) -> bool {
        let is_free = self.allow.is_empty() || spec.id.source() == Source::Client;
        (is_free || self.allow.iter().any(|pattern| pattern.matches(spec)))
            && !self.deny.iter().any(|pattern| pattern.matches(spec))
    }

    /// Whether the tool itself is named, and not just fitted: by its own name, which is not its family's.
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
    fn what_is_denied_is_out_whatever_is_allowed() {
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
