use proptest::prelude::*;
use toolroom::clock::Timestamp;
use toolroom::memory::Category;
use toolroom::policy::Provenance;

use super::*;
use crate::scale::cases;

fn memory(key: &str, content: &str, hits: u64) -> Memory {
    let at = Timestamp::from_micros(0);
    let (key, content) = (key.to_owned(), content.to_owned());
    Memory {
        key,
        content,
        category: Category::General,
        hits,
        source: None,
        created_at: at,
        updated_at: at,
        stored_under: Provenance::NONE,
    }
}

fn some() -> Vec<Memory> {
    vec![
        memory("user_birthday", "The user was born on the 3rd of May.", 1),
        memory("hotel", "The user liked the Große Straße hotel in Tashkent; the breakfast was good.", 3),
        memory("coffee", "The user drinks espresso without sugar in the morning.", 2),
        memory("家族", "用户有两个女儿。", 1),
        memory("editor", "Uses C++ and vim.", 1),
    ]
}

fn found(query: &str) -> Vec<String> {
    MemoryQuery::new(query).ranked(some()).into_iter().map(|memory| memory.key).collect()
}

#[test]
fn a_part_of_a_text_is_enough_in_any_case_and_script() {
    for (query, key) in [
        ("BIRTHDAY", "user_birthday"),
        ("spress", "coffee"),
        ("GROSSE STRASSE", "hotel"),
        ("女儿", "家族"),
        ("c++", "editor"),
        ("3rd of may", "user_birthday"),
        (" tashkent ", "hotel"),
        ("++", "editor"),
    ] {
        assert_eq!(found(query).first().map(String::as_str), Some(key), "{query}");
    }
    assert_eq!(found("zebra"), [""; 0]);
    assert_eq!(found("%%"), [""; 0]);
}

#[test]
fn rare_words_count_more_than_common_ones() {
    assert_eq!(found("what does the user drink with sugar")[0], "coffee");
    assert_eq!(found("the hotel of the user")[0], "hotel");
    assert_eq!(found("user born")[0], "user_birthday");
}

#[test]
fn keys_count_more_than_contents_and_equals_go_by_their_counts() {
    let memories = vec![memory("a", "tea", 1), memory("b", "tea", 7), memory("tea", "a drink", 1)];
    let keys = |query: &str| -> Vec<String> {
        MemoryQuery::new(query).ranked(memories.clone()).into_iter().map(|memory| memory.key).collect()
    };
    assert_eq!(keys("tea"), ["tea", "b", "a"]);
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn what_is_written_in_a_memory_finds_it(content in "\\PC{1,40}", from in 0_usize..40, others in proptest::collection::vec("\\PC{0,40}", 0..5)) {
        let query: String = content.chars().skip(from % content.chars().count()).collect();
        prop_assume!(!query.trim().is_empty());
        let mut memories: Vec<Memory> = others.iter().map(|other| memory("other", other, 1)).collect();
        memories.push(memory("it", &content, 1));
        let found = MemoryQuery::new(&query.to_uppercase()).ranked(memories.clone());
        let folds_alike = fold_case(&content).contains(&fold_case(query.to_uppercase().trim()));
        prop_assert!(!folds_alike || found.iter().any(|memory| memory.key == "it"));
        prop_assert!(found.len() <= memories.len());
    }
}
