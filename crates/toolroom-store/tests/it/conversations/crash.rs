//! Processes killed in the middle of their runs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use toolroom::conversation::{ConversationId, Conversations, RunFilter, RunState};
use toolroom::scope::Scope;

use crate::crash::{ChildProcess, example};
use crate::database::TestDatabase;

#[tokio::test]
async fn steps_that_were_answered_survive_and_the_run_goes_on_elsewhere() {
    let database = TestDatabase::new();
    let talks: Vec<_> = ["one", "two", "three"]
        .into_iter()
        .map(|process| {
            let mut command = Command::new(example("endless_runs"));
            command.arg(database.path()).arg(process).stdout(Stdio::piped());
            ChildProcess(command.spawn().unwrap())
        })
        .collect();
    let mut told = Vec::new();
    for mut talk in talks {
        let lines = BufReader::new(talk.0.stdout.take().unwrap()).lines();
        told.extend(lines.take(60).map(Result::unwrap));
        talk.0.kill().unwrap();
        talk.0.wait().unwrap();
    }
    assert_eq!(told.len(), 180);

    let store = database.open_as("here", "me", |_| false).await;
    let scope = Scope::default();
    for line in &told {
        let (conversation, entries) = line.split_once(' ').unwrap();
        let kept = store.entries(&scope, &ConversationId::new(conversation), 0).await.unwrap();
        assert!(kept.len() >= entries.parse().unwrap(), "{line}: {}", kept.len());
    }
    let runs = store.runs(&scope, RunFilter { limit: Some(u32::MAX), ..RunFilter::default() }).await.unwrap();
    let mut resumed = 0;
    for run in runs {
        // Every step has two entries and two events, and there is the first message.
        let entries = store.entries(&scope, &run.conversation, 0).await.unwrap();
        let of_run: Vec<_> = entries.iter().filter(|entry| entry.run == run.id).collect();
        let events = store.events(&scope, &run.id, 0).await.unwrap();
        let steps = usize::try_from(run.iterations).unwrap();
        assert_eq!((of_run.len(), events.len()), (1 + 2 * steps, 2 * steps), "{}", run.id);
        assert!((0..).zip(&entries).all(|(database, entry)| entry.seq == database));
        let conversation = store.conversation(&scope, &run.conversation).await.unwrap().unwrap();
        assert_eq!(conversation.entries, u64::try_from(entries.len()).unwrap());
        if run.state == RunState::Running {
            assert_eq!(store.take_run(&scope, &run.id).await.unwrap(), run);
            resumed += 1;
        }
    }
    assert!(resumed >= 3, "each of them died at work, {resumed}");
}
