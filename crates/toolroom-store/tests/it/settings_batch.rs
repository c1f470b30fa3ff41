//! Settings that are written together.

use toolroom::agent::{AgentRecord, Agents};
use toolroom::clock::Clock;
use toolroom::conversation::AgentId;
use toolroom::foreign::{
    AddressEntry, Declarations, DefinitionChange, DefinitionRecord, ForeignServers, Reached, ServerRecord,
};
use toolroom::ledger::{AnswerId, Answerer, CallId, StandingAnswer, SwitchState, Switchboard};
use toolroom::policy::Ruling;
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{ProjectRecord, SettingsBatch};

use crate::place::Place;

fn answer(place: &Place, project: &ProjectId) -> StandingAnswer {
    StandingAnswer {
        id: AnswerId::new("ans_1"),
        scope: Scope { project: project.clone(), user: None },
        effect: Ruling::Allow,
        tool: "t:one".into(),
        when: None,
        lifts: Some("ask".to_owned()),
        definition: Some("d".into()),
        thread: None,
        call: CallId::new("call_0"),
        by: Answerer::Caller,
        at: place.clock.now(),
    }
}

fn server(place: &Place) -> ServerRecord {
    ServerRecord {
        name: "files".to_owned(),
        reached: Reached::Http(AddressEntry {
            url: "https://example.com/".to_owned(),
            headers: Default::default(),
            is_internal: false,
        }),
        is_enabled: true,
        timeout_seconds: None,
        imported_from: None,
        imported_as: None,
        declared: Declarations::default(),
        changed_at: place.clock.now(),
    }
}

#[tokio::test]
async fn everything_in_a_batch_is_set_and_seen_by_others() {
    let place = Place::new();
    let (here, there) = (place.open().await, place.open().await);
    let shop = ProjectId::new("shop");
    let before = there.standing(&shop).await.unwrap().revision;
    let agent = AgentRecord { id: AgentId::new("writer"), ..AgentRecord::default() };
    let project = ProjectRecord {
        id: shop.clone(),
        name: "Shop".to_owned(),
        host_tools: false,
        created_at: place.clock.now(),
    };
    let definition = DefinitionRecord { tool: "read".to_owned(), accepted: None, offered: None };
    here.set_server(&shop, &server(&place)).await.unwrap();
    let change = [DefinitionChange { before: None, after: Some(definition.clone()) }];
    here.change_definitions(&shop, &server(&place), &change).await.unwrap();

    let mut batch = SettingsBatch::default();
    batch.project(project.clone());
    batch.tool_toggle(&shop, "t:one", SwitchState::Off);
    batch.feature_switch(&shop, "memory", SwitchState::On);
    batch.answer(answer(&place, &shop));
    batch.agent(&shop, &agent).unwrap();
    batch.server(&shop, &server(&place)).unwrap();
    here.set_all(batch).await.unwrap();

    let standing = there.standing(&shop).await.unwrap();
    assert!(standing.revision > before, "others are told");
    assert_eq!(standing.switches.tools().into_iter().collect::<Vec<_>>(), [("t:one", SwitchState::Off)]);
    assert_eq!(standing.switches.features().into_iter().collect::<Vec<_>>(), [("memory", SwitchState::On)]);
    assert_eq!(standing.answers.iter().collect::<Vec<_>>(), [&answer(&place, &shop)]);
    assert_eq!(*there.projects().await.unwrap(), [project]);
    assert_eq!(there.agents(&shop).await.unwrap(), [agent]);
    assert_eq!(there.servers(&shop).await.unwrap(), [server(&place)]);
    assert_eq!(there.definitions(&shop, "files").await.unwrap(), [definition], "what is locked stays locked");
}

#[tokio::test]
async fn an_answer_takes_the_place_of_one_of_its_own_project_alone() {
    let place = Place::new();
    let store = place.open().await;
    let (shop, other) = (ProjectId::new("shop"), ProjectId::new("other"));
    for effect in [Ruling::Allow, Ruling::Deny] {
        let mut batch = SettingsBatch::default();
        batch.answer(StandingAnswer { effect, ..answer(&place, &shop) });
        store.set_all(batch).await.unwrap();
    }
    let mut batch = SettingsBatch::default();
    batch.tool_toggle(&other, "calculator", SwitchState::Off);
    batch.answer(StandingAnswer { effect: Ruling::Allow, ..answer(&place, &other) });
    assert!(store.set_all(batch).await.is_err());
    let standing = store.standing(&shop).await.unwrap();
    assert_eq!(standing.answers.iter().map(|answer| answer.effect).collect::<Vec<_>>(), [Ruling::Deny]);
    let standing = store.standing(&other).await.unwrap();
    assert_eq!(standing.answers.iter().count(), 0);
    assert!(standing.switches.tool("calculator").is_none(), "what came before it is undone");
}
