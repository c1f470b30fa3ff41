//! The ranking of search results.

use std::cmp::{Ordering, Reverse};

use schemars::JsonSchema;
use serde::Serialize;

use super::folded::{Folded, per_mille};
use super::frecency::Frecency;
use super::fuzzy::fuzzy;
use super::query::Query;

/// The kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A registered tool.
    Tool,
    /// A past call.
    Call,
}

/// An item that can be found.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// Tool or call.
    pub kind: Kind,
    /// Its unique id.
    pub id: &'a str,
    /// The source that `@source` matches.
    pub source: &'a str,
    /// The name to show. Not searched, but breaks ties.
    pub name: &'a str,
    /// Short names, also matched by abbreviations. Long texts do not belong here, because nearly any abbreviation matches
    /// them.
    pub handles: Vec<&'a str>,
    /// Descriptions and tags, matched by words.
    pub texts: Vec<&'a str>,
    /// How much it is used.
    pub frecency: Frecency,
}

/// How an item matched, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The query is empty.
    Usage,
    /// Every word of the query starts a word of the id, handles or texts.
    Text,
    /// The letters of the query occur in a handle, in order.
    Fuzzy,
    /// The query starts a word inside the id or a handle; or each of its words does.
    Word,
    /// The id or a handle starts with the query.
    Prefix,
    /// The id or a handle equals the query.
    Exact,
}

impl Tier {
    const fn points(self) -> f64 {
        match self {
            Self::Usage => 0.0,
            Self::Text => 1.0,
            Self::Fuzzy => 2.0,
            Self::Word => 3.0,
            Self::Prefix => 4.0,
            Self::Exact => 5.0,
        }
    }
}

/// A search result.
#[derive(Debug, Clone)]
pub struct Ranked<'a> {
    /// The item.
    pub candidate: Candidate<'a>,
    /// How it matched.
    pub tier: Tier,
    /// Share of the matched name or word that the query covers, per mille.
    closeness: usize,
}

impl Ranked<'_> {
    /// Tier and use in one number from 0 up to 6: the whole part is the tier (5 exact, 4 prefix, 3 word, 2 fuzzy, 1 text, 0
    /// for an empty query), the fraction `f / (1 + f)` of the frecency `f`, cut to four digits. Never rises along a
    /// ranking; ties are ordered by closeness and name.
    #[must_use]
    pub fn score(&self) -> f64 {
        let used = self.candidate.frecency.value();
        let fraction = (used / (1.0 + used) * 10_000.0).floor().min(9_999.0);
        (self.tier.points() * 10_000.0 + fraction) / 10_000.0
    }

    /// Best first. A total order, because ids are unique.
    fn order(&self, other: &Self) -> Ordering {
        let by_merit = |ranked: &Self| Reverse((ranked.tier, ranked.candidate.frecency, ranked.closeness));
        let (left, right) = (&self.candidate, &other.candidate);
        let by_name = || (left.name, left.id).cmp(&(right.name, right.id));
        by_merit(self).cmp(&by_merit(other)).then_with(by_name)
    }
}

/// Ranks the candidates that match the query, best first: by [`Tier`], [`Frecency`], covered share of the name or word,
/// then name. An empty query matches everything. Case and separators are ignored.
///
/// The order of the candidates does not matter.
#[must_use]
pub fn rank<'a>(query: &Query, candidates: impl IntoIterator<Item = Candidate<'a>>) -> Vec<Ranked<'a>> {
    let mut scratch = Folded::default();
    let mut found: Vec<Ranked<'a>> = candidates
        .into_iter()
        .filter(|candidate| query.admits(candidate.source))
        .filter_map(|candidate| {
            let (tier, closeness) = find(query, &candidate, &mut scratch)?;
            Some(Ranked { candidate, tier, closeness })
        })
        .collect();
    found.sort_unstable_by(Ranked::order);
    found
}

/// The best match of a candidate.
fn find(query: &Query, candidate: &Candidate<'_>, scratch: &mut Folded) -> Option<(Tier, usize)> {
    if query.is_empty() {
        return Some((Tier::Usage, 0));
    }
    let mut best = in_name(query, scratch.set(candidate.id));
    for handle in &candidate.handles {
        let handle = scratch.set(handle);
        let fragments = || fuzzy(query.whole(), handle).map(|closeness| (Tier::Fuzzy, closeness));
        best = best.max(in_name(query, handle).or_else(fragments));
    }
    best.or_else(|| in_texts(query, candidate, scratch))
}

fn in_name(query: &Query, name: &Folded) -> Option<(Tier, usize)> {
    let wanted = query.whole();
    let tier = if name.text() == wanted {
        Tier::Exact
    } else if name.text().starts_with(wanted) {
        Tier::Prefix
    } else if name.has_start(wanted) || query.words().iter().all(|word| name.has_start(word)) {
        Tier::Word
    } else {
        return None;
    };
    Some((tier, per_mille(wanted.len(), name.text().len())))
}

/// The words may occur in different names and texts.
fn in_texts(query: &Query, candidate: &Candidate<'_>, scratch: &mut Folded) -> Option<(Tier, usize)> {
    scratch.clear();
    for text in [&candidate.id].into_iter().chain(&candidate.handles).chain(&candidate.texts) {
        scratch.add(text);
    }
    let shares: Option<Vec<usize>> = query.words().iter().map(|word| scratch.share_of_word(word)).collect();
    let shares = shares?;
    Some((Tier::Text, shares.iter().sum::<usize>().checked_div(shares.len())?))
}

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;
