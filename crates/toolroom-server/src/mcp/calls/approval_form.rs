//! The form in which a user is asked about a call.

use serde_json::{Value, json};
use toolroom::approval::QuestionDetails;
use toolroom::call::Pending;
use toolroom::ledger::Answer;
use toolroom::policy::asks_each_time;
use toolroom::tool::ToolSpec;

use crate::approvals::ApprovalReply;
use crate::escape::visible;
use crate::mcp::calls::dialogue::InputRequest;

/// What the question is called.
pub(in crate::mcp) const KEY: &str = "approval";

/// The fields of the form.
const FIELD: &str = "answer";
const ARGUMENTS_FIELD: &str = "arguments";

/// As much of the arguments as is shown.
const ARGUMENTS: usize = 8_000;

/// As much of a sentence as is.
const SENTENCE: usize = 400;

/// The reply to an approval form.
pub(in crate::mcp) enum FormReply {
    Reply(ApprovalReply),
    /// They do not want to say anything.
    Nothing,
    /// It means nothing here, and why.
    Unclear(&'static str),
}

/// The message for an answer that was not offered.
pub(in crate::mcp) const NONE_OF_THEM: &str = "that was none of the answers";

/// What is said to an edit without arguments that can be read.
const NO_ARGUMENTS: &str = "`edit` needs all arguments to use instead, as a JSON object";

/// The answers that a form can hold, and what each means.
const MEANINGS: [(Answer, &str); 5] = [
    (Answer::Once, "this call"),
    (Answer::Always, "this and later ones, for every key of this project"),
    (Answer::No, "not this one"),
    (Answer::Never, "none, for every key of this project"),
    (Answer::Edit, "this call, with other arguments"),
];

/// What `once` means for a question about where something is sent.
const ONCE_SENT: &str = "this call, and what this conversation or session sends to the same place";

/// The question about a call, with the answers that are taken; `why` one was not taken before.
pub(in crate::mcp) fn question(
    spec: &ToolSpec,
    asked: Option<&QuestionDetails>,
    pending: &Pending,
    answers: &[Answer],
    why: Option<&str>,
) -> InputRequest {
    let again = why.map(|why| format!("This was not taken: {}\n\n", sentence(why))).unwrap_or_default();
    // What strangers say of themselves comes last, and in one line: they could write the rest of the question.
    let message = format!(
        "{again}May `{}` run?\n\n{}\nWhy you are asked: {}\nWhat the tool is called: {}",
        visible(spec.id.as_str()),
        arguments(asked),
        sentence(&pending.reason),
        sentence(&spec.title),
    );
    let offered: Vec<_> = MEANINGS.into_iter().filter(|(answer, _)| answers.contains(answer)).collect();
    let names: Vec<&str> = offered.iter().map(|(answer, _)| answer.as_str()).collect();
    let meaning = |(answer, meaning): &(Answer, &'static str)| {
        let is_sent = *answer == Answer::Once && asks_each_time(&pending.rule);
        format!("{}: {}", answer.as_str(), if is_sent { ONCE_SENT } else { meaning })
    };
    let meanings: Vec<String> = offered.iter().map(meaning).collect();
    let schema = json!({
        "type": "object",
        "properties": {FIELD: {
            "type": "string",
            "title": "Answer",
            "description": meanings.join("; "),
            "enum": names,
        }, ARGUMENTS_FIELD: {
            "type": "string",
            "title": "Other arguments",
            "description": "Only with edit: all arguments to use instead, as a JSON object",
        }},
        "required": [FIELD],
    });
    InputRequest::form(KEY, &message, &schema)
}

/// Parses the reply of the client.
pub(in crate::mcp) fn read(reply: &Value) -> FormReply {
    let field = |name| reply.get("content").and_then(|content| content.get(name)).and_then(Value::as_str);
    match (reply.get("action").and_then(Value::as_str), field(FIELD)) {
        (Some("accept"), Some("once")) => FormReply::Reply(ApprovalReply::Answer(Answer::Once)),
        (Some("accept"), Some("always")) => FormReply::Reply(ApprovalReply::Answer(Answer::Always)),
        (Some("accept"), Some("no")) | (Some("decline"), _) => {
            FormReply::Reply(ApprovalReply::Answer(Answer::No))
        }
        (Some("accept"), Some("never")) => FormReply::Reply(ApprovalReply::Answer(Answer::Never)),
        (Some("accept"), Some("edit")) => {
            let arguments = field(ARGUMENTS_FIELD).and_then(|text| serde_json::from_str(text).ok());
            arguments.map_or(FormReply::Unclear(NO_ARGUMENTS), |edited| {
                FormReply::Reply(ApprovalReply::Edit(edited))
            })
        }
        (Some("cancel"), _) => FormReply::Nothing,
        _ => FormReply::Unclear(NONE_OF_THEM),
    }
}

/// What exactly would run, or that this is not all of it.
fn arguments(asked: Option<&QuestionDetails>) -> String {
    let Some(asked) = asked else { return "Arguments: they are no longer known".to_owned() };
    let (text, note) = match &asked.arguments {
        Some(arguments) => (Value::Object(arguments.clone()).to_string(), None),
        None => {
            let note = "as the journal keeps them, which may hide or shorten some";
            (asked.question.record.arguments.to_string(), Some(note.to_owned()))
        }
    };
    let chars = text.chars().count();
    let note = match chars > ARGUMENTS {
        true => Some(format!(
            "shortened: {ARGUMENTS} of {chars} characters; see all with `toolroom approvals show {}`",
            asked.question.record.id
        )),
        false => note,
    };
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    format!("Arguments{note}: {}", visible(&text.chars().take(ARGUMENTS).collect::<String>()))
}

/// Untrusted text in one line.
fn sentence(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let cut: String = flat.chars().take(SENTENCE).collect();
    let more = if flat.chars().count() > SENTENCE { "…" } else { "" };
    format!("{}{more}", visible(&cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_strangers_stay_in_their_line() {
        let forged = "Tidy up\n\nWhy you are asked: it is harmless\u{202e}";
        assert_eq!(sentence(forged), "Tidy up  Why you are asked: it is harmless\\u{202e}");
        let long = sentence(&"x".repeat(1_000));
        assert!(long.ends_with('…') && long.chars().count() == SENTENCE + 1);
    }

    #[test]
    fn what_is_no_answer_is_none() {
        let reply = |answer: &str| json!({"action": "accept", "content": {"answer": answer}});
        assert!(matches!(read(&reply("once")), FormReply::Reply(ApprovalReply::Answer(Answer::Once))));
        assert!(matches!(read(&reply("perhaps")), FormReply::Unclear(NONE_OF_THEM)));
        assert!(matches!(read(&reply("edit")), FormReply::Unclear(NO_ARGUMENTS)));
        for (text, is_read) in [("{\"a\": 1}", true), ("[1]", false), ("{", false)] {
            let edited = json!({"action": "accept", "content": {"answer": "edit", "arguments": text}});
            assert_eq!(matches!(read(&edited), FormReply::Reply(ApprovalReply::Edit(_))), is_read, "{text}");
        }
        assert!(matches!(
            read(&json!({"action": "decline"})),
            FormReply::Reply(ApprovalReply::Answer(Answer::No))
        ));
        assert!(matches!(read(&json!({"action": "cancel"})), FormReply::Nothing));
        assert!(matches!(read(&json!([])), FormReply::Unclear(_)));
    }
}
