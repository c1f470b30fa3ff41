//! Normalizes a conversation for strict vendors.
//!
//! Roles alternate, a turn with calls is followed by exactly their results, and there are no empty turns. Calls without
//! results and results without calls are left out, because vendors would reject the whole conversation.

use std::borrow::Borrow;
use std::collections::HashSet;

use toolroom::model::{Block, Message, ModelCallId, Role};

/// Consecutive messages of one role.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn<'a> {
    pub(crate) role: Role,
    /// Results come first, in the order of their calls.
    pub(crate) blocks: Vec<&'a Block>,
}

/// The conversation as turns.
pub(crate) fn turns<M: Borrow<Message>>(messages: &[M]) -> Vec<Turn<'_>> {
    let spoken = joined(messages.iter().map(Borrow::borrow).map(|message: &Message| Turn {
        role: message.role,
        blocks: message.blocks.iter().filter(|block| !is_blank(block)).collect(),
    }));
    let answers: Vec<Vec<&Block>> = (0..spoken.len()).map(|at| answers(&spoken, at)).collect();
    let mut ordered = Vec::new();
    for (turn, answers) in spoken.into_iter().zip(answers) {
        let answered: HashSet<&ModelCallId> = answers.iter().filter_map(|block| result_id(block)).collect();
        let mut called = HashSet::new();
        let blocks: Vec<&Block> = (turn.blocks.into_iter())
            .filter(|block| match block {
                Block::Call { id, .. } => answered.contains(id) && called.insert(id),
                Block::Result { .. } => false,
                _ => true,
            })
            .collect();
        // Reasoning alone is not a turn.
        if blocks.iter().any(|block| !matches!(block, Block::Reasoning { .. })) {
            ordered.push(Turn { role: turn.role, blocks });
        }
        if !answers.is_empty() {
            ordered.push(Turn { role: Role::User, blocks: answers });
        }
    }
    joined(ordered)
}

/// The results of a turn's calls in later turns, up to the next turn that uses the same id.
fn answers<'a>(spoken: &[Turn<'a>], at: usize) -> Vec<&'a Block> {
    let Some((turn, later)) = spoken.get(at..).and_then(<[_]>::split_first) else { return Vec::new() };
    if turn.role != Role::Assistant {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let calls = turn.blocks.iter().filter_map(|block| call_id(block)).filter(|id| seen.insert(*id));
    calls
        .filter_map(|id| {
            (later.iter())
                .take_while(|turn| !turn.blocks.iter().any(|block| call_id(block) == Some(id)))
                .flat_map(|turn| &turn.blocks)
                .find(|block| result_id(block) == Some(id))
                .copied()
        })
        .collect()
}

fn joined<'a>(turns: impl IntoIterator<Item = Turn<'a>>) -> Vec<Turn<'a>> {
    let mut joined: Vec<Turn<'a>> = Vec::new();
    for turn in turns {
        match joined.last_mut() {
            Some(last) if last.role == turn.role => last.blocks.extend(turn.blocks),
            _ => joined.push(turn),
        }
    }
    joined
}

fn is_blank(block: &Block) -> bool {
    matches!(block, Block::Text { text, opaque: None } if text.is_empty())
}

fn call_id(block: &Block) -> Option<&ModelCallId> {
    match block {
        Block::Call { id, .. } => Some(id),
        _ => None,
    }
}

fn result_id(block: &Block) -> Option<&ModelCallId> {
    match block {
        Block::Result { id, .. } => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::scale::cases;

    fn call(id: &str) -> Block {
        let arguments = Arc::from("{}");
        Block::Call { id: ModelCallId::new(id), name: "t".to_owned(), arguments, opaque: None }
    }

    fn result(id: &str) -> Block {
        let content = Arc::new(json!(id));
        Block::Result { id: ModelCallId::new(id), name: "t".to_owned(), content, is_error: false }
    }

    fn user(blocks: Vec<Block>) -> Message {
        Message { role: Role::User, blocks }
    }

    /// `u` and `a` for the roles, then what is said.
    fn shown(messages: &[Message]) -> Vec<String> {
        let block = |block: &&Block| match block {
            Block::Text { text, .. } | Block::Reasoning { text, .. } => text.clone(),
            Block::Call { id, .. } => format!("{id}?"),
            Block::Result { id, .. } => format!("{id}!"),
            Block::Image(_) | Block::Opaque(_) => "*".to_owned(),
        };
        let turn = |turn: &Turn<'_>| {
            let role = if turn.role == Role::User { "u" } else { "a" };
            format!("{role} {}", turn.blocks.iter().map(block).collect::<Vec<_>>().join(" "))
        };
        turns(messages).iter().map(turn).collect()
    }

    #[test]
    fn results_follow_their_calls_in_the_order_of_the_calls() {
        let conversation = [
            Message::user("one"),
            Message::user("two"),
            Message::assistant(vec![call("x"), call("y")]),
            user(vec![Block::text("meanwhile"), result("y")]),
            user(vec![result("x")]),
            Message::assistant(vec![Block::text("done")]),
        ];
        assert_eq!(shown(&conversation), ["u one two", "a x? y?", "u x! y! meanwhile", "a done"]);
    }

    #[test]
    fn a_call_without_result_and_a_result_without_call_are_left_out() {
        let conversation = [
            user(vec![result("gone"), Block::text("hello")]),
            Message::assistant(vec![
                Block::Reasoning { text: "hm".to_owned(), opaque: None },
                call("cancelled"),
            ]),
            Message::user("never mind"),
        ];
        assert_eq!(shown(&conversation), ["u hello never mind"]);
    }

    #[test]
    fn an_id_that_is_used_again_belongs_to_the_nearest_call() {
        let conversation = [
            Message::assistant(vec![call("c")]),
            Message::user("cancelled"),
            Message::assistant(vec![Block::text("again"), call("c")]),
            user(vec![result("c")]),
        ];
        assert_eq!(shown(&conversation), ["u cancelled", "a again c?", "u c!"]);
    }

    proptest! {
        #![proptest_config(cases(256))]
        #[test]
        fn a_strict_vendor_accepts_every_conversation(
            said in prop::collection::vec((any::<bool>(), prop::collection::vec((0_u8..4, "[a-d]"), 0..4)), 0..12),
        ) {
            let messages: Vec<Message> = said.iter().map(|(assistant, blocks)| Message {
                role: if *assistant { Role::Assistant } else { Role::User },
                blocks: blocks.iter().map(|(kind, id)| match (kind, assistant) {
                    (0, _) => Block::text(id.clone()),
                    (1, true) => Block::Reasoning { text: id.clone(), opaque: None },
                    (_, true) => call(id),
                    (_, false) => result(id),
                }).collect(),
            }).collect();
            let turns = turns(&messages);
            for (at, turn) in turns.iter().enumerate() {
                prop_assert!(!turn.blocks.is_empty());
                let before = at.checked_sub(1).and_then(|at| turns.get(at));
                prop_assert!(before.is_none_or(|before| before.role != turn.role));
                let calls: HashSet<_> =
                    before.iter().flat_map(|turn| &turn.blocks).filter_map(|block| call_id(block)).collect();
                let results: HashSet<_> = turn.blocks.iter().filter_map(|block| result_id(block)).collect();
                prop_assert_eq!(calls, results);
            }
            prop_assert!(turns.last().is_none_or(|turn| turn.blocks.iter().all(|block| call_id(block).is_none())));
        }
    }
}
