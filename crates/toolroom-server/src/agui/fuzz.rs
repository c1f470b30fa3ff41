//! Fuzz target: input of clients.

use toolroom::scope::Scope;

use super::input::{Input, RunAgentInput};
use super::message::blocks;
use super::thread::{conversation_of, merge_thread, run_of};
use crate::mutation::fuzz;

/// Every input is rejected with a message or accepted.
#[test]
fn agui_input() {
    fuzz("agui_input", |text| {
        let Ok(posted) = serde_json::from_str::<RunAgentInput>(text) else { return };
        let input = match Input::try_from(posted) {
            Ok(input) => input,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let conversation = conversation_of(&Scope::default(), &input.thread);
        assert!(input.client_results().len() <= input.messages.len());
        if let Some((place, message)) = input.last_words() {
            assert!(blocks(message).is_ok(), "{message:?}");
            assert!(input.history(place).len() <= place);
            assert_ne!(run_of(&conversation, message, 0), run_of(&conversation, message, 1));
        }
        let thread = merge_thread(&conversation, &[], &input.messages);
        assert!(thread.is_whole && thread.messages == input.messages);
    });
}
