//! What was read and sent before a call, as it is kept.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::conversation::{Conversations, RunState};
use toolroom::policy::Provenance;
use toolroom::provenance::{TrackChange, Tracks};
use toolroom::scope::Scope;

use crate::place::Place;
use crate::threads::Thread;

const PRIVATE: Provenance = Provenance { private: true, ..Provenance::NONE };
const UNTRUSTED: Provenance = Provenance { untrusted: true, ..Provenance::NONE };

fn change(place: &Place, name: &str, provenance: Provenance) -> TrackChange {
    TrackChange {
        scope: Scope::default(),
        name: name.to_owned(),
        provenance,
        file: None,
        max_age: Some(Duration::from_secs(60)),
        at: place.clock.now(),
    }
}

#[tokio::test]
async fn a_track_grows_across_processes_and_begins_anew_after_its_time() {
    let place = Place::new();
    let (one, other) = (place.open().await, place.open().await);
    let scope = Scope::default();
    one.add_to_track(change(&place, "caller/a", PRIVATE)).await.unwrap();
    other.add_to_track(change(&place, "caller/a", UNTRUSTED)).await.unwrap();
    let track = one.track(&scope, "caller/a").await.unwrap().unwrap();
    assert_eq!(track.provenance, PRIVATE.and(UNTRUSTED));
    assert_eq!(one.track(&scope, "caller/b").await.unwrap(), None);
    assert_eq!(one.track(&Scope::user("local", "ann"), "caller/a").await.unwrap(), None);
    assert_eq!(one.track(&Scope::project("shop"), "caller/a").await.unwrap(), None);
    place.clock.advance(Duration::from_secs(61));
    one.add_to_track(change(&place, "caller/a", UNTRUSTED)).await.unwrap();
    assert_eq!(other.track(&scope, "caller/a").await.unwrap().unwrap().provenance, UNTRUSTED);
}

#[tokio::test]
async fn the_track_of_a_conversation_goes_with_it_and_old_ones_go_by_themselves() {
    let place = Place::new();
    let store = place.open().await;
    let scope = Scope::default();
    let mut talk = Thread::new(&*place.clock, &scope);
    let id = talk.conversation.id.clone();
    store.begin_run(talk.begin(&*place.clock)).await.unwrap();
    let name = format!("conversation/{id}");
    store.add_to_track(change(&place, &name, PRIVATE)).await.unwrap();
    store.add_to_track(change(&place, "caller/old", PRIVATE)).await.unwrap();
    place.clock.advance(Duration::from_hours(61 * 24));
    store.add_to_track(change(&place, "caller/new", PRIVATE)).await.unwrap();
    assert_eq!(store.track(&scope, "caller/old").await.unwrap(), None);
    assert!(store.track(&scope, &name).await.unwrap().is_some());
    store.step(talk.step(&*place.clock, RunState::Done)).await.unwrap();
    assert!(store.delete_conversation(&scope, &id).await.unwrap());
    assert_eq!(store.track(&scope, &name).await.unwrap(), None);
}
