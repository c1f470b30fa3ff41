//! Settings that are written together.

use toolroom::agent::{AgentRecord, Agents};
use toolroom::clock::Clock;
use toolroom::conversation::AgentId;
use toolroom::foreign::{
    AddressEntry, DefinitionChange, DefinitionRecord, ForeignServers, ServerCondition, ServerRecord,
    ServerTraits, Transport,
};
use toolroom::ledger::{AnswerId, Answerer, CallId, StandingAnswer, SwitchState, Switchboard};
use toolroom::policy::Ruling;
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{ProjectRecord, ServerEntry, SettingsBatch, StoreError};

use crate::database::TestDatabase;
use crate::parked::sealed;

fn answer(database: &TestDatabase, project: &ProjectId) -> StandingAnswer {
    StandingAnswer {
        id: AnswerId::new("ans_1"),
        scope: Scope { project: project.clone(), user: None },
        effect: Ruling::Allow,
        tool: "t:one".into(),
        when: None,
        lifts: Some("ask".to_owned()),
        definition: Some("d".into()),
        thread: None,
        destination: None,
        call: CallId::new("call_0"),
        by: Answerer::Caller,
        at: database.clock.now(),
    }
}

fn server(database: &TestDatabase) -> ServerRecord {
    ServerRecord {
        name: "files".to_owned(),
        transport: Transport::Http(AddressEntry {
            url: "https://example.com/".to_owned(),
            headers: Default::default(),
            is_internal: false,
        }),
        is_enabled: true,
        timeout_seconds: None,
        imported_from: None,
        imported_as: None,
        traits: ServerTraits::default(),
        changed_at: database.clock.now(),
    }
}

/// An entry that changes only the record.
fn entry(database: &TestDatabase, before: Option<ServerRecord>) -> ServerEntry {
    ServerEntry { record: server(database), before, deleted_secrets: None, is_other_server: false }
}

#[tokio::test]
async fn everything_in_a_batch_is_set_and_seen_by_others() {
    let database = TestDatabase::new();
    let (here, there) = (database.open().await, database.open().await);
    let shop = ProjectId::new("shop");
    let before = there.standing(&shop).await.unwrap().revision;
    let agent = AgentRecord { id: AgentId::new("writer"), ..AgentRecord::default() };
    let project = ProjectRecord {
        id: shop.clone(),
        name: "Shop".to_owned(),
        host_tools: false,
        created_at: database.clock.now(),
    };
    let definition = DefinitionRecord { tool: "read".to_owned(), accepted: None, offered: None };
    here.set_server(&shop, &server(&database)).await.unwrap();
    let change = [DefinitionChange { before: None, after: Some(definition.clone()) }];
    here.change_definitions(&shop, &server(&database), &change).await.unwrap();

    let mut batch = SettingsBatch::default();
    batch.project(project.clone());
    batch.tool_toggle(&shop, "t:one", SwitchState::Off);
    batch.feature_switch(&shop, "memory", SwitchState::On);
    batch.answer(answer(&database, &shop));
    batch.agent(&shop, &agent).unwrap();
    batch.server(&shop, entry(&database, Some(server(&database))));
    here.set_all(batch).await.unwrap();

    let standing = there.standing(&shop).await.unwrap();
    assert!(standing.revision > before, "others are told");
    assert_eq!(standing.switches.tools().into_iter().collect::<Vec<_>>(), [("t:one", SwitchState::Off)]);
    assert_eq!(standing.switches.features().into_iter().collect::<Vec<_>>(), [("memory", SwitchState::On)]);
    assert_eq!(standing.answers.iter().collect::<Vec<_>>(), [&answer(&database, &shop)]);
    assert_eq!(*there.projects().await.unwrap(), [project]);
    assert_eq!(there.agents(&shop).await.unwrap(), [agent]);
    assert_eq!(there.servers(&shop).await.unwrap(), [server(&database)]);
    assert_eq!(there.definitions(&shop, "files").await.unwrap(), [definition], "what is locked stays locked");
}

#[tokio::test]
async fn an_answer_replaces_only_one_of_its_own_project() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (shop, other) = (ProjectId::new("shop"), ProjectId::new("other"));
    for effect in [Ruling::Allow, Ruling::Deny] {
        let mut batch = SettingsBatch::default();
        batch.answer(StandingAnswer { effect, ..answer(&database, &shop) });
        store.set_all(batch).await.unwrap();
    }
    let mut batch = SettingsBatch::default();
    batch.tool_toggle(&other, "calculator", SwitchState::Off);
    batch.answer(StandingAnswer { effect: Ruling::Allow, ..answer(&database, &other) });
    assert!(store.set_all(batch).await.is_err());
    let standing = store.standing(&shop).await.unwrap();
    assert_eq!(standing.answers.iter().map(|answer| answer.effect).collect::<Vec<_>>(), [Ruling::Deny]);
    let standing = store.standing(&other).await.unwrap();
    assert_eq!(standing.answers.iter().count(), 0);
    assert!(standing.switches.tool("calculator").is_none(), "what came before it is undone");
}

#[tokio::test]
async fn a_server_replaces_only_the_record_that_was_decided_on() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let shop = ProjectId::new("shop");
    let seen = ServerCondition {
        failure: Some("it is down".to_owned()),
        has_listed: true,
        ..ServerCondition::default()
    };
    store.set_server(&shop, &server(&database)).await.unwrap();
    store.set_condition(&shop, &server(&database), &seen).await.unwrap();
    for name in ["mcp.files.oauth.grant", "mcp.files.header", "mcp.files2.oauth.grant"] {
        store.set_secret(&shop, name, sealed(name)).await.unwrap();
    }
    let names = async || {
        let secrets = store.secrets(&shop).await.unwrap();
        secrets.into_iter().map(|secret| secret.name).collect::<Vec<_>>()
    };
    let off = ServerRecord { is_enabled: false, ..server(&database) };
    for before in [None, Some(off.clone())] {
        let mut batch = SettingsBatch::default();
        batch.tool_toggle(&shop, "t:one", SwitchState::Off);
        let deleted_secrets = Some("mcp.files.oauth.".to_owned());
        batch.server(
            &shop,
            ServerEntry {
                record: off.clone(),
                deleted_secrets,
                is_other_server: true,
                ..entry(&database, before)
            },
        );
        let refused = store.set_all(batch).await.unwrap_err();
        assert!(matches!(&refused, StoreError::ServerChanged { name } if name == "files"), "{refused}");
    }
    assert!(store.standing(&shop).await.unwrap().switches.tool("t:one").is_none(), "nothing was set");
    assert_eq!(store.servers(&shop).await.unwrap(), [server(&database)]);
    assert_eq!(store.condition(&shop, "files").await.unwrap(), seen);
    assert_eq!(names().await.len(), 3);

    let mut batch = SettingsBatch::default();
    let deleted_secrets = Some("mcp.files.oauth.".to_owned());
    let before = Some(server(&database));
    batch.server(
        &shop,
        ServerEntry {
            record: off.clone(),
            deleted_secrets,
            is_other_server: true,
            ..entry(&database, before)
        },
    );
    let revision = store.standing(&shop).await.unwrap().revision;
    store.set_all(batch).await.unwrap();
    assert_eq!(store.servers(&shop).await.unwrap(), [off]);
    let fresh = ServerCondition { has_listed: true, ..ServerCondition::default() };
    assert_eq!(store.condition(&shop, "files").await.unwrap(), fresh);
    assert_eq!(names().await, ["mcp.files.header", "mcp.files2.oauth.grant"]);
    assert!(
        store.standing(&shop).await.unwrap().revision > revision,
        "others are told that a secret is gone"
    );
}
