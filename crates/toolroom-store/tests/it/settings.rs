//! Trusted files and standing answers.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, AnswerId, Answerer, Decision, Ledger, StandingAnswer, SwitchState, Switchboard,
};
use toolroom::policy::Ruling;
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::TrustedFile;

use crate::database::TestDatabase;
use crate::parked::{decision, parked};

#[tokio::test]
async fn a_file_is_trusted_with_one_content_until_it_is_not() {
    let database = TestDatabase::new();
    let (here, there) = (database.open().await, database.open().await);
    assert_eq!(here.trusted().await.unwrap(), []);
    assert_eq!(here.trusted_hash("/p/toolroom.toml").await.unwrap(), None);
    here.trust("/q/toolroom.toml", "h2").await.unwrap();
    here.trust("/p/toolroom.toml", "h1").await.unwrap();
    let at_first = database.clock.now();
    database.clock.advance(Duration::from_secs(1));
    here.trust("/p/toolroom.toml", "h3").await.unwrap();
    let file = |path: &str, sha256: &str, trusted_at| TrustedFile {
        path: path.to_owned(),
        sha256: sha256.to_owned(),
        trusted_at,
    };
    let now = database.clock.now();
    let both = [file("/p/toolroom.toml", "h3", now), file("/q/toolroom.toml", "h2", at_first)];
    assert_eq!(there.trusted().await.unwrap(), both);
    assert_eq!(there.trusted_hash("/p/toolroom.toml").await.unwrap().as_deref(), Some("h3"));
    assert!(there.distrust("/p/toolroom.toml").await.unwrap());
    assert!(!there.distrust("/p/toolroom.toml").await.unwrap(), "it was not trusted any more");
    assert_eq!(here.trusted_hash("/p/toolroom.toml").await.unwrap(), None);
    assert_eq!(here.trusted().await.unwrap(), both[1..]);
}

#[tokio::test]
async fn a_standing_answer_is_taken_back_by_its_own_project() {
    let database = TestDatabase::new();
    let (here, there) = (database.open().await, database.open().await);
    let scope = Scope::user("p", "ana");
    let park = parked(&*database.clock, &scope, Answerer::Caller);
    here.park(park.clone()).await.unwrap();
    let id = AnswerId::fresh(&*database.clock);
    let standing = StandingAnswer {
        id: id.clone(),
        scope: scope.clone(),
        effect: Ruling::Allow,
        tool: "t".into(),
        when: None,
        lifts: None,
        definition: None,
        thread: None,
        destination: None,
        call: park.record.id.clone(),
        by: Answerer::Caller,
        at: database.clock.now(),
    };
    let always = decision(&*database.clock, &park, Answer::Always, Answerer::Caller);
    here.decide(Decision { standing: Some(standing), ..always }).await.unwrap();
    let held = async || there.standing(&scope.project).await.unwrap().answers.iter().count();
    assert_eq!(held().await, 1);
    assert!(!here.forget_answer(&ProjectId::new("q"), &id).await.unwrap(), "another project's");
    assert_eq!(held().await, 1);
    assert!(here.forget_answer(&scope.project, &id).await.unwrap());
    assert!(!here.forget_answer(&scope.project, &id).await.unwrap());
    assert_eq!(held().await, 0);
}

#[tokio::test]
async fn only_what_changes_something_moves_the_revision() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let project = ProjectId::default();
    let revision = async || store.standing(&project).await.unwrap().revision;
    let start = revision().await;
    assert!(!store.remove_secret(&project, "none").await.unwrap());
    assert!(!store.distrust("/nowhere").await.unwrap());
    store.trust("/p/toolroom.toml", "h1").await.unwrap();
    assert!(store.distrust("/p/toolroom.toml").await.unwrap(), "no call is judged by it");
    store.set_tool_toggle(&project, "t", None).await.unwrap();
    assert_eq!(revision().await, start);
    store.set_tool_toggle(&project, "t", Some(SwitchState::Off)).await.unwrap();
    assert_eq!(revision().await, start + 1);
    store.set_secret(&project, "s", b"12345".to_vec()).await.unwrap();
    assert_eq!(revision().await, start + 2);
}
