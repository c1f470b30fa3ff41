//! The page that shows what can be asked, without a script.

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

/// What is wrong with a request, by its stable name.
pub(super) const CODES: [(&str, &str); 21] = [
    ("bad_request", "The query or the body makes no sense; `detail` says what."),
    ("busy", "Somebody is being answered in the thread."),
    ("cancelled", "Somebody stopped the run."),
    ("conflict", "It does not go with how things stand."),
    ("ending", "The server is about to end."),
    ("forbidden", "Whoever asks may not do this."),
    ("in_progress", "A request of this `Idempotency-Key` is being worked on."),
    ("internal", "It is the server's fault; its log says why."),
    ("method_not_allowed", "The address does not take that method."),
    ("name_taken", "Another request was sent under this `Idempotency-Key`."),
    ("no_answer", "The model has not answered."),
    ("no_database", "The database cannot be read."),
    ("no_model", "No model can be asked."),
    ("no_such_range", "The bytes that `Range` names are not there."),
    ("not_found", "There is no such thing, or it is somebody else's."),
    ("rate_limited", "Too many requests; `retryAfter` says when to come again."),
    ("too_large", "More than is taken."),
    ("too_slow", "The body took too long."),
    ("unauthorized", "No key was shown, or it does not hold."),
    ("unknown_host", "The server has no such name; `server.hosts` gives it one."),
    ("unsupported_media_type", "The body is no JSON."),
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
