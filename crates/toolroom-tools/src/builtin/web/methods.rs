//! HTTP methods that read and methods that write. A tool with both is judged by the method of each call.

use serde_json::Value;
use toolroom::schema::Problem;
use toolroom::tool::{Arguments, Capability, Destination, Effect, ErrorKind, Risk, Tool, ToolError};
use toolroom_host::net::{Method, Url};

use super::super::effect_by_arguments::EffectByArguments;

/// Wraps a tool with an argument `method`: with a method that writes, its spec is that of a write.
pub(super) fn reads_or_sends<T: Tool>(tool: T) -> EffectByArguments<T> {
    let able = [Capability::ReadsUntrusted, Capability::Egress, Capability::Writes];
    EffectByArguments::new(tool, does_send, |spec| {
        spec.effect(Effect::OnceOnlyWrite).capabilities(&able).risk(Risk::Medium)
    })
}

/// The host of a call's URL.
pub(super) fn destination(arguments: &Arguments) -> Option<Destination> {
    let url = arguments.get("url").and_then(Value::as_str)?;
    Some(Destination::new(Url::parse(url.trim()).ok()?.host_str()?))
}

fn does_send(arguments: &Arguments) -> bool {
    match arguments.get("method") {
        None | Some(Value::Null) => false,
        Some(Value::String(name)) => method(name).is_none_or(|method| sends(&method)),
        Some(_) => true,
    }
}

/// Whether a request with this method may change something on the server.
pub(super) fn sends(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

/// Parses a method name; case does not matter.
pub(super) fn method(name: &str) -> Option<Method> {
    let known = [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::HEAD];
    known.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(name))
}

/// Problems of `method` and `body` together.
pub(super) fn problems(arguments: &Arguments, allowed: &[Method]) -> Vec<Problem> {
    let name = arguments.get("method").and_then(Value::as_str).unwrap_or("GET");
    let Some(method) = method(name).filter(|method| allowed.contains(method)) else {
        let names: Vec<&str> = allowed.iter().map(Method::as_str).collect();
        let message = format!("must be one of {}, got `{name}`", names.join(", "));
        return vec![Problem::new("/method", message)];
    };
    let has_body = arguments.get("body").is_some_and(|body| !body.is_null());
    if has_body && !sends(&method) {
        return vec![Problem::new("/body", format!("cannot be sent with {method}; leave it out"))];
    }
    Vec::new()
}

/// Marks errors of a request that was sent: it may have been carried out.
pub(super) fn in_doubt(error: ToolError) -> ToolError {
    match error.kind() {
        ErrorKind::Timeout | ErrorKind::Upstream | ErrorKind::Tool => {
            error.with_hint("the request may have been carried out; check before sending it again").in_doubt()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::super::{Web, all};
    use super::*;

    #[test]
    fn every_method_that_is_not_for_reading_counts_as_a_write() {
        let tools = all(&Arc::new(Web::public())).unwrap();
        for tool in tools.iter().filter(|tool| tool.spec().id.as_str() != "builtin:web_fetch") {
            for (method, writes) in [
                (json!(null), false),
                (json!("GET"), false),
                (json!("head"), false),
                (json!("POST"), true),
                (json!("post"), true),
                (json!("PUT"), true),
                (json!("DELETE"), true),
                (json!("PATCH"), true),
                (json!("BREW"), true),
                (json!(7), true),
            ] {
                let arguments = json!({"url": "http://x.example", "method": method});
                let spec = tool.spec_for(arguments.as_object().unwrap());
                let is_write = spec.effective_effect() == Effect::OnceOnlyWrite
                    && spec.risk == Risk::Medium
                    && spec.effective_capabilities().has(Capability::Writes);
                assert_eq!(is_write, writes, "{method}");
                assert_eq!(spec.effective_effect() == Effect::Read, !writes, "{method}");
                assert!(spec.effective_capabilities().has(Capability::Egress));
                assert!(spec.effective_capabilities().has(Capability::ReadsUntrusted));
            }
        }
        let families: Vec<_> = tools.iter().map(|tool| tool.spec().family.clone().unwrap()).collect();
        assert!(families.iter().all(|family| family.name == "web_fetch"));
        assert_eq!(families.iter().filter(|family| family.preferred).count(), 1);
    }
}
