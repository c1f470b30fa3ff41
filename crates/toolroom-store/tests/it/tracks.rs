//! Stored provenance tracks.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::conversation::{Conversations, RunState};
use toolroom::policy::Provenance;
use toolroom::provenance::{TrackChange, Tracks};
use toolroom::scope::Scope;

use crate::conversations::Thread;
use crate::database::TestDatabase;

const PRIVATE: Provenance = Provenance { private: true, ..Provenance::NONE };
const UNTRUSTED: Provenance = Provenance { untrusted: true, ..Provenance::NONE };

fn change(database: &TestDatabase, name: &str, provenance: Provenance) -> TrackChange {
    TrackChange {
        scope: Scope::default(),
        name: name.to_owned(),
        provenance,
        file: None,
        max_age: Some(Duration::from_secs(60)),
        at: database.clock.now(),
    }
}

#[tokio::test]
async fn a_track_grows_across_processes_and_begins_anew_after_its_time() {
    let database = TestDatabase::new();
    let (one, other) = (database.open().await, database.open().await);
    let scope = Scope::default();
    one.add_to_track(change(&database, "caller/a", PRIVATE)).await.unwrap();
    other.add_to_track(change(&database, "caller/a", UNTRUSTED)).await.unwrap();
    let track = one.track(&scope, "caller/a").await.unwrap().unwrap();
    assert_eq!(track.provenance, PRIVATE.and(UNTRUSTED));
    assert_eq!(one.track(&scope, "caller/b").await.unwrap(), None);
    assert_eq!(one.track(&Scope::user("local", "ann"), "caller/a").await.unwrap(), None);
    assert_eq!(one.track(&Scope::project("shop"), "caller/a").await.unwrap(), None);
    database.clock.advance(Duration::from_secs(61));
    one.add_to_track(change(&database, "caller/a", UNTRUSTED)).await.unwrap();
    assert_eq!(other.track(&scope, "caller/a").await.unwrap().unwrap().provenance, UNTRUSTED);
}

#[tokio::test]
async fn the_track_of_a_conversation_goes_with_it_and_old_ones_go_by_themselves() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let mut talk = Thread::new(&*database.clock, &scope);
    let id = talk.conversation.id.clone();
    store.begin_run(talk.begin(&*database.clock)).await.unwrap();
    let name = format!("conversation/{id}");
    store.add_to_track(change(&database, &name, PRIVATE)).await.unwrap();
    store.add_to_track(change(&database, "caller/old", PRIVATE)).await.unwrap();
    database.clock.advance(Duration::from_hours(61 * 24));
    store.add_to_track(change(&database, "caller/new", PRIVATE)).await.unwrap();
    assert_eq!(store.track(&scope, "caller/old").await.unwrap(), None);
    assert!(store.track(&scope, &name).await.unwrap().is_some());
    store.step(talk.step(&*database.clock, RunState::Done)).await.unwrap();
    assert!(store.delete_conversation(&scope, &id).await.unwrap());
    assert_eq!(store.track(&scope, &name).await.unwrap(), None);
}
