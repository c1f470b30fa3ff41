//! Memories and agents.

use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor};
use toolroom::agent::{AgentRecord, Agents, OnDisconnect};
use toolroom::clock::Clock;
use toolroom::conversation::AgentId;
use toolroom::memory::{Category, Memories, Memory, PROMOTION_HITS, Remember};
use toolroom::policy::Provenance;
use toolroom::scope::{ProjectId, Scope};

use crate::database::{TestDatabase, why};

pub(crate) fn fact(key: &str, content: &str) -> Remember {
    Remember {
        key: key.to_owned(),
        content: content.to_owned(),
        category: None,
        source: None,
        stored_under: Provenance::NONE,
    }
}

#[tokio::test]
async fn what_is_remembered_again_keeps_what_is_not_said_anew() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::user("p", "ana");
    let first = Remember {
        category: Some(Category::Preference),
        source: Some("chat".to_owned()),
        ..fact("tea", "likes tea")
    };
    let kept = store.remember(&scope, first).await.unwrap();
    let at = database.clock.now();
    let expected = Memory {
        key: "tea".to_owned(),
        content: "likes tea".to_owned(),
        category: Category::Preference,
        hits: 1,
        source: Some("chat".to_owned()),
        stored_under: Provenance::NONE,
        created_at: at,
        updated_at: at,
    };
    assert_eq!(kept, expected);
    database.clock.advance(Duration::from_secs(1));
    assert_eq!(store.reinforce(&scope, "tea").await.unwrap().unwrap().hits, 2);
    database.clock.advance(Duration::from_secs(1));
    let changed = store.remember(&scope, fact("tea", "likes green tea")).await.unwrap();
    let expected = Memory {
        content: "likes green tea".to_owned(),
        hits: 2,
        updated_at: database.clock.now(),
        ..expected
    };
    assert_eq!(changed, expected);
    assert_eq!(store.memory(&scope, "tea").await.unwrap(), Some(expected));
    let other = Remember { category: Some(Category::Error), ..fact("tea", "hates tea") };
    let changed = store.remember(&scope, other).await.unwrap();
    assert_eq!((changed.category, changed.source.as_deref()), (Category::Error, Some("chat")));

    assert_eq!(store.remember(&scope, fact("Tea", "another key")).await.unwrap().category, Category::General);
    assert_eq!(store.memory(&scope, " tea").await.unwrap(), None);
    database.clock.advance(Duration::from_secs(1));
    store.reinforce(&scope, "tea").await.unwrap();
    let keys: Vec<_> = store.memories(&scope).await.unwrap().into_iter().map(|memory| memory.key).collect();
    assert_eq!(keys, ["tea", "Tea"]);
    assert_eq!(store.reinforce(&scope, "coffee").await.unwrap(), None);
    assert!(store.forget(&scope, "tea").await.unwrap());
    assert!(!store.forget(&scope, "tea").await.unwrap());
    assert_eq!(store.memories(&scope).await.unwrap().len(), 1);
}

#[tokio::test]
async fn each_user_has_separate_memories() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scopes =
        [Scope::user("p", "ana"), Scope::user("p", "bob"), Scope::user("q", "ana"), Scope::project("p")];
    for scope in &scopes {
        for _ in 0..2 {
            store.remember(scope, fact("k", &format!("{scope:?}"))).await.unwrap();
        }
    }
    for scope in &scopes {
        let memories = store.memories(scope).await.unwrap();
        assert_eq!(memories.len(), 1, "{scope:?}");
        assert_eq!(memories[0].content, format!("{scope:?}"));
    }
    assert!(store.forget(&scopes[3], "k").await.unwrap());
    assert!(store.memory(&scopes[0], "k").await.unwrap().is_some());
}

#[tokio::test]
async fn a_memory_that_proved_right_becomes_part_of_a_prompt_and_back() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, agent) = (Scope::user("p", "ana"), AgentId::new("default"));
    store.remember(&scope, fact("k", "v")).await.unwrap();
    for hits in 2..=PROMOTION_HITS {
        assert_eq!(store.promote(&scope, "k", &agent, "Be brief.").await.unwrap(), None);
        assert_eq!(store.reinforce(&scope, "k").await.unwrap().unwrap().hits, hits);
    }
    let before = store.memory(&scope, "k").await.unwrap().unwrap();
    let stranger = Scope::user("p", "bob");
    assert_eq!(store.promote(&stranger, "k", &agent, "Be brief.").await.unwrap(), None);
    let promotion = store.promote(&scope, "k", &agent, "Be brief.").await.unwrap().unwrap();
    assert_eq!((&promotion.memory, promotion.addition.as_str()), (&before, "Be brief."));
    assert_eq!(store.memory(&scope, "k").await.unwrap(), None);
    assert_eq!(store.promote(&scope, "k", &agent, "Again.").await.unwrap(), None);
    assert_eq!(store.promotions(&scope, &agent).await.unwrap(), std::slice::from_ref(&promotion));
    assert_eq!(store.promotions(&stranger, &agent).await.unwrap(), []);
    assert_eq!(store.promotions(&scope, &AgentId::new("other")).await.unwrap(), []);

    assert_eq!(store.demote(&stranger, "k", &agent).await.unwrap(), None);
    assert_eq!(store.demote(&scope, "k", &agent).await.unwrap(), Some(promotion.clone()));
    assert_eq!(store.memory(&scope, "k").await.unwrap(), Some(before));
    assert_eq!(store.demote(&scope, "k", &agent).await.unwrap(), None);

    // What is remembered by now stays.
    store.promote(&scope, "k", &agent, "Be brief.").await.unwrap().unwrap();
    let newer = store.remember(&scope, fact("k", "newer")).await.unwrap();
    assert!(store.demote(&scope, "k", &agent).await.unwrap().is_some());
    assert_eq!(store.memory(&scope, "k").await.unwrap(), Some(newer));
}

#[tokio::test]
async fn odd_texts_and_odd_rows_hide_nothing() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let odd = store.remember(&scope, fact("a\0b", "c\0d \"'; DROP TABLE memories; --")).await.unwrap();
    assert_eq!(store.memory(&scope, "a\0b").await.unwrap(), Some(odd.clone()));
    assert!(odd.content.contains("DROP TABLE"));
    store.remember(&scope, fact("", "")).await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    connection.execute("UPDATE memories SET category = 'NEWER', hits = -1 WHERE key = ''").await.unwrap();
    let memories = store.memories(&scope).await.unwrap();
    assert_eq!(memories.len(), 2);
    let newer = memories.iter().find(|memory| memory.key.is_empty()).unwrap();
    assert_eq!((newer.category, newer.hits), (Category::General, 0));
}

#[tokio::test]
async fn agents_are_kept_by_project_and_id() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (ours, theirs) = (ProjectId::new("p"), ProjectId::new("q"));
    let writer = AgentRecord {
        id: AgentId::new("writer"),
        deny: vec!["builtin:shell".to_owned()],
        on_disconnect: OnDisconnect::Continue,
        ..AgentRecord::default()
    };
    let default = AgentRecord::default();
    store.set_agent(&ours, &writer).await.unwrap();
    store.set_agent(&ours, &AgentRecord { name: "Old".to_owned(), ..default.clone() }).await.unwrap();
    store.set_agent(&ours, &default).await.unwrap();
    assert_eq!(store.agents(&ours).await.unwrap(), [default, writer.clone()]);
    assert_eq!(store.agents(&theirs).await.unwrap(), []);
    assert!(!store.remove_agent(&theirs, &writer.id).await.unwrap());
    assert!(store.remove_agent(&ours, &writer.id).await.unwrap());
    assert!(!store.remove_agent(&ours, &writer.id).await.unwrap());

    // An unreadable agent is an error: another one must not take its id.
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    connection.execute("UPDATE agents SET record = '{\"newer\": 1}'").await.unwrap();
    let error = store.agents(&ours).await.unwrap_err();
    assert!(why(&error).contains("`default`"), "{error:?}");
    assert!(store.remove_agent(&ours, &AgentId::new("default")).await.unwrap());
}
