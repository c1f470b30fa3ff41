//! Background programs, as later processes see them.

use std::time::Duration;

use toolroom::background::{BackgroundPrograms, MOST_PROGRAMS, PROGRAM_KEPT_FOR, ProgramEnd, ProgramState};
use toolroom::conversation::{Conversations, RunState};
use toolroom::scope::{Scope, UserId};
use toolroom_store::Store;

use crate::conversations::begun;
use crate::database::TestDatabase;

const TALK: Option<&str> = Some("talk");
const DONE: ProgramEnd = ProgramEnd { exit_code: 3, was_killed: false };
const KILLED: ProgramEnd = ProgramEnd { exit_code: -1, was_killed: true };

async fn states(store: &Store, thread: Option<&str>) -> Vec<(u64, ProgramState)> {
    let programs = store.programs(&Scope::default(), thread).await.unwrap();
    programs.into_iter().map(|program| (program.number, program.state)).collect()
}

#[tokio::test]
async fn a_program_is_lost_with_its_process_and_with_no_other() {
    let database = TestDatabase::new();
    let scope = Scope::default();
    let dying = database.open_as("here", "dying", |_| true).await;
    let living = database.open_as("here", "living", |process| process != "dying").await;
    for (store, command) in [(&dying, "one"), (&living, "two"), (&dying, "three"), (&dying, "four\0")] {
        store.begin_program(&scope, TALK, command).await.unwrap();
    }
    dying.end_program(3, DONE).await.unwrap();
    dying.end_program(4, KILLED).await.unwrap();
    // Once it has ended it stays so.
    dying.end_program(3, KILLED).await.unwrap();
    let (done, killed) = (ProgramState::Ended(DONE), ProgramState::Ended(KILLED));
    let seen = states(&dying, TALK).await;
    assert_eq!(
        seen,
        [(1, ProgramState::RunningHere), (2, ProgramState::RunningElsewhere), (3, done), (4, killed)]
    );
    let seen = states(&living, TALK).await;
    assert_eq!(seen, [(1, ProgramState::Lost), (2, ProgramState::RunningHere), (3, done), (4, killed)]);
    let programs = living.programs(&scope, TALK).await.unwrap();
    assert_eq!((programs[0].command.as_str(), programs[3].command.as_str()), ("one", "four\u{fffd}"));

    // An orderly end is an end.
    let next = database.open_as("here", "next", |_| true).await;
    assert_eq!(states(&next, TALK).await[1], (2, ProgramState::RunningElsewhere));
    living.shutdown().await.unwrap();
    assert_eq!(states(&next, TALK).await[1], (2, ProgramState::Lost));
    assert!(next.forget_program(&scope, 2).await.unwrap() && !next.forget_program(&scope, 2).await.unwrap());
    assert_eq!(next.begin_program(&scope, TALK, "five").await.unwrap(), 5, "no number is given twice");
}

#[tokio::test]
async fn programs_belong_to_one_user_and_one_conversation() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let ana = Scope { user: Some(UserId::new("ana")), ..Scope::default() };
    for (scope, thread) in [(&Scope::default(), TALK), (&Scope::default(), None), (&ana, TALK)] {
        store.begin_program(scope, thread, "sleep 9").await.unwrap();
    }
    assert_eq!(states(&store, TALK).await, [(1, ProgramState::RunningHere)]);
    assert_eq!(states(&store, None).await, [(2, ProgramState::RunningHere)]);
    assert_eq!(states(&store, Some("other")).await, []);
    assert_eq!(store.programs(&ana, TALK).await.unwrap()[0].number, 3);
    assert!(!store.forget_program(&ana, 1).await.unwrap());
    assert_eq!(states(&store, TALK).await.len(), 1);
}

#[tokio::test]
async fn what_is_kept_is_bounded_and_goes_with_its_conversation() {
    let database = TestDatabase::new();
    let (store, scope) = (database.open().await, Scope::default());
    let mut thread = begun(&store, &*database.clock, &scope).await;
    let id = thread.conversation.id.clone();
    let most = u64::from(MOST_PROGRAMS);
    for number in 1..=most {
        store.begin_program(&scope, Some(id.as_str()), "true").await.unwrap();
        if number > 1 {
            store.end_program(number, DONE).await.unwrap();
        }
    }
    store.begin_program(&scope, Some(id.as_str()), "true").await.unwrap();
    let kept: Vec<u64> =
        states(&store, Some(id.as_str())).await.into_iter().map(|(number, _)| number).collect();
    assert_eq!(kept, [1].into_iter().chain(3..=most + 1).collect::<Vec<_>>(), "what runs is kept longest");

    store.begin_program(&scope, TALK, "true").await.unwrap();
    store.step(thread.step(&*database.clock, RunState::Done)).await.unwrap();
    assert!(store.delete_conversation(&scope, &id).await.unwrap());
    assert_eq!(states(&store, Some(id.as_str())).await, []);
    assert_eq!(states(&store, TALK).await.len(), 1);
    database.clock.advance(PROGRAM_KEPT_FOR + Duration::from_secs(1));
    store.begin_program(&scope, None, "true").await.unwrap();
    assert_eq!(states(&store, TALK).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_process_with_a_program_says_that_it_lives_until_the_program_has_ended() {
    let database = TestDatabase::new();
    let elsewhere = database.open_as("there", "busy", |_| true).await;
    let here = database.open_as("here", "me", |_| true).await;
    elsewhere.begin_program(&Scope::default(), TALK, "sleep 9").await.unwrap();
    database.clock.advance(Duration::from_secs(61));
    let mut seconds = 0..1000;
    while states(&here, TALK).await != [(1, ProgramState::RunningElsewhere)] {
        assert!(seconds.next().is_some(), "no heartbeat without a call");
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    elsewhere.end_program(1, DONE).await.unwrap();
    database.clock.advance(Duration::from_secs(61));
    assert_eq!(states(&here, TALK).await, [(1, ProgramState::Ended(DONE))]);
}
