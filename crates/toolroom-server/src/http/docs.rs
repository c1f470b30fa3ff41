//! The page at `/docs`, without scripts.

use serde_json::Value;

/// The page for an OpenAPI document.
pub(super) fn page(document: &Value) -> String {
    let mut page = String::from(HEAD);
    let paths = document.get("paths").and_then(Value::as_object);
    for (path, methods) in paths.into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            operation_part(&mut page, path, method, operation);
        }
    }
    page.push_str("<h1>Problems</h1>");
    for (code, about) in CODES {
        let about = safe(about);
        page.push_str(&format!(
            "<section id=\"problem-{code}\"><h2><code>{code}</code></h2><p>{about}</p></section>"
        ));
    }
    page.push_str("</main></body></html>\n");
    page
}

fn operation_part(page: &mut String, path: &str, method: &str, operation: &Value) {
    let text = |key: &str| operation.get(key).and_then(Value::as_str).unwrap_or_default();
    let (id, summary) = (safe(text("operationId")), safe(text("summary")));
    let method = method.to_ascii_uppercase();
    page.push_str(&format!(
        "<section id=\"{id}\"><h2><b>{method}</b> <code>{}</code></h2><p>{summary}</p>",
        safe(path)
    ));
    let parameters = operation.get("parameters").and_then(Value::as_array);
    for parameter in parameters.into_iter().flatten() {
        let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
        let about = parameter.get("description").and_then(Value::as_str).unwrap_or_default();
        page.push_str(&format!("<p class=\"field\"><code>{}</code> {}</p>", safe(name), safe(about)));
    }
    page.push_str("</section>");
}

/// The codes of problem documents.
pub(super) const CODES: [(&str, &str); 21] = [
    ("bad_request", "Invalid request; see `detail`."),
    ("busy", "The thread has an active run."),
    ("cancelled", "The run was cancelled."),
    ("conflict", "The request conflicts with the current state; see `detail`."),
    ("ending", "The server is shutting down."),
    ("forbidden", "Missing scope, or origin not allowed."),
    ("in_progress", "The request with this `Idempotency-Key` is still running."),
    ("internal", "Internal error; see the server's log."),
    ("method_not_allowed", "Method not allowed at this address."),
    ("name_taken", "This `Idempotency-Key` belongs to another request."),
    ("no_answer", "The model did not answer."),
    ("no_database", "The database cannot be read."),
    ("no_model", "No model available."),
    ("no_such_range", "`Range` is beyond the end."),
    ("not_found", "Not found in this project."),
    ("rate_limited", "Too many requests; try again after `retryAfter` seconds."),
    ("too_large", "The request is too large."),
    ("too_slow", "The body did not arrive in time."),
    ("unauthorized", "API key missing or invalid."),
    ("unknown_host", "Unknown host name; add it to `server.hosts`."),
    ("unsupported_media_type", "The body is not JSON."),
];

fn safe(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Toolroom API</title>\
<style>:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{margin:0}\
main{max-width:52rem;margin:0 auto;padding:2rem 1rem}section{border-top:1px solid #8884;padding:.5rem 0}\
h2{font-size:1rem;margin:.5rem 0}h2 b{display:inline-block;min-width:4.5rem}.field{margin:.2rem 0 .2rem 4.5rem}\
code{font:14px ui-monospace,monospace}</style></head><body><main><h1>Toolroom API</h1>\
<p>Send a key with every request: <code>Authorization: Bearer trk_…</code>. Make one with \
<code>toolroom keys create</code>. The machine-readable form is <a href=\"/openapi.json\">openapi.json</a>.</p>";
