use std::sync::Arc;

use toolroom::clock::Timestamp;

use super::*;

fn entry(seq: u64, run: &RunId, message: ModelMessage) -> ConversationEntry {
    let content = EntryContent::Message(Arc::new(message));
    ConversationEntry { seq, run: run.clone(), at: Timestamp::from_micros(0), content }
}

fn user(id: &str, text: &str) -> Message {
    Message::user(id.to_owned(), Content::Text(text.to_owned()))
}

#[test]
fn the_thread_of_one_is_never_the_thread_of_another() {
    let of = |scope: &Scope, thread: &str| conversation_of(scope, thread);
    let local = Scope::default();
    assert_eq!(of(&local, "t1"), of(&local, "t1"));
    assert!(of(&local, "t1").as_str().len() == "thread_".len() + 32);
    let all = [
        of(&local, "t1"),
        of(&local, "t2"),
        of(&Scope::user("local", "t1"), "t1"),
        of(&Scope::user("local", ""), "t1"),
        of(&Scope::user("loca", "lt1"), "t1"),
        of(&Scope::project("localt1"), ""),
    ];
    let different: HashSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn a_message_has_one_run_however_often_it_is_sent() {
    let thread = ConversationId::new("c");
    assert_eq!(run_of(&thread, &user("u", "hi"), 0), run_of(&thread, &user("u", "hi"), 0));
    assert_ne!(run_of(&thread, &user("u", "hi"), 0), run_of(&thread, &user("u", "hi"), 1));
    assert_ne!(run_of(&thread, &user("u", "hi"), 0), run_of(&thread, &user("u", "ho"), 0));
    assert_ne!(run_of(&thread, &user("u", "hi"), 0), run_of(&ConversationId::new("d"), &user("u", "hi"), 0));
}

#[test]
fn a_client_that_has_everything_keeps_its_own_and_one_that_has_not_gets_ours() {
    let thread = ConversationId::new("c");
    let first = user("u1", "weather?");
    let run = run_of(&thread, &first, 0);
    let call = Block::Call {
        id: toolroom::model::ModelCallId::new("m1"),
        name: "builtin__calculator".to_owned(),
        arguments: "{}".into(),
        opaque: None,
    };
    let result = Block::Result {
        id: toolroom::model::ModelCallId::new("m1"),
        name: "builtin__calculator".to_owned(),
        content: Arc::new(json!({"n": 1})),
        is_error: false,
    };
    let entries = [
        entry(0, &run, ModelMessage::user("before")),
        entry(1, &run, ModelMessage::assistant(vec![Block::text("old")])),
        entry(2, &run, ModelMessage::user("weather?")),
        entry(3, &run, ModelMessage::assistant(vec![Block::text("hm"), call])),
        entry(4, &run, ModelMessage { role: ModelRole::User, blocks: vec![result] }),
        entry(5, &run, ModelMessage::assistant(vec![Block::text("fine")])),
    ];
    let new = user("u2", "and tomorrow?");
    let thin = merge_thread(&thread, &entries, &[first.clone(), new.clone()]);
    assert!(!thin.is_whole);
    let ids: Vec<&str> = thin.messages.iter().map(|message| message.id.as_str()).collect();
    let own = |end: &str| format!("{run}-{end}");
    assert_eq!(ids, [&own("before-0"), &own("before-1"), "u1", &own("1"), &own("m1"), &own("2"), "u2"]);
    let asked = thin.messages[3].tool_calls.as_ref().unwrap();
    assert_eq!(asked[0].function.name, "builtin:calculator");
    assert_eq!(thin.messages[4].text(), "{\"n\":1}");

    let mut all = vec![user("x", "their own")];
    all.extend(thin.messages.iter().skip(2).cloned());
    let whole = merge_thread(&thread, &entries, &all);
    assert!(whole.is_whole);
    assert_eq!(whole.messages, all);
}
