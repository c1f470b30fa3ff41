use std::sync::Arc;

use toolroom::model::{Image, Message, ModelCallId, SystemPrompt};

use super::*;
use crate::recorded::wire_options;

fn opaque(owner: &str, part: Value) -> Opaque {
    Opaque { owner: owner.into(), part: Arc::new(part) }
}

fn conversation() -> ModelRequest {
    let id = ModelCallId::new("call_1");
    let thoughts = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    let searched = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let name = || "calculator".to_owned();
    ModelRequest {
        system: SystemPrompt { lasting: "You calculate.".into(), changing: "It is noon.".into() },
        messages: [
            Message {
                role: Role::User,
                blocks: vec![
                    Block::text("What is this?"),
                    Block::Image(Image { media_type: "image/png".to_owned(), base64: "aGk=".into() }),
                ],
            },
            Message::assistant(vec![
                Block::Reasoning { text: String::new(), opaque: Some(opaque("vendor", thoughts)) },
                Block::Text {
                    text: "I calculate.".to_owned(),
                    opaque: Some(opaque("vendor", json!({"status": "completed", "phase": "commentary"}))),
                },
                Block::Call {
                    id: id.clone(),
                    name: name(),
                    arguments: "{ \"expression\": \"1+1\"}".into(),
                    opaque: Some(opaque("vendor", json!({"status": "completed"}))),
                },
                Block::Opaque(opaque("vendor", searched.clone())),
                Block::Opaque(opaque("another", searched)),
            ]),
            Message {
                role: Role::User,
                blocks: vec![Block::Result {
                    id,
                    name: name(),
                    content: Arc::new(json!({"value": 2})),
                    is_error: false,
                }],
            },
        ]
        .map(Arc::new)
        .to_vec(),
        tools: Arc::new([OfferedTool {
            name: name(),
            description: "Calculates.".to_owned(),
            parameters: Arc::new(json!({"type": "object"})),
        }]),
        tool_use: ToolUse::Never,
        max_tokens: Some(100),
        temperature: None,
    }
}

#[test]
fn a_conversation_is_a_list_of_items() {
    let expected = json!({
        "model": "m",
        "instructions": "You calculate.",
        "input": [
            {"type": "message", "role": "developer", "content": "It is noon."},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "What is this?"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
            ]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {
                "type": "message", "role": "assistant", "status": "completed", "phase": "commentary",
                "content": [{"type": "output_text", "text": "I calculate.", "annotations": []}],
            },
            {
                "type": "function_call", "call_id": "call_1", "name": "calculator",
                "arguments": "{ \"expression\": \"1+1\"}", "status": "completed",
            },
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"type": "function_call_output", "call_id": "call_1", "output": "{\"value\":2}"},
        ],
        "tools": [{
            "type": "function", "name": "calculator", "description": "Calculates.",
            "parameters": {"type": "object"}, "strict": false,
        }],
        "tool_choice": "none",
        "max_output_tokens": 100,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "stream": true,
    });
    assert_eq!(body(&conversation(), &wire_options("vendor", "m")), expected);
}

#[test]
fn opaque_parts_of_other_vendors_are_left_out() {
    let mut options = wire_options("vendor", "m");
    options.owner = "other".into();
    options.quirks.no_encrypted_reasoning = true;
    let body = body(&conversation(), &options);
    let kinds: Vec<&str> =
        body["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "message", "message", "function_call", "function_call_output"]);
    assert_eq!(body["input"][3].get("status"), None);
    assert_eq!(body.get("include"), None);
}
