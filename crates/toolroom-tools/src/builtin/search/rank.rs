//! The ranking: what is found, and in which order.

use std::cmp::{Ordering, Reverse};

use schemars::JsonSchema;
use serde::Serialize;

use super::folded::{Folded, per_mille};
use super::frecency::Frecency;
use super::fuzzy::fuzzy;
use super::query::Query;

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A tool that can be called.
    Tool,
    /// A call that was made.
    Call,
}

/// Something that can be found.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its id; no two candidates share one.
    pub id: &'a str,
    /// Who brought it: what `@source` compares with.
    pub source: &'a str,
    /// The name that is shown. Nothing is found by it alone, but it decides between equals.
    pub name: &'a str,
    /// Short names it goes by, found by fragments as well. A longer text does not belong here, since nearly every
    /// fragment is somewhere in it.
    pub handles: Vec<&'a str>,
    /// What is said about it, or what it is about. Found by words.
    pub texts: Vec<&'a str>,
    /// How much it is used.
    pub frecency: Frecency,
}

/// How something was found, from the weakest way to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Nothing was searched for.
    Usage,
    /// Every word of the query begins a word of its id, handles or texts.
    Text,
    /// The letters of the query are in a handle, in their order.
    Fuzzy,
    /// The query begins a word inside the id or a handle; or each of its words begins one.
    Word,
    /// The id or a handle begins with the query.
    Prefix,
    /// The id or a handle is the query.
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

/// Something that was found.
#[derive(Debug, Clone)]
pub struct Ranked<'a> {
    /// What was found.
    pub candidate: Candidate<'a>,
    /// How.
    pub tier: Tier,
    /// How much of the name or word the query covers, per mille.
    closeness: usize,
}

impl Ranked<'_> {
    /// One number for both tier and use, from 0 up to 6: its whole part is the tier (5 exact, 4 prefix, 3 word, 2
    /// fuzzy, 1 text, 0 for an empty query), its fraction `f / (1 + f)` of the frecency `f`, cut to four digits. It
    /// never rises along a ranking; what has the same number is ordered by closeness and name.
    #[must_use]
    pub fn score(&self) -> f64 {
        let used = self.candidate.frecency.value();
        let fraction = (used / (1.0 + used) * 10_000.0).floor().min(9_999.0);
        (self.tier.points() * 10_000.0 + fraction) / 10_000.0
    }

    /// Best first. Total, since the id decides in the end.
    fn order(&self, other: &Self) -> Ordering {
        let by_merit = |ranked: &Self| Reverse((ranked.tier, ranked.candidate.frecency, ranked.closeness));
        let (left, right) = (&self.candidate, &other.candidate);
        let by_name = || (left.name, left.id).cmp(&(right.name, right.id));
        by_merit(self).cmp(&by_merit(other)).then_with(by_name)
    }
}

/// What the query finds among the candidates, best first: by [`Tier`], then by [`Frecency`], then by how much of the
/// name or word was typed, then by name. An empty query finds everything. Case and separators do not count.
///
/// The order of the candidates makes no difference.
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

/// The best way in which a candidate is found.
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

/// Words may be spread over names and texts.
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
