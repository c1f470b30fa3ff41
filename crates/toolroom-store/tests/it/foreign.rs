//! Servers that bring tools: what is kept of them is seen by every process, and goes as a whole.

use std::collections::BTreeMap;

use serde_json::json;
use toolroom::clock::Clock;
use toolroom::foreign::{
    AddressEntry, DefinitionRecord, EntryValue, ForeignServers, Reached, ServerCondition, ServerRecord,
};
use toolroom::scope::ProjectId;

use crate::place::Place;

#[tokio::test]
async fn a_server_and_all_that_is_kept_of_it_are_seen_by_others_and_go_together() {
    let place = Place::new();
    let (here, there) = (place.open().await, place.open().await);
    let (local, other) = (ProjectId::default(), ProjectId::new("other"));
    let headers = BTreeMap::from([("x-key".to_owned(), EntryValue::Secret("mcp.a.x-key".to_owned()))]);
    let server = ServerRecord {
        name: "a".to_owned(),
        reached: Reached::Http(AddressEntry { url: "https://a.example/mcp".to_owned(), headers }),
        is_enabled: true,
        timeout_seconds: Some(5),
        imported_from: None,
        changed_at: place.clock.now(),
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
    here.set_definitions(&local, "a", &first).await.unwrap();
    assert_eq!(there.definitions(&local, "a").await.unwrap(), first);
    let changed = [DefinitionRecord { offered: Some(json!({"name": "one"})), ..first[0].clone() }];
    there.set_definitions(&local, "a", &changed).await.unwrap();
    assert_eq!(here.definitions(&local, "a").await.unwrap(), changed);
    assert_eq!(here.definitions(&other, "a").await.unwrap(), []);

    assert_eq!(here.condition(&local, "a").await.unwrap(), ServerCondition::default());
    let seen = ServerCondition { failure: Some("gone".to_owned()), ..ServerCondition::default() };
    here.set_condition(&local, "a", &seen).await.unwrap();
    here.set_server(&local, &ServerRecord { is_enabled: false, ..server }).await.unwrap();
    assert_eq!(
        there.condition(&local, "a").await.unwrap(),
        seen,
        "what is said about it changes nothing of that"
    );

    assert!(!there.remove_server(&other, "a").await.unwrap());
    assert!(there.remove_server(&local, "a").await.unwrap());
    assert!(!there.remove_server(&local, "a").await.unwrap());
    assert_eq!(here.servers(&local).await.unwrap(), []);
    assert_eq!(here.definitions(&local, "a").await.unwrap(), []);
    assert_eq!(here.condition(&local, "a").await.unwrap(), ServerCondition::default());
}
