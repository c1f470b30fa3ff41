use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::scale::cases;

fn call(id: &str) -> Block {
    Block::Call { id: ModelCallId::new(id), name: "t".to_owned(), arguments: "{}".into(), opaque: None }
}

fn result(id: &str, content: &str) -> Block {
    let content = Arc::new(json!(content));
    Block::Result { id: ModelCallId::new(id), name: "t".to_owned(), content, is_error: false }
}

fn thoughts() -> Block {
    Block::Reasoning { text: "hm".to_owned(), opaque: None }
}

fn user(blocks: Vec<Block>) -> Arc<Message> {
    Arc::new(Message { role: Role::User, blocks })
}

fn model(blocks: Vec<Block>) -> Arc<Message> {
    Arc::new(Message::assistant(blocks))
}

fn words(text: &str) -> Arc<Message> {
    Arc::new(Message::user(text))
}

fn unknown(open: OrphanedCall<'_>) -> MissingResult {
    MissingResult {
        content: Arc::new(json!(format!("journal of {}@{}", open.id, open.place))),
        is_error: true,
    }
}

/// A line for each message: where it came from, who says it, and what.
fn shown(messages: &[Arc<Message>]) -> Vec<String> {
    let repaired = repair(messages, unknown);
    assert_eq!(repaired.messages.len(), repaired.places.len());
    let block = |block: &Block| match block {
        Block::Text { text, .. } | Block::Reasoning { text, .. } => text.clone(),
        Block::Call { id, .. } => format!("{id}?"),
        Block::Result { id, content, .. } => format!("{id}={}", content.as_str().unwrap()),
        Block::Image(_) | Block::Opaque(_) => "*".to_owned(),
    };
    let line = |(message, place): (&Arc<Message>, &usize)| {
        let role = if message.role == Role::User { "u" } else { "a" };
        format!("{place}{role} {}", message.blocks.iter().map(block).collect::<Vec<_>>().join(" "))
    };
    repaired.messages.iter().zip(&repaired.places).map(line).collect()
}

#[test]
fn a_sound_thread_stays_the_very_same() {
    let thread = [
        words("add"),
        model(vec![thoughts(), Block::text("let me see"), call("x"), call("y")]),
        user(vec![result("x", "1"), result("y", "2"), Block::text("and hurry")]),
        model(vec![Block::text("3")]),
        words("thanks"),
        words("one more"),
    ];
    let repaired = repair(&thread, unknown);
    assert!(repaired.messages.iter().zip(&thread).all(|(after, before)| Arc::ptr_eq(after, before)));
    assert_eq!(repaired.places, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn an_open_call_is_answered_from_the_journal() {
    let thread =
        [words("go"), model(vec![call("x"), call("y")]), user(vec![result("y", "2")]), words("still?")];
    assert_eq!(shown(&thread), ["0u go", "1a x? y?", "2u x=journal of x@1 y=2", "3u still?"]);
    let cut = [words("go"), model(vec![call("x")]), words("never mind")];
    assert_eq!(shown(&cut), ["0u go", "1a x?", "1u x=journal of x@1", "2u never mind"]);
}

#[test]
fn results_come_right_after_their_calls_and_in_their_order() {
    let thread = [
        model(vec![call("x"), call("y")]),
        user(vec![Block::text("meanwhile"), result("y", "2")]),
        user(vec![result("x", "1"), Block::text("later")]),
    ];
    assert_eq!(shown(&thread), ["0a x? y?", "1u x=1 y=2 meanwhile", "2u later"]);
    let late = [model(vec![call("x")]), words("well?"), user(vec![result("x", "1")])];
    assert_eq!(shown(&late), ["0a x?", "0u x=1", "1u well?"]);
}

#[test]
fn results_without_a_call_second_results_and_empty_turns_are_gone() {
    let thread = [
        user(vec![result("gone", "?"), Block::text("hello")]),
        model(vec![thoughts()]),
        model(vec![Block::text("  \n")]),
        model(vec![call("x")]),
        user(vec![result("x", "1"), result("x", "again")]),
        user(vec![]),
        user(vec![call("unpaired")]),
    ];
    assert_eq!(shown(&thread), ["0u hello", "3a x?", "4u x=1"]);
}

#[test]
fn ids_that_are_used_twice_or_empty_are_renamed_with_their_results() {
    let thread = [
        model(vec![call("c"), call("c")]),
        user(vec![result("c", "first"), result("c", "second")]),
        model(vec![call("c_2"), call("")]),
        user(vec![result("", "nameless"), result("c_2", "third")]),
        model(vec![call("c")]),
        user(vec![result("c", "fourth")]),
    ];
    assert_eq!(
        shown(&thread),
        [
            "0a c? c_2?",
            "1u c=first c_2=second",
            "2a c_2_2? call?",
            "3u c_2_2=third call=nameless",
            "4a c_3?",
            "5u c_3=fourth",
        ]
    );
}

#[test]
fn an_id_that_is_used_again_belongs_to_the_newest_turn() {
    let thread =
        [model(vec![call("c")]), words("stopped"), model(vec![call("c")]), user(vec![result("c", "1")])];
    assert_eq!(shown(&thread), ["0a c?", "0u c=journal of c@0", "1u stopped", "2a c_2?", "3u c_2=1"]);
}

fn thread() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let block = prop_oneof![
        "[ a]{0,2}".prop_map(Block::text),
        Just(thoughts()),
        "[ab]?|a_2".prop_map(|id| call(&id)),
        ("[ab]?|a_2", "[a-z]{3}").prop_map(|(id, content)| result(&id, &content)),
    ];
    let message = (any::<bool>(), prop::collection::vec(block, 0..5));
    let message =
        message.prop_map(|(assistant, blocks)| if assistant { model(blocks) } else { user(blocks) });
    prop::collection::vec(message, 0..10)
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_repaired_thread_can_always_be_sent(thread in thread()) {
        let repaired = repair(&thread, unknown);
        prop_assert!(is_sound(&repaired.messages));
        // The same said once more, without the words of `is_sound`.
        let mut ids = HashSet::new();
        let mut wanted: Vec<&ModelCallId> = Vec::new();
        for message in &repaired.messages {
            let results: Vec<_> = message.blocks.iter().filter_map(|block| match block {
                Block::Result { id, .. } => Some(id),
                _ => None,
            }).collect();
            prop_assert_eq!(&results, &wanted);
            wanted = message.blocks.iter().filter_map(|block| match block {
                Block::Call { id, .. } => Some(id),
                _ => None,
            }).collect();
            prop_assert!(wanted.iter().all(|id| !id.as_str().is_empty() && ids.insert((*id).clone())));
            prop_assert!(wanted.is_empty() || message.role == Role::Assistant);
            prop_assert!(results.is_empty() || message.role == Role::User);
        }
        prop_assert!(wanted.is_empty());
        prop_assert!(repaired.places.is_sorted());
    }

    #[test]
    fn repairing_twice_is_repairing_once(thread in thread()) {
        let once = repair(&thread, unknown);
        let twice = repair(&once.messages, |_| panic!("everything is answered"));
        prop_assert_eq!(once.messages, twice.messages);
    }

    #[test]
    fn no_word_and_no_call_is_lost(thread in thread()) {
        let count = |messages: &[Arc<Message>], wanted: fn(Role, &Block) -> bool| {
            let blocks = messages.iter().flat_map(|message| message.blocks.iter().map(|block| (message.role, block)));
            blocks.filter(|(role, block)| wanted(*role, block)).count()
        };
        let repaired = repair(&thread, unknown).messages;
        let says: fn(Role, &Block) -> bool = |_, block| matches!(block, Block::Text { text, .. } if !text.trim().is_empty());
        prop_assert_eq!(count(&thread, says), count(&repaired, says));
        let calls: fn(Role, &Block) -> bool = |role, block| role == Role::Assistant && matches!(block, Block::Call { .. });
        prop_assert_eq!(count(&thread, calls), count(&repaired, calls));
    }

    #[test]
    fn a_thread_that_grows_keeps_its_names(thread in thread(), more in "[a-z]{3}") {
        let before = repair(&thread, unknown).messages;
        let mut longer = thread;
        longer.push(words(&more));
        let after = repair(&longer, unknown).messages;
        prop_assert_eq!(&after[..before.len()], &before[..]);
    }
}
