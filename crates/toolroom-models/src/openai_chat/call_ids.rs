//! Ids of calls, for vendors that take only short ones.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};
use toolroom::model::{Block, Message, ModelCallId};

/// What Mistral insists on.
const LENGTH: usize = 9;

const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How ids are written in one request.
#[derive(Debug, Default)]
pub(super) struct CallIds<'a>(HashMap<&'a ModelCallId, String>);

impl<'a> CallIds<'a> {
    /// Short ones for a conversation: the same in every request, and different where the originals are.
    pub(super) fn short<M: Borrow<Message>>(messages: &'a [M]) -> Self {
        let blocks = messages.iter().flat_map(|message| &message.borrow().blocks);
        let ids: Vec<&ModelCallId> = blocks
            .filter_map(|block| match block {
                Block::Call { id, .. } | Block::Result { id, .. } => Some(id),
                _ => None,
            })
            .collect();
        // What is short enough stays, and no other id becomes equal to it.
        let mut taken: HashSet<String> =
            ids.iter().filter(|id| is_short(id)).map(|id| id.as_str().to_owned()).collect();
        let mut written = HashMap::new();
        for id in ids {
            if is_short(id) || written.contains_key(id) {
                continue;
            }
            let short = (0_u32..).map(|salt| shortened(id, salt)).find(|short| !taken.contains(short));
            if let Some(short) = short {
                taken.insert(short.clone());
                written.insert(id, short);
            }
        }
        Self(written)
    }

    /// How this id is written.
    pub(super) fn written(&self, id: &ModelCallId) -> Value {
        self.0.get(id).map_or_else(|| json!(id), |short| json!(short))
    }
}

fn is_short(id: &ModelCallId) -> bool {
    id.as_str().len() == LENGTH && id.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn shortened(id: &ModelCallId, salt: u32) -> String {
    let mut hasher = DefaultHasher::new();
    (id.as_str(), salt).hash(&mut hasher);
    let mut rest = hasher.finish();
    let mut short = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        let at = usize::try_from(rest % 62).unwrap_or(0);
        short.push(char::from(CHARACTERS.get(at).copied().unwrap_or(b'0')));
        rest /= 62;
    }
    short
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    fn calls(ids: &[String]) -> Vec<Message> {
        let call = |id: &String| Block::Call {
            id: ModelCallId::new(id),
            name: "t".to_owned(),
            arguments: Arc::from("{}"),
            opaque: None,
        };
        vec![Message::assistant(ids.iter().map(call).collect())]
    }

    #[test]
    fn what_is_short_enough_stays() {
        let messages = calls(&["abcDEF123".to_owned(), "call_0123456789".to_owned()]);
        let ids = CallIds::short(&messages);
        assert_eq!(ids.written(&ModelCallId::new("abcDEF123")), json!("abcDEF123"));
        let short = ids.written(&ModelCallId::new("call_0123456789"));
        assert_eq!(short, CallIds::short(&messages).written(&ModelCallId::new("call_0123456789")));
        assert_eq!(short.as_str().map(str::len), Some(9));
    }

    proptest! {
        #![proptest_config(cases(128))]
        #[test]
        fn different_calls_stay_different(ids in prop::collection::vec("[a-zA-Z0-9_:-]{1,12}", 0..40)) {
            let messages = calls(&ids);
            let written = CallIds::short(&messages);
            let originals: HashSet<&String> = ids.iter().collect();
            let shorts: HashSet<String> =
                ids.iter().map(|id| written.written(&ModelCallId::new(id)).to_string()).collect();
            prop_assert_eq!(originals.len(), shorts.len());
            prop_assert!(shorts.iter().all(|short| short.len() == LENGTH + 2));
        }
    }
}
