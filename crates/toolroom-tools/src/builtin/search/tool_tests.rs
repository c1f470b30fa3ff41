//! The tool through the whole path of a call.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolroom::Toolroom;
use toolroom::call::{CallReport, CallRequest};
use toolroom::clock::Timestamp;
use toolroom::ledger::SwitchState;
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::{ManualClock, MemoryLedger};

use super::*;

struct SearchToolroom {
    room: Toolroom,
    ledger: Arc<MemoryLedger>,
    clock: Arc<ManualClock>,
}

fn echo(id: &str, description: &str, tags: &[&str]) -> Arc<dyn Tool> {
    let tool = tool_fn(id, description, |_context, arguments: Map<String, Value>| async move {
        Ok::<_, ToolError>(Value::Object(arguments))
    });
    Arc::new(tool.unwrap().with(|spec| spec.effect(Effect::Pure).category("test", tags)))
}

impl SearchToolroom {
    fn new() -> Self {
        let ledger = Arc::new(MemoryLedger::new());
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_800_000_000_000_000)));
        let catalog = Arc::new(Catalog::default());
        let tools = vec![
            tool(Arc::downgrade(&catalog), Arc::clone(&ledger) as _, Arc::clone(&ledger) as _).unwrap(),
            echo("app:book_table", "Reserve a place to eat", &["restaurant", "dinner"]),
            echo("app:forecast", "Tell the weather", &[]),
            echo("mcp:maps:find-route", "Plan a journey", &["travel"]),
        ];
        catalog.register_all(None, tools).unwrap();
        let theirs = ProjectId::new("theirs");
        catalog.register_all(Some(&theirs), vec![echo("app:hidden", "Only theirs", &[])]).unwrap();
        let room =
            Toolroom::builder(Arc::clone(&ledger)).catalog(catalog).clock(Arc::clone(&clock) as _).build();
        Self { room, ledger, clock }
    }

    async fn call(&self, scope: &Scope, tool: &str, arguments: Value) -> CallReport {
        let Value::Object(arguments) = arguments else { panic!("no arguments") };
        self.room.call(CallRequest::new(tool).scope(scope.clone()).arguments(arguments)).await
    }

    async fn results(&self, scope: &Scope, arguments: Value) -> Vec<Value> {
        let report = self.call(scope, ID, arguments).await;
        let result = report.for_client().result.unwrap();
        result["results"].as_array().unwrap().clone()
    }

    async fn names(&self, scope: &Scope, query: &str) -> Vec<String> {
        let results = self.results(scope, json!({"query": query, "limit": 100})).await;
        results.iter().map(|hit| hit["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn us() -> Scope {
    Scope::user("local", "me")
}

#[tokio::test]
async fn a_tool_is_found_by_name_by_tag_and_by_description() {
    let room = SearchToolroom::new();
    for query in ["book-table", "table", "bktbl", "dinner", "reserve eat", "@app place"] {
        assert_eq!(room.names(&us(), query).await, ["Book Table"], "{query}");
    }
    assert_eq!(room.names(&us(), "@maps").await, ["Find Route"]);
    assert_eq!(
        room.results(&us(), json!({"query": "Find Route"})).await,
        [json!({"id": "mcp:maps:find-route", "name": "Find Route", "type": "tool", "score": 5.0})]
    );
}

#[tokio::test]
async fn an_empty_query_lists_the_most_used_first() {
    let room = SearchToolroom::new();
    for (tool, times) in [("app:forecast", 3), ("mcp:maps:find-route", 5)] {
        for _ in 0..times {
            room.call(&us(), tool, json!({})).await;
        }
        room.clock.advance(Duration::from_secs(10 * 86_400));
    }
    for _ in 0..2 {
        let results = room.results(&us(), json!({"query": "", "limit": 2})).await;
        let ids: Vec<&str> = results.iter().map(|hit| hit["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["mcp:maps:find-route", "app:forecast"], "a search does not count as use");
    }
    let names = room.names(&us(), "").await;
    assert_eq!(names.len(), 4 + 8, "all tools, and all calls except searches: {names:?}");
    assert_eq!(names[names.len() - 2..], ["Book Table", "Search"], "never used");
}

#[tokio::test]
async fn a_call_is_found_by_its_tool_its_arguments_and_its_id() {
    let room = SearchToolroom::new();
    let wanted = json!({"where": "Café\nCentral", "guests": 2, "note": "x".repeat(350) + " window seat"});
    let call = room.call(&us(), "app:book_table", wanted).await.call_id.to_string();
    room.call(&us(), "no_such_tool", json!({"where": "nowhere"})).await;
    for query in ["central", "café guests=2", "table where", "window seat", "@app central", &call] {
        let found = room.results(&us(), json!({"query": query})).await;
        assert_eq!(found.len(), 1, "{query}: {found:?}");
        assert_eq!((&found[0]["id"], &found[0]["type"]), (&json!(call), &json!("call")), "{query}");
        let name = found[0]["name"].as_str().unwrap();
        assert!(name.starts_with("app:book_table where=Café Central guests=2 note=xxx"), "{name}");
        assert_eq!(name.chars().count(), NAME_CHARS, "{name}");
    }
    let tool_first = room.results(&us(), json!({"query": "app:book_table"})).await;
    let types: Vec<&Value> = tool_first.iter().map(|hit| &hit["type"]).collect();
    assert_eq!(types, ["tool", "call"]);
    for _ in 0..2 {
        // The second round follows a search for the same word.
        assert_eq!(room.names(&us(), "nowhere").await, ["no_such_tool where=nowhere"]);
    }
    assert_eq!(room.names(&us(), "@app nowhere").await, [""; 0], "a call of an unknown tool has no source");
}

#[tokio::test]
async fn data_of_other_users_is_never_found() {
    let room = SearchToolroom::new();
    let others = [Scope::user("local", "other"), Scope::user("theirs", "me"), Scope::project("theirs")];
    for other in &others {
        for _ in 0..3 {
            room.call(other, "app:forecast", json!({"city": "secret"})).await;
        }
    }
    room.call(&us(), "app:forecast", json!({"city": "Tashkent"})).await;
    for query in ["secret", "hidden", "city=secret", "only theirs"] {
        assert_eq!(room.names(&us(), query).await, [""; 0], "{query}");
    }
    assert_eq!(room.names(&us(), "city").await, ["app:forecast city=Tashkent"]);
    let forecast = room.results(&us(), json!({"query": "forecast"})).await;
    assert_eq!(forecast[0]["score"], 5.5, "used once by us; calls of other users do not count");
    assert_eq!(room.names(&others[1], "hidden").await, ["Hidden"]);
}

#[tokio::test]
async fn tools_that_cannot_be_called_are_left_out() {
    let room = SearchToolroom::new();
    room.ledger.set_tool(&us().project, "app:forecast", SwitchState::Off);
    assert_eq!(room.names(&us(), "forecast").await, [""; 0]);
    assert_eq!(room.names(&Scope::project("theirs"), "forecast").await, ["Forecast"]);
}

#[tokio::test]
async fn limits_are_enforced_and_reported() {
    let room = SearchToolroom::new();
    for number in 0..120 {
        room.call(&us(), "app:forecast", json!({"city": number})).await;
    }
    let count = async |arguments: Value| room.results(&us(), arguments).await.len();
    assert_eq!(count(json!({"query": "city"})).await, 10);
    assert_eq!(count(json!({"query": "city", "limit": 0})).await, 0);
    assert_eq!(count(json!({"query": "city", "limit": 21})).await, 21);
    assert_eq!(count(json!({"query": "city", "limit": 100})).await, 100);
    assert_eq!(count(json!({"query": "ж".repeat(500)})).await, 0);
    let refused = [
        (json!({"query": "city", "limit": 101}), "100"),
        (json!({"query": "city", "limit": -1}), "0"),
        (json!({"query": "city", "limit": 2.5}), "integer"),
        (json!({"query": "city", "limit": "many"}), "integer"),
        (json!({"query": "ж".repeat(501)}), "500"),
        (json!({"limit": 1}), "query"),
        (json!({"query": "city", "project": "theirs"}), "project"),
    ];
    for (arguments, says) in refused {
        let report = room.call(&us(), ID, arguments.clone()).await;
        let error = report.for_model().unwrap()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with("invalid arguments") && error.contains(says), "{arguments}: {error}");
    }
}

#[tokio::test]
async fn a_full_result_is_not_shortened_and_fits_its_schema() {
    let room = SearchToolroom::new();
    for _ in 0..120 {
        room.call(&us(), &"\"".repeat(256), json!({"city": "\\\"".repeat(200)})).await;
    }
    let report = room.call(&us(), ID, json!({"query": "city", "limit": 100})).await;
    let result = report.for_client().result.unwrap();
    assert_eq!(result["results"].as_array().unwrap().len(), MAX_RESULTS);
    let spec = room.room.catalog().find(&us().project, ID).unwrap().spec().clone();
    assert_eq!(spec.effective_capabilities().iter().collect::<Vec<_>>(), [Capability::ReadsPrivate]);
    let output = spec.output.unwrap();
    assert_eq!(output["properties"]["results"]["items"]["required"], json!(["id", "name", "type", "score"]));
}
