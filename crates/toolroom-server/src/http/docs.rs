//! The page that shows what can be asked, without a script.

use std::fmt::Write as _;

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
    page.push_str("</main></body></html>\n");
    page
}

fn operation_part(page: &mut String, path: &str, method: &str, operation: &Value) {
    let text = |key: &str| operation.get(key).and_then(Value::as_str).unwrap_or_default();
    let (id, summary) = (safe(text("operationId")), safe(text("summary")));
    let method = method.to_ascii_uppercase();
    // Writing to a string cannot fail.
    drop(write!(
        page,
        "<section id=\"{id}\"><h2><b>{method}</b> <code>{}</code></h2><p>{summary}</p>",
        safe(path)
    ));
    let parameters = operation.get("parameters").and_then(Value::as_array);
    for parameter in parameters.into_iter().flatten() {
        let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
        let about = parameter.get("description").and_then(Value::as_str).unwrap_or_default();
        drop(write!(page, "<p class=\"field\"><code>{}</code> {}</p>", safe(name), safe(about)));
    }
    page.push_str("</section>");
}

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
