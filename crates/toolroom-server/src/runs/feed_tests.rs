use std::sync::Arc;

use toolroom::clock::Timestamp;
use toolroom::conversation::{AgentId, ConversationId, NumberedEvent, RunEvent, RunId};

use super::feed::Feed;

fn tell(feed: &Arc<Feed>, seq: u64, event: RunEvent) {
    feed.tell(&NumberedEvent { seq, at: Timestamp::from_micros(0), event });
}

fn text(text: &str) -> RunEvent {
    RunEvent::Text { text: text.to_owned() }
}

fn started() -> RunEvent {
    let (run, conversation) = (RunId::new("r"), ConversationId::new("c"));
    RunEvent::Started { run, conversation, agent: AgentId::new("a"), resumed: false }
}

#[test]
fn words_in_a_row_are_read_as_one() {
    let feed = Feed::new();
    tell(&feed, 0, started());
    for (seq, word) in ["It ", "is ", "so."].into_iter().enumerate() {
        tell(&feed, seq as u64 + 1, text(word));
    }
    let page = feed.read(1);
    assert_eq!((feed.stretch().map(|stretch| stretch.first), page.first), (Some(0), Some(0)));
    let [only] = page.events.as_slice() else { panic!("{:?}", page.events) };
    assert_eq!((only.seq, &only.event), (3, &text("It is so.")));
    assert_eq!(feed.read(3).events[0].event, text("so."), "who has read some of it reads the rest");
    assert!(feed.read(4).events.is_empty());
}

#[test]
fn who_falls_behind_gets_the_words_in_one_piece() {
    let feed = Feed::new();
    tell(&feed, 0, started());
    let many = 10_000;
    for seq in 1..=many {
        tell(&feed, seq, text(&format!("{seq} ")));
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
    let fallen = page.fallen.unwrap();
    assert_eq!(format!("{}{rest}", fallen.text), whole);
    assert!(feed.read(first).fallen.is_none(), "who has seen them does not get them again");
    assert!(Arc::ptr_eq(&fallen, &feed.read(1).fallen.unwrap()), "those who missed them share a copy");
    tell(&feed, many + 1, text("more"));
    assert!(feed.read(1).fallen.unwrap().text.starts_with(&fallen.text), "what was told stays as it was");
}

#[tokio::test]
async fn who_waits_hears_of_news_and_of_the_end() {
    let feed = Feed::new();
    let (waiting, told) = (Arc::clone(&feed), Arc::clone(&feed));
    let waiter = tokio::spawn(async move {
        waiting.wait_for(0).await;
        waiting.read(0).events.len()
    });
    tell(&told, 0, started());
    assert_eq!(waiter.await.unwrap(), 1);
    feed.close();
    feed.wait_for(1).await;
    assert!(feed.is_over());
}
