//! Foreign servers: every process sees their records, which are deleted as a whole.

use std::collections::BTreeMap;

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor};
use toolroom::clock::Clock;
use toolroom::foreign::{
    AddressEntry, DefinitionChange, DefinitionRecord, EntryValue, ForeignServers, PinnedTraits,
    ServerCondition, ServerRecord, ServerTraits, ToolTraits, Transport,
};
use toolroom::scope::ProjectId;
use toolroom::tool::{Capabilities, Effect};

use crate::database::TestDatabase;

#[tokio::test]
async fn a_server_and_all_that_is_kept_of_it_are_seen_by_others_and_go_together() {
    let database = TestDatabase::new();
    let (here, there) = (database.open().await, database.open().await);
    let (local, other) = (ProjectId::default(), ProjectId::new("other"));
    let headers = BTreeMap::from([("x-key".to_owned(), EntryValue::Secret("mcp.a.x-key".to_owned()))]);
    let server = ServerRecord {
        name: "a".to_owned(),
        transport: Transport::Http(AddressEntry {
            url: "https://a.example/mcp".to_owned(),
            headers,
            is_internal: false,
        }),
        is_enabled: true,
        timeout_seconds: Some(5),
        imported_from: None,
        imported_as: None,
        traits: ServerTraits {
            all: ToolTraits { effect: Some(Effect::Read), capabilities: None },
            tools: BTreeMap::from([(
                "one".to_owned(),
                PinnedTraits {
                    definition: "00".to_owned(),
                    traits: ToolTraits { effect: None, capabilities: Some(Capabilities::NONE) },
                },
            )]),
        },
        changed_at: database.clock.now(),
    };
    here.set_server(&local, &server).await.unwrap();
    assert_eq!(there.servers(&local).await.unwrap(), std::slice::from_ref(&server));
    assert_eq!(there.servers(&other).await.unwrap(), []);

    let definition = |tool: &str, text: &str| DefinitionRecord {
        tool: tool.to_owned(),
        accepted: Some(json!({"name": tool, "description": text})),
        offered: None,
    };
    let first = [definition("one", "1"), definition("two", "2")];
    let change = |before: Option<&DefinitionRecord>, after: Option<&DefinitionRecord>| DefinitionChange {
        before: before.cloned(),
        after: after.cloned(),
    };
    let added = first.each_ref().map(|definition| change(None, Some(definition)));
    assert_eq!(here.change_definitions(&local, &server, &added).await.unwrap(), 2);
    assert_eq!(there.definitions(&local, "a").await.unwrap(), first);
    let changed = [DefinitionRecord { offered: Some(json!({"name": "one"})), ..first[0].clone() }];
    let changes = [change(Some(&first[0]), Some(&changed[0])), change(Some(&first[1]), None)];
    assert_eq!(there.change_definitions(&local, &server, &changes).await.unwrap(), 2);
    assert_eq!(here.change_definitions(&local, &server, &changes).await.unwrap(), 0, "it is that no more");
    assert_eq!(
        here.change_definitions(&local, &server, &added[..1]).await.unwrap(),
        0,
        "it is there already"
    );
    assert_eq!(here.definitions(&local, "a").await.unwrap(), changed);
    assert_eq!(here.definitions(&other, "a").await.unwrap(), []);

    assert_eq!(here.condition(&local, "a").await.unwrap(), ServerCondition::default());
    let seen = ServerCondition { failure: Some("gone".to_owned()), ..ServerCondition::default() };
    assert!(here.set_condition(&local, &server, &seen).await.unwrap());
    assert!(there.switch_server(&local, "a", false, database.clock.now()).await.unwrap());
    assert_eq!(
        there.condition(&local, "a").await.unwrap(),
        seen,
        "what is said about it changes nothing of that"
    );
    let before = server;
    let server = here.servers(&local).await.unwrap().remove(0);
    assert_eq!(server, ServerRecord { is_enabled: false, changed_at: server.changed_at, ..before.clone() });
    let later = ServerCondition { is_given_up: true, era: Some("session".to_owned()), ..seen.clone() };
    assert!(!here.set_condition(&local, &before, &later).await.unwrap(), "it is another one by now");
    assert!(here.set_condition(&local, &server, &later).await.unwrap());
    assert!(there.switch_server(&local, "a", true, database.clock.now()).await.unwrap());
    assert_eq!(here.condition(&local, "a").await.unwrap(), seen, "earlier failures are deleted");
    assert!(!there.switch_server(&local, "b", true, database.clock.now()).await.unwrap());
    // A server that is on and works stays unchanged.
    let on = here.servers(&local).await.unwrap().remove(0);
    database.clock.advance(std::time::Duration::from_secs(1));
    assert!(there.switch_server(&local, "a", true, database.clock.now()).await.unwrap());
    assert_eq!(here.servers(&local).await.unwrap(), [on]);

    // A replacement of an outdated record has no effect.
    let before = here.servers(&local).await.unwrap().remove(0);
    let longer = ServerRecord { timeout_seconds: Some(60), ..before.clone() };
    assert!(there.switch_server(&local, "a", false, database.clock.now()).await.unwrap());
    assert!(!here.replace_server(&local, &before, &longer).await.unwrap());
    let before = here.servers(&local).await.unwrap().remove(0);
    assert_eq!((before.is_enabled, before.timeout_seconds), (false, Some(5)));
    let longer = ServerRecord { timeout_seconds: Some(60), ..before.clone() };
    assert!(here.replace_server(&local, &before, &longer).await.unwrap());
    assert_eq!(there.servers(&local).await.unwrap(), std::slice::from_ref(&longer));
    assert!(!here.replace_server(&other, &longer, &before).await.unwrap(), "it is not theirs");
    assert_eq!(there.servers(&other).await.unwrap(), []);
    let server = longer;

    assert!(!there.remove_server(&other, "a").await.unwrap());
    assert!(there.remove_server(&local, "a").await.unwrap());
    assert!(!there.remove_server(&local, "a").await.unwrap());
    assert_eq!(here.servers(&local).await.unwrap(), []);
    assert_eq!(here.definitions(&local, "a").await.unwrap(), []);
    assert_eq!(here.condition(&local, "a").await.unwrap(), ServerCondition::default());
    assert!(!here.set_condition(&local, &server, &seen).await.unwrap());
    assert_eq!(here.change_definitions(&local, &server, &added).await.unwrap(), 0);
    assert_eq!(here.definitions(&local, "a").await.unwrap(), [], "nothing is kept of what is gone");
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_takes_no_other_with_it() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let local = ProjectId::default();
    let good = ServerRecord {
        name: "good".to_owned(),
        transport: Transport::Http(AddressEntry {
            url: "https://a.example".to_owned(),
            headers: BTreeMap::new(),
            is_internal: false,
        }),
        is_enabled: true,
        timeout_seconds: None,
        imported_from: None,
        imported_as: None,
        traits: ServerTraits::default(),
        changed_at: database.clock.now(),
    };
    store.set_server(&local, &good).await.unwrap();
    store.set_server(&local, &ServerRecord { name: "bad".to_owned(), ..good.clone() }).await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    connection
        .execute("UPDATE foreign_servers SET record = '{\"name\": 7}' WHERE name = 'bad'")
        .await
        .unwrap();
    assert_eq!(store.servers(&local).await.unwrap(), [good]);
    let bad = store.unreadable(&local).await.unwrap();
    assert_eq!(bad.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["bad"], "{bad:?}");
    assert!(store.remove_server(&local, "bad").await.unwrap());
    assert_eq!(store.unreadable(&local).await.unwrap(), []);
}
