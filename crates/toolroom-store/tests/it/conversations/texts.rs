//! Entries are read as they were written.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolroom::conversation::{Content, ConversationEntry, Conversations, RunState, RunStep, Summary};
use toolroom::model::{Block, Image, Message, ModelCallId, Opaque, Role};
use toolroom::scope::Scope;

use super::{Thread, begun};
use crate::database::TestDatabase;
use crate::scale::cases;

async fn comes_back(contents: Vec<Content>) {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut thread = begun(&store, clock, &scope).await;
    let entries: Vec<_> =
        contents.into_iter().map(|content| ConversationEntry { content, ..thread.said(clock, "") }).collect();
    let step = RunStep { entries: entries.clone(), ..thread.clone().step(clock, RunState::Running) };
    store.step(step).await.unwrap();
    assert!(store.entries(&scope, &thread.conversation.id, 1).await.unwrap() == entries);
    store.shutdown().await.unwrap();
}

fn message(blocks: Vec<Block>) -> Content {
    Content::Message(Arc::new(Message { role: Role::Assistant, blocks }))
}

fn result(content: Value) -> Block {
    let id = ModelCallId::new("call \0 1");
    Block::Result { id, name: "t\0".to_owned(), content: Arc::new(content), is_error: false }
}

#[tokio::test]
async fn every_kind_of_entry_comes_back() {
    let opaque =
        Some(Opaque { owner: "v".into(), part: Arc::new(json!({"signature": "a\0b", "n": [1, 2.5]})) });
    let blocks = vec![
        Block::Text {
            text: "NUL \0, quotes \" and \\, lines \r\n\u{2028}, 🦀".to_owned(),
            opaque: opaque.clone(),
        },
        Block::Image(Image { media_type: "image/png".to_owned(), base64: "AAAA".into() }),
        Block::Reasoning { text: String::new(), opaque: opaque.clone() },
        Block::Call { id: ModelCallId::new(""), name: "t".to_owned(), arguments: "{not json".into(), opaque },
        result(json!({"\0": [null, true, u64::MAX, i64::MIN, "\0", 0.1]})),
    ];
    let summary = Summary { text: "sum\0mary".to_owned(), covers: u64::MAX, before: 2, after: 1 };
    comes_back(vec![message(blocks), Content::Summary(Arc::new(summary)), message(Vec::new())]).await;
}

#[tokio::test]
async fn what_is_as_deep_as_json_from_outside_can_be_comes_back() {
    let text = "[".repeat(127) + &"]".repeat(127);
    let deep: Value = serde_json::from_str(&text).unwrap();
    comes_back(vec![message(vec![result(deep)])]).await;
}

#[tokio::test]
async fn a_huge_entry_is_written_with_others() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let huge = "grün\0\n".repeat(5_000_000 / 7);
    let mut threads: Vec<Thread> = Vec::new();
    let mut answers = Vec::new();
    for _ in 0..2 {
        let mut thread = Thread::new(clock, &scope);
        let begin = thread.begin(clock);
        let entries = vec![ConversationEntry { seq: 0, ..thread.said(clock, &huge) }];
        answers.push(store.begin_run(toolroom::conversation::BeginRun { entries, ..begin }));
        threads.push(thread);
    }
    for answer in answers {
        answer.await.unwrap();
    }
    for thread in &threads {
        let entries = store.entries(&scope, &thread.conversation.id, 0).await.unwrap();
        let [ConversationEntry { content: Content::Message(message), .. }] = entries.as_slice() else {
            panic!("no entry")
        };
        assert!(message.text() == huge);
    }
}

#[test]
fn any_text_comes_back() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let texts = proptest::collection::vec(".{0,40}|[\\x00-\\x1f\"\\\\]{0,20}", 1..20);
    proptest!(cases(8), |(texts in texts)| {
        let contents = texts.iter().map(|text| message(vec![Block::text(text.clone()), result(json!(text))]));
        runtime.block_on(comes_back(contents.collect()));
    });
}
