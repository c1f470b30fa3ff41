//! Dispatch of a server's messages.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn bytes(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

fn progress(id: i64) -> Vec<u8> {
    bytes(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": id, "progress": 1}}))
}

/// Sends progress every second, and returns after how many seconds the request timed out.
async fn seconds_until_timeout(sink: Option<ProgressSink>) -> u32 {
    let pending = PendingRequests::new(Arc::new(DefaultHandler));
    let request = pending.register(sink).unwrap();
    let idle = request.idle(Duration::from_secs(5));
    tokio::pin!(idle);
    for second in 0..60 {
        if tokio::time::timeout(Duration::from_secs(1), &mut idle).await.is_ok() {
            return second;
        }
        pending.receive(None, &progress(request.id)).unwrap();
    }
    60
}

#[tokio::test(start_paused = true)]
async fn only_requested_progress_extends_the_timeout() {
    assert!(seconds_until_timeout(None).await <= 5);
    assert_eq!(seconds_until_timeout(Some(Arc::new(|_, _| {}))).await, 60);
}

#[tokio::test(start_paused = true)]
async fn a_flood_closes_the_connection() {
    let new = || PendingRequests::new(Arc::new(DefaultHandler));
    let error = bytes(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no"}}));
    let pending = new();
    assert!((0..20_000).any(|_| pending.receive(Some(0), &error).is_err()), "errors without an id");
    assert!(pending.closed().is_some());
    let pending = new();
    assert!((0..20_000).any(|_| pending.count_traffic(1, 1).is_err()), "blank lines");
    let pending = new();
    assert!((0..100).any(|_| pending.count_traffic(0, 8 * 1024 * 1024).is_err()), "bytes");
    let pending = new();
    for _ in 0..100 {
        pending.count_traffic(900, 8 * 1024 * 1024).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn an_error_without_an_id_belongs_to_the_only_request() {
    let pending = PendingRequests::new(Arc::new(DefaultHandler));
    let (mut one, mut other) = (pending.register(None).unwrap(), pending.register(None).unwrap());
    let error = bytes(&json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "bad"}}));
    pending.receive(None, &error).unwrap();
    assert!(one.try_response().is_none() && other.try_response().is_none());
    pending.receive(Some(other.id), &error).unwrap();
    assert!(one.try_response().is_none());
    assert!(matches!(other.try_response(), Some(Err(McpError::Rpc { code: -32600, .. }))));
}

#[tokio::test]
async fn dropping_a_request_before_its_response_cancels_it() {
    let pending = PendingRequests::new(Arc::new(DefaultHandler));
    let cancelled = Arc::new(AtomicUsize::new(0));
    let register = || {
        let cancelled = Arc::clone(&cancelled);
        pending.register(None).unwrap().on_cancel(move |_| {
            cancelled.fetch_add(1, Ordering::SeqCst);
        })
    };
    drop(register());
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
    let answered = register();
    pending.receive(None, &bytes(&json!({"jsonrpc": "2.0", "id": answered.id, "result": {}}))).unwrap();
    drop(answered);
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
    pending.close(&McpError::Closed { why: "over".to_owned() });
    let refused = pending.register(None).err().unwrap();
    assert!(!refused.is_in_doubt(), "nothing was sent: {refused}");
}

#[tokio::test]
async fn an_unreadable_response_fails_its_request_only() {
    let pending = PendingRequests::new(Arc::new(DefaultHandler));
    let requests: Vec<PendingRequest> = (0..4).map(|_| pending.register(None).unwrap()).collect();
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let responses: [Vec<u8>; 3] = [
        // A lone surrogate, as it remains when a text is cut.
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"text":"cut \ud83d"}}}}"#, requests[0].id).into(),
        format!(r#"{{"result":{deep},"id":{},"jsonrpc":"2.0"}}"#, requests[1].id).into(),
        [
            br#"{"jsonrpc":"2.0","result":"#,
            &b"\"\xff\",\"id\":"[..],
            requests[2].id.to_string().as_bytes(),
            b"}",
        ]
        .concat(),
    ];
    for response in &responses {
        pending.receive(None, response).unwrap();
    }
    assert!(pending.closed().is_none());
    let mut read = Vec::new();
    for mut request in requests.into_iter().take(3) {
        read.push(request.response().await);
    }
    assert!(matches!(&read[0], Ok(result) if *result == json!({"text": "cut \u{fffd}"})), "{read:?}");
    for unreadable in &read[1..] {
        let Err(McpError::Protocol(why)) = unreadable else { panic!("{unreadable:?}") };
        assert!(why.starts_with("a response cannot be parsed: "), "{why}");
    }
    // A message that is no response to a request is an error.
    for nothing in [r#"{"jsonrpc":"2.0","id":4,"result":"#, r#"{"id":4,"result":[}}"#, "[[["] {
        assert!(pending.receive(None, nothing.as_bytes()).is_err(), "{nothing}");
    }
}
