//! A fuzz target of what clients post.

use toolroom::scope::Scope;

use super::input::{Input, RunAgentInput};
use super::message::blocks;
use super::thread::{conversation_of, joined, run_of};
use crate::mutation::fuzz;

/// Whatever is posted: it is refused in words, or can be worked with.
#[test]
fn agui_input() {
    fuzz("agui_input", |text| {
        let Ok(posted) = serde_json::from_str::<RunAgentInput>(text) else { return };
        let input = match Input::try_from(posted) {
            Ok(input) => input,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let conversation = conversation_of(&Scope::default(), &input.thread);
        assert!(input.brought().len() <= input.messages.len());
        if let Some((place, message)) = input.last_words() {
            assert!(blocks(message).is_ok(), "{message:?}");
            assert!(input.history(place).len() <= place);
            assert_ne!(run_of(&conversation, message, 0), run_of(&conversation, message, 1));
        }
        let thread = joined(&conversation, &[], &input.messages);
        assert!(thread.is_whole && thread.messages == input.messages);
    });
}
