//! A line diff of two definitions, with hidden characters escaped.

use serde_json::Value;

use crate::cli::console::output::{GREEN, RED, visible};

/// Longer documents are shown whole, one after the other.
const MAX_LINES: usize = 600;

/// Removed and added lines, with unchanged ones around them.
pub(super) fn diff(before: Option<&Value>, after: Option<&Value>) -> String {
    let (before, after) = (lines(before), lines(after));
    let mut shown = String::new();
    for (kind, line) in compared(&before, &after) {
        let line = visible(line);
        match kind {
            LineKind::Removed => shown.push_str(&format!("{RED}- {line}{RED:#}\n")),
            LineKind::Added => shown.push_str(&format!("{GREEN}+ {line}{GREEN:#}\n")),
            LineKind::Same => shown.push_str(&format!("  {line}\n")),
        }
    }
    shown
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Removed,
    Added,
    Same,
}

fn lines(document: Option<&Value>) -> Vec<String> {
    let mut document = document.cloned().unwrap_or_default();
    if document.is_null() {
        return Vec::new();
    }
    document.sort_all_objects();
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A diff by the longest common subsequence.
fn compared<'l>(before: &'l [String], after: &'l [String]) -> Vec<(LineKind, &'l str)> {
    let all = |kind, lines: &'l [String]| lines.iter().map(move |line| (kind, line.as_str()));
    if before.len().max(after.len()) > MAX_LINES {
        return all(LineKind::Removed, before).chain(all(LineKind::Added, after)).collect();
    }
    let width = after.len() + 1;
    let mut common = vec![0_u32; (before.len() + 1) * width];
    let at = |table: &[u32], row: usize, column: usize| table.get(row * width + column).copied().unwrap_or(0);
    for (row, old) in before.iter().enumerate().rev() {
        for (column, new) in after.iter().enumerate().rev() {
            let length = match old == new {
                true => at(&common, row + 1, column + 1) + 1,
                false => at(&common, row + 1, column).max(at(&common, row, column + 1)),
            };
            if let Some(cell) = common.get_mut(row * width + column) {
                *cell = length;
            }
        }
    }
    let (mut row, mut column, mut shown) = (0, 0, Vec::new());
    loop {
        match (before.get(row), after.get(column)) {
            (Some(old), Some(new)) if old == new => {
                shown.push((LineKind::Same, old.as_str()));
                row += 1;
                column += 1;
            }
            (Some(old), new)
                if new.is_none() || at(&common, row + 1, column) >= at(&common, row, column + 1) =>
            {
                shown.push((LineKind::Removed, old.as_str()));
                row += 1;
            }
            (_, Some(new)) => {
                shown.push((LineKind::Added, new.as_str()));
                column += 1;
            }
            (_, None) => return shown,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_changed_lines_are_marked_and_hidden_characters_are_escaped() {
        let before = json!({"description": "Adds", "name": "add"});
        let after = json!({"name": "add", "description": "Adds\u{200b} and sends\u{202e}"});
        let shown = anstream::adapter::strip_str(&diff(Some(&before), Some(&after))).to_string();
        let expected = "  {\n-   \"description\": \"Adds\",\n\
                        +   \"description\": \"Adds\\u{200b} and sends\\u{202e}\",\n    \"name\": \"add\"\n  }\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn new_and_long_documents_are_shown_whole() {
        let shown = anstream::adapter::strip_str(&diff(None, Some(&json!({"a": 1})))).to_string();
        assert_eq!(shown, "+ {\n+   \"a\": 1\n+ }\n");
        let long = json!((0..1_000).collect::<Vec<_>>());
        let shown = diff(Some(&long), Some(&json!([1])));
        assert_eq!(anstream::adapter::strip_str(&shown).to_string().matches("- ").count(), 1_002);
    }
}
