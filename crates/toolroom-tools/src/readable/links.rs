//! Resolves links to absolute addresses.

use toolroom_host::net::Url;

/// Longer targets are dropped: they would be most of the text.
const MAX_LENGTH: usize = 2_000;

/// Maximum bytes of addresses resolved per page. Each relative link is parsed together with the page's base, so a long
/// base and many links would take long. Further links keep only their text.
const BUDGET: usize = 4_000_000;

/// Resolves the links of one page.
pub(super) struct Links {
    base: Url,
    has_own_base: bool,
    budget: usize,
}

impl Links {
    pub(super) fn new(base: Url) -> Self {
        Self { base, has_own_base: false, budget: BUDGET }
    }

    /// Sets the base address of the page. Only the first call counts.
    pub(super) fn rebase(&mut self, href: &str) {
        if !self.has_own_base
            && let Some(base) = self.join(href)
        {
            self.base = base;
            self.has_own_base = true;
        }
    }

    /// The absolute address, if the link leads to another page.
    pub(super) fn target(&mut self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let url = self.join(href)?;
        let is_of_use =
            matches!(url.scheme(), "http" | "https" | "mailto") && url.as_str().len() <= MAX_LENGTH;
        // Parentheses would end a Markdown link.
        is_of_use.then(|| url.as_str().replace('(', "%28").replace(')', "%29"))
    }

    fn join(&mut self, href: &str) -> Option<Url> {
        let cost = href.len().saturating_add(self.base.as_str().len());
        self.budget = self.budget.checked_sub(cost)?;
        if href.len() > MAX_LENGTH { None } else { self.base.join(href).ok() }
    }
}
