use std::sync::Arc;

use toolroom::model::{Message, ModelCallId};

use super::*;
use crate::recorded::wire_options;

fn opaque(owner: &str, part: Value) -> Option<Opaque> {
    Some(Opaque { owner: owner.into(), part: Arc::new(part) })
}

fn conversation() -> ModelRequest {
    let call = |id: &str, arguments: &str, opaque| Block::Call {
        id: ModelCallId::new(id),
        name: "calculator".to_owned(),
        arguments: arguments.into(),
        opaque,
    };
    let result = |id: &str, content, is_error| Block::Result {
        id: ModelCallId::new(id),
        name: "calculator".to_owned(),
        content: Arc::new(content),
        is_error,
    };
    let details = json!({"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}]});
    let signature = json!({"extra_content": {"google": {"thought_signature": "abc"}}});
    let picture = Image { media_type: "image/png".to_owned(), base64: "aGk=".into() };
    ModelRequest {
        system: SystemPrompt { lasting: "You calculate.".into(), changing: "It is noon.".into() },
        messages: [
            Message { role: Role::User, blocks: vec![Block::text("What is this?"), Block::Image(picture)] },
            Message::assistant(vec![
                Block::Reasoning { text: "hm".to_owned(), opaque: opaque("vendor", details) },
                call("c1", "{\"expression\" : \"1+1\"}", opaque("vendor", signature.clone())),
                call("c2", "not JSON", opaque("another", signature)),
            ]),
            Message {
                role: Role::User,
                blocks: vec![result("c2", json!({"error": "no"}), true), result("c1", json!("2"), false)],
            },
            Message::user("Thanks."),
            Message::user("And now?"),
        ]
        .map(Arc::new)
        .to_vec(),
        tools: Arc::new([OfferedTool {
            name: "calculator".to_owned(),
            description: "Calculates.".to_owned(),
            parameters: Arc::new(json!({"type": "object"})),
        }]),
        tool_use: ToolUse::Free,
        max_tokens: Some(100),
        temperature: Some(0.5),
    }
}

#[test]
fn a_conversation_is_written_in_the_order_strict_servers_want() {
    let expected = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "You calculate.\n\nIt is noon."},
            {"role": "user", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ]},
            {
                "role": "assistant",
                "content": null,
                "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}],
                "tool_calls": [
                    {
                        "id": "c1", "type": "function",
                        "function": {"name": "calculator", "arguments": "{\"expression\" : \"1+1\"}"},
                        "extra_content": {"google": {"thought_signature": "abc"}},
                    },
                    {"id": "c2", "type": "function", "function": {"name": "calculator", "arguments": "not JSON"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
            {"role": "tool", "tool_call_id": "c2", "content": "{\"error\":\"no\"}"},
            {"role": "user", "content": "Thanks.\n\nAnd now?"},
        ],
        "tools": [{"type": "function", "function": {
            "name": "calculator", "description": "Calculates.", "parameters": {"type": "object"},
        }}],
        "max_tokens": 100,
        "temperature": 0.5,
        "stream": true,
    });
    assert_eq!(body(&conversation(), &wire_options("vendor", "m")), expected);
}

#[test]
fn quirks_change_what_is_written() {
    let mut request = conversation();
    request.tool_use = ToolUse::Never;
    let mut options = wire_options("vendor", "m");
    assert_eq!(body(&request, &options)["tool_choice"], "none");
    options.quirks.no_tool_choice = true;
    options.quirks.max_completion_tokens = true;
    options.quirks.usage_on_request = true;
    options.quirks.arguments_as_object = true;
    let body = body(&request, &options);
    assert_eq!(body.get("tool_choice"), None);
    assert_eq!((body.get("max_tokens"), &body["max_completion_tokens"]), (None, &json!(100)));
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    let arguments = |at: usize| body["messages"][2]["tool_calls"][at]["function"]["arguments"].clone();
    assert_eq!((arguments(0), arguments(1)), (json!({"expression": "1+1"}), json!({})));
}

#[test]
fn thoughts_go_back_only_to_those_who_want_them() {
    let mut request = conversation();
    let answer = Block::Reasoning { text: "so".to_owned(), opaque: None };
    request.messages.push(Arc::new(Message::assistant(vec![answer, Block::text("Bye.")])));
    let thoughts = |owner: &str, reasoning| {
        let mut options = wire_options("vendor", "m");
        options.owner = owner.into();
        options.quirks.reasoning = reasoning;
        let body = body(&request, &options);
        let of = |at: usize| body["messages"][at].get("reasoning_content").cloned();
        (of(2), of(6))
    };
    assert_eq!(thoughts("deepseek", ReasoningEcho::Strip), (None, None));
    assert_eq!(thoughts("deepseek", ReasoningEcho::WithCalls), (Some(json!("hm")), None));
    assert_eq!(thoughts("deepseek", ReasoningEcho::Always), (Some(json!("hm")), Some(json!("so"))));
    // What came as details goes back as details.
    assert_eq!(thoughts("vendor", ReasoningEcho::Always), (None, Some(json!("so"))));
}

#[test]
fn a_tool_choice_without_tools_is_not_written() {
    let mut request = conversation();
    request.tools = Arc::new([]);
    request.tool_use = ToolUse::Never;
    let body = body(&request, &wire_options("vendor", "m"));
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
}

#[test]
fn a_call_without_arguments_is_written_as_an_empty_object() {
    assert_eq!(written("", &wire_options("vendor", "m")), json!("{}"));
}
