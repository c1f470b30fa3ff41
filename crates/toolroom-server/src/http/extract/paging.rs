//! Long lists, one page after the other.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::problem::Problem;

/// So many where nobody says.
const USUAL: u32 = 50;

/// The most of one page.
const MOST: u32 = 200;

/// Which part of a list is wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// At most so many.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page before ended: its `next_cursor`.
    cursor: Option<String>,
}

impl PageQuery {
    pub(crate) fn page(self) -> Result<Page, Problem> {
        Page::new(self.limit, self.cursor.as_deref())
    }
}

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Page {
    limit: usize,
    /// The id behind which it begins.
    pub(crate) after: Option<String>,
}

impl Page {
    pub(crate) fn new(limit: Option<u32>, cursor: Option<&str>) -> Result<Self, Problem> {
        let limit = limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Problem::bad_request(format!("`limit` is a number from 1 to {MOST}")));
        }
        let read = |cursor: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
            String::from_utf8(bytes).ok().filter(|id| !id.is_empty())
        };
        let after = cursor.map(|cursor| read(cursor).ok_or_else(not_ours)).transpose()?;
        Ok(Self { limit: usize::try_from(limit).unwrap_or(usize::MAX), after })
    }

    /// One more than a page, which tells whether there is another.
    pub(crate) fn and_one_more(&self) -> u32 {
        u32::try_from(self.limit).unwrap_or(MOST).saturating_add(1)
    }

    /// Cuts what is more than a page; says where the next one begins.
    pub(crate) fn cut<T, P: AsRef<[u8]>>(
        &self,
        items: &mut Vec<T>,
        place: impl Fn(&T) -> P,
    ) -> Option<String> {
        if items.len() <= self.limit {
            return None;
        }
        items.truncate(self.limit);
        items.last().map(|last| URL_SAFE_NO_PAD.encode(place(last)))
    }

    /// The part of a whole list, which is put in the order of its ids.
    pub(crate) fn of<T>(&self, mut items: Vec<T>, id: impl Fn(&T) -> &str) -> (Vec<T>, Option<String>) {
        items.retain(|item| self.after.as_deref().is_none_or(|after| id(item) > after));
        items.sort_by(|one, other| id(one).cmp(id(other)));
        let next = self.cut(&mut items, |item| id(item).to_owned());
        (items, next)
    }
}

/// Somebody made up where a page ended, or what was there is gone.
pub(crate) fn not_ours() -> Problem {
    Problem::bad_request("this `cursor` is none of ours; take the `next_cursor` of a page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_everything_once_whatever_comes_and_goes_between() {
        let mut all: Vec<String> = (0..25).map(|number| format!("{number:02}")).collect();
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = Page::new(Some(10), cursor.as_deref()).unwrap();
            let (items, next) = page.of(all.clone(), String::as_str);
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
