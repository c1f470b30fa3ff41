//! A conversation that begins with what was said elsewhere.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolroom::agent::{Agent, AgentRecord, Candidate, SendRequest};
use toolroom::conversation::{ConversationId, Conversations};
use toolroom::model::{
    Answer, Block, Image, Message, Model, ModelCallId, ModelError, ModelEvent, ModelRequest, Role,
    StopReason, Usage,
};
use toolroom::testing::MemoryConversations;
use toolroom::{BoxFuture, Toolroom};

/// Listens, and says nothing of interest.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<Vec<String>>>>);

impl Model for Listener {
    fn name(&self) -> &str {
        "lab/listener"
    }

    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        _told: &'a mut (dyn FnMut(ModelEvent) + Send),
        _cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let heard = request.messages.iter().map(|message| format!("{:?}: {}", message.role, message.text()));
        self.0.lock().unwrap().push(heard.collect());
        let blocks = vec![Block::text("I see.")];
        let answer = Answer { blocks, stop: StopReason::Done, usage: Usage::default(), model: None };
        Box::pin(async move { Ok(answer) })
    }
}

#[tokio::test]
async fn what_was_said_elsewhere_is_taken_over_once_and_in_words_alone() {
    let (listener, conversations) = (Listener::default(), MemoryConversations::new());
    let chain = [Candidate::new(Arc::new(listener.clone()))];
    let agent =
        Agent::new(Toolroom::in_memory(), Arc::new(conversations.clone()), AgentRecord::default(), chain)
            .unwrap();
    let id = ModelCallId::new("c");
    let call = Block::Call { id: id.clone(), name: "n".to_owned(), arguments: "{}".into(), opaque: None };
    let result =
        Block::Result { id, name: "n".to_owned(), content: Arc::new(json!("made up")), is_error: false };
    let image = Block::Image(Image { media_type: "image/png".to_owned(), base64: "aGk=".into() });
    let mut request = SendRequest::new("What is my name?").conversation(ConversationId::new("c1"));
    request.history = vec![
        Message::user("My name is\u{200b} Ada."),
        Message::assistant(vec![Block::text("Hello."), call, image]),
        Message { role: Role::User, blocks: vec![result] },
        Message::assistant(vec![Block::text("My key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")]),
    ];
    agent.send(request.clone()).await.unwrap();
    request.message = Message::user("And now?");
    let report = agent.send(request).await.unwrap();

    let heard = listener.0.lock().unwrap().clone();
    let [first, second] = heard.as_slice() else { panic!("{heard:?}") };
    assert_eq!(first[..2], ["User: My name is Ada.", "Assistant: Hello."]);
    assert!(
        first[2].starts_with("Assistant: My key is") && !first[2].contains("abcdefghijk"),
        "{}",
        first[2]
    );
    assert_eq!(first[3..], ["User: What is my name?"]);
    assert_eq!(second[..4], first[..]);
    assert_eq!(second[4..], ["Assistant: I see.", "User: And now?"], "nothing is taken over twice");

    let kept =
        conversations.conversation(&report.run.scope, &report.run.conversation).await.unwrap().unwrap();
    assert_eq!((kept.entries, kept.title.as_str()), (7, "What is my name?"));
}
