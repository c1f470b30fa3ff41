//! Lists: who sees what, and in which order.

use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use toolroom::conversation::{
    AgentId, Conversation, ConversationFilter, Conversations, PastRequest, RunFilter, RunId, RunState,
    RunStep,
};
use toolroom::scope::Scope;
use toolroom_store::Store;

use super::{Thread, begun};
use crate::database::TestDatabase;

async fn titles(store: &Store, scope: &Scope, filter: ConversationFilter) -> Vec<String> {
    let found = store.conversations(scope, filter).await.unwrap();
    found.into_iter().map(|conversation| conversation.title).collect()
}

#[tokio::test]
async fn conversations_are_listed_by_when_something_was_last_said() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::user("p", "ana"), &*database.clock);
    let mut threads = Vec::new();
    for (title, agent) in
        [("Äpfel und Birnen", "default"), ("the Weather", "default"), ("100% of_it", "other")]
    {
        let mut thread = Thread::new(clock, &scope);
        thread.conversation.title = title.to_owned();
        thread.conversation.agent = AgentId::new(agent);
        store.begin_run(thread.begin(clock)).await.unwrap();
        clock.advance(Duration::from_secs(1));
        threads.push(thread);
    }
    store.step(threads[0].step(clock, RunState::Running)).await.unwrap();
    let all = ConversationFilter::default;
    assert_eq!(titles(&store, &scope, all()).await, ["Äpfel und Birnen", "100% of_it", "the Weather"]);
    let check = |filter: ConversationFilter, expected: &'static [&'static str]| {
        let (store, scope) = (store.clone(), scope.clone());
        async move { assert_eq!(titles(&store, &scope, filter.clone()).await, expected, "{filter:?}") }
    };
    let title = |text: &str| ConversationFilter { title: Some(text.to_owned()), ..all() };
    check(title("äPFEL"), &["Äpfel und Birnen"]).await;
    check(title("WEATHER"), &["the Weather"]).await;
    check(title("%"), &["100% of_it"]).await;
    check(title("_"), &["100% of_it"]).await;
    check(title("rain"), &[]).await;
    check(title(""), &["Äpfel und Birnen", "100% of_it", "the Weather"]).await;
    check(ConversationFilter { agent: Some(AgentId::new("other")), ..all() }, &["100% of_it"]).await;
    check(ConversationFilter { limit: Some(1), ..all() }, &["Äpfel und Birnen"]).await;
    let behind = |thread: &Conversation| Some((thread.updated_at, thread.id.clone()));
    let listed = store.conversations(&scope, all()).await.unwrap();
    let page = ConversationFilter { behind: behind(&listed[0]), limit: Some(1), ..all() };
    check(page, &["100% of_it"]).await;
    check(ConversationFilter { behind: behind(&listed[1]), ..all() }, &["the Weather"]).await;
    check(ConversationFilter { behind: behind(&listed[2]), ..all() }, &[]).await;
    let id = threads[1].conversation.id.as_str();
    check(ConversationFilter { id_suffix: Some(id[id.len() - 8..].to_owned()), ..all() }, &["the Weather"])
        .await;

    assert_eq!(titles(&store, &Scope::project("p"), all()).await.len(), 3);
    for stranger in [Scope::user("p", "bob"), Scope::user("q", "ana"), Scope::project("q")] {
        assert_eq!(titles(&store, &stranger, all()).await, Vec::<String>::new());
        let (conversation, run) = (&threads[0].conversation.id, &threads[0].run.id);
        assert_eq!(store.conversation(&stranger, conversation).await.unwrap(), None);
        assert_eq!(store.entries(&stranger, conversation, 0).await.unwrap(), []);
        assert_eq!(store.run(&stranger, run).await.unwrap(), None);
        assert_eq!(store.events(&stranger, run, 0).await.unwrap(), []);
        assert_eq!(store.runs(&stranger, RunFilter::default()).await.unwrap(), []);
        assert!(store.take_run(&stranger, run).await.is_err());
    }
}

#[tokio::test]
async fn runs_are_listed_newest_first() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut first = begun(&store, clock, &scope).await;
    store.step(first.step(clock, RunState::Done)).await.unwrap();
    let (old, other) = (first.run.id.clone(), begun(&store, clock, &scope).await);
    first.next(clock);
    store.begin_run(first.begin(clock)).await.unwrap();
    let check = |filter: RunFilter, expected: Vec<RunId>| {
        let (store, scope) = (store.clone(), scope.clone());
        async move {
            let runs = store.runs(&scope, filter.clone()).await.unwrap();
            let ids: Vec<_> = runs.into_iter().map(|run| run.id).collect();
            assert_eq!(ids, expected, "{filter:?}");
        }
    };
    let (new, other) = (first.run.id.clone(), other.run.id);
    let all = RunFilter::default;
    check(all(), vec![new.clone(), other.clone(), old.clone()]).await;
    check(RunFilter { limit: Some(2), ..all() }, vec![new.clone(), other.clone()]).await;
    let before = |run: &RunId| RunFilter { before: Some(run.clone()), ..all() };
    check(before(&new), vec![other.clone(), old.clone()]).await;
    check(RunFilter { limit: Some(1), ..before(&new) }, vec![other.clone()]).await;
    check(before(&old), Vec::new()).await;
    let conversation = Some(first.conversation.id.clone());
    check(RunFilter { conversation: conversation.clone(), ..before(&new) }, vec![old.clone()]).await;
    check(RunFilter { conversation: conversation.clone(), ..all() }, vec![new.clone(), old.clone()]).await;
    check(RunFilter { state: Some(RunState::Done), conversation, ..all() }, vec![old]).await;
    check(RunFilter { state: Some(RunState::Running), ..all() }, vec![new, other.clone()]).await;
    let end = other.as_str()[other.as_str().len() - 8..].to_owned();
    check(RunFilter { id_suffix: Some(end), ..all() }, vec![other]).await;
}

#[tokio::test]
async fn past_requests_are_few_of_each_tool_and_go_with_their_conversation() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (ana, clock) = (Scope::user("p", "ana"), &*database.clock);
    let mut first = begun(&store, clock, &ana).await;
    let mut second = begun(&store, clock, &Scope::user("p", "bob")).await;
    let request = |tool: &str, number: u32| PastRequest {
        tool: tool.into(),
        message: format!("{tool} {number}").into(),
    };
    let requests = (0..150).map(|number| request("t:a", number)).chain([request("t:b", 1)]).collect();
    store.step(RunStep { requests, ..first.step(clock, RunState::Done) }).await.unwrap();
    clock.advance(Duration::from_secs(1));
    let requests = (150..260).map(|number| request("t:a", number)).collect();
    store.step(RunStep { requests, ..second.step(clock, RunState::Done) }).await.unwrap();

    let all = store.past_requests(&ana, u32::MAX).await.unwrap();
    assert_eq!(all.len(), 201, "the newest 200 of one tool, and one of the other");
    assert_eq!((&all[0], &all[199]), (&request("t:a", 259), &request("t:a", 60)));
    let some = store.past_requests(&ana, 2).await.unwrap();
    assert_eq!(some, [request("t:a", 259), request("t:a", 258), request("t:b", 1)]);
    assert_eq!(store.past_requests(&Scope::project("q"), 2).await.unwrap(), []);
    assert!(store.delete_conversation(&second.run.scope, &second.conversation.id).await.unwrap());
    assert_eq!(store.past_requests(&ana, 1).await.unwrap(), [request("t:a", 149), request("t:b", 1)]);
}

#[tokio::test]
async fn a_run_that_cannot_be_read_hides_no_other() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut strange = begun(&store, clock, &scope).await;
    store.step(strange.step(clock, RunState::Done)).await.unwrap();
    let plain = begun(&store, clock, &scope).await;
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    let damage = sqlx::query("UPDATE runs SET record = '{\"newer\": 1}' WHERE id = $1");
    damage.bind(strange.run.id.as_str()).execute(&mut connection).await.unwrap();
    let found = store.runs(&scope, RunFilter::default()).await.unwrap();
    assert_eq!(found.iter().map(|run| &run.id).collect::<Vec<_>>(), [&plain.run.id]);
    let error = format!("{:?}", store.run(&scope, &strange.run.id).await.unwrap_err());
    assert!(error.contains(strange.run.id.as_str()), "{error}");
}
