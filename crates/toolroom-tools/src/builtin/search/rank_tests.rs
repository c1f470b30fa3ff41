//! What is found in which order.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::scale::cases;

/// Something to find, owned.
#[derive(Debug, Clone)]
struct Thing {
    id: String,
    handles: Vec<String>,
    texts: Vec<String>,
    uses: u64,
    days: u64,
}

impl Thing {
    fn tool(id: &str, title: &str, texts: &[&str]) -> Self {
        let bare = id.rsplit(':').next().unwrap();
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        Self { id: id.to_owned(), handles: vec![bare.to_owned(), title.to_owned()], texts, uses: 0, days: 0 }
    }

    fn used(self, uses: u64, days: u64) -> Self {
        Self { uses, days, ..self }
    }

    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            kind: Kind::Tool,
            id: &self.id,
            source: self.id.rsplit_once(':').map_or("", |(source, _)| source),
            name: self.handles.last().unwrap(),
            handles: self.handles.iter().map(String::as_str).collect(),
            texts: self.texts.iter().map(String::as_str).collect(),
            frecency: Frecency::new(self.uses, Duration::from_secs(self.days * 86_400)),
        }
    }
}

fn ranked<'a>(query: &str, things: &'a [Thing]) -> Vec<Ranked<'a>> {
    rank(&Query::parse(query), things.iter().map(Thing::candidate))
}

fn things() -> Vec<Thing> {
    vec![
        Thing::tool("builtin:calculator", "Calculator", &["Evaluate a mathematical expression", "math"])
            .used(1, 20),
        Thing::tool("builtin:get_local_time", "Local Time", &["The current date", "time", "clock"]),
        Thing::tool("builtin:send_email", "Send Email", &["Write to friends", "communication"]).used(3, 0),
        Thing::tool("mcp:github:createIssue", "Create Issue", &["Open a ticket", "time"]).used(2, 1),
        Thing::tool("mcp:github:time", "Time", &["When the server was started"]),
        Thing::tool("app:timer", "Egg Timer", &["Rings a bell"]).used(1, 0),
        Thing::tool("app:wetter", "天气查询", &["查询明天的天气", "Größe"]),
    ]
}

#[test]
fn a_stronger_match_comes_first_and_among_equals_the_more_used() {
    use Tier::{Exact, Fuzzy, Prefix, Text, Word};
    let check = |query: &str, expected: &[(&str, Tier)]| {
        let things = things();
        let found = ranked(query, &things);
        let found: Vec<(&str, Tier)> =
            found.iter().map(|ranked| (ranked.candidate.id, ranked.tier)).collect();
        assert_eq!(found, expected, "{query}");
    };
    let local_time = "builtin:get_local_time";
    check(
        "time",
        &[
            ("mcp:github:time", Exact),
            ("app:timer", Prefix),
            (local_time, Word),
            ("mcp:github:createIssue", Text),
        ],
    );
    // In every spelling of the separators.
    for query in
        ["get-local-time", "GET_LOCAL_TIME", "get local time", "getLocalTime", "builtin:get_local_time"]
    {
        check(query, &[(local_time, Exact)]);
    }
    check("local", &[(local_time, Prefix)]);
    check("ti lo", &[(local_time, Word)]);
    check("localt", &[(local_time, Prefix)]);
    check("clc", &[("builtin:calculator", Fuzzy)]);
    check("mail", &[("builtin:send_email", Fuzzy)]);
    check("create issue", &[("mcp:github:createIssue", Exact)]);
    check("github ticket", &[("mcp:github:createIssue", Text)]);
    check("math", &[("builtin:calculator", Text)]);
    check("mathematical expr", &[("builtin:calculator", Text)]);
    check("ression", &[]);
    check("查询", &[("app:wetter", Fuzzy)]);
    check("明天", &[("app:wetter", Text)]);
    check("GRÖẞE", &[("app:wetter", Text)]);
    check("nothing of that kind", &[]);
    check("mcp:github", &[("mcp:github:createIssue", Prefix), ("mcp:github:time", Prefix)]);
    check("@github time", &[("mcp:github:time", Exact), ("mcp:github:createIssue", Text)]);
    check("@builtin time", &[(local_time, Word)]);
    check("@nowhere time", &[]);
}

#[test]
fn without_a_query_use_alone_decides() {
    let things = things();
    let ids = |query| ranked(query, &things).iter().map(|ranked| ranked.candidate.id).collect::<Vec<_>>();
    let used = ["builtin:send_email", "mcp:github:createIssue", "app:timer", "builtin:calculator"];
    let never = ["builtin:get_local_time", "mcp:github:time", "app:wetter"];
    assert_eq!(ids(""), [&used[..], &never[..]].concat());
    assert_eq!(ids(" -- "), ids(""));
    assert_eq!(ids("@github"), ["mcp:github:createIssue", "mcp:github:time"]);
}

#[test]
fn the_score_is_the_tier_and_the_use() {
    let things = things();
    let scores: Vec<f64> = ranked("time", &things).iter().map(Ranked::score).collect();
    assert_eq!(scores, [5.0, 4.5, 3.0, 1.644]);
    let always = [Thing::tool("app:a", "A", &[]).used(u64::MAX, 0)];
    assert_eq!(ranked("", &always)[0].score(), 0.9999);
}

fn any_word() -> impl Strategy<Value = String> {
    let common = select(vec!["get", "time", "Local", "issue", "größe", "天气", "a", "tim", "🦀"]);
    prop_oneof![4 => common.prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

fn any_name() -> impl Strategy<Value = String> {
    (proptest::collection::vec(any_word(), 1..4), select(vec!["_", "-", " ", "", "."]))
        .prop_map(|(words, separator)| words.join(separator))
}

fn any_things(least: usize) -> impl Strategy<Value = Vec<Thing>> {
    let thing = (any_name(), any_name(), any_name(), 0..4_u64, 0..3_u64);
    proptest::collection::vec(thing, least..20).prop_map(|things| {
        let number =
            |(at, (bare, title, text, uses, days)): (usize, (String, String, String, u64, u64))| Thing {
                id: format!("app:{bare}.{at}"),
                handles: vec![bare, title],
                texts: vec![text],
                uses,
                days,
            };
        things.into_iter().enumerate().map(number).collect()
    })
}

fn any_query() -> impl Strategy<Value = String> {
    prop_oneof![3 => any_name(), 1 => Just(String::new()), 1 => any_name().prop_map(|name| format!("@app {name}"))]
}

fn place(query: &str, things: &[Thing], id: &str) -> Option<(Tier, usize)> {
    let found = ranked(query, things);
    let tier = found.iter().find(|ranked| ranked.candidate.id == id)?.tier;
    let above = found.iter().take_while(|ranked| ranked.candidate.id != id);
    Some((tier, above.filter(|ranked| ranked.tier == tier).count()))
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn the_order_of_the_candidates_makes_no_difference(
        (things, shuffled) in any_things(0).prop_flat_map(|things| (Just(things.clone()), Just(things).prop_shuffle())),
        query in any_query(),
    ) {
        let ids = |things| ranked(&query, things).iter().map(|ranked| ranked.candidate.id.to_owned()).collect::<Vec<_>>();
        prop_assert_eq!(ids(&things), ids(&shuffled));
    }

    #[test]
    fn scores_are_finite_and_never_rise(things in any_things(0), query in any_query()) {
        let found = ranked(&query, &things);
        prop_assert!(found.iter().all(|ranked| (0.0..6.0).contains(&ranked.score())));
        prop_assert!(found.is_sorted_by(|left, right| left.score() >= right.score()));
        prop_assert!(found.is_sorted_by(|left, right| left.order(right) == Ordering::Less), "total and strict");
    }

    #[test]
    fn another_use_never_lowers(things in any_things(1), query in any_query(), which: Index, more in 1..5_u64) {
        let mut after = things.clone();
        let thing = which.get(&things);
        let used = after.iter_mut().find(|other| other.id == thing.id).unwrap();
        (used.uses, used.days) = (used.uses + more, 0);
        match (place(&query, &things, &thing.id), place(&query, &after, &thing.id)) {
            (Some((tier, before)), Some((same, now))) => {
                prop_assert_eq!(tier, same);
                prop_assert!(now <= before);
            }
            (before, now) => prop_assert_eq!(before, now),
        }
    }

    #[test]
    fn a_name_finds_its_thing_exactly(things in any_things(1), which: Index) {
        let thing = which.get(&things);
        for name in [&thing.id, &thing.handles[0], &thing.handles[1]] {
            if !name.trim_start().starts_with('@') && !Query::parse(name).is_empty() {
                prop_assert_eq!(place(name, &things, &thing.id).map(|(tier, _)| tier), Some(Tier::Exact));
            }
        }
    }
}
