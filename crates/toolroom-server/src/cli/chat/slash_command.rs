//! What can be said to the chat itself, rather than to the model.

use toolroom::nearest::nearest_one;

/// What a line that begins with a slash asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Tools,
    /// Who answers, or another model from now on.
    Model(Option<String>),
    New,
    Status,
    Calls,
    /// Ends the run that waits.
    Stop,
    Exit,
}

/// Names, and what they do.
pub(super) const COMMANDS: [(&str, &str); 8] = [
    ("/help", "this list"),
    ("/tools", "what can be used"),
    ("/model [V/M]", "who answers; from now on somebody else"),
    ("/new", "begin another conversation"),
    ("/status", "tokens, cost, and how full the conversation is"),
    ("/calls", "unfold the calls of the last answer"),
    ("/stop", "end a run that waits for an answer"),
    ("/exit", "leave; so does Ctrl-D"),
];

/// Reads a line. `None` if it is for the model: `/tool key=value` is, where there is such a tool.
pub(super) fn read(line: &str, is_tool: impl Fn(&str) -> bool) -> Option<Result<Slash, String>> {
    let command = line.trim().strip_prefix('/')?;
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    Some(Ok(match (name, rest) {
        ("help" | "?", None) => Slash::Help,
        ("tools", None) => Slash::Tools,
        ("model", model) => Slash::Model(model.map(str::to_owned)),
        ("new" | "clear", None) => Slash::New,
        ("status" | "cost", None) => Slash::Status,
        ("calls", None) => Slash::Calls,
        ("stop", None) => Slash::Stop,
        ("exit" | "quit" | "q", None) => Slash::Exit,
        // A path, or a sentence that happens to begin so.
        (name, _) if is_tool(name) || name.contains('/') || name.is_empty() => return None,
        (name, _) => {
            let known = COMMANDS.iter().filter_map(|(known, _)| known.split(' ').next()?.strip_prefix('/'));
            let near = nearest_one(name, known).map(|near| format!("; did you mean /{near}?"));
            return Some(Err(format!(
                "there is neither a command nor a tool `/{name}`{}",
                near.unwrap_or_else(|| "; /help lists what there is".to_owned())
            )));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_the_rest_is_for_the_model() {
        let check = |line: &str, read_as: Option<Result<Slash, String>>| {
            assert_eq!(read(line, |name| name == "calculator"), read_as, "{line}");
        };
        check("hello", None);
        check("/help", Some(Ok(Slash::Help)));
        check(" /exit ", Some(Ok(Slash::Exit)));
        check("/model", Some(Ok(Slash::Model(None))));
        check("/model openai/gpt-5", Some(Ok(Slash::Model(Some("openai/gpt-5".to_owned())))));
        check("/calculator expression=1+1", None);
        check("/etc/passwd holds what?", None);
        check("/ is the root", None);
        let wrong = read("/hlep", |_| false).unwrap().unwrap_err();
        assert!(wrong.contains("did you mean /help?"), "{wrong}");
    }
}
