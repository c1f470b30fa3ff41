//! The memory tools through the whole path of a call: what is kept, whose it is, and what has to be asked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolroom::Toolroom;
use toolroom::agent::RunFacts;
use toolroom::approval::{AnswerError, AnswerRequest, Responder};
use toolroom::call::{CallReport, CallRequest, Outcome, ResumeRequest};
use toolroom::clock::Timestamp;
use toolroom::conversation::AgentId;
use toolroom::ledger::{Answer, Answerer, CallId, DecideError, SwitchState};
use toolroom::memory::{Category, Memories, Memory};
use toolroom::policy::{Policy, Provenance};
use toolroom::redact::{Fixed, Patterns, Redactor, Secret};
use toolroom::scope::Scope;
use toolroom::testing::{ManualClock, MemoryLedger, MemoryMemories, NoSeal, unguarded};
use toolroom::tool::{Capability, ErrorKind};
use toolroom_tools::builtin::{self, ToolDependencies};

use crate::around::surroundings;

const SECRET: &str = "open-sesame-42";

const TOOLS: [&str; 6] = [
    "memory_forget",
    "memory_learn",
    "memory_reinforce",
    "memory_search",
    "memory_store",
    "promote_learning",
];

struct House {
    room: Toolroom,
    ledger: Arc<MemoryLedger>,
    memories: Arc<MemoryMemories>,
    clock: Arc<ManualClock>,
}

impl House {
    fn new() -> Self {
        Self::under(Policy::default())
    }

    fn under(policy: Policy) -> Self {
        let ledger = Arc::new(MemoryLedger::new());
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_800_000_000_000_000)));
        let memories = Arc::new(MemoryMemories::new(Arc::clone(&clock) as _));
        let around = ToolDependencies { memories: Some(Arc::clone(&memories) as _), ..surroundings(&ledger) };
        let redactor = Redactor::new([Secret::new("DOOR", SECRET)], Patterns::Keys);
        let room = Toolroom::builder(Arc::clone(&ledger))
            .policy(policy)
            .seal(Arc::new(NoSeal))
            .redactions(Arc::new(Fixed::new(redactor)))
            .clock(Arc::clone(&clock) as _)
            .build();
        room.catalog().register_all(None, builtin::all(&around).unwrap()).unwrap();
        Self { room, ledger, memories, clock }
    }

    async fn call(&self, scope: &Scope, tool: &str, arguments: Value) -> CallReport {
        self.clock.advance(Duration::from_secs(1));
        self.room.call(request(scope, tool, arguments)).await
    }

    /// What a model is told of a call that went well.
    async fn done(&self, scope: &Scope, tool: &str, arguments: Value) -> Value {
        let report = self.call(scope, tool, arguments.clone()).await;
        assert!(matches!(report.outcome, Outcome::Done(_)), "{tool} {arguments}: {report:?}");
        report.for_model().unwrap()
    }

    /// What a model is told of a call that did not.
    async fn failed(&self, scope: &Scope, tool: &str, arguments: Value) -> (ErrorKind, String, String) {
        let report = self.call(scope, tool, arguments.clone()).await;
        let Outcome::Failed(error) = &report.outcome else { panic!("{tool} {arguments}: {report:?}") };
        let hint = error.hint().unwrap_or_default().to_owned();
        (error.kind(), error.for_model().to_owned(), hint)
    }

    async fn memory(&self, scope: &Scope, key: &str) -> Option<Memory> {
        self.memories.memory(scope, key).await.unwrap()
    }

    async fn keys(&self, scope: &Scope) -> Vec<String> {
        self.memories.memories(scope).await.unwrap().into_iter().map(|memory| memory.key).collect()
    }

    async fn found(&self, scope: &Scope, query: &str) -> Vec<String> {
        let found = self.done(scope, "memory_search", json!({"query": query})).await;
        found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["key"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Remembers a lesson that has proved right so often.
    async fn lesson(&self, scope: &Scope, key: &str, hits: u64) {
        let lesson = json!({"key": key, "content": "Prices are in euros.", "category": "PREFERENCE"});
        self.done(scope, "memory_learn", lesson).await;
        for _ in 1..hits {
            self.done(scope, "memory_reinforce", json!({"key": key})).await;
        }
    }

    async fn parked(&self, request: CallRequest) -> CallId {
        let report = self.room.call(request).await;
        let Outcome::Pending(pending) = &report.outcome else { panic!("{report:?}") };
        assert_eq!(pending.by, Answerer::Operator, "{pending:?}");
        report.call_id
    }

    async fn answer(
        &self,
        call: &CallId,
        answer: Answer,
        by: Responder,
        scope: &Scope,
    ) -> Result<(), AnswerError> {
        let request = AnswerRequest { call: call.clone(), scope: scope.clone(), by, answer, when: None };
        self.room.answer(request).await.map(drop)
    }

    /// Runs a call that the operator says yes to.
    async fn agreed(&self, request: CallRequest) -> CallReport {
        let scope = request.scope.clone();
        let call = self.parked(request).await;
        self.answer(&call, Answer::Once, Responder::Operator, &Scope::project("local")).await.unwrap();
        self.room.resume(ResumeRequest::new(call, scope)).await.unwrap()
    }
}

fn request(scope: &Scope, tool: &str, arguments: Value) -> CallRequest {
    let Value::Object(arguments) = arguments else { panic!("no arguments") };
    CallRequest::new(tool).scope(scope.clone()).arguments(arguments)
}

fn promotion(scope: &Scope, key: &str) -> CallRequest {
    let arguments = json!({"memory_key": key, "soul_addition": " Give prices in euros. "});
    request(scope, "promote_learning", arguments)
}

fn anna() -> Scope {
    Scope::user("local", "anna")
}

#[tokio::test]
async fn what_is_stored_is_found_reinforced_and_forgotten() {
    let house = House::new();
    let stored =
        house.done(&anna(), "memory_store", json!({"key": "city", "content": "Lives in Tashkent."})).await;
    assert_eq!(stored, json!({"success": true, "key": "city", "content": "Lives in Tashkent."}));
    let learned =
        json!({"key": "tone", "content": "Be brief.", "category": "preference", "source": "user correction"});
    assert_eq!(
        house.done(&anna(), "memory_learn", learned).await,
        json!({"success": true, "key": "tone", "content": "Be brief.", "category": "PREFERENCE"})
    );
    assert_eq!(
        house.done(&anna(), "memory_search", json!({"query": "TASHKENT"})).await,
        json!({"results": [{"key": "city", "content": "Lives in Tashkent.", "category": "GENERAL", "hit_count": 1}],
               "total": 1})
    );
    let reinforced = house.done(&anna(), "memory_reinforce", json!({"key": "tone"})).await;
    assert_eq!(reinforced, json!({"success": true, "key": "tone", "hit_count": 2}));
    let forgotten = house.done(&anna(), "memory_forget", json!({"key": "city"})).await;
    assert_eq!(forgotten, json!({"success": true, "key": "city"}));
    assert_eq!(house.keys(&anna()).await, ["tone"]);
    let nothing = house.done(&anna(), "memory_forget", json!({"key": "tome"})).await;
    let message = "nothing is remembered under `tome`; did you mean `tone`?";
    assert_eq!(nothing, json!({"success": false, "key": "tome", "message": message}));
}

#[tokio::test]
async fn what_was_learned_stays_learned_when_it_is_stored_again() {
    let house = House::new();
    let lesson =
        json!({"key": "vpn", "content": "Needs the VPN.", "category": "LEARNING", "source": "a log"});
    house.done(&anna(), "memory_learn", lesson).await;
    house.done(&anna(), "memory_reinforce", json!({"key": "vpn"})).await;
    let before = house.memory(&anna(), "vpn").await.unwrap();
    house.done(&anna(), "memory_store", json!({"key": "vpn", "content": "Needs the new VPN."})).await;
    let after = house.memory(&anna(), "vpn").await.unwrap();
    assert!(after.updated_at > before.updated_at);
    let expected =
        Memory { content: "Needs the new VPN.".into(), updated_at: after.updated_at, ..before.clone() };
    assert_eq!(after, expected);
    assert_eq!((after.category, after.hits, after.source.as_deref()), (Category::Learning, 2, Some("a log")));
    // A lesson may be of another kind by now; without a source the old one stays.
    let lesson = json!({"key": "vpn", "content": "The VPN fails on Mondays.", "category": "ERROR"});
    house.done(&anna(), "memory_learn", lesson).await;
    let after = house.memory(&anna(), "vpn").await.unwrap();
    assert_eq!((after.category, after.hits, after.source.as_deref()), (Category::Error, 2, Some("a log")));
}

#[tokio::test]
async fn a_lesson_without_a_kind_is_refused_and_kept_nowhere() {
    let house = House::new();
    for (category, told, hint) in [
        ("GENERAL", "LEARNING, ERROR or PREFERENCE", "memory_store"),
        ("general", "LEARNING, ERROR or PREFERENCE", "memory_store"),
        ("FACT", "no category `FACT`", "LEARNING, ERROR or PREFERENCE"),
    ] {
        let lesson = json!({"key": "k", "content": "c", "category": category});
        let (kind, error, says) = house.failed(&anna(), "memory_learn", lesson).await;
        assert_eq!(kind, ErrorKind::InvalidArguments);
        assert!(error.contains(told) && says.contains(hint), "{category}: {error}; {says}");
    }
    assert_eq!(house.keys(&anna()).await, [""; 0]);
}

#[tokio::test]
async fn a_key_that_does_not_exist_is_not_reinforced() {
    let house = House::new();
    house.done(&anna(), "memory_store", json!({"key": "user_birthday", "content": "3 May"})).await;
    let (kind, error, hint) = house.failed(&anna(), "memory_reinforce", json!({"key": "birthday"})).await;
    assert_eq!(kind, ErrorKind::NotFound);
    assert_eq!(
        (error.as_str(), hint.as_str()),
        ("nothing is remembered under `birthday`", "did you mean `user_birthday`?")
    );
    let (_, _, hint) = house.failed(&anna(), "memory_reinforce", json!({"key": "xyz"})).await;
    assert!(hint.contains("memory_search"), "{hint}");
    assert_eq!(house.memory(&anna(), "user_birthday").await.unwrap().hits, 1);
}

#[tokio::test]
async fn a_user_cannot_see_or_change_memories_of_others() {
    let house = House::new();
    let others = [
        Scope::user("local", "ben"),
        Scope::user("shop", "anna"),
        Scope::project("local"),
        Scope::project("shop"),
    ];
    house.lesson(&anna(), "diary", 5).await;
    for other in &others {
        assert_eq!(house.found(other, "euros").await, [""; 0], "{other:?}");
        let (_, _, hint) = house.failed(other, "memory_reinforce", json!({"key": "diary_"})).await;
        assert!(!hint.contains("diary"), "{hint}");
        let forgotten = house.done(other, "memory_forget", json!({"key": "diary"})).await;
        assert_eq!(forgotten["success"], false);
        house.done(other, "memory_store", json!({"key": "diary", "content": "not yours"})).await;
    }
    let kept = house.memory(&anna(), "diary").await.unwrap();
    assert_eq!((kept.content.as_str(), kept.hits), ("Prices are in euros.", 5));
    assert_eq!(house.found(&anna(), "yours").await, [""; 0]);
    // No argument says whose memory it is.
    for name in ["user", "user_id", "project", "scope"] {
        let arguments = json!({"query": "euros", name: "anna"});
        let (kind, error, _) = house.failed(&others[0], "memory_search", arguments).await;
        assert_eq!(kind, ErrorKind::InvalidArguments, "{error}");
    }
}

#[tokio::test]
async fn a_secret_is_not_remembered() {
    let house = House::under(unguarded());
    house.lesson(&anna(), "door", 5).await;
    let said = format!("the code is {SECRET}");
    for (tool, arguments) in [
        ("memory_store", json!({"key": "code", "content": said})),
        ("memory_store", json!({"key": SECRET, "content": "the code"})),
        ("memory_store", json!({"key": "key", "content": "AKIAIOSFODNN7EXAMPLE"})),
        ("memory_learn", json!({"key": "code", "content": said, "category": "LEARNING"})),
        ("memory_learn", json!({"key": "code", "content": "x", "category": "LEARNING", "source": said})),
    ] {
        let (kind, error, hint) = house.failed(&anna(), tool, arguments).await;
        assert_eq!(kind, ErrorKind::InvalidArguments);
        assert!(
            error.contains("contains a secret") && hint.contains("leave out the secret"),
            "{error}; {hint}"
        );
    }
    let arguments = json!({"memory_key": "door", "soul_addition": said});
    let report = house.agreed(request(&anna(), "promote_learning", arguments)).await;
    let told = report.for_model().unwrap();
    assert!(told["error"].as_str().unwrap().contains("contains a secret"), "{told}");
    assert_eq!(house.keys(&anna()).await, ["door"]);
}

#[tokio::test]
async fn sizes_are_bounded_and_a_line_is_a_line() {
    let house = House::new();
    let longest = json!({"key": "ж".repeat(200), "content": "ж".repeat(4_000)});
    house.done(&anna(), "memory_store", longest).await;
    for arguments in [
        json!({"key": "k".repeat(201), "content": "c"}),
        json!({"key": "k", "content": "c".repeat(4_001)}),
        json!({"key": "", "content": "c"}),
        json!({"key": "  ", "content": "c"}),
        json!({"key": "a\nb", "content": "c"}),
        json!({"key": "k", "content": " \n"}),
        json!({"key": "k"}),
        json!({"content": "c"}),
    ] {
        let (kind, ..) = house.failed(&anna(), "memory_store", arguments.clone()).await;
        assert_eq!(kind, ErrorKind::InvalidArguments, "{arguments}");
    }
    for arguments in [json!({"query": ""}), json!({"query": " "}), json!({"query": "q".repeat(501)})] {
        let (kind, ..) = house.failed(&anna(), "memory_search", arguments).await;
        assert_eq!(kind, ErrorKind::InvalidArguments);
    }
    assert_eq!(house.keys(&anna()).await.len(), 1);
}

#[tokio::test]
async fn a_full_memory_says_so_and_can_still_be_corrected() {
    let house = House::new();
    for number in 0..1_000 {
        let what = json!({"key": format!("key {number}"), "content": "something to find"});
        house.done(&anna(), "memory_store", what).await;
    }
    let one_more = json!({"key": "one more", "content": "c"});
    let (kind, error, hint) = house.failed(&anna(), "memory_store", one_more.clone()).await;
    assert_eq!(kind, ErrorKind::Tool);
    assert!(error.contains("the limit is 1000") && hint.contains("memory_forget"), "{error}; {hint}");
    house.done(&anna(), "memory_store", json!({"key": "key 7", "content": "corrected"})).await;
    house.done(&Scope::user("local", "ben"), "memory_store", one_more.clone()).await;
    house.done(&anna(), "memory_forget", json!({"key": "key 8"})).await;
    house.done(&anna(), "memory_store", one_more).await;

    let found = house.done(&anna(), "memory_search", json!({"query": "FIND"})).await;
    assert_eq!(found["results"].as_array().unwrap().len(), 50);
    assert_eq!(found["total"], 998);
}

#[tokio::test]
async fn a_promotion_needs_five_hits_even_if_approved() {
    let house = House::new();
    house.lesson(&anna(), "euros", 4).await;
    let report = house.agreed(promotion(&anna(), "euros")).await;
    let told = report.for_model().unwrap();
    assert_eq!(told["error"], "`euros` was confirmed 4 times, and 5 are needed");
    assert_eq!(house.memory(&anna(), "euros").await.unwrap().hits, 4);
    let agent = AgentId::new("default");
    assert!(
        house.memories.promote(&anna(), "euros", &agent, "x").await.unwrap().is_none(),
        "the port says so too"
    );
    assert!(house.memories.promotions(&anna(), &agent).await.unwrap().is_empty());
    let report = house.agreed(promotion(&anna(), "euro")).await;
    assert_eq!(report.for_model().unwrap()["hint"], "did you mean `euros`?");
}

#[tokio::test]
async fn only_the_operators_yes_promotes() {
    for policy in [Policy::default(), unguarded()] {
        let house = House::under(policy);
        house.lesson(&anna(), "euros", 5).await;
        let call = house.parked(promotion(&anna(), "euros")).await;
        for (answer, by) in [(Answer::Once, Responder::Approver), (Answer::No, Responder::Approver)] {
            let refused = house.answer(&call, answer, by, &anna()).await;
            assert!(matches!(refused, Err(AnswerError::Decide(DecideError::NotYours))), "{refused:?}");
        }
        for answer in [Answer::Session, Answer::Always] {
            let refused = house.answer(&call, answer, Responder::Operator, &Scope::project("local")).await;
            assert!(matches!(refused, Err(AnswerError::OnlyOnce { .. })), "{refused:?}");
        }
        assert!(house.memory(&anna(), "euros").await.is_some());
        house.answer(&call, Answer::Once, Responder::Operator, &Scope::project("local")).await.unwrap();
        let report = house.room.resume(ResumeRequest::new(call, anna())).await.unwrap();
        assert_eq!(
            report.for_model().unwrap(),
            json!({"success": true, "promoted_key": "euros", "hit_count": 5,
                   "message": "`euros` is now part of the agent's instructions"})
        );
        // The yes is used up: the next one is asked about again.
        house.lesson(&anna(), "euros", 5).await;
        house.parked(promotion(&anna(), "euros")).await;
    }
}

#[tokio::test]
async fn no_argument_and_no_fact_of_the_client_approves() {
    let house = House::new();
    house.lesson(&anna(), "euros", 5).await;
    for name in ["approved", "confirm", "by", "operator"] {
        let arguments = json!({"memory_key": "euros", "soul_addition": "x", name: true});
        let (kind, ..) = house.failed(&anna(), "promote_learning", arguments).await;
        assert_eq!(kind, ErrorKind::InvalidArguments, "{name}");
    }
    let says: Map<String, Value> =
        Map::from_iter([("operator".to_owned(), true.into()), ("approved".to_owned(), true.into())]);
    house.parked(promotion(&anna(), "euros").context(says.clone()).metadata(says)).await;
    // A caller for the whole project is asked too.
    let owner = Scope::project("local");
    house.lesson(&owner, "euros", 5).await;
    house.parked(promotion(&owner, "euros")).await;
    assert!(house.memory(&anna(), "euros").await.is_some());
}

#[tokio::test]
async fn a_promotion_belongs_to_the_agent_of_the_run_and_can_be_undone() {
    let house = House::new();
    house.lesson(&anna(), "euros", 5).await;
    let before = house.memory(&anna(), "euros").await.unwrap();
    let facts = RunFacts { agent: Some(AgentId::new("clerk")), ..RunFacts::default() };
    let report = house.agreed(promotion(&anna(), "euros").metadata(facts.into_metadata())).await;
    assert!(matches!(report.outcome, Outcome::Done(_)), "{report:?}");
    let (clerk, default) = (AgentId::new("clerk"), AgentId::new("default"));
    let promoted = house.memories.promotions(&anna(), &clerk).await.unwrap();
    assert_eq!(promoted.len(), 1);
    assert_eq!((promoted[0].addition.as_str(), &promoted[0].memory), ("Give prices in euros.", &before));
    assert!(house.memory(&anna(), "euros").await.is_none(), "it is no memory any more");
    assert!(house.memories.promotions(&anna(), &default).await.unwrap().is_empty());
    assert!(house.memories.promotions(&Scope::user("local", "ben"), &clerk).await.unwrap().is_empty());

    assert!(house.memories.demote(&anna(), "euros", &default).await.unwrap().is_none());
    assert_eq!(house.memories.demote(&anna(), "euros", &clerk).await.unwrap(), Some(promoted[0].clone()));
    assert_eq!(house.memory(&anna(), "euros").await, Some(before), "as it was");
    assert!(house.memories.demote(&anna(), "euros", &clerk).await.unwrap().is_none(), "once");

    // What is remembered under the key by then stays.
    house.agreed(promotion(&anna(), "euros")).await;
    house.done(&anna(), "memory_store", json!({"key": "euros", "content": "Something else."})).await;
    assert!(house.memories.demote(&anna(), "euros", &default).await.unwrap().is_some());
    assert_eq!(house.memory(&anna(), "euros").await.unwrap().content, "Something else.");
}

#[tokio::test]
async fn an_agents_instructions_do_not_grow_without_end() {
    let house = House::new();
    for number in 0..=20 {
        house.lesson(&anna(), &format!("lesson {number}"), 5).await;
        let report = house.agreed(promotion(&anna(), &format!("lesson {number}"))).await;
        let told = report.for_model().unwrap();
        assert_eq!(told["success"] == true, number < 20, "{told}");
    }
    let long = json!({"memory_key": "lesson 20", "soul_addition": "x".repeat(2_001)});
    assert_eq!(house.failed(&anna(), "promote_learning", long).await.0, ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn one_switch_is_for_all_of_them() {
    let house = House::new();
    for tool in TOOLS {
        let entry = house.room.catalog().find(&anna().project, tool).unwrap();
        let refused = entry.toggle().unwrap_err().to_string();
        assert!(refused.contains("switch the feature `memory`"), "{refused}");
        house.ledger.set_tool(&anna().project, &format!("builtin:{tool}"), SwitchState::Off);
    }
    house.done(&anna(), "memory_store", json!({"key": "k", "content": "c"})).await;
    house.ledger.set_feature(&anna().project, "memory", SwitchState::Off);
    for tool in TOOLS {
        let arguments = json!({"key": "k", "content": "c", "category": "ERROR", "query": "c", "memory_key": "k", "soul_addition": "c"});
        let entry = house.room.catalog().find(&anna().project, tool).unwrap();
        let known = entry.spec().parameters["properties"].as_object().unwrap().clone();
        let Value::Object(mut arguments) = arguments else { panic!("no arguments") };
        arguments.retain(|name, _| known.contains_key(name));
        let report = house.call(&anna(), tool, Value::Object(arguments)).await;
        let Outcome::Denied(denial) = &report.outcome else { panic!("{tool}: {report:?}") };
        assert!(denial.reason.contains("the feature `memory` is switched off"), "{denial:?}");
    }
    assert_eq!(house.keys(&anna()).await, ["k"], "what is remembered stays");
}

#[tokio::test]
async fn writing_and_searching_memories_run_unasked_and_what_is_found_is_mildly_private() {
    let house = House::new();
    let wary = Provenance { untrusted: true, outward: true, ..Provenance::NONE };
    let call = async |tool: &str, arguments: Value| {
        house.room.call(request(&anna(), tool, arguments).provenance(wary)).await
    };
    for (tool, arguments) in [
        ("memory_store", json!({"key": "k", "content": "c"})),
        ("memory_learn", json!({"key": "k", "content": "c", "category": "ERROR"})),
        ("memory_reinforce", json!({"key": "k"})),
        ("memory_forget", json!({"key": "k"})),
    ] {
        assert!(matches!(call(tool, arguments).await.outcome, Outcome::Done(_)), "{tool}");
    }
    call("memory_store", json!({"key": "k", "content": "c"})).await;
    let search = call("memory_search", json!({"query": "c"})).await;
    assert!(matches!(search.outcome, Outcome::Done(_)), "{search:?}");
    let found = search.provenance;
    assert!(found.mildly_private && !found.private, "memories are the user's own: {found:?}");
    assert!(found.untrusted, "a memory keeps what was read before it was stored: {found:?}");
    let spec = house.room.catalog().find(&anna().project, "memory_search").unwrap().spec().clone();
    let able: Vec<Capability> = spec.effective_capabilities().iter().collect();
    assert_eq!(able, [Capability::ReadsPrivate, Capability::ReadsUntrusted]);
}
