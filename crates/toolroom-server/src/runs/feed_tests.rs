use std::sync::Arc;

use toolroom::clock::Timestamp;
use toolroom::conversation::{AgentId, ConversationId, NumberedEvent, RunEvent, RunId};

use super::feed::Feed;

fn push(feed: &Arc<Feed>, seq: u64, event: RunEvent) {
    feed.push(&NumberedEvent { seq, at: Timestamp::from_micros(0), event });
}

fn text(text: &str) -> RunEvent {
    RunEvent::Text { text: text.to_owned() }
}

fn started() -> RunEvent {
    let (run, conversation) = (RunId::new("r"), ConversationId::new("c"));
    RunEvent::Started { run, conversation, agent: AgentId::new("a"), resumed: false }
}

#[test]
fn consecutive_text_is_merged() {
    let feed = Feed::new();
    push(&feed, 0, started());
    for (seq, word) in ["It ", "is ", "so."].into_iter().enumerate() {
        push(&feed, seq as u64 + 1, text(word));
    }
    let page = feed.read(1);
    assert_eq!((feed.segment().map(|segment| segment.first), page.first), (Some(0), Some(0)));
    let [only] = page.events.as_slice() else { panic!("{:?}", page.events) };
    assert_eq!((only.seq, &only.event), (3, &text("It is so.")));
    assert_eq!(
        feed.read(3).events[0].event,
        text("so."),
        "a subscriber that has read part of it gets the rest"
    );
    assert!(feed.read(4).events.is_empty());
}

#[test]
fn a_subscriber_that_falls_behind_gets_the_missed_text_in_one_piece() {
    let feed = Feed::new();
    push(&feed, 0, started());
    let many = 10_000;
    for seq in 1..=many {
        push(&feed, seq, text(&format!("{seq} ")));
    }
    let page = feed.read(1);
    let first = page.first.unwrap();
    assert!(first > 1, "the ring is bounded");
    let rest: String = page
        .events
        .iter()
        .map(|event| match &event.event {
            RunEvent::Text { text } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    let whole: String = (1..=many).map(|seq| format!("{seq} ")).collect();
    let missed = page.missed.unwrap();
    assert_eq!(format!("{}{rest}", missed.text), whole);
    assert!(feed.read(first).missed.is_none(), "text that was read is not sent again");
    assert!(Arc::ptr_eq(&missed, &feed.read(1).missed.unwrap()), "subscribers that missed it share a copy");
    push(&feed, many + 1, text("more"));
    assert!(feed.read(1).missed.unwrap().text.starts_with(&missed.text), "text only grows");
}

#[tokio::test]
async fn a_waiting_subscriber_wakes_up_for_an_event_and_for_the_end() {
    let feed = Feed::new();
    let (waiting, pushing) = (Arc::clone(&feed), Arc::clone(&feed));
    let waiter = tokio::spawn(async move {
        waiting.wait_for(0).await;
        waiting.read(0).events.len()
    });
    push(&pushing, 0, started());
    assert_eq!(waiter.await.unwrap(), 1);
    feed.close();
    feed.wait_for(1).await;
    assert!(feed.is_closed());
}
