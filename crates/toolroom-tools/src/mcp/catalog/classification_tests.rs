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

fn server(transport: Transport, traits: ServerTraits) -> ServerRecord {
    ServerRecord {
        name: "a".to_owned(),
        transport,
        is_enabled: true,
        timeout_seconds: None,
        imported_from: None,
        imported_as: None,
        traits,
        changed_at: Timestamp::from_micros(0),
    }
}

fn tool(annotations: &Value) -> Definition {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": annotations});
    Definition::read(&tool).unwrap()
}

fn of_all(effect: Option<Effect>, able: Option<&[Capability]>) -> ServerTraits {
    let all = ToolTraits { effect, capabilities: able.map(Capabilities::of) };
    ServerTraits { all, ..ServerTraits::default() }
}

fn names(worth: &Worth) -> Vec<&'static str> {
    worth.capabilities.unwrap().iter().map(Capability::as_str).collect()
}

#[test]
fn a_search_somewhere_else_reads_what_strangers_wrote_and_sends_and_no_more() {
    let declared = of_all(Some(Effect::Read), Some(&[]));
    let worth = worth(&server(address(), declared), &tool(&json!({})));
    assert_eq!(worth.effect, Some(Effect::Read));
    assert_eq!(names(&worth), ["reads-untrusted", "egress"]);
    assert_eq!(worth.because, [Because::ServerDeclared, Because::Foreign, Because::Remote]);
}

#[test]
fn a_program_without_a_network_sends_nothing_whatever_it_says() {
    let declared = || of_all(Some(Effect::Read), Some(&[Capability::ReadsPrivate]));
    let open = tool(&json!({"openWorldHint": true}));
    for profile in ["workspace", "read-only"] {
        let worth = worth(&server(program(profile), declared()), &open);
        assert_eq!(names(&worth), ["reads-private", "reads-untrusted"], "{profile}");
    }
    for (profile, more) in [("network:a.example", false), ("off", true), ("what is that", true)] {
        let able = worth(&server(program(profile), declared()), &tool(&json!({}))).capabilities.unwrap();
        assert!(able.has(Capability::Egress), "{profile}");
        assert_eq!(able.has(Capability::Exec), more, "{profile}");
    }
}

#[test]
fn what_is_said_of_one_tool_comes_before_what_is_said_of_all_and_goes_with_its_definition() {
    let definition = tool(&json!({}));
    let mut declared = of_all(Some(Effect::Read), Some(&[]));
    let own = ToolTraits { effect: Some(Effect::OnceOnlyWrite), capabilities: None };
    let entry = PinnedTraits { definition: definition.hash(), traits: own };
    declared.tools.insert("t".to_owned(), entry);
    let server = server(address(), declared);
    let now = worth(&server, &definition);
    assert_eq!(now.effect, Some(Effect::OnceOnlyWrite));
    assert_eq!(names(&now), ["reads-untrusted", "writes", "egress"], "an effect that writes can write");
    assert!(now.because.starts_with(&[Because::ToolDeclared, Because::ServerDeclared]), "{now:?}");
    let changed = worth(&server, &tool(&json!({"title": "another"})));
    assert_eq!(
        (changed.effect, changed.capabilities),
        (None, None),
        "what was special about it is not known"
    );
    assert!(changed.because.contains(&Because::Outdated));
}

#[test]
fn of_two_words_that_do_not_agree_the_worse_one_counts() {
    let worth_of = |effect, able: &[Capability], hints: &Value| {
        let worth = worth(&server(address(), of_all(Some(effect), Some(able))), &tool(hints));
        (worth.effect.unwrap(), worth.capabilities.unwrap())
    };
    assert_eq!(worth_of(Effect::Read, &[Capability::Writes], &json!({})).0, Effect::OnceOnlyWrite);
    assert_eq!(
        worth_of(Effect::IdempotentWrite, &[Capability::Writes], &json!({})).0,
        Effect::IdempotentWrite
    );
    assert_eq!(worth_of(Effect::Read, &[Capability::Destructive], &json!({})).0, Effect::Destructive);
    assert_eq!(worth_of(Effect::Read, &[], &json!({"readOnlyHint": false})).0, Effect::OnceOnlyWrite);
    let (effect, able) = worth_of(Effect::Pure, &[], &json!({"destructiveHint": true}));
    assert_eq!(effect, Effect::Destructive);
    assert!(able.has(Capability::Destructive) && able.has(Capability::Writes));
    // What is good to hear is not believed.
    let kind = worth_of(Effect::OnceOnlyWrite, &[], &json!({"readOnlyHint": true, "destructiveHint": false}));
    assert_eq!(kind.0, Effect::OnceOnlyWrite);
}

fn any_reached() -> impl Strategy<Value = Transport> {
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

fn effect_of(worth: &Worth) -> Effect {
    worth.effect.unwrap_or(Effect::Destructive)
}

fn able_of(worth: &Worth) -> Capabilities {
    worth.capabilities.unwrap_or(Capabilities::ALL)
}

fn is_within(less: Capabilities, more: Capabilities) -> bool {
    less.iter().all(|capability| more.has(capability))
}

proptest! {
    #[test]
    fn hints_only_add(transport in any_reached(), all in any_declared(), hints in any_hints()) {
        let server = server(transport, ServerTraits { all, ..ServerTraits::default() });
        let (less, more) = (worth(&server, &tool(&hints.0)), worth(&server, &tool(&hints.1)));
        let silent = worth(&server, &tool(&json!({})));
        for (less, more) in [(&less, &more), (&silent, &less), (&silent, &more)] {
            prop_assert!(effect_of(less) <= effect_of(more));
            prop_assert!(is_within(able_of(less), able_of(more)));
        }
    }

    #[test]
    fn the_floor_is_always_there_and_what_was_said_is_never_less(
        transport in any_reached(), all in any_declared(), hints in any_hints(),
    ) {
        let server = server(transport, ServerTraits { all, ..ServerTraits::default() });
        let worth = worth(&server, &tool(&hints.1));
        let able = able_of(&worth);
        prop_assert!(able.has(Capability::ReadsUntrusted));
        let is_offline = matches!(profile(&server.transport), Some(NamedProfile::Workspace | NamedProfile::ReadOnly));
        prop_assert!(is_offline || able.has(Capability::Egress));
        prop_assert!(is_within(all.capabilities.unwrap_or(Capabilities::ALL), able));
        prop_assert!(all.effect.unwrap_or(Effect::Destructive) <= effect_of(&worth));
        // No tool can do less than its effect says.
        prop_assert!(!worth.effect.is_some_and(Effect::writes) || able.has(Capability::Writes));
    }

    #[test]
    fn where_nobody_declares_everything_is_as_bad_as_it_was(transport in any_reached(), hints in any_hints()) {
        let definition = tool(&hints.1);
        let worth = worth(&server(transport, ServerTraits::default()), &definition);
        prop_assert_eq!(worth.capabilities, None);
        let says = definition.hint("destructiveHint") == Some(true);
        prop_assert_eq!(worth.effect, says.then_some(Effect::Destructive));
    }
}
