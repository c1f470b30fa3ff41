//! The tool that the benches call: it has a ticket's parameters and returns its arguments.

use std::future::ready;
use std::sync::Arc;

use serde_json::{Value, json};
use toolroom::BoxFuture;
use toolroom::call::CallContext;
use toolroom::tool::{Arguments, Effect, IdError, Risk, Tool, ToolError, ToolOutput, ToolSpec};

/// Tools of a large installation.
pub(crate) const MANY: usize = 1_000;

/// Returns its arguments.
pub(crate) struct Echo(pub(crate) ToolSpec);

impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run<'a>(
        &'a self,
        _context: CallContext,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(ready(Ok(ToolOutput::new(arguments))))
    }
}

/// A tool with the parameters of a ticket.
pub(crate) fn echo(id: &str, effect: Effect) -> Result<Echo, IdError> {
    let spec = ToolSpec::new(id, "Open a support ticket for a customer and tell the customer about it")?;
    Ok(Echo(spec.parameters(ticket_schema()).effect(effect).capabilities(&[]).risk(Risk::Low)))
}

/// Ids of the tools of servers with some dozen tools each.
pub(crate) fn many_ids() -> Vec<String> {
    let verbs = ["create", "list", "update", "delete", "search"];
    let nouns =
        ["invoice", "customer", "ticket", "pull_request", "calendar-event", "file", "user", "order.line"];
    let names = nouns.iter().flat_map(|noun| verbs.iter().map(move |verb| format!("{verb}_{noun}")));
    let names: Vec<String> = names.collect();
    let servers = 0..MANY.div_ceil(names.len());
    let ids = servers.flat_map(|server| names.iter().map(move |name| format!("mcp:server{server}:{name}")));
    ids.take(MANY).collect()
}

pub(crate) fn many_tools() -> Result<Vec<Arc<dyn Tool>>, IdError> {
    many_ids().iter().map(|id| Ok(Arc::new(echo(id, Effect::Pure)?) as Arc<dyn Tool>)).collect()
}

/// Eight properties, one of them nested and one a list, three patterns.
pub(crate) fn ticket_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "customer": {"type": "string", "pattern": "^C-[0-9]{6}$", "description": "Customer number, e.g. C-123456"},
            "email": {"type": "string", "pattern": "^[^@\\s]+@[^@\\s]+$", "maxLength": 254},
            "subject": {"type": "string", "minLength": 1, "maxLength": 200, "description": "One line"},
            "text": {"type": "string", "maxLength": 10000, "description": "What the customer says"},
            "priority": {"type": "string", "enum": ["low", "normal", "high", "urgent"], "default": "normal"},
            "tags": {
                "type": "array",
                "items": {"type": "string", "pattern": "^[a-z0-9-]{1,30}$"},
                "maxItems": 10,
                "uniqueItems": true
            },
            "address": {
                "type": "object",
                "properties": {
                    "street": {"type": "string"},
                    "city": {"type": "string"},
                    "zip": {"type": "string", "maxLength": 10},
                    "floor": {"type": "integer", "minimum": -5, "maximum": 200}
                },
                "required": ["city"],
                "additionalProperties": false
            },
            "notify": {"type": "boolean", "default": true}
        },
        "required": ["customer", "email", "subject"],
        "additionalProperties": false
    })
}

/// About 450 bytes, valid for [`ticket_schema`].
pub(crate) fn ticket() -> Value {
    json!({
        "customer": "C-204817",
        "email": "ann.example@mail.example.org",
        "subject": "The delivery has not arrived",
        "text": "I ordered two shelves on the third and was told they would be here within a week. It has been \
                 twelve days now, and the tracking page still says that they are being packed. Please find out.",
        "priority": "high",
        "tags": ["delivery", "shelves", "second-request"],
        "address": {"street": "12 Mill Lane", "city": "Otherton", "zip": "OT1 2AB", "floor": 3},
        "notify": true
    })
}
