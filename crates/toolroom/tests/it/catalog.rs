//! T2, T3, T11: registration, names, enablement, offers.

use std::sync::Arc;

use serde_json::{Map, json};
use toolroom::Toolroom;
use toolroom::call::CallRequest;
use toolroom::catalog::{Audience, Catalog, Feature, ON_DEVICE_TOOLS, RegisterError, Unavailable};
use toolroom::ledger::{SwitchState, Switches};
use toolroom::policy::ToolChoice;
use toolroom::scope::{ProjectId, Scope};
use toolroom::tool::{Effect, Enablement, Family, Tool, ToolOutput, ToolSpec};

use crate::room::scripted;

fn tool(id: &str, change: impl FnOnce(&mut ToolSpec)) -> Arc<dyn Tool> {
    let mut spec = ToolSpec::new(id, "A tool").unwrap().effect(Effect::Pure);
    change(&mut spec);
    let name = id.to_owned();
    Arc::new(scripted(spec, move |_context, _arguments| {
        let name = name.clone();
        async move { Ok(ToolOutput::new(name)) }
    }))
}

fn catalog(tools: Vec<Arc<dyn Tool>>) -> Catalog {
    let catalog = Catalog::default();
    catalog.register_all(None, tools).unwrap();
    catalog
}

fn local() -> ProjectId {
    ProjectId::default()
}

#[test]
fn a_tool_is_found_by_id_alias_and_unique_bare_name() {
    let catalog = catalog(vec![
        tool("builtin:search", |spec| spec.aliases = vec!["find".into()]),
        tool("mcp:github:search_code", |_| {}),
        tool("app:notes", |_| {}),
        tool("other:notes", |_| {}),
    ]);
    let found = |name: &str| catalog.find(&local(), name).map(|entry| entry.spec().id.to_string());
    assert_eq!(found("builtin:search").unwrap(), "builtin:search");
    assert_eq!(found("find").unwrap(), "builtin:search");
    assert_eq!(found("search_code").unwrap(), "mcp:github:search_code");
    assert_eq!(found("notes").unwrap_err().candidates, ["app:notes", "other:notes"]);
    assert_eq!(found("serch").unwrap_err().nearest[0], "builtin:search");
    assert!(found("zzzzzz").unwrap_err().nearest.is_empty());
}

#[test]
fn a_foreign_tool_takes_no_name_of_the_house() {
    let catalog = catalog(vec![
        tool("builtin:get_local_time", |spec| spec.aliases = vec!["time".into()]),
        tool("mcp:evil:get_local_time", |_| {}),
        tool("mcp:evil:time", |_| {}),
        tool("mcp:other:time", |_| {}),
        tool("mcp:evil:odd", |_| {}),
        tool("mcp:other:odd", |_| {}),
    ]);
    let found = |name: &str| catalog.find(&local(), name).map(|entry| entry.spec().id.to_string());
    assert_eq!(found("get_local_time").unwrap(), "builtin:get_local_time");
    assert_eq!(found("time").unwrap(), "builtin:get_local_time");
    assert_eq!(found("odd").unwrap_err().candidates, ["mcp:evil:odd", "mcp:other:odd"]);
    let small = catalog.offer(
        &local(),
        &Switches::default(),
        &Map::new(),
        Audience::OnDevice,
        &ToolChoice::default(),
    );
    assert_eq!(small.tools.len(), 1, "a small model is offered the house's own");
}

#[test]
fn what_cannot_be_told_apart_or_checked_is_refused() {
    let catalog = catalog(vec![tool("app:one", |spec| spec.aliases = vec!["uno".into()])]);
    let refused = |tool: Arc<dyn Tool>| catalog.register_all(None, vec![tool]).unwrap_err();
    assert!(matches!(refused(tool("app:one", |_| {})), RegisterError::Duplicate { .. }));
    assert!(matches!(
        refused(tool("app:two", |s| s.aliases = vec!["uno".into()])),
        RegisterError::Duplicate { .. }
    ));
    assert!(matches!(refused(tool("app:two", |s| s.aliases = vec!["a:b".into()])), RegisterError::Id(_)));
    for places in [0, usize::MAX] {
        let error = refused(tool("app:two", |spec| spec.concurrency = Some(places)));
        assert!(matches!(error, RegisterError::Concurrency(_)), "{places}: {error}");
    }
    for schema in [
        json!(true),
        json!("text"),
        json!({"type": "string"}),
        json!({"type": "object", "properties": []}),
        json!({"type": "object", "properties": {"x": {"type": "strnig"}}}),
        json!({"type": "object", "required": "x"}),
        json!({"type": "object", "properties": {"x": {"$ref": "https://example.com/schema.json"}}}),
        json!({"type": "object", "properties": {"x": {"pattern": "(?=lookahead)"}}}),
        json!({"type": "object", "properties": {"x": {"minimum": "3"}}}),
    ] {
        let error = refused(tool("app:two", |spec| spec.parameters = schema.clone().into()));
        assert!(matches!(error, RegisterError::Schema { .. }), "{schema}: {error}");
    }
    let unknown = refused(tool("app:two", |spec| spec.enablement.feature = Some("flying".into())));
    assert!(matches!(unknown, RegisterError::UnknownFeature { .. }));
    assert!(ToolSpec::new("app:a:b", "").is_err() && ToolSpec::new("bare", "").is_err());
    assert_eq!(catalog.list(&local()).len(), 1, "a refused tool changes nothing");
}

#[test]
fn a_batch_is_taken_whole_or_not_at_all() {
    let catalog = Catalog::default();
    assert!(catalog.register_all(None, vec![tool("app:a", |_| {}), tool("app:a", |_| {})]).is_err());
    let alias = |id: &str| tool(id, |spec| spec.aliases = vec!["same".into()]);
    assert!(catalog.register_all(None, vec![alias("app:a"), alias("app:b")]).is_err());
    assert!(catalog.list(&local()).is_empty());
}

#[test]
fn an_alias_is_free_in_another_project_and_takes_nobodys_name_over() {
    let catalog = catalog(vec![tool("app:long-name", |spec| spec.aliases = vec!["short".into()])]);
    let alias = || tool("declared:x", |spec| spec.aliases = vec!["short".into()]);
    let (one, two) = (ProjectId::new("one"), ProjectId::new("two"));
    catalog.register_all(Some(&one), vec![alias()]).unwrap();
    catalog.register_all(Some(&two), vec![alias()]).unwrap();
    let found = |project: &ProjectId| catalog.find(project, "short").map(|entry| entry.spec().id.to_string());
    assert_eq!(found(&local()).unwrap(), "app:long-name");
    assert_eq!(found(&one).unwrap(), "declared:x", "a project's own alias goes before the shared one");

    catalog.register_all(None, vec![tool("other:short", |_| {})]).unwrap();
    assert_eq!(
        found(&local()).unwrap_err().candidates,
        ["other:short", "app:long-name"],
        "no tool is called by mistake"
    );
}

#[test]
fn a_source_is_replaced_whole_or_not_at_all() {
    let catalog = catalog(vec![tool("mcp:a:x", |_| {}), tool("mcp:a:y", |_| {}), tool("app:x", |_| {})]);
    let ids = || catalog.list(&local()).iter().map(|entry| entry.spec().id.to_string()).collect::<Vec<_>>();
    assert!(catalog.replace(None, "mcp:a", vec![tool("mcp:a:z", |_| {}), tool("app:x", |_| {})]).is_err());
    assert_eq!(ids(), ["app:x", "mcp:a:x", "mcp:a:y"]);
    catalog.replace(None, "mcp:a", vec![tool("mcp:a:y", |_| {}), tool("mcp:a:z", |_| {})]).unwrap();
    assert_eq!(ids(), ["app:x", "mcp:a:y", "mcp:a:z"]);
    assert!(catalog.find(&local(), "z").is_ok() && catalog.find(&local(), "mcp:a:x").is_err());
}

#[tokio::test]
async fn two_projects_may_use_the_same_name() {
    let room = Toolroom::in_memory();
    let (one, two) = (ProjectId::new("one"), ProjectId::new("two"));
    room.catalog().register_all(Some(&one), vec![tool("declared:book", |_| {})]).unwrap();
    room.catalog()
        .register_all(Some(&two), vec![tool("declared:book", |_| {}), tool("declared:own", |_| {})])
        .unwrap();
    let call = async |project: &str, name: &str| {
        room.call(CallRequest::new(name).scope(Scope::project(project))).await.for_client().success
    };
    assert!(call("one", "book").await && call("two", "book").await);
    assert!(!call("one", "own").await, "another project's tool does not exist");
    assert!(!call("local", "book").await);
}

#[test]
fn tools_of_one_source_can_be_taken_out() {
    let catalog = catalog(vec![tool("mcp:a:x", |_| {}), tool("mcp:b:x", |_| {}), tool("app:x", |_| {})]);
    catalog.unregister(None, "mcp:a");
    let ids: Vec<String> = catalog.list(&local()).iter().map(|entry| entry.spec().id.to_string()).collect();
    assert_eq!(ids, ["app:x", "mcp:b:x"]);
    assert!(catalog.find(&local(), "mcp:a:x").is_err());
}

#[test]
fn a_missing_tool_of_a_known_source_is_explained() {
    let catalog = catalog(vec![tool("mcp:files:read", |_| {})]);
    let generation = catalog.generation();
    let explain = |reasons: &[(&str, &str)]| {
        let reasons = reasons.iter().map(|(source, why)| ((*source).to_owned(), (*why).to_owned()));
        catalog.explain_absences(&local(), reasons.collect());
    };
    let missing = |project: &ProjectId, id: &str| catalog.find(project, id).unwrap_err();
    explain(&[("mcp:files", "it is off"), ("mcp:web", "it does not start")]);
    assert_eq!(missing(&local(), "mcp:web:x").hint().unwrap(), "it does not start");
    assert_eq!(
        missing(&local(), "mcp:files:reed").hint().unwrap(),
        "did you mean `mcp:files:read`? it is off"
    );
    for id in ["mcp:we:x", "mcp:web", "mcp:web:x:y", "web"] {
        assert_eq!(missing(&local(), id).why, None, "{id}");
    }
    assert_eq!(missing(&ProjectId::new("other"), "mcp:web:x").why, None);
    explain(&[]);
    assert_eq!(missing(&local(), "mcp:web:x").why, None);
    assert_eq!(catalog.generation(), generation, "no tool came or went");
}

#[test]
fn the_generation_grows_when_tools_change() {
    let catalog = catalog(vec![tool("mcp:a:x", |_| {})]);
    let mut seen = catalog.generation();
    let mut has_changed = || std::mem::replace(&mut seen, catalog.generation()) < catalog.generation();
    assert!(catalog.find(&local(), "x").is_ok() && !has_changed());
    catalog.replace(None, "mcp:a", vec![tool("mcp:a:y", |_| {})]).unwrap();
    assert!(has_changed());
    catalog.unregister(None, "mcp:a");
    assert!(has_changed() && !has_changed());
}

#[test]
fn a_foreign_pattern_that_cannot_be_checked_is_shown_not_refused() {
    let pattern = json!({"type": "object", "properties": {"x": {"type": "string", "pattern": "(?=a)a"}}});
    let catalog = catalog(vec![tool("mcp:s:t", |spec| spec.parameters = pattern.into())]);
    let entry = catalog.find(&local(), "mcp:s:t").unwrap();
    assert_eq!(entry.patterns_not_enforced(), ["/properties/x/pattern"]);
}

#[test]
fn switches_features_and_context_decide_what_is_on() {
    let catalog = Catalog::default();
    catalog.declare(Feature { name: "beta", description: "unfinished things", on_by_default: false });
    let family = || Some(Family { name: "shell".into(), preferred: false });
    catalog
        .register_all(
            None,
            vec![
                tool("app:plain", |_| {}),
                tool("app:off", |spec| spec.enablement.on_by_default = false),
                tool("app:beta", |spec| spec.enablement.feature = Some("beta".into())),
                tool("app:memo", |spec| {
                    spec.enablement = Enablement {
                        on_by_default: true,
                        feature: Some("memory".into()),
                        feature_only: true,
                        follows: None,
                    };
                }),
                tool("app:mail", |spec| spec.required_context = vec!["email".into()]),
                tool("app:sh", |spec| spec.family = family()),
                tool("app:jobs", |spec| spec.enablement.follows = Some("shell".into())),
            ],
        )
        .unwrap();
    let mut switches = Switches::default();
    let state = |switches: &Switches, id: &str, context: &Map<_, _>| {
        catalog.check_enabled(catalog.find(&local(), id).unwrap().spec(), switches, context)
    };
    let none = Map::new();
    assert_eq!(state(&switches, "app:plain", &none), Ok(()));
    assert!(matches!(state(&switches, "app:off", &none), Err(Unavailable::Tool { .. })));
    assert!(matches!(state(&switches, "app:beta", &none), Err(Unavailable::Feature { .. })));
    assert_eq!(state(&switches, "app:memo", &none), Ok(()));
    assert_eq!(
        state(&switches, "app:mail", &none),
        Err(Unavailable::Context { missing: vec!["email".into()] })
    );
    for empty in [json!(null), json!("")] {
        assert!(state(&switches, "app:mail", &Map::from_iter([("email".to_owned(), empty)])).is_err());
    }
    assert_eq!(state(&switches, "app:mail", &Map::from_iter([("email".to_owned(), json!("a@b"))])), Ok(()));

    switches.set_tool("app:off", SwitchState::On);
    switches.set_feature("beta", SwitchState::On);
    switches.set_feature("memory", SwitchState::Off);
    switches.set_tool("app:memo", SwitchState::On);
    switches.set_tool("shell", SwitchState::Off);
    assert_eq!(state(&switches, "app:off", &none), Ok(()));
    assert_eq!(state(&switches, "app:beta", &none), Ok(()));
    assert!(state(&switches, "app:memo", &none).is_err(), "the feature is its only switch");
    assert_eq!(
        state(&switches, "app:sh", &none),
        Err(Unavailable::Tool { name: "shell".into() }),
        "a family has one toggle"
    );
    assert_eq!(state(&switches, "app:jobs", &none), Err(Unavailable::Tool { name: "shell".into() }));
    assert_eq!(catalog.find(&local(), "app:jobs").unwrap().toggle(), Ok("shell"));

    let memo = catalog.find(&local(), "app:memo").unwrap();
    assert_eq!(
        memo.toggle().unwrap_err().to_string(),
        "`app:memo` has no toggle of its own; switch the feature `memory`"
    );
    assert_eq!(catalog.find(&local(), "app:sh").unwrap().toggle(), Ok("shell"));
}

#[test]
fn an_offer_is_sorted_holds_one_of_a_family_and_has_wire_names() {
    let family = |preferred| Some(Family { name: "read".into(), preferred });
    let tools = vec![
        tool("builtin:zeta", |_| {}),
        tool("builtin:fs-read", |spec| spec.family = family(false)),
        tool("builtin:read_file", |spec| spec.family = family(true)),
        tool("com.example.notes:find", |_| {}),
        tool("builtin:get_local_time", |_| {}),
    ];
    let catalog = catalog(tools);
    let offer =
        catalog.offer(&local(), &Switches::default(), &Map::new(), Audience::Full, &ToolChoice::default());
    let wires: Vec<&str> =
        offer.tools.iter().map(|entry| offer.names.wire(entry.spec().id.as_str()).unwrap()).collect();
    let expected =
        ["builtin__get_local_time", "builtin__read_file", "builtin__zeta", "com--example--notes__find"];
    assert_eq!(wires, expected);
    assert_eq!(offer.names.id("builtin__zeta"), Some("builtin:zeta"));

    let small = catalog.offer(
        &local(),
        &Switches::default(),
        &Map::new(),
        Audience::OnDevice,
        &ToolChoice::default(),
    );
    assert_eq!(small.tools.len(), 1);
    assert_eq!(ON_DEVICE_TOOLS.len(), 8);
}
