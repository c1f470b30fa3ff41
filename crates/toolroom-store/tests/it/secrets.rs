//! Sealed secrets, one key for all of them, and the change of that key.

use std::time::Duration;

use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::{
    Answer, Answerer, Approvals, DecideError, Journal, Ledger, ParkCall, ParkError, Switchboard,
};
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{ResealedValue, SealedLocation, SealedSecret, Store, StoreError};

use crate::database::{TestDatabase, begin, done, why};
use crate::parked::{decision, edit, parked, sealed_under};

const OLD: &[u8; 4] = b"key1";
const NEW: &[u8; 4] = b"key2";

async fn set(store: &Store, project: &str, name: &str, key: &[u8; 4]) -> Result<(), StoreError> {
    store.set_secret(&ProjectId::new(project), name, sealed_under(key, name)).await
}

/// All sealed values by location, with their keys.
async fn keys(store: &Store) -> Vec<(SealedLocation, Vec<u8>)> {
    let sealed = store.sealed_values().await.unwrap();
    sealed.into_iter().map(|sealed| (sealed.location, sealed.bytes[1..5].to_vec())).collect()
}

/// All sealed values, under the new key.
async fn under_new_key(store: &Store) -> Vec<ResealedValue> {
    let sealed = store.sealed_values().await.unwrap();
    let reseal = |old: &[u8]| [&old[..1], &NEW[..], &old[5..]].concat();
    sealed
        .into_iter()
        .map(|sealed| ResealedValue {
            new: reseal(&sealed.bytes),
            location: sealed.location,
            old: sealed.bytes,
        })
        .collect()
}

#[tokio::test]
async fn secrets_are_kept_by_project_and_name() {
    let database = TestDatabase::new();
    let (here, there) = (database.open().await, database.open().await);
    let (p, q) = (ProjectId::new("p"), ProjectId::new("q"));
    let first = database.clock.now();
    set(&here, "p", "b", OLD).await.unwrap();
    set(&here, "p", "a", OLD).await.unwrap();
    set(&here, "q", "a", OLD).await.unwrap();
    database.clock.advance(Duration::from_secs(1));
    here.set_secret(&p, "b", sealed_under(OLD, "another value")).await.unwrap();
    let secret = |name: &str, value: &str, created_at: Timestamp, changed_at: Timestamp| SealedSecret {
        name: name.to_owned(),
        sealed: sealed_under(OLD, value),
        created_at,
        changed_at,
    };
    let of_p = [secret("a", "a", first, first), secret("b", "another value", first, database.clock.now())];
    assert_eq!(there.secrets(&p).await.unwrap(), of_p);
    assert_eq!(there.secrets(&q).await.unwrap(), [secret("a", "a", first, first)]);
    let revision = there.standing(&p).await.unwrap().revision;
    assert!(there.remove_secret(&p, "a").await.unwrap());
    assert!(!there.remove_secret(&p, "a").await.unwrap());
    assert_eq!(here.standing(&p).await.unwrap().revision, revision + 1);
    assert_eq!(here.secrets(&p).await.unwrap(), of_p[1..]);
    assert_eq!(here.secrets(&q).await.unwrap().len(), 1);
}

#[tokio::test]
async fn all_secrets_of_a_database_have_one_key() {
    let database = TestDatabase::new();
    let store = database.open().await;
    set(&store, "p", "a", OLD).await.unwrap();
    set(&store, "p", "a", NEW).await.unwrap();
    set(&store, "p", "a", OLD).await.unwrap();
    let refused = set(&store, "p", "b", NEW).await;
    assert!(matches!(refused, Err(StoreError::OtherKey)), "{refused:?}");
    let refused = set(&store, "q", "a", NEW).await;
    assert!(matches!(refused, Err(StoreError::OtherKey)), "another project's count, too: {refused:?}");
    set(&store, "q", "b", OLD).await.unwrap();
    let refused = set(&store, "p", "a", NEW).await;
    assert!(matches!(refused, Err(StoreError::OtherKey)), "no longer alone: {refused:?}");
    let keys: Vec<_> = keys(&store).await.into_iter().map(|(_, key)| key).collect();
    assert_eq!(keys, [OLD, OLD]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_keys_at_once_one_wins() {
    let database = TestDatabase::new();
    let (here, there) = (database.open().await, database.open().await);
    for round in 0..10 {
        let project = ProjectId::new("p");
        let (one, other) = (sealed_under(OLD, "x"), sealed_under(NEW, "y"));
        let (one, other) =
            tokio::join!(here.set_secret(&project, "one", one), there.set_secret(&project, "other", other));
        assert!(one.is_ok() != other.is_ok(), "round {round}: {one:?} {other:?}");
        for name in ["one", "other"] {
            here.remove_secret(&project, name).await.unwrap();
        }
    }
}

async fn park(database: &TestDatabase, store: &Store) -> ParkCall {
    let park = parked(&*database.clock, &Scope::user("q", "ana"), Answerer::Caller);
    store.park(park.clone()).await.unwrap();
    park
}

#[tokio::test]
async fn a_change_of_keys_reaches_everything_that_is_sealed() {
    let database = TestDatabase::new();
    let store = database.open().await;
    set(&store, "p", "a", OLD).await.unwrap();
    set(&store, "q", "a", OLD).await.unwrap();
    let (waiting, granted, refused) =
        (park(&database, &store).await, park(&database, &store).await, park(&database, &store).await);
    for (park, answer) in [(&granted, Answer::Once), (&refused, Answer::No)] {
        store.decide(decision(&*database.clock, park, answer, Answerer::Caller)).await.unwrap();
    }
    let secret = |project| SealedLocation::Secret { project: ProjectId::new(project), name: "a".to_owned() };
    let approval = |park: &ParkCall| SealedLocation::Approval { call: park.record.id.clone() };
    let places = [secret("p"), secret("q"), approval(&waiting), approval(&granted)];
    assert_eq!(keys(&store).await, places.clone().map(|database| (database, OLD.to_vec())));

    let before = store.secrets(&ProjectId::new("p")).await.unwrap();
    let revision = store.standing(&ProjectId::new("p")).await.unwrap().revision;
    database.clock.advance(Duration::from_secs(1));
    store.reseal(under_new_key(&store).await).await.unwrap();
    assert_eq!(keys(&store).await, places.map(|database| (database, NEW.to_vec())));
    assert!(store.standing(&ProjectId::new("p")).await.unwrap().revision > revision);
    let after = store.secrets(&ProjectId::new("p")).await.unwrap();
    let resealed = SealedSecret { sealed: sealed_under(NEW, "a"), ..before[0].clone() };
    assert_eq!(after, [resealed], "it was not set again");
    let question = store.question(&waiting.record.scope, &waiting.record.id).await.unwrap().unwrap();
    assert_eq!(*question.approval.sealed.unwrap(), *sealed_under(NEW, waiting.record.id.as_str()));
    set(&store, "p", "b", NEW).await.unwrap();
}

#[tokio::test]
async fn a_change_of_keys_that_misses_something_changes_nothing() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let unchanged = async |values: Vec<ResealedValue>, what: &str| {
        let (before, revision) = (
            store.sealed_values().await.unwrap(),
            store.standing(&ProjectId::new("p")).await.unwrap().revision,
        );
        let missed = store.reseal(values).await;
        assert!(matches!(missed, Err(StoreError::SealedMeanwhile)), "{what}: {missed:?}");
        assert_eq!(store.sealed_values().await.unwrap(), before, "{what}");
        assert_eq!(store.standing(&ProjectId::new("p")).await.unwrap().revision, revision, "{what}");
    };
    store.reseal(Vec::new()).await.unwrap();
    set(&store, "p", "a", OLD).await.unwrap();
    unchanged(Vec::new(), "nothing was sealed when it was read").await;

    let read = under_new_key(&store).await;
    set(&store, "p", "b", OLD).await.unwrap();
    unchanged(read, "a new secret").await;

    let read = under_new_key(&store).await;
    store.set_secret(&ProjectId::new("p"), "a", sealed_under(OLD, "another value")).await.unwrap();
    unchanged(read, "a changed secret").await;

    let read = under_new_key(&store).await;
    let parked = park(&database, &store).await;
    unchanged(read, "a new question").await;

    let mut mixed = under_new_key(&store).await;
    mixed[1].new[1] = b'x';
    unchanged(mixed, "two new keys").await;

    // A value that was deleted meanwhile need not be resealed.
    let read = under_new_key(&store).await;
    store.decide(decision(&*database.clock, &parked, Answer::No, Answerer::Caller)).await.unwrap();
    store.remove_secret(&ProjectId::new("p"), "b").await.unwrap();
    store.reseal(read).await.unwrap();
    assert_eq!(keys(&store).await.len(), 1);
}

#[tokio::test]
async fn a_rejected_change_of_keys_fails_alone() {
    let database = TestDatabase::new();
    let store = database.open().await;
    set(&store, "p", "a", OLD).await.unwrap();
    let scope = Scope::default();
    let records: Vec<_> = (0..4).map(|_| database.call(&scope)).collect();
    // Queued without waiting, so they share a transaction; the last one fails and all run again one by one.
    let known = database.call(&scope);
    store.close(done(&known)).await.unwrap();
    for fails in [false, true] {
        let first = store.begin(begin(&records[usize::from(fails) * 2]));
        let reseal = store.reseal(Vec::new());
        let set = set(&store, "p", "b", NEW);
        let second = store.close(done(&records[usize::from(fails) * 2 + 1]));
        let late = fails.then(|| store.close(done(&known)));
        let (first, reseal, set, second) = tokio::join!(first, reseal, set, second);
        first.unwrap();
        second.unwrap();
        assert!(matches!(reseal, Err(StoreError::SealedMeanwhile)), "{reseal:?}");
        assert!(matches!(set, Err(StoreError::OtherKey)), "{set:?}");
        if let Some(late) = late {
            late.await.unwrap_err();
        }
    }
    for record in &records {
        assert!(store.call(&scope, &record.id).await.unwrap().is_some());
    }
    assert_eq!(keys(&store).await.len(), 1);
}

/// A call whose request is sealed under this key.
fn parked_under(database: &TestDatabase, key: &[u8; 4]) -> ParkCall {
    let mut park = parked(&*database.clock, &Scope::default(), Answerer::Caller);
    park.approval.sealed = Some(sealed_under(key, park.record.id.as_str()).into());
    park
}

fn beginning(key: &[u8; 4]) -> Vec<u8> {
    sealed_under(key, "")[..5].to_vec()
}

#[tokio::test]
async fn a_process_with_the_previous_key_parks_nothing() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (waiting, other) = (parked_under(&database, OLD), parked_under(&database, OLD));
    store.park(waiting.clone()).await.unwrap();
    store.reseal(under_new_key(&store).await).await.unwrap();

    let scope = Scope::default();
    let stale = parked_under(&database, OLD);
    let refused = store.park(stale.clone()).await;
    assert!(matches!(refused, Err(ParkError::StaleKey(_))), "{refused:?}");
    assert_eq!(store.call(&scope, &stale.record.id).await.unwrap(), None, "nothing was parked");
    let edit = store.edit(edit(&*database.clock, &waiting, Answerer::Caller, &other)).await.unwrap_err();
    let DecideError::Ledger(error) = edit else { panic!("{edit:?}") };
    assert!(why(&error).contains("sealed under another key"), "{error:?}");
    assert_eq!(store.questions(&scope).await.unwrap().questions.len(), 1, "the old question stays");

    // Among others that may be taken, and with a secret as all there is.
    let fresh = parked_under(&database, NEW);
    let (stale, fresh) = tokio::join!(store.park(stale), store.park(fresh));
    assert!(matches!(stale, Err(ParkError::StaleKey(_))), "{stale:?}");
    fresh.unwrap();
    let elsewhere = TestDatabase::new();
    let store = elsewhere.open().await;
    set(&store, "p", "a", NEW).await.unwrap();
    let refused = store.park(parked_under(&elsewhere, OLD)).await;
    assert!(matches!(refused, Err(ParkError::StaleKey(_))), "{refused:?}");
}

#[tokio::test]
async fn a_process_with_both_keys_parks_under_the_new_one() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let [old, new] = [OLD, NEW].map(beginning);
    store.set_sealing_keys([&old[..]]);
    store.park(parked_under(&database, OLD)).await.unwrap();
    let strange = store.park(parked_under(&database, NEW)).await;
    assert!(
        matches!(strange, Err(ParkError::StaleKey(_))),
        "sealed before the keys were read again: {strange:?}"
    );
    // The change has begun, and nothing is resealed yet.
    store.set_sealing_keys([&new[..], &old[..]]);
    store.park(parked_under(&database, NEW)).await.unwrap();
    store.set_sealing_keys([&b"?????"[..]]);
    let strange = store.park(parked_under(&database, b"????")).await;
    assert!(matches!(strange, Err(ParkError::StaleKey(_))), "{strange:?}");
    let mut unsealed = parked_under(&database, OLD);
    unsealed.approval.sealed = None;
    store.park(unsealed).await.unwrap();
}
