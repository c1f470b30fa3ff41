use ModelErrorKind::{
    Auth, BadRequest, Billing, ContentFilter, ContextOverflow, NotFound, Overloaded, RateLimit, Server,
    Timeout,
};
use proptest::prelude::*;
use serde_json::json;

use super::error_body::MAX_MESSAGE_CHARS;
use super::*;
use crate::scale::cases;

#[test]
fn what_vendors_say_is_told_apart() {
    let said = [
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            Auth,
        ),
        (403, r#"{"error":"forbidden"}"#, Auth),
        (
            403,
            r#"{"error":{"code":403,"message":"Your input was flagged","metadata":{"raw":"requires moderation"}}}"#,
            ContentFilter,
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            Billing,
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            Billing,
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached: the maximum context length of minute","code":"rate_limit_exceeded"}}"#,
            RateLimit,
        ),
        (503, "upstream connect error", Overloaded),
        (529, "", Overloaded),
        (404, r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#, NotFound),
        (404, r#"{"error":"model 'x' not found"}"#, NotFound),
        (408, "", Timeout),
        // OpenAI, DeepSeek, Groq, Mistral, llama.cpp, vLLM, Ollama, xAI, Gemini.
        (
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens","type":"invalid_request_error"}}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"object":"error","message":"Prompt contains 40001 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt"}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":4096}}"#,
            ContextOverflow,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"the request exceeds the available context size","type":"server_error"}}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 2048 tokens.","type":"BadRequestError","param":null,"code":400}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"message":"the input length exceeds the context length","type":"api_error"}}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 200000 tokens."}"#,
            ContextOverflow,
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"The input token count (2) exceeds the maximum number of tokens allowed (1).","status":"INVALID_ARGUMENT"}}]"#,
            ContextOverflow,
        ),
        (413, "Request Entity Too Large", ContextOverflow),
        (400, r#"{"error":{"message":"The response was filtered","code":"content_filter"}}"#, ContentFilter),
        (400, r#"{"error":{"message":"no","code":"content_policy_violation"}}"#, ContentFilter),
        (400, r#"{"error":{"message":"Unknown parameter","type":"invalid_request_error"}}"#, BadRequest),
        (422, r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, BadRequest),
        (500, r#"{"error":{"message":"The server had an error","type":"server_error"}}"#, Server),
        (502, "<html><body>Bad Gateway</body></html>", Server),
    ];
    for (status, body, kind) in said {
        let error = from_response(status, body);
        assert_eq!(error.kind, kind, "{status} {body}");
        assert_eq!(error.status, Some(status));
        assert!(!error.message.is_empty());
    }
}

#[test]
fn the_vendors_own_words_are_kept_and_bounded() {
    let message = |body: &str| from_response(400, body).message;
    assert_eq!(message(r#"{"error":{"message":"Unknown parameter: 'x'."}}"#), "Unknown parameter: 'x'.");
    assert_eq!(
        message(r#"{"detail":[{"msg":"field required"},{"msg":"too short"}]}"#),
        "field required: too short"
    );
    assert_eq!(
        message(r#"{"error":{"message":"Provider returned error","metadata":{"raw":"no such tool"}}}"#),
        "Provider returned error: no such tool"
    );
    assert_eq!(message("<html>…</html>"), "the vendor answered with status `400` and no explanation");
    assert_eq!(message(&"ü".repeat(5_000)).chars().count(), MAX_MESSAGE_CHARS);
}

#[test]
fn an_error_in_a_stream_has_its_status_in_the_code_or_only_a_word() {
    let kind = |error: Value| from_stream(&error).kind;
    assert_eq!(kind(json!({"error": {"code": 429, "message": "slow down"}})), RateLimit);
    assert_eq!(kind(json!({"error": {"code": 502, "message": "Provider disconnected"}})), Server);
    assert_eq!(kind(json!({"code": "rate_limit_exceeded", "message": "slow down"})), RateLimit);
    assert_eq!(kind(json!({"code": "server_error", "message": "oh"})), Server);
    assert_eq!(kind(json!({"error": {"type": "server_is_overloaded"}})), Overloaded);
    assert_eq!(kind(json!({"error": "context_length_exceeded"})), ContextOverflow);
    assert_eq!(from_stream(&json!(null)).message, "the vendor ended the answer without an explanation");
}

proptest! {
    #![proptest_config(cases(256))]
    #[test]
    fn nothing_a_vendor_says_is_too_strange(status in any::<u16>(), body in ".{0,200}") {
        prop_assert_eq!(from_response(status, &body).status, Some(status));
    }
}
