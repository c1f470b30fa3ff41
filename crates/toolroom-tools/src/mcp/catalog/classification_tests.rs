use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};
use toolroom::clock::Timestamp;
use toolroom::foreign::{AddressEntry, ProgramEntry, ServerTraits};

use super::*;

const HINTS: [&str; 4] = ["destructiveHint", "readOnlyHint", "openWorldHint", "idempotentHint"];

fn program(profile: &str) -> Transport {
    Transport::Stdio(ProgramEntry {
        command: "/bin/true".to_owned(),
        arguments: Vec::new(),
        folder: None,
        environment: BTreeMap::new(),
        profile: profile.to_owned(),
        readable: Vec::new(),
    })
}

fn address() -> Transport {
    Transport::Http(AddressEntry {
        url: "https://a.example/mcp".to_owned(),
        headers: BTreeMap::new(),
        is_internal: false,
    })
}

fn server(transport: Transport, declared: ServerTraits) -> ServerRecord {
    ServerRecord {
        name: "a".to_owned(),
        transport,
        is_enabled: true,
        timeout_seconds: None,
        imported_from: None,
        imported_as: None,
        traits: declared,
        changed_at: Timestamp::from_micros(0),
    }
}

fn tool(annotations: &Value) -> Definition {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": annotations});
    Definition::parse(&tool).unwrap()
}

fn of_all(effect: Option<Effect>, able: Option<&[Capability]>) -> ServerTraits {
    let all = ToolTraits { effect, capabilities: able.map(Capabilities::of) };
    ServerTraits { all, ..ServerTraits::default() }
}

fn names(classification: &Classification) -> Vec<&'static str> {
    classification.capabilities.unwrap().iter().map(Capability::as_str).collect()
}

#[test]
fn a_remote_search_reads_untrusted_text_and_sends_and_no_more() {
    let declared = of_all(Some(Effect::Read), Some(&[]));
    let tool = classify(&server(address(), declared), &tool(&json!({})));
    assert_eq!(tool.effect, Some(Effect::Read));
    assert_eq!(names(&tool), ["reads-untrusted", "egress"]);
    assert_eq!(
        tool.reasons,
        [ClassificationReason::ServerDeclared, ClassificationReason::Foreign, ClassificationReason::Remote]
    );
}

#[test]
fn a_program_without_a_network_sends_nothing_despite_its_hints() {
    let declared = || of_all(Some(Effect::Read), Some(&[Capability::ReadsPrivate]));
    let open = tool(&json!({"openWorldHint": true}));
    for profile in ["workspace", "read-only"] {
        let classification = classify(&server(program(profile), declared()), &open);
        assert_eq!(names(&classification), ["reads-private", "reads-untrusted"], "{profile}");
    }
    for (profile, more) in [("network:a.example", false), ("off", true), ("what is that", true)] {
        let able = classify(&server(program(profile), declared()), &tool(&json!({}))).capabilities.unwrap();
        assert!(able.has(Capability::Egress), "{profile}");
        assert_eq!(able.has(Capability::Exec), more, "{profile}");
    }
}

#[test]
fn a_declaration_for_one_tool_comes_before_that_for_all_and_expires_with_its_definition() {
    let definition = tool(&json!({}));
    let mut declared = of_all(Some(Effect::Read), Some(&[]));
    let own = ToolTraits { effect: Some(Effect::OnceOnlyWrite), capabilities: None };
    let entry = PinnedTraits { definition: definition.hash(), traits: own };
    declared.tools.insert("t".to_owned(), entry);
    let server = server(address(), declared);
    let now = classify(&server, &definition);
    assert_eq!(now.effect, Some(Effect::OnceOnlyWrite));
    assert_eq!(names(&now), ["reads-untrusted", "writes", "egress"], "an effect that writes can write");
    assert!(
        now.reasons.starts_with(&[ClassificationReason::ToolDeclared, ClassificationReason::ServerDeclared]),
        "{now:?}"
    );
    let changed = classify(&server, &tool(&json!({"title": "another"})));
    assert_eq!(
        (changed.effect, changed.capabilities),
        (None, None),
        "the exception for this tool is not known"
    );
    assert!(changed.reasons.contains(&ClassificationReason::Outdated));
}

#[test]
fn of_two_contradicting_values_the_worse_one_counts() {
    let classified = |effect, able: &[Capability], hints: &Value| {
        let tool = classify(&server(address(), of_all(Some(effect), Some(able))), &tool(hints));
        (tool.effect.unwrap(), tool.capabilities.unwrap())
    };
    assert_eq!(classified(Effect::Read, &[Capability::Writes], &json!({})).0, Effect::OnceOnlyWrite);
    assert_eq!(
        classified(Effect::IdempotentWrite, &[Capability::Writes], &json!({})).0,
        Effect::IdempotentWrite
    );
    assert_eq!(classified(Effect::Read, &[Capability::Destructive], &json!({})).0, Effect::Destructive);
    assert_eq!(classified(Effect::Read, &[], &json!({"readOnlyHint": false})).0, Effect::OnceOnlyWrite);
    let (effect, able) = classified(Effect::Pure, &[], &json!({"destructiveHint": true}));
    assert_eq!(effect, Effect::Destructive);
    assert!(able.has(Capability::Destructive) && able.has(Capability::Writes));
    // Hints that would improve the classification are ignored.
    let hinted =
        classified(Effect::OnceOnlyWrite, &[], &json!({"readOnlyHint": true, "destructiveHint": false}));
    assert_eq!(hinted.0, Effect::OnceOnlyWrite);
}

fn any_transport() -> impl Strategy<Value = Transport> {
    prop_oneof![
        Just(address()),
        select(vec!["workspace", "read-only", "network:a.example", "off", ""]).prop_map(program),
    ]
}

fn any_declared() -> impl Strategy<Value = ToolTraits> {
    let effect = proptest::option::of(select(Effect::ALL.to_vec()));
    let able = proptest::option::of(subsequence(Capability::ALL.to_vec(), 0..=Capability::ALL.len()));
    (effect, able).prop_map(|(effect, able)| ToolTraits {
        effect,
        capabilities: able.map(|able| Capabilities::of(&able)),
    })
}

/// Some hints, and the same with more of them.
fn any_hints() -> impl Strategy<Value = (Value, Value)> {
    let hint = proptest::option::of(any::<bool>());
    proptest::collection::vec((hint, any::<bool>()), HINTS.len()).prop_map(|hints| {
        let some = |is_all: bool| -> Value {
            let pairs = HINTS.iter().zip(&hints).filter(|(_, (_, is_kept))| is_all || *is_kept);
            pairs.filter_map(|(name, (hint, _))| Some(((*name).to_owned(), Value::Bool((*hint)?)))).collect()
        };
        (some(false), some(true))
    })
}

fn effect_of(tool: &Classification) -> Effect {
    tool.effect.unwrap_or(Effect::Destructive)
}

fn able_of(tool: &Classification) -> Capabilities {
    tool.capabilities.unwrap_or(Capabilities::ALL)
}

fn is_within(less: Capabilities, more: Capabilities) -> bool {
    less.iter().all(|capability| more.has(capability))
}

proptest! {
    #[test]
    fn hints_only_add(transport in any_transport(), all in any_declared(), hints in any_hints()) {
        let server = server(transport, ServerTraits { all, ..ServerTraits::default() });
        let (less, more) = (classify(&server, &tool(&hints.0)), classify(&server, &tool(&hints.1)));
        let silent = classify(&server, &tool(&json!({})));
        for (less, more) in [(&less, &more), (&silent, &less), (&silent, &more)] {
            prop_assert!(effect_of(less) <= effect_of(more));
            prop_assert!(is_within(able_of(less), able_of(more)));
        }
    }

    #[test]
    fn the_minimum_is_always_there_and_declarations_are_never_reduced(
        transport in any_transport(), all in any_declared(), hints in any_hints(),
    ) {
        let server = server(transport, ServerTraits { all, ..ServerTraits::default() });
        let classification = classify(&server, &tool(&hints.1));
        let able = able_of(&classification);
        prop_assert!(able.has(Capability::ReadsUntrusted));
        let is_offline = matches!(profile(&server.transport), Some(NamedProfile::Workspace | NamedProfile::ReadOnly));
        prop_assert!(is_offline || able.has(Capability::Egress));
        prop_assert!(is_within(all.capabilities.unwrap_or(Capabilities::ALL), able));
        prop_assert!(all.effect.unwrap_or(Effect::Destructive) <= effect_of(&classification));
        // No tool can do less than its effect says.
        prop_assert!(!classification.effect.is_some_and(Effect::writes) || able.has(Capability::Writes));
    }

    #[test]
    fn without_a_declaration_everything_counts_as_the_worst(transport in any_transport(), hints in any_hints()) {
        let definition = tool(&hints.1);
        let classification = classify(&server(transport, ServerTraits::default()), &definition);
        prop_assert_eq!(classification.capabilities, None);
        let says = definition.hint("destructiveHint") == Some(true);
        prop_assert_eq!(classification.effect, says.then_some(Effect::Destructive));
    }
}
