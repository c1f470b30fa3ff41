//! Interrupts: questions to the user of a client, and their answers.

use serde_json::{Value, json};
use toolroom::clock::Timestamp;
use toolroom::conversation::RunEvent;
use toolroom::ledger::Answer;

use super::calls::CLIENT;
use super::event::Interrupt;
use crate::approvals::ApprovalReply;

/// Longer arguments are not shown with a question.
const SHOWN_BYTES: usize = 64 * 1024;

/// The interrupt of a pending call; `answers` are those this client may give.
pub(super) fn question(event: &RunEvent, arguments: Option<Value>, answers: &[Answer]) -> Option<Interrupt> {
    let RunEvent::Asks { id, call, tool, rule, reason, by, expires_at } = event else { return None };
    let mut metadata = json!({"tool": tool, "rule": rule, "by": by});
    let arguments = arguments.filter(|arguments| arguments.to_string().len() <= SHOWN_BYTES);
    if let (Some(metadata), Some(arguments)) = (metadata.as_object_mut(), arguments) {
        metadata.insert("arguments".to_owned(), arguments);
    }
    // A client tool that needs approval was not announced yet.
    let is_clients = tool.starts_with(CLIENT);
    let is_elsewhere = answers.is_empty();
    Some(Interrupt {
        id: call.to_string(),
        reason: match (is_elsewhere, is_clients) {
            (true, _) => "toolroom:operator",
            (false, true) => "confirmation",
            (false, false) => "tool_call",
        },
        message: reason.clone(),
        tool_call_id: (!is_clients).then(|| id.to_string()),
        response_schema: (!is_elsewhere).then(|| schema(answers)),
        expires_at: format_time(*expires_at),
        metadata,
    })
}

/// The JSON Schema of these answers.
fn schema(answers: &[Answer]) -> Value {
    let mut properties = json!({
        "approved": {"type": "boolean", "description": "Whether the call may be made."},
        "editedArgs": {"type": "object", "description": "All arguments to be used instead; only with a yes."},
    });
    let lasting = [Answer::Session, Answer::Always].into_iter().filter(|answer| answers.contains(answer));
    let lasting: Vec<&str> = lasting.map(Answer::as_str).collect();
    if let (Some(properties), false) = (properties.as_object_mut(), lasting.is_empty()) {
        let description = "How far the answer reaches: session, for this conversation; always, from now on.";
        properties.insert("remember".to_owned(), json!({"enum": lasting, "description": description}));
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["approved"],
        "additionalProperties": false,
    })
}

/// Parses an answer. `None` if it does not match the schema.
pub(super) fn reply(payload: &Value) -> Option<ApprovalReply> {
    let payload = payload.as_object()?;
    let is_known = |key: &String| matches!(key.as_str(), "approved" | "editedArgs" | "remember");
    if !payload.keys().all(is_known) {
        return None;
    }
    let approved = payload.get("approved")?.as_bool()?;
    let remember = payload.get("remember").map(|remember| remember.as_str());
    match (approved, payload.get("editedArgs"), remember) {
        (true, Some(Value::Object(arguments)), None) => Some(ApprovalReply::Edit(arguments.clone())),
        (_, Some(_), _) => None,
        (true, None, None) => Some(ApprovalReply::Answer(Answer::Once)),
        (true, None, Some(Some("session"))) => Some(ApprovalReply::Answer(Answer::Session)),
        (true, None, Some(Some("always"))) => Some(ApprovalReply::Answer(Answer::Always)),
        (false, None, None | Some(Some("session"))) => Some(ApprovalReply::Answer(Answer::No)),
        (false, None, Some(Some("always"))) => Some(ApprovalReply::Answer(Answer::Never)),
        (_, None, Some(_)) => None,
    }
}

/// Whether a reply has the same meaning as an earlier answer.
pub(super) fn is_same(reply: &ApprovalReply, given: Answer) -> bool {
    match reply {
        ApprovalReply::Answer(answer) => *answer == given || (answer.is_yes() && given.is_yes()),
        ApprovalReply::Edit(_) => given == Answer::Edit,
    }
}

fn format_time(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use toolroom::approval::Responder;
    use toolroom::ledger::{Answerer, CallId};
    use toolroom::model::ModelCallId;

    use super::*;

    fn asks(tool: &str, by: Answerer) -> Interrupt {
        asked_of(&Responder::Caller("key:1".into()), tool, by)
    }

    fn asked_of(responder: &Responder, tool: &str, by: Answerer) -> Interrupt {
        let answers = responder.answers("r", by, Some("key:1"));
        let event = RunEvent::Asks {
            id: ModelCallId::new("m1"),
            call: CallId::new("call_1"),
            tool: tool.into(),
            rule: "r".to_owned(),
            reason: "It writes.".to_owned(),
            by,
            expires_at: Timestamp::from_micros(1_000_000),
        };
        question(&event, Some(json!({"a": 1})), answers).unwrap()
    }

    #[test]
    fn an_interrupt_names_its_answerer() {
        let own = asks("builtin:write_file", Answerer::Caller);
        assert_eq!((own.reason, own.tool_call_id.as_deref()), ("tool_call", Some("m1")));
        assert_eq!(own.expires_at, "1970-01-01T00:00:01Z");
        assert!(own.response_schema.is_some());
        let operators = asks("builtin:write_file", Answerer::Operator);
        assert_eq!((operators.reason, operators.response_schema), ("toolroom:operator", None));
        let unanswerable = asked_of(&Responder::Observer, "builtin:write_file", Answerer::Caller);
        assert_eq!((unanswerable.reason, unanswerable.response_schema), ("toolroom:operator", None));
        let clients = asks("client:post", Answerer::Caller);
        assert_eq!((clients.reason, clients.tool_call_id), ("confirmation", None));
    }

    #[test]
    fn the_schema_offers_the_answers_this_client_may_give() {
        let remember = |responder: &Responder| {
            let asked = asked_of(responder, "builtin:write_file", Answerer::Caller);
            asked.response_schema.unwrap()["properties"]["remember"]["enum"].clone()
        };
        assert_eq!(remember(&Responder::Caller("key:1".into())), Value::Null);
        assert_eq!(remember(&Responder::Operator), json!(["session", "always"]));
    }

    #[test]
    fn an_answer_that_does_not_match_the_schema_is_rejected() {
        let answer = |payload: Value| reply(&payload);
        assert_eq!(answer(json!({"approved": true})), Some(ApprovalReply::Answer(Answer::Once)));
        assert_eq!(answer(json!({"approved": false})), Some(ApprovalReply::Answer(Answer::No)));
        assert_eq!(
            answer(json!({"approved": true, "remember": "session"})),
            Some(ApprovalReply::Answer(Answer::Session))
        );
        assert_eq!(
            answer(json!({"approved": false, "remember": "always"})),
            Some(ApprovalReply::Answer(Answer::Never))
        );
        let edited = json!({"a": 2}).as_object().unwrap().clone();
        assert_eq!(
            answer(json!({"approved": true, "editedArgs": {"a": 2}})),
            Some(ApprovalReply::Edit(edited))
        );
        for wrong in [
            json!(null),
            json!(true),
            json!({}),
            json!({"approved": "yes"}),
            json!({"approved": null}),
            json!({"approved": true, "editedArgs": null}),
            json!({"approved": true, "editedArgs": []}),
            json!({"approved": false, "editedArgs": {}}),
            json!({"approved": true, "remember": "forever"}),
            json!({"approved": true, "remember": null}),
            json!({"approved": true, "because": "I say so"}),
        ] {
            assert_eq!(answer(wrong.clone()), None, "{wrong}");
        }
    }
}
