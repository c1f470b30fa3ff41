//! Time zones by their own names and those of large cities and of countries with one zone.

use std::sync::LazyLock;

/// A line for each zone: its name, a colon, aliases. Its city is the last part of its name.
const FILE: &str = include_str!("zones.txt");

/// Names in lower case, longest first, so that the longest name matches.
static NAMES: LazyLock<Vec<(String, &'static str)>> = LazyLock::new(|| {
    let mut names = Vec::new();
    for line in FILE.lines().filter(|line| !line.starts_with('#')) {
        let Some((zone, others)) = line.split_once(':') else { continue };
        let city = zone.rsplit('/').next().unwrap_or(zone).replace('_', " ");
        let others = others.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.push((city.to_lowercase(), zone));
        names.push((zone.to_lowercase(), zone));
        names.extend(others.map(|name| (name.to_lowercase(), zone)));
    }
    names.sort_unstable_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
    names.dedup();
    names
});

/// The time zone that a sentence names, and its name in lower case. `None` if it names two.
pub(super) fn find(sentence: &str) -> Option<(&'static str, &'static str)> {
    let sentence = sentence.to_lowercase();
    let mut found: Option<(&'static str, &'static str)> = None;
    for (name, zone) in NAMES.iter() {
        let known: Option<&str> = found.map(|(_, name)| name);
        if known.is_some_and(|known| known.contains(name.as_str())) || !has_words(&sentence, name) {
            continue;
        }
        if found.is_some_and(|(known, _)| known != *zone) {
            return None;
        }
        found = found.or(Some((zone, name)));
    }
    found
}

/// Whether a text contains these whole words.
fn has_words(text: &str, words: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + words.len()..).and_then(|behind| behind.chars().next());
        !is_part(before) && !is_part(behind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_by_its_name_its_city_and_its_country() {
        for (sentence, zone) in [
            ("what time is it in Tokyo?", Some("Asia/Tokyo")),
            ("the time in new york, please", Some("America/New_York")),
            ("time in Europe/Berlin", Some("Europe/Berlin")),
            ("how late is it in Uzbekistan", Some("Asia/Tashkent")),
            ("utc time", Some("UTC")),
            ("time in Springfield", None),
            ("from Tokyo to Berlin", None),
            ("a romeo in romeland", None),
            ("", None),
        ] {
            assert_eq!(find(sentence).map(|(zone, _)| zone), zone, "{sentence}");
        }
    }

    #[test]
    fn every_line_names_a_zone_that_exists_and_no_name_has_two() {
        for line in FILE.lines().filter(|line| !line.starts_with('#')) {
            let (zone, _) = line.split_once(':').unwrap();
            assert!(jiff::tz::TimeZone::get(zone).is_ok(), "{zone}");
        }
        let mut names: Vec<&str> = NAMES.iter().map(|(name, _)| name.as_str()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
