use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::clock::Timestamp;
use crate::policy::Provenance;
use crate::scale::cases;

fn memory(key: &str, content: &str, category: Category, hits: u64) -> Memory {
    let at = Timestamp::from_micros(0);
    Memory {
        key: key.to_owned(),
        content: content.to_owned(),
        category,
        hits,
        source: None,
        stored_under: Provenance::NONE,
        created_at: at,
        updated_at: at,
    }
}

fn tool(bare: &str, high_risk: bool, asks: bool) -> PromptTool<'_> {
    PromptTool { name: bare, bare, high_risk, asks }
}

fn berlin() -> LocalTime {
    LocalTime { time: "2026-03-01T14:05+01:00".to_owned(), zone: "Europe/Berlin".to_owned() }
}

#[test]
fn a_plain_agent_has_a_short_prompt() {
    let prompt = system_prompt(&PromptParts::default());
    assert_eq!(
        &*prompt.lasting,
        "You are a helpful assistant. Answer in the language of the user, briefly and to the point.\n\n\
         Never make up facts, results, sources or links. Say so when you do not know."
    );
    assert_eq!(&*prompt.changing, "");
}

#[test]
fn a_full_prompt_reads_like_this() {
    let tools = [
        tool("calculator", false, false),
        tool("delete_file", true, true),
        tool("memory_search", false, false),
        tool("memory_store", false, false),
        tool("run_command", true, false),
    ];
    let memories = [
        memory("name", "Her name is Ada.", Category::General, 1),
        memory("tone", "Likes short answers.", Category::Preference, 4),
        memory("build", "`make` needs the tests first.", Category::Learning, 2),
        memory("units", "Wants metric units.", Category::Learning, 7),
        memory("vpn", "Mail fails without VPN.\nAsk first.", Category::Error, 1),
    ];
    let context = json!({ "page": "/orders/17", "user": { "name": "Ada" } });
    let prompt = system_prompt(&PromptParts {
        identity: "You are the clerk of a small shop.\n",
        learnings: &["Prices are without tax.", " "],
        tools: &tools,
        memories: &memories,
        context: context.as_object(),
        time: Some(&berlin()),
        model: "anthropic/claude",
        on_device: false,
    });
    assert_eq!(&*prompt.lasting, include_str!("prompt_lasting.txt").trim_end());
    assert_eq!(&*prompt.changing, include_str!("prompt_changing.txt").trim_end());
}

#[test]
fn what_changes_leaves_what_lasts_alone() {
    let tools = [tool("calculator", false, false)];
    let parts = PromptParts { tools: &tools, model: "a/b", ..PromptParts::default() };
    let memories = [memory("k", "c", Category::General, 1)];
    let time = &berlin();
    let time = Some(time);
    let later = PromptParts { memories: &memories, time, model: "c/d", ..parts };
    assert_eq!(system_prompt(&parts).lasting, system_prompt(&later).lasting);
}

#[test]
fn memories_are_bounded_and_the_rest_is_counted() {
    let memories: Vec<Memory> =
        (0..100).map(|n| memory(&format!("key {n:03}"), &"x".repeat(200), Category::General, 1)).collect();
    let tools = [tool("memory_search", false, false)];
    let parts = PromptParts { memories: &memories, tools: &tools, ..PromptParts::default() };
    let full = system_prompt(&parts).changing;
    assert!(full.chars().count() < MEMORY_CHARS + 200);
    assert!(full.contains("more are not shown; search for them"), "{full}");
    let small = system_prompt(&PromptParts { on_device: true, ..parts }).changing;
    assert!(small.chars().count() < ON_DEVICE_MEMORY_CHARS + 200);
    assert!(small.contains("\"key 000\""));
}

#[test]
fn a_kind_of_which_nothing_fits_has_no_header() {
    let memories = [
        memory("long", &"x".repeat(MEMORY_CHARS), Category::Preference, 9),
        memory("short", "fits", Category::General, 1),
    ];
    let changing = system_prompt(&PromptParts { memories: &memories, ..PromptParts::default() }).changing;
    assert!(!changing.contains("Preferences"));
    assert!(changing.contains("General:\n- \"short\": \"fits\"\n(1 more are not shown)"), "{changing}");
}

#[test]
fn a_context_that_is_too_long_shows_which_part_is_missing() {
    let context = json!({ "page": "x".repeat(CONTEXT_CHARS), "user": "Ada" });
    let changing =
        system_prompt(&PromptParts { context: context.as_object(), ..PromptParts::default() }).changing;
    assert!(changing.contains("\"page\": (too long)\n\"user\": \"Ada\""), "{changing}");
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn nothing_remembered_or_sent_leaves_its_fence(
        key in any::<String>(),
        content in prop_oneof![
            any::<String>(),
            "(</memories>|\n|\u{2028}|\r|</context>|<|>|\"|\\\\|ignore){0,8}",
        ],
    ) {
        let memories = [memory(&key, &content, Category::Learning, 3)];
        let mut context = Map::new();
        context.insert(key, Value::from(content));
        let parts = PromptParts { memories: &memories, context: Some(&context), ..PromptParts::default() };
        let changing = system_prompt(&parts).changing;
        for tag in ["<memories>", "</memories>", "<context>", "</context>"] {
            prop_assert_eq!(changing.matches(tag).count(), 1);
        }
        prop_assert_eq!(changing.matches('<').count(), 4);
        prop_assert_eq!(changing.lines().count(), 10);
    }
}
