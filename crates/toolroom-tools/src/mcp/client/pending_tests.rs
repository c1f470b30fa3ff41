//! What a server may say at the desk, and what comes of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn said(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

fn progress(id: i64) -> Vec<u8> {
    said(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": id, "progress": 1}}))
}

/// Tells of progress every second, and gives how many seconds it took until nobody waited any more.
async fn patience_lasts(sink: Option<ProgressSink>) -> u32 {
    let desk = Desk::new(Arc::new(Nobody));
    let ticket = desk.open(sink).unwrap();
    let silence = ticket.silence(Duration::from_secs(5));
    tokio::pin!(silence);
    for second in 0..60 {
        if tokio::time::timeout(Duration::from_secs(1), &mut silence).await.is_ok() {
            return second;
        }
        desk.take(None, &progress(ticket.id)).unwrap();
    }
    60
}

#[tokio::test(start_paused = true)]
async fn progress_is_a_sign_of_life_only_where_it_was_asked_for() {
    assert!(patience_lasts(None).await <= 5);
    assert_eq!(patience_lasts(Some(Arc::new(|_, _| {}))).await, 60);
}

#[tokio::test(start_paused = true)]
async fn a_flood_closes_the_desk_whatever_it_is_made_of() {
    let error = said(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no"}}));
    let desk = Desk::new(Arc::new(Nobody));
    assert!((0..20_000).any(|_| desk.take(Some(0), &error).is_err()), "errors without an id");
    assert!(desk.closed().is_some());
    let desk = Desk::new(Arc::new(Nobody));
    assert!((0..20_000).any(|_| desk.count(1, 1).is_err()), "blank lines");
    let desk = Desk::new(Arc::new(Nobody));
    assert!((0..100).any(|_| desk.count(0, 8 * 1024 * 1024).is_err()), "bytes");
    let desk = Desk::new(Arc::new(Nobody));
    for _ in 0..100 {
        desk.count(900, 8 * 1024 * 1024).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn an_answer_without_an_id_is_that_to_the_only_question() {
    let desk = Desk::new(Arc::new(Nobody));
    let (mut one, mut other) = (desk.open(None).unwrap(), desk.open(None).unwrap());
    let refusal = said(&json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "bad"}}));
    desk.take(None, &refusal).unwrap();
    assert!(one.ready().is_none() && other.ready().is_none());
    desk.take(Some(other.id), &refusal).unwrap();
    assert!(one.ready().is_none());
    assert!(matches!(other.ready(), Some(Err(McpError::Refused { code: -32600, .. }))));
}

#[tokio::test]
async fn a_server_is_told_of_those_who_go_before_its_answer() {
    let desk = Desk::new(Arc::new(Nobody));
    let told = Arc::new(AtomicUsize::new(0));
    let open = || {
        let told = Arc::clone(&told);
        desk.open(None).unwrap().telling(move |_| {
            told.fetch_add(1, Ordering::SeqCst);
        })
    };
    drop(open());
    assert_eq!(told.load(Ordering::SeqCst), 1);
    let answered = open();
    desk.take(None, &said(&json!({"jsonrpc": "2.0", "id": answered.id, "result": {}}))).unwrap();
    drop(answered);
    assert_eq!(told.load(Ordering::SeqCst), 1);
    desk.close(&McpError::Closed { why: "over".to_owned() });
    let refused = desk.open(None).err().unwrap();
    assert!(!refused.is_in_doubt(), "nothing was sent: {refused}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_request_and_no_other() {
    let desk = Desk::new(Arc::new(Nobody));
    let tickets: Vec<Ticket> = (0..4).map(|_| desk.open(None).unwrap()).collect();
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let answers: [Vec<u8>; 3] = [
        // Half of a character, as it is left when a text is cut.
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"text":"cut \ud83d"}}}}"#, tickets[0].id).into(),
        format!(r#"{{"result":{deep},"id":{},"jsonrpc":"2.0"}}"#, tickets[1].id).into(),
        [
            br#"{"jsonrpc":"2.0","result":"#,
            &b"\"\xff\",\"id\":"[..],
            tickets[2].id.to_string().as_bytes(),
            b"}",
        ]
        .concat(),
    ];
    for answer in &answers {
        desk.take(None, answer).unwrap();
    }
    assert!(desk.closed().is_none());
    let mut read = Vec::new();
    for mut ticket in tickets.into_iter().take(3) {
        read.push(ticket.answer().await);
    }
    assert!(matches!(&read[0], Ok(result) if *result == json!({"text": "cut \u{fffd}"})), "{read:?}");
    for unreadable in &read[1..] {
        let Err(McpError::Nonsense(why)) = unreadable else { panic!("{unreadable:?}") };
        assert!(why.starts_with("its answer cannot be read: "), "{why}");
    }
    // What is the answer to nothing is no message at all.
    for nothing in [r#"{"jsonrpc":"2.0","id":4,"result":"#, r#"{"id":4,"result":[}}"#, "[[["] {
        assert!(desk.take(None, nothing.as_bytes()).is_err(), "{nothing}");
    }
}
