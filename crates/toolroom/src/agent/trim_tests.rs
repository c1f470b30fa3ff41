use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::ModelCallId;
use crate::scale::cases;

fn call(id: &str, arguments: &Value) -> Block {
    Block::Call {
        id: ModelCallId::new(id),
        name: "t".to_owned(),
        arguments: arguments.to_string().into(),
        opaque: None,
    }
}

fn result(id: &str, content: Value) -> Block {
    Block::Result {
        id: ModelCallId::new(id),
        name: "t".to_owned(),
        content: Arc::new(content),
        is_error: false,
    }
}

/// A question, a call with its result, and an answer.
fn exchange(name: &str, content: Value) -> Vec<Message> {
    vec![
        Message::user(format!("question {name}")),
        Message::assistant(vec![call(name, &json!({}))]),
        Message { role: Role::User, blocks: vec![result(name, content)] },
        Message::assistant(vec![Block::text(format!("answer {name}"))]),
    ]
}

fn sizes(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(tokens::message).collect()
}

#[test]
fn what_fits_is_sent_whole() {
    let thread = exchange("a", json!("short"));
    let sizes = sizes(&thread);
    let trimmed = trim(&thread, &sizes, sizes.iter().sum()).unwrap();
    assert!(trimmed.shortened.is_empty());
    assert_eq!(trimmed.sent(&thread), thread);
}

#[test]
fn the_oldest_exchanges_are_left_out_whole() {
    let thread = [exchange("a", json!("1")), exchange("b", json!("2")), exchange("c", json!("3"))].concat();
    let sizes = sizes(&thread);
    let all = sizes.iter().sum::<u64>();
    assert_eq!(trim(&thread, &sizes, all - 1).unwrap().first, 4);
    assert_eq!(trim(&thread, &sizes, all / 2).unwrap().first, 8);
}

#[test]
fn the_newest_exchange_stays_with_its_largest_results_shortened() {
    let mut thread = exchange("a", json!("x"));
    thread.extend(exchange("b", json!({ "lines": vec!["a line of the log"; 5_000] })));
    let trimmed = trim(&thread, &sizes(&thread), 2_000).unwrap();
    assert_eq!(trimmed.first, 4);
    assert_eq!(trimmed.shortened.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [6]);
    assert!(trimmed.tokens <= 2_000 && trimmed.tokens > 1_000, "{}", trimmed.tokens);
    let sent = trimmed.clone().sent(&thread);
    assert_eq!(sent.len(), 4);
    assert_eq!(sent[0], thread[4]);
    let Block::Result { content, .. } = &sent[2].blocks[0] else { panic!("a result") };
    let lines = content["lines"].as_array().unwrap();
    assert_eq!(
        (&lines[0], lines.last().unwrap()),
        (&json!("a line of the log"), &json!("a line of the log"))
    );
    assert!(content.to_string().contains("items left out"));
}

#[test]
fn long_words_and_arguments_are_shortened_too() {
    let arguments = json!({ "path": "a.txt", "content": "word ".repeat(5_000) });
    let thread = [
        Message::user("begin ".to_owned() + &"word ".repeat(5_000) + "end"),
        Message::assistant(vec![call("a", &arguments)]),
        Message { role: Role::User, blocks: vec![result("a", json!("written"))] },
    ];
    let trimmed = trim(&thread, &sizes(&thread), 1_500).unwrap();
    let sent = trimmed.clone().sent(&thread);
    let words = sent[0].text();
    assert!(words.starts_with("begin ") && words.ends_with("end") && words.contains("characters left out"));
    let Block::Call { arguments, .. } = &sent[1].blocks[0] else { panic!("a call") };
    assert_eq!(parse_object(arguments).unwrap()["path"], "a.txt");
}

#[test]
fn what_cannot_be_made_to_fit_is_an_error_that_says_how_much_it_takes() {
    let thread = [Message::user("word ".repeat(5_000))];
    let error = trim(&thread, &sizes(&thread), 20).unwrap_err();
    assert!(error.needed > 20 && error.needed < 200, "{error}");
    assert_eq!(error.room, 20);
    assert_eq!(trim::<Message>(&[], &[], 0).unwrap().tokens, 0);
}

fn thread() -> impl Strategy<Value = Vec<Message>> {
    let step = (0_usize..4, 0_usize..600);
    let exchange = (0_usize..400, prop::collection::vec(step, 0..4)).prop_map(|(words, steps)| {
        let mut messages = vec![Message::user("wörd ".repeat(words + 1))];
        for (calls, words) in steps {
            let ids: Vec<String> = (0..calls).map(|call| format!("c{call}")).collect();
            let mut turn = vec![Block::text("so ".repeat(words + 1))];
            turn.extend(ids.iter().map(|id| call(id, &json!({ "text": "arg ".repeat(words) }))));
            messages.push(Message::assistant(turn));
            if calls > 0 {
                let content = json!({ "items": vec!["item"; words], "text": "t".repeat(words) });
                let blocks = ids.iter().map(|id| result(id, content.clone())).collect();
                messages.push(Message { role: Role::User, blocks });
            }
        }
        messages
    });
    prop::collection::vec(exchange, 1..5).prop_map(|exchanges| exchanges.concat())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn what_is_sent_fits_and_is_sound(thread in thread(), room in 0_u64..6_000) {
        let sizes = sizes(&thread);
        match trim(&thread, &sizes, room) {
            Ok(trimmed) => {
                let sent = trimmed.clone().sent(&thread);
                prop_assert!(trimmed.tokens <= room);
                prop_assert_eq!(sent.iter().map(tokens::message).sum::<u64>(), trimmed.tokens);
                prop_assert!(begins_exchange(&sent[0]));
                prop_assert_eq!(sent.len(), thread.len() - trimmed.first);
                let ids = |message: &Message| -> Vec<String> {
                    message.blocks.iter().filter_map(|block| match block {
                        Block::Call { id, .. } | Block::Result { id, .. } => Some(id.to_string()),
                        _ => None,
                    }).collect()
                };
                for (sent, stored) in sent.iter().zip(&thread[trimmed.first..]) {
                    prop_assert_eq!(ids(sent), ids(stored));
                    prop_assert_eq!(sent.blocks.len(), stored.blocks.len());
                }
                // Nothing is left out or shortened without need.
                if trimmed.first > 0 || !trimmed.shortened.is_empty() {
                    prop_assert!(sizes.iter().sum::<u64>() > room);
                }
                if !trimmed.shortened.is_empty() {
                    prop_assert!(thread[trimmed.first + 1..].iter().all(|message| !begins_exchange(message)));
                }
            }
            Err(error) => prop_assert!(error.needed > room),
        }
    }
}
