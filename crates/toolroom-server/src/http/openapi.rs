//! The OpenAPI document, made of the table of routes, and the page that shows it.

use std::sync::{Arc, LazyLock};

use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::need::Need;
use super::problem::ProblemDocument;
use super::reading::Document;
use super::route::{Describe, Route};
use super::routes;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/openapi.json", Need::Neighbour, "Describes every route.", document).reply_of(
            200,
            "application/json",
            "An OpenAPI 3.1 document.",
        ),
        Route::get("/docs", Need::Nothing, "Shows what can be asked, to read.", page).reply_of(
            200,
            "text/html",
            "A page.",
        ),
    ]
}

/// The media type of refusals.
const PROBLEM: &str = "application/problem+json";

static DOCUMENT: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(describe(&routes::all())));

async fn document() -> Document<Arc<Value>> {
    Document(Arc::clone(&DOCUMENT))
}

/// What the page may load: nothing but its own text.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, super::docs::page(&DOCUMENT)).into_response()
}

/// What goes out is described apart from what comes in: a field with a default is always there in a reply, and may be
/// left out of a request.
struct Schemas {
    replies: SchemaGenerator,
    requests: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
        let replies = settings.clone().for_serialize().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
        });
        let requests = settings.with(|settings| settings.inline_subschemas = true);
        Self { replies: replies.into_generator(), requests: requests.into_generator() }
    }
}

fn describe(routes: &[Route]) -> Value {
    let mut schemas = Schemas::new();
    let problem = schemas.replies.subschema_for::<ProblemDocument<'_>>();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let operation = operation(route, &mut schemas, &problem);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(route.method.as_str().to_ascii_lowercase(), operation);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toolroom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Where AI agents get their tools: defined once, guarded, executed, journaled.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas.replies.take_definitions(true),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "A key (`trk_…`) or an end user's token (`tru_…`)."},
            },
        },
    })
}

fn operation(route: &Route, schemas: &mut Schemas, problem: &Schema) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.about,
        "tags": [tag(route.path)],
        "parameters": parameters(route, &mut schemas.requests),
        "x-needs": route.need.as_str(),
    });
    let refusal = json!({"schema": problem});
    let mut replies: Map<String, Value> = Map::new();
    for reply in &route.replies {
        let mut content = match (reply.body, reply.kind) {
            (Some(describe), kind) => json!({kind: {"schema": describe(&mut schemas.replies)}}),
            (None, "") => json!({}),
            (None, kind) => json!({kind: {}}),
        };
        // The same may be said by whoever stands before the handler.
        if reply.status >= 400
            && let Some(content) = content.as_object_mut()
        {
            content.insert(PROBLEM.to_owned(), refusal.clone());
        }
        replies.insert(reply.status.to_string(), json!({"description": reply.about, "content": content}));
    }
    replies.insert(
        "default".into(),
        json!({"description": "What is wrong, and what to do.", "content": {PROBLEM: refusal}}),
    );
    if let Some(object) = operation.as_object_mut() {
        if let Some(describe) = route.body {
            let content = json!({"application/json": {"schema": describe(&mut schemas.requests)}});
            object.insert("requestBody".into(), json!({"required": true, "content": content}));
        }
        object.insert("responses".into(), replies.into());
        if !matches!(route.need, Need::Nothing) {
            object.insert("security".into(), json!([{"key": []}]));
        }
    }
    operation
}

/// `GET /v1/calls/{call}` is `get_calls_call`.
fn operation_id(route: &Route) -> String {
    let words = route.path.trim_start_matches("/v1").split('/').map(|word| word.trim_matches(['{', '}']));
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(|word| word.replace(['-', '.'], "_")).collect();
    format!("{}_{}", route.method.as_str().to_ascii_lowercase(), words.join("_"))
}

fn tag(path: &str) -> &str {
    path.trim_start_matches("/v1").split('/').find(|word| !word.is_empty()).unwrap_or_default()
}

fn parameters(route: &Route, schemas: &mut SchemaGenerator) -> Vec<Value> {
    let in_path = route.path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Value> = in_path
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    parameters.extend(route.query.into_iter().flat_map(|describe| in_query(describe, schemas)));
    if route.repeatable {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "Names the request: sent again under its name, it gets the same reply, and nothing is done twice.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
        }));
    }
    parameters
}

/// The fields of a query, one by one.
fn in_query(describe: Describe, schemas: &mut SchemaGenerator) -> Vec<Value> {
    let whole = describe(schemas).to_value();
    let required: Vec<&str> = whole
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = whole.get("properties").and_then(Value::as_object);
    fields
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let about = schema.get("description").cloned().unwrap_or_default();
            json!({
                "name": name, "in": "query", "required": required.contains(&name.as_str()),
                "description": about, "schema": schema,
            })
        })
        .collect()
}
