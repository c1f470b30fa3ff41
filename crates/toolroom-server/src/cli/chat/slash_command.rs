//! Slash commands of the chat.

use toolroom::nearest::nearest_one;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SlashCommand {
    Help,
    Tools,
    /// Shows or changes the model.
    Model(Option<String>),
    New,
    Status,
    Calls,
    /// Cancels the waiting run.
    Stop,
    Exit,
}

/// Commands with their help texts.
pub(super) const COMMANDS: [(&str, &str); 8] = [
    ("/help", "Show this help"),
    ("/tools", "List the available tools"),
    ("/model [V/M]", "Show or change the model"),
    ("/new", "Start a new conversation"),
    ("/status", "Show tokens, cost and context use"),
    ("/calls", "Show the calls of the last answer in detail"),
    ("/stop", "Cancel a run that waits for approval"),
    ("/exit", "Leave the chat (also Ctrl-D)"),
];

/// Parses a line. `None` if it is a message for the model, which includes `/tool key=value` for known tools.
pub(super) fn parse(line: &str, is_tool: impl Fn(&str) -> bool) -> Option<Result<SlashCommand, String>> {
    let command = line.trim().strip_prefix('/')?;
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    Some(Ok(match (name, rest) {
        ("help" | "?", None) => SlashCommand::Help,
        ("tools", None) => SlashCommand::Tools,
        ("model", model) => SlashCommand::Model(model.map(str::to_owned)),
        ("new" | "clear", None) => SlashCommand::New,
        ("status" | "cost", None) => SlashCommand::Status,
        ("calls", None) => SlashCommand::Calls,
        ("stop", None) => SlashCommand::Stop,
        ("exit" | "quit" | "q", None) => SlashCommand::Exit,
        // A tool, or a message that starts with a path or slash.
        (name, _) if is_tool(name) || name.contains('/') || name.is_empty() => return None,
        (name, _) => {
            let known = COMMANDS.iter().filter_map(|(known, _)| known.split(' ').next()?.strip_prefix('/'));
            let near = nearest_one(name, known).map(|near| format!("; did you mean /{near}?"));
            return Some(Err(format!(
                "unknown command or tool `/{name}`{}",
                near.unwrap_or_else(|| "; see /help".to_owned())
            )));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_parsed_and_other_lines_are_messages() {
        let check = |line: &str, parsed: Option<Result<SlashCommand, String>>| {
            assert_eq!(parse(line, |name| name == "calculator"), parsed, "{line}");
        };
        check("hello", None);
        check("/help", Some(Ok(SlashCommand::Help)));
        check(" /exit ", Some(Ok(SlashCommand::Exit)));
        check("/model", Some(Ok(SlashCommand::Model(None))));
        check("/model openai/gpt-5", Some(Ok(SlashCommand::Model(Some("openai/gpt-5".to_owned())))));
        check("/calculator expression=1+1", None);
        check("/etc/passwd holds what?", None);
        check("/ is the root", None);
        let wrong = parse("/hlep", |_| false).unwrap().unwrap_err();
        assert!(wrong.contains("did you mean /help?"), "{wrong}");
    }
}
