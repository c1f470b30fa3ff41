//! T1, T14: a tool's definition, and tools made from functions.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolroom::catalog::Catalog;
use toolroom::ledger::{SwitchState, Switches};
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::scope::ProjectId;
use toolroom::testing::Bench;
use toolroom::tool::{
    Capabilities, Capability, Effect, LocalText, NoArguments, Risk, Timeout, Tool, ToolError, ToolOutput,
    ToolSpec, tool_fn,
};

/// Where to go.
#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// City to travel to
    city: String,
    /// Nights to stay
    #[serde(default)]
    nights: Option<u32>,
}

#[tokio::test]
async fn a_typed_function_is_a_tool_in_one_line() {
    let tool = tool_fn("app:book_trip", "Book a trip", |_context, trip: Trip| async move {
        Ok::<_, ToolError>(json!({"city": trip.city, "nights": trip.nights.unwrap_or(1)}))
    })
    .unwrap();
    assert_eq!(tool.spec().title, "Book Trip");
    assert_eq!(tool.spec().parameters["properties"]["city"]["description"], "City to travel to");
    assert_eq!(tool.spec().parameters["required"], json!(["city"]));
    let bench = Bench::new(tool).unwrap();
    assert_eq!(bench.run(json!({"city": "Rome"})).await.result, Some(json!({"city": "Rome", "nights": 1})));
    assert_eq!(bench.run(json!({"city": "Rome", "nights": 3})).await.result.unwrap()["nights"], 3);
    assert!(!bench.run(json!({"city": 5})).await.success);
    assert!(!bench.run(json!({"nights": 3})).await.success);
    assert!(
        !bench.run(json!({"city": "Rome", "nihgts": 3})).await.success,
        "a misspelt argument is not dropped"
    );
}

#[tokio::test]
async fn a_function_can_check_judge_and_add_a_message() {
    let tool = tool_fn("app:book_trip", "Book a trip", |_context, trip: Trip| async move {
        Ok::<_, ToolError>(ToolOutput::new(trip.city).with_message("have a nice trip"))
    })
    .unwrap()
    .check(|arguments| match arguments["city"].as_str() {
        Some("") => vec![Problem::new("/city", "must not be empty")],
        _ => Vec::new(),
    })
    .judge(|arguments| match arguments["city"] == "Atlantis" {
        true => Judgement::Deny("it has sunk".into()),
        false => Judgement::Allow,
    });
    let bench = Bench::new(tool).unwrap();
    let booked = bench.run(json!({"city": "Rome"})).await;
    assert_eq!((booked.result, booked.message.as_deref()), (Some(json!("Rome")), Some("have a nice trip")));
    let empty = bench.run(json!({"city": ""})).await;
    assert_eq!(empty.message.as_deref(), Some("invalid arguments: `city` must not be empty"));
    assert_eq!(bench.run(json!({"city": "Atlantis"})).await.message.as_deref(), Some("denied: it has sunk"));
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Deserialize, JsonSchema)]
struct Drawing {
    color: String,
    #[serde(flatten)]
    shape: Shape,
}

#[tokio::test]
async fn enums_make_parameters_too() {
    let area = |shape: &Shape| match shape {
        Shape::Circle { radius } => radius * radius * 3.0,
        Shape::Square { side } => side * side,
    };
    let plain = tool_fn("app:area", "Area of a shape", move |_context, shape: Shape| {
        let area = area(&shape);
        async move { Ok::<_, ToolError>(area) }
    });
    let bench = Bench::new(plain.unwrap()).unwrap();
    assert_eq!(bench.run(json!({"kind": "square", "side": 3.0})).await.result, Some(json!(9.0)));
    assert!(!bench.run(json!({"kind": "square", "radius": 3.0})).await.success);
    assert!(!bench.run(json!({"kind": "square", "side": 3.0, "surplus": 1})).await.success);

    let flat = tool_fn("app:draw", "Draw a shape", move |_context, drawing: Drawing| {
        let drawn = format!("{} {}", drawing.color, area(&drawing.shape));
        async move { Ok::<_, ToolError>(drawn) }
    });
    let bench = Bench::new(flat.unwrap()).unwrap();
    let drawn = bench.run(json!({"color": "red", "kind": "circle", "radius": 2.0})).await;
    assert_eq!(drawn.result, Some(json!("red 12")), "{drawn:?}");
    assert!(!bench.run(json!({"color": "red", "kind": "circle", "radius": 2.0, "surplus": 1})).await.success);
}

#[test]
fn silence_about_effects_counts_as_the_worst() {
    let spec = ToolSpec::new("app:mystery", "").unwrap();
    assert_eq!(spec.effective_effect(), Effect::Destructive);
    assert_eq!(spec.effective_capabilities(), Capabilities::ALL);
    assert!(Capability::ALL.into_iter().all(|capability| spec.effective_capabilities().has(capability)));
    let pure = spec.effect(Effect::Pure);
    assert_eq!(pure.effective_capabilities(), Capabilities::NONE);
}

#[test]
fn defaults_are_those_of_the_ledger() {
    let spec = ToolSpec::new("app:x", "").unwrap();
    assert_eq!(spec.timeout, Timeout::After(std::time::Duration::from_secs(30)));
    assert_eq!((spec.result_cap, spec.risk), (20_000, Risk::Low));
    assert!(spec.enablement.on_by_default && !spec.requires_confirmation && !spec.serial);
}

#[test]
fn every_tool_is_displayed_in_the_users_language_on_or_off() {
    let catalog = Catalog::default();
    let tool =
        tool_fn("app:x", "Does x", |_context, _: NoArguments| async { Ok::<_, ToolError>(1) }).unwrap();
    let german = LocalText { title: "Iks".into(), description: "Macht x".into() };
    catalog
        .register(tool.with(|spec| {
            let mut spec = spec.title("X");
            spec.texts.insert("de".into(), german);
            spec
        }))
        .unwrap();
    let mut switches = Switches::default();
    switches.set_tool("app:x", SwitchState::Off);
    let show = |language: &str| {
        serde_json::to_value(catalog.tool_lines(&ProjectId::default(), &switches, language)).unwrap()
    };
    let expected = json!([
        {"id": "app:x", "name": "Iks", "description": "Macht x", "enabled": false, "toggleable": true,
         "off": "`app:x` is switched off"}
    ]);
    assert_eq!(show("de"), expected);
    assert_eq!((&show("fr")[0]["name"], &show("fr")[0]["description"]), (&json!("X"), &json!("Does x")));
}

#[test]
fn a_definition_hash_moves_with_what_is_relied_on_only() {
    let hash = |change: fn(ToolSpec) -> ToolSpec| {
        let catalog = Catalog::default();
        let tool =
            tool_fn("app:x", "Does x", |_context, _: NoArguments| async { Ok::<_, ToolError>(1) }).unwrap();
        catalog.register(tool.with(change)).unwrap();
        catalog.find(&ProjectId::default(), "app:x").unwrap().definition_hash()
    };
    let base = hash(|spec| spec);
    assert_eq!(base, hash(|spec| spec.title("Another title")));
    assert_ne!(base, hash(|spec| spec.effect(Effect::Pure)));
    assert_ne!(
        base,
        hash(|mut spec| {
            spec.description = "Does y".into();
            spec
        })
    );
    assert_ne!(base, hash(|spec| spec.parameters(json!({"type": "object"}))));
}
