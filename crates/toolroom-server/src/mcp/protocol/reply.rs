//! Results in each era.

use serde::Serialize;
use serde_json::{Value, json};

use crate::mcp::protocol::Era;
use crate::mcp::protocol::rpc_error::RpcError;

/// How long a client may cache a list.
const LIST_LASTS_MS: u32 = 1_000;

/// Whether a client may cache a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcp) enum Reuse {
    Never,
    AWhile,
}

/// Key of the server's name and version in `_meta`.
pub(in crate::mcp) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Name and version of the server.
pub(in crate::mcp) fn server_info() -> Value {
    json!({"name": "toolroom", "title": "Toolroom", "version": env!("CARGO_PKG_VERSION")})
}

/// A result with these fields.
pub(in crate::mcp) fn reply(era: Era, reuse: Reuse, fields: &impl Serialize) -> Result<String, RpcError> {
    let text = serde_json::to_string(fields).map_err(|error| RpcError::failure(&error))?;
    Ok(finish(era, reuse, text))
}

/// Adds the fields that every modern result has to the text of an object.
pub(in crate::mcp) fn finish(era: Era, reuse: Reuse, mut text: String) -> String {
    if !era.is_modern() {
        return text;
    }
    text.pop();
    if !text.ends_with('{') {
        text.push(',');
    }
    text.push_str(r#""resultType":"complete""#);
    if reuse == Reuse::AWhile {
        text.push_str(&format!(r#","ttlMs":{LIST_LASTS_MS},"cacheScope":"private""#));
    }
    text.push_str(concat!(
        r#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"toolroom","title":"Toolroom","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}}}"#
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::protocol::Version;

    #[test]
    fn a_finished_result_is_json() {
        for (fields, reuse) in [(json!({}), Reuse::Never), (json!({"a": [1]}), Reuse::AWhile)] {
            let text = reply(Era::Modern, reuse, &fields).unwrap();
            let read: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(read["resultType"], "complete");
            assert_eq!(read["_meta"][SERVER_INFO], server_info());
            assert_eq!(read.get("ttlMs").is_some(), reuse == Reuse::AWhile);
            assert_eq!(read.get("a"), fields.get("a"));
        }
        let old = Era::Legacy(Version::agreed(""));
        assert_eq!(reply(old, Reuse::AWhile, &json!({})).unwrap(), "{}");
    }
}
