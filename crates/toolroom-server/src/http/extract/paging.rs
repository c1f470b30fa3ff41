//! Paging of lists.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::extract::Query;
use crate::http::problem::Problem;

/// Default page size.
const DEFAULT_LIMIT: u32 = 50;

/// Largest page size.
const MAX_LIMIT: u32 = 200;

/// The query of a list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// Maximum number of entries.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(PageQuery { limit, cursor }) = Query::from_request_parts(parts, state).await?;
        Self::new(limit, cursor.as_deref())
    }
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    limit: usize,
    /// The id after which it begins.
    pub(crate) after: Option<String>,
}

impl Page {
    pub(crate) fn new(limit: Option<u32>, cursor: Option<&str>) -> Result<Self, Problem> {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Problem::bad_request(format!("`limit` must be a number from 1 to {MAX_LIMIT}")));
        }
        let read = |cursor: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
            String::from_utf8(bytes).ok().filter(|id| !id.is_empty())
        };
        let after = cursor.map(|cursor| read(cursor).ok_or_else(invalid_cursor)).transpose()?;
        Ok(Self { limit: usize::try_from(limit).unwrap_or(usize::MAX), after })
    }

    /// One more than the page size: shows whether another page follows.
    pub(crate) fn lookahead(&self) -> u32 {
        u32::try_from(self.limit).unwrap_or(MAX_LIMIT).saturating_add(1)
    }

    /// Truncates to one page. Returns the cursor of the next one.
    pub(crate) fn truncate<T, P: AsRef<[u8]>>(
        &self,
        items: &mut Vec<T>,
        position: impl Fn(&T) -> P,
    ) -> Option<String> {
        if items.len() <= self.limit {
            return None;
        }
        items.truncate(self.limit);
        items.last().map(|last| URL_SAFE_NO_PAD.encode(position(last)))
    }

    /// This page of a whole list, ordered by id, and the cursor of the next one.
    pub(crate) fn slice<T>(&self, mut items: Vec<T>, id: impl Fn(&T) -> &str) -> (Vec<T>, Option<String>) {
        items.retain(|item| self.after.as_deref().is_none_or(|after| id(item) > after));
        items.sort_by(|one, other| id(one).cmp(id(other)));
        let next = self.truncate(&mut items, |item| id(item).to_owned());
        (items, next)
    }
}

/// For a cursor that is made up, or whose entry is gone.
pub(crate) fn invalid_cursor() -> Problem {
    Problem::bad_request("invalid `cursor`; use the `next_cursor` of a page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_every_entry_once_while_entries_are_removed() {
        let mut all: Vec<String> = (0..25).map(|number| format!("{number:02}")).collect();
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = Page::new(Some(10), cursor.as_deref()).unwrap();
            let (items, next) = page.slice(all.clone(), String::as_str);
            seen.extend(items);
            all.retain(|id| id != "09" && id != "00");
            let Some(next) = next else { break };
            cursor = Some(next);
        }
        assert_eq!(seen, (0..25).map(|number| format!("{number:02}")).collect::<Vec<_>>());
        for (limit, cursor) in [(0, None), (201, None), (1, Some("")), (1, Some("%")), (1, Some("gICA"))] {
            assert!(Page::new(Some(limit), cursor).is_err(), "{limit} {cursor:?}");
        }
    }
}
