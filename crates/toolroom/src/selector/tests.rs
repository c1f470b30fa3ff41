use proptest::prelude::*;

use super::*;
use crate::scale::cases;

fn card(name: &str, description: &str) -> ToolCard {
    ToolCard {
        id: format!("app:{name}"),
        name: name.to_owned(),
        description: description.to_owned(),
        ..ToolCard::default()
    }
}

fn room() -> Vec<ToolCard> {
    vec![
        card("calculator", "Evaluate a formula and give the exact result"),
        card("get_local_time", "Tell the current time in a time zone"),
        card("send_mail", "Send an email to one or more people"),
        card("file_read", "Read a text file of the workspace"),
        card("web_fetch", "Fetch a web page and give its text"),
        card("wetter_bericht", "Zeigt das Wetter für einen Ort an"),
        card("tianqi", "查询城市天气预报"),
    ]
}

fn first(message: &str) -> Option<String> {
    Selector::new(room()).rank(message, 5).tools.into_iter().next().map(|ranked| ranked.id)
}

#[test]
fn a_request_finds_its_tool_by_words_endings_and_concepts() {
    for (message, id) in [
        ("What time is it in Tokyo?", "app:get_local_time"),
        ("please evaluate these formulas", "app:calculator"),
        ("could you e-mail Ann about the meeting", "app:send_mail"),
        ("send_mail", "app:send_mail"),
        ("sendMail to Bob", "app:send_mail"),
        ("I want to read the FILE notes.txt", "app:file_read"),
        ("download this webpage", "app:web_fetch"),
    ] {
        assert_eq!(first(message).as_deref(), Some(id), "{message}");
    }
}

#[test]
fn coverage_names_the_words_a_tool_does_not_have() {
    let selector = Selector::new(room());
    let coverage = |id: &str, message: &str| {
        let WordCoverage { matched, unmatched } = selector.coverage(id, message);
        (matched, unmatched.join(" "))
    };
    assert_eq!(coverage("app:get_local_time", "What's the current time?"), (1, String::new()));
    assert_eq!(
        coverage("app:get_local_time", "What time is it in Springfield?"),
        (1, "springfield".to_owned())
    );
    assert_eq!(coverage("app:file_read", "read the file, write a file"), (2, "write".to_owned()));
    assert_eq!(coverage("app:missing", "current time"), (0, "time".to_owned()));
    assert_eq!(coverage("app:file_read", "please could you"), (0, String::new()));
}

#[test]
fn slips_and_other_languages_are_found_by_their_letters() {
    for (message, id) in [
        ("calculater", "app:calculator"),
        ("Wie wird das Wetter in Ulm", "app:wetter_bericht"),
        ("wetterberichte", "app:wetter_bericht"),
        ("明天天气怎么样", "app:tianqi"),
    ] {
        assert_eq!(first(message).as_deref(), Some(id), "{message}");
    }
}

#[test]
fn nothing_is_named_where_nothing_fits() {
    let selector = Selector::new(room());
    for message in
        ["", "   \n", "hello, how are you?", "thank you so much", "🙂🙂", "xyzzy plugh", "12345", "!?"]
    {
        let ranking = selector.rank(message, 5);
        assert!(ranking.abstained && ranking.tools.is_empty(), "{message}: {ranking:?}");
    }
    assert!(Selector::new([card("", ""), card("?!", "")]).rank("", 5).abstained, "no words are no name");
    let nobody = Selector::new([]);
    assert!(nobody.is_empty() && nobody.rank("anything", 5).abstained);
}

#[test]
fn past_requests_teach_words_that_no_definition_has() {
    let mut cards = room();
    assert_ne!(first("shoot Ann a line").as_deref(), Some("app:send_mail"));
    cards[2] = cards[2].clone().with_requests(["shoot Bob a line".to_owned()]);
    assert_eq!(Selector::new(cards).rank("shoot Ann a line", 1).tools[0].id, "app:send_mail");
}

#[test]
fn equal_tools_come_in_the_order_of_their_ids() {
    let twins = ["b", "a", "c"].map(|id| ToolCard { id: id.to_owned(), ..card("weather", "Weather") });
    let ranking = Selector::new(twins).rank("weather", 2);
    assert_eq!(ranking.tools.iter().map(|ranked| ranked.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!((ranking.tools[0].score - ranking.tools[1].score).abs() < f32::EPSILON);
}

#[test]
fn what_is_asked_may_stand_behind_what_was_pasted() {
    let selector = Selector::new(room());
    let pasted = "lorem ipsum dolor ".repeat(100_000);
    assert_eq!(selector.rank(&format!("{pasted} send this as an email"), 1).tools[0].id, "app:send_mail");
    assert_eq!(selector.rank(&format!("send this as an email: {pasted}"), 1).tools[0].id, "app:send_mail");
}

#[test]
fn only_so_many_requests_of_a_tool_count_and_those_are_the_last() {
    let all: Vec<String> = (0..REQUESTS + 5).map(|n| format!("zebra{n}x")).collect();
    let learned = card("learned", "Learns").with_requests(all);
    let selector = Selector::new([learned, card("other", "Else")]);
    assert!(selector.rank("zebra0x", 1).abstained);
    assert_eq!(selector.rank(&format!("zebra{}x", REQUESTS + 4), 1).tools.len(), 1);
}

#[test]
fn all_tools_are_offered_when_they_fit_and_the_best_ones_otherwise() {
    let weighed = |id, tokens| SizedTool { id, tokens };
    let tools = [weighed("c", 50), weighed("a", 30), weighed("b", 100), weighed("d", u64::MAX)];
    let unasked = || -> Ranking { panic!("nothing has to be ranked") };
    assert!(fits_budget(&tools[..3], 180) && !fits_budget(&tools[..3], 179) && !fits_budget(&tools, 1_000));
    assert_eq!(offered(&tools[..3], 180, unasked), ["a", "b", "c"]);
    let ranked = |id: &str| Ranked { id: id.to_owned(), score: 1.0 };
    let ranking = || Ranking { tools: ["c", "b", "gone", "a"].map(ranked).into(), abstained: false };
    assert_eq!(offered(&tools, 100, ranking), ["a", "c"], "`b` is too large, what is behind it is not");
    assert!(offered(&tools, 0, ranking).is_empty());
}

#[test]
fn words_are_split_as_people_write_them() {
    let check = |text: &str, expected: &[&str]| {
        let mut found = Vec::new();
        words::each(text, |word| found.push(word.to_owned()));
        assert_eq!(found, expected, "{text}");
    };
    check("getLocal-time", &["get", "local", "getlocal", "time"]);
    check("PDFTool v2", &["pdf", "tool", "pdftool", "v2"]);
    check("Ann's don't ÄRGER", &["ann", "s", "dont", "ärger"]);
    check("天气预报 ok", &["天气", "气预", "预报", "ok"]);
    check("猫", &["猫"]);
    check("a天b", &["a", "天", "b"]);
}

#[test]
fn stems_are_those_of_the_same_word() {
    for (one, other) in [
        ("calculate", "calculators"),
        ("prices", "price"),
        ("running", "run"),
        ("companies", "company"),
        ("translation", "translate"),
        ("hopping", "hop"),
        ("recipes", "recipe"),
    ] {
        let [mut one, mut other] = [one.to_owned(), other.to_owned()];
        stem::stem(&mut one);
        stem::stem(&mut other);
        assert_eq!(one, other);
    }
}

/// Words that say something, of several scripts and with slips.
fn content() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "weather",
        "invoice",
        "translate",
        "zebra",
        "Wetter",
        "天气预报",
        "résumé",
        "playlist",
        "chess",
        "harbour",
        "кошка",
        "ticket",
        "getTime",
        "kebab-case",
        "snake_case",
    ]);
    prop::collection::vec(words, 1..5).prop_map(|words| words.join(" "))
}

fn cards() -> impl Strategy<Value = Vec<ToolCard>> {
    let parts = (content(), content(), prop::collection::vec(content(), 0..3), any::<bool>());
    let one = parts.prop_map(|(name, description, requests, when)| ToolCard {
        when_to_use: when.then(|| description.clone()),
        requests,
        ..card(&name, &description)
    });
    prop::collection::vec(one, 1..12).prop_map(|mut cards| {
        for (n, card) in cards.iter_mut().enumerate() {
            card.id = format!("app:{n}");
        }
        cards
    })
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn no_text_is_too_odd(name in ".{0,40}", text in ".{0,200}", request in ".{0,80}", message in ".{0,300}", limit in 0usize..4) {
        let odd = card(&name, &text).with_requests([request]);
        let ranking = Selector::new([odd, card("calculator", "Adds")]).rank(&message, limit);
        prop_assert!(ranking.tools.len() <= limit);
        prop_assert!(ranking.tools.iter().all(|ranked| ranked.score.is_finite() && ranked.score > 0.0));
    }

    #[test]
    fn the_order_of_cards_makes_no_difference(cards in cards(), message in content(), turn in 0usize..12) {
        let mut turned = cards.clone();
        turned.rotate_left(turn % cards.len());
        turned.reverse();
        prop_assert_eq!(Selector::new(cards).rank(&message, 20), Selector::new(turned).rank(&message, 20));
    }

    #[test]
    fn fewer_asked_for_are_the_first_of_more(cards in cards(), message in content(), limit in 1usize..6) {
        let selector = Selector::new(cards);
        let mut all = selector.rank(&message, 100).tools;
        prop_assert!(all.is_sorted_by(|a, b| a.score > b.score || (a.score == b.score && a.id < b.id)));
        all.truncate(limit);
        prop_assert_eq!(selector.rank(&message, limit).tools, all);
    }

    #[test]
    fn a_tool_is_found_by_its_own_name(cards in cards(), which in 0usize..12) {
        let which = which % cards.len();
        let (id, name) = (cards[which].id.clone(), cards[which].name.clone());
        let ranking = Selector::new(cards).rank(&name, 12);
        prop_assert!(ranking.tools.iter().any(|ranked| ranked.id == id), "{} in {:?}", name, ranking);
    }

    #[test]
    fn a_request_never_lowers_the_tool_it_chose(cards in cards(), which in 0usize..12, message in content()) {
        let which = which % cards.len();
        let id = cards[which].id.clone();
        let place = |cards: Vec<ToolCard>| {
            let ranked = Selector::new(cards).rank(&message, usize::MAX).tools;
            ranked.iter().position(|ranked| ranked.id == id).unwrap_or(usize::MAX)
        };
        let before = place(cards.clone());
        let mut taught = cards;
        taught[which].requests.push(message.clone());
        let after = place(taught);
        prop_assert!(after <= before, "{} before, {} after", before, after);
    }
}
