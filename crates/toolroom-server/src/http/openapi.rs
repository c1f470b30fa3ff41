//! The OpenAPI document, generated from the table of routes, and the page that shows it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::http::access::Access;
use crate::http::extract::Json;
use crate::http::extract::json::JSON;
use crate::http::middleware::authenticate::COOKIE;
use crate::http::middleware::idempotency;
use crate::http::problem::{PROBLEM, ProblemDocument};
use crate::http::route::{ANY_TEXT, Describe, EVENTS, Route, RouteHeader};
use crate::http::routes;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/openapi.json", Access::Local, "Returns the OpenAPI document.", document).response(
            200,
            "application/json",
            "An OpenAPI 3.1 document.",
        ),
        Route::get("/docs", Access::Public, "Shows the API documentation.", page).response(
            200,
            "text/html",
            "An HTML page.",
        ),
    ]
}

static DOCUMENT: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(describe(&routes::all())));

async fn document() -> Json<Arc<Value>> {
    Json(Arc::clone(&DOCUMENT))
}

/// The page loads nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, crate::http::docs::page(&DOCUMENT)).into_response()
}

/// Responses and requests have separate schemas: a field with a default is always present in a response, and optional in
/// a request.
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
                "key": {"type": "http", "scheme": "bearer", "description": "An API key (`trk_…`) or an end user's token (`tru_…`)."},
                "key_header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same, in another header."},
                "browser": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Session of the owner's browser."},
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
        "responses": replies(route, &mut schemas.replies, problem),
        "security": security(route.access),
        "x-needs": route.access.as_str(),
    });
    if let (Some(object), Some(describe)) = (operation.as_object_mut(), route.body) {
        let content = json!({JSON: {"schema": describe(&mut schemas.requests)}});
        object.insert("requestBody".into(), json!({"required": true, "content": content}));
    }
    operation
}

/// Alternatives of credentials.
fn security(access: Access) -> Value {
    match access {
        Access::Public => json!([]),
        Access::Local => json!([{}, {"key": []}, {"key_header": []}, {"browser": []}]),
        Access::Owner => json!([{"browser": []}]),
        Access::Permission(_) | Access::Answerer | Access::Recipient | Access::Keeper => {
            json!([{"key": []}, {"key_header": []}, {"browser": []}])
        }
    }
}

/// All responses by status.
fn replies(route: &Route, schemas: &mut SchemaGenerator, problem: &Schema) -> BTreeMap<String, Value> {
    let mut replies: BTreeMap<u16, ResponseEntry> = BTreeMap::new();
    for (status, about) in route.common_problems() {
        let entry = replies.entry(status).or_default();
        entry.descriptions.push(about);
        entry.content.insert(PROBLEM.to_owned(), json!({"schema": problem}));
    }
    for response in &route.responses {
        let entry = replies.entry(response.status).or_default();
        entry.descriptions.push(response.about);
        entry
            .headers
            .extend(response.headers.iter().map(|(name, about)| ((*name).to_owned(), header(about, true))));
        let content = match response.body.map(|describe| describe(schemas)) {
            Some(data) if response.media_type == EVENTS => {
                json!({"schema": event(&data, response.terminator)})
            }
            Some(schema) => json!({"schema": schema}),
            None => json!({}),
        };
        if !response.media_type.is_empty() {
            entry.content.insert(response.media_type.to_owned(), content);
        }
    }
    let error_format = route.error_format.map(|describe| describe(schemas));
    let described = replies.into_iter().map(|(status, mut entry)| {
        if let (400.., Some(schema)) = (status, &error_format) {
            entry.content.insert(JSON.to_owned(), json!({"schema": schema}));
        }
        entry.headers.extend(common_headers(route, status));
        let ResponseEntry { descriptions, content, headers } = entry;
        let response = json!({"description": descriptions.join(" "), "content": content, "headers": headers});
        (status.to_string(), response)
    });
    described.collect()
}

/// The schema of one event: OpenAPI 3.1 cannot describe a stream.
fn event(data: &Schema, terminator: Option<&str>) -> Value {
    let data = json!({"type": "string", "contentMediaType": JSON, "contentSchema": data});
    let data = match terminator {
        Some(terminator) => json!({"anyOf": [{"const": terminator}, data]}),
        None => data,
    };
    json!({
        "type": "object",
        "description": "One event of the stream.",
        "properties": {"event": {"type": "string"}, "id": {"type": "string"}, "data": data},
        "required": ["data"],
    })
}

/// All responses of one status.
#[derive(Default)]
struct ResponseEntry {
    descriptions: Vec<&'static str>,
    content: Map<String, Value>,
    headers: Map<String, Value>,
}

/// Headers of every response with this status.
fn common_headers(route: &Route, status: u16) -> Vec<(String, Value)> {
    let mut headers = Vec::new();
    match status {
        401 => headers.push(("WWW-Authenticate", header("How to send a key.", true))),
        429 => headers.push(("Retry-After", header("Seconds to wait before the next request.", true))),
        _ => {}
    }
    if status < 400 && !matches!(route.access, Access::Public | Access::Local) {
        headers.push(("X-RateLimit-Limit", header("Requests a minute of this key.", false)));
        headers.push(("X-RateLimit-Remaining", header("Requests that are left.", false)));
    }
    if status < 400 && route.idempotent {
        headers.push((idempotency::REPLAYED, header("`true` if the reply was stored before.", false)));
    }
    headers.into_iter().map(|(name, header)| (name.to_owned(), header)).collect()
}

fn header(about: &str, required: bool) -> Value {
    json!({"description": about, "required": required, "schema": {"type": "string"}})
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
    let in_path = in_path.map(|name| {
        let schema = text(route.path_pattern, 1);
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    });
    let mut parameters: Vec<Value> = in_path.collect();
    parameters.extend(route.query.into_iter().flat_map(|describe| in_query(describe, schemas)));
    parameters.extend(route.headers.iter().map(|RouteHeader { name, about, pattern }| {
        let schema = text(pattern, 0);
        json!({"name": name, "in": "header", "required": false, "description": about, "schema": schema})
    }));
    parameters
}

/// The schema of text that matches a pattern.
fn text(pattern: &str, least: usize) -> Value {
    match pattern {
        ANY_TEXT => json!({"type": "string", "minLength": least}),
        pattern => json!({"type": "string", "pattern": pattern}),
    }
}

/// Each field of a query as a parameter.
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
            let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            json!({
                "name": name, "in": "query", "required": required.contains(&name.as_str()),
                "description": about, "schema": without_null(schema),
            })
        })
        .collect()
}

/// The schema without `null`, which a query cannot express.
fn without_null(schema: &Value) -> Value {
    let mut fields = schema.as_object().cloned().unwrap_or_default();
    let is_null = |kind: &Value| kind == "null" || kind.get("type").is_some_and(|kind| kind == "null");
    for choice in ["type", "anyOf"] {
        if let Some(Value::Array(kinds)) = fields.get_mut(choice) {
            kinds.retain(|kind| !is_null(kind));
        }
    }
    if let Some([only]) = fields.get("type").and_then(Value::as_array).map(Vec::as_slice) {
        let only = only.clone();
        fields.insert("type".to_owned(), only);
    }
    fields.retain(|name, value| name != "default" || !value.is_null());
    fields.into()
}
