use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use toolroom::clock::Timestamp;
use toolroom::conversation::{AgentId, ConversationId, RunFailure, RunId};
use toolroom::ledger::{Answerer, CallId};
use toolroom::model::{ModelCallId, Usage};

use super::super::message::Content;
use super::*;
use crate::scale::cases;

/// A client that fails over everything over which real ones fail, and keeps what they keep.
#[derive(Default)]
struct Client {
    started: bool,
    ended: Option<Event>,
    texts: HashSet<String>,
    thoughts: HashSet<String>,
    spans: HashSet<String>,
    calls: HashSet<String>,
    steps: HashSet<String>,
    activities: HashSet<String>,
    /// Messages by id, in order: what assistants say, what they call, what came of it.
    said: Vec<(String, String)>,
    called: HashMap<String, (String, String)>,
    results: HashMap<String, String>,
}

impl Client {
    fn takes(&mut self, event: &Event) {
        assert!(event.frame().is_some(), "{event:?} is too large");
        assert!(!event.frame().unwrap().contains(":null"), "{event:?}");
        assert!(self.ended.is_none(), "{event:?} follows the end");
        assert!(
            self.started || matches!(event, Event::RunStarted { .. }),
            "{event:?} comes before the start"
        );
        match event {
            Event::RunStarted { .. } => assert!(!std::mem::replace(&mut self.started, true)),
            Event::RunError { .. } => self.ended = Some(event.clone()),
            Event::RunFinished { .. } => {
                for open in [&self.texts, &self.thoughts, &self.spans, &self.calls, &self.steps] {
                    assert!(open.is_empty(), "still open: {open:?}");
                }
                self.ended = Some(event.clone());
            }
            Event::StepStarted { step_name } => assert!(self.steps.insert(step_name.clone())),
            Event::StepFinished { step_name } => assert!(self.steps.remove(step_name)),
            Event::TextMessageStart { message_id, .. } => {
                assert!(self.texts.insert(message_id.clone()));
                assert!(self.said.iter().all(|(id, _)| id != message_id), "{message_id} is said twice");
                self.said.push((message_id.clone(), String::new()));
            }
            Event::TextMessageContent { message_id, delta } => {
                assert!(self.texts.contains(message_id));
                self.said.iter_mut().find(|(id, _)| id == message_id).unwrap().1.push_str(delta);
            }
            Event::TextMessageEnd { message_id } => assert!(self.texts.remove(message_id)),
            Event::ReasoningStart { message_id } => assert!(self.spans.insert(message_id.clone())),
            Event::ReasoningMessageStart { message_id, .. } => {
                assert!(self.thoughts.insert(message_id.clone()));
            }
            Event::ReasoningMessageContent { message_id, .. } => assert!(self.thoughts.contains(message_id)),
            Event::ReasoningMessageEnd { message_id } => assert!(self.thoughts.remove(message_id)),
            Event::ReasoningEnd { message_id } => assert!(self.spans.remove(message_id)),
            Event::ToolCallStart { tool_call_id, tool_call_name, parent_message_id } => {
                assert!(self.calls.insert(tool_call_id.clone()));
                assert!(parent_message_id.is_some());
                let begun = (tool_call_name.clone(), String::new());
                assert!(
                    self.called.insert(tool_call_id.clone(), begun).is_none(),
                    "{tool_call_id} comes twice"
                );
            }
            Event::ToolCallArgs { tool_call_id, delta } => {
                assert!(self.calls.contains(tool_call_id));
                self.called.get_mut(tool_call_id).unwrap().1.push_str(delta);
            }
            Event::ToolCallEnd { tool_call_id } => assert!(self.calls.remove(tool_call_id)),
            Event::ToolCallResult { tool_call_id, content, .. } => {
                assert!(self.called.contains_key(tool_call_id), "unknown call {tool_call_id}");
                assert!(self.results.insert(tool_call_id.clone(), content.clone()).is_none());
            }
            Event::ActivitySnapshot { message_id, .. } => assert!(self.activities.insert(message_id.clone())),
            Event::ActivityDelta { message_id, .. } => assert!(self.activities.contains(message_id)),
            Event::MessagesSnapshot { messages } => {
                self.said = messages
                    .iter()
                    .filter(|message| message.content.is_some() && message.tool_call_id.is_none())
                    .map(|message| (message.id.clone(), message.text()))
                    .collect();
                for call in messages.iter().flat_map(|message| message.tool_calls.iter().flatten()) {
                    let known = &self.called[&call.id];
                    assert_eq!((&known.0, &known.1), (&call.function.name, &call.function.arguments));
                }
            }
            Event::StateSnapshot { .. } | Event::StateDelta { .. } | Event::Custom { .. } => {}
        }
    }
}

fn narrator(modern: bool) -> Narrator {
    let setting = NarratorContext {
        thread: "t".to_owned(),
        name: "r".to_owned(),
        modern,
        run: "run".to_owned(),
        messages: vec![Message::user("u".to_owned(), Content::Text("hi".to_owned()))],
        ..NarratorContext::default()
    };
    Narrator::new(setting, SharedState::new(Value::Null, "run", "c"))
}

/// What a client makes of a run.
fn heard(modern: bool, told: &[RunEvent]) -> (Client, Vec<Event>) {
    let (mut narrator, mut client) = (narrator(modern), Client::default());
    let mut all = narrator.start(false);
    for (seq, event) in told.iter().enumerate() {
        let arguments = matches!(event, RunEvent::Handed { .. }).then(|| json!({"exact": true}));
        all.extend(narrator.tell(seq as u64, event, arguments));
    }
    all.iter().for_each(|event| client.takes(event));
    (client, all)
}

fn started() -> RunEvent {
    let (run, conversation) = (RunId::new("run"), ConversationId::new("c"));
    RunEvent::Started { run, conversation, agent: AgentId::new("a"), resumed: false }
}

fn asking(iteration: u32) -> RunEvent {
    RunEvent::Asking { model: "lab/m".into(), iteration }
}

fn text(text: &str) -> RunEvent {
    RunEvent::Text { text: text.to_owned() }
}

fn reasoning(text: &str) -> RunEvent {
    RunEvent::Reasoning { text: text.to_owned() }
}

fn void() -> RunEvent {
    RunEvent::Void { reason: "it broke off".to_owned(), next: None, after_ms: None }
}

fn notice(id: &str, tool: &str) -> CallNotice {
    let arguments = Arc::new(json!({"n": 1}));
    CallNotice { id: ModelCallId::new(id), tool: tool.into(), title: String::new(), arguments }
}

fn answered(text: &str, calls: Vec<CallNotice>) -> RunEvent {
    let usage = Usage { input: 10, output: 2, cache_read: 4, ..Usage::default() };
    RunEvent::Answered { model: "lab/m".into(), text: text.to_owned(), calls, usage, cost: None }
}

fn ended(id: &str, tool: &str) -> RunEvent {
    RunEvent::CallEnded {
        id: ModelCallId::new(id),
        call: CallId::new("call_1"),
        tool: tool.into(),
        outcome: "done".to_owned(),
        result: Arc::new(json!({"ok": true})),
        artifact: None,
        offers: Vec::new(),
        duration_us: 1,
    }
}

fn asks(id: &str, tool: &str) -> RunEvent {
    RunEvent::Asks {
        id: ModelCallId::new(id),
        call: CallId::new(&format!("call_{id}")),
        tool: tool.into(),
        rule: "r".to_owned(),
        reason: "It writes.".to_owned(),
        by: Answerer::Caller,
        expires_at: Timestamp::from_micros(0),
    }
}

fn handed(id: &str, tool: &str) -> RunEvent {
    let (id, call) = (ModelCallId::new(id), CallId::new(&format!("call_{id}")));
    RunEvent::Handed { id, call, tool: tool.into(), expires_at: Timestamp::from_micros(0) }
}

fn done() -> RunEvent {
    RunEvent::Done { text: String::new(), usage: Usage::default(), cost: 0.0 }
}

fn outcome(client: &Client) -> Option<&Outcome> {
    match client.ended.as_ref().unwrap() {
        Event::RunFinished { outcome, .. } => outcome.as_ref(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_turn_with_a_tool_is_told_in_order() {
    let call = notice("m1", "builtin:calculator");
    let (client, all) = heard(
        true,
        &[
            started(),
            asking(1),
            reasoning("hm"),
            text("Let me "),
            text("see."),
            answered("Let me see.", vec![call.clone()]),
            RunEvent::CallBegan(call),
            ended("m1", "builtin:calculator"),
            asking(2),
            text("391"),
            answered("391", vec![]),
            done(),
        ],
    );
    let names: Vec<String> = all
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let expected = "RUN_STARTED STATE_SNAPSHOT STEP_STARTED REASONING_START REASONING_MESSAGE_START \
        REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END REASONING_END TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT \
        TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END ACTIVITY_SNAPSHOT \
        STATE_DELTA ACTIVITY_DELTA TOOL_CALL_RESULT STATE_DELTA STEP_FINISHED STEP_STARTED TEXT_MESSAGE_START \
        TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END STATE_DELTA STEP_FINISHED RUN_FINISHED";
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != "STATE_DELTA").collect();
    let expected: Vec<&str> = expected.split_whitespace().filter(|name| *name != "STATE_DELTA").collect();
    assert_eq!(names, expected);
    assert_eq!(
        client.said,
        [("run-1".to_owned(), "Let me see.".to_owned()), ("run-2".to_owned(), "391".to_owned())]
    );
    let Some(Event::RunFinished { usage, .. }) = &client.ended else { panic!() };
    let [only] = usage.as_slice() else { panic!("{usage:?}") };
    assert_eq!((only.provider.as_str(), only.model.as_str()), ("lab", "m"));
    assert_eq!(
        (only.input_tokens, only.output_tokens, only.total_tokens, only.cached_input_tokens),
        (20, 4, 24, 8)
    );
}

#[test]
fn words_that_do_not_count_are_taken_back() {
    let (client, _) = heard(
        true,
        &[
            started(),
            asking(1),
            text("Half an"),
            void(),
            text("A whole answer"),
            answered("A whole answer", vec![]),
            done(),
        ],
    );
    let said: Vec<&str> = client.said.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(said, ["hi", "A whole answer"]);
    let (client, _) = heard(
        true,
        &[started(), asking(1), text("{\"name\":"), answered("", vec![notice("m1", "a:b")]), done()],
    );
    assert_eq!(client.said, [("u".to_owned(), "hi".to_owned())], "a call that was written as words");
}

#[test]
fn a_tool_of_the_client_is_left_to_it_and_one_of_the_server_is_not() {
    let calls = vec![notice("m1", "builtin:look"), notice("m2", "client:camera")];
    let told = [
        started(),
        asking(1),
        answered("", calls),
        ended("m1", "builtin:look"),
        handed("m2", "client:camera"),
        RunEvent::Waiting { calls: vec![CallId::new("call_m2")] },
    ];
    let (client, _) = heard(true, &told);
    let pending_tool_call_ids = vec!["m2".to_owned()];
    assert_eq!(outcome(&client), Some(&Outcome::Success { pending_tool_call_ids }));
    assert_eq!(client.called["m2"], ("camera".to_owned(), "{\"exact\":true}".to_owned()));
    assert!(client.results.contains_key("m1") && !client.results.contains_key("m2"));
    assert_eq!(outcome(&heard(false, &told).0), None, "0.0.59 takes no list of what is pending");
}

#[test]
fn a_client_tool_that_needs_approval_is_not_announced() {
    let told = [
        started(),
        asking(1),
        answered("", vec![notice("m1", "client:post")]),
        asks("m1", "client:post"),
        RunEvent::Waiting { calls: vec![CallId::new("call_m1")] },
    ];
    let (client, all) = heard(true, &told);
    assert!(client.called.is_empty());
    let Some(Outcome::Interrupt { interrupts }) = outcome(&client) else { panic!() };
    assert_eq!(interrupts[0].id, "call_m1");
    let [.., state, messages, _] = all.as_slice() else { panic!() };
    assert!(matches!((state, messages), (Event::StateSnapshot { .. }, Event::MessagesSnapshot { .. })));

    let (client, _) = heard(true, &[&told[..3], &[ended("m1", "client:post"), done()]].concat());
    assert_eq!(client.called["m1"].0, "client:post", "a name that no client runs");
}

#[test]
fn who_stopped_it_is_told_as_the_client_can_take_it() {
    let told = [started(), asking(1), text("a"), RunEvent::Cancelled];
    assert_eq!(outcome(&heard(true, &told).0), Some(&Outcome::Cancelled));
    let (client, _) = heard(false, &told);
    assert!(matches!(client.ended, Some(Event::RunError { code, .. }) if code == "cancelled"));
}

#[test]
fn who_missed_words_gets_the_rest_of_them() {
    let (mut narrator, mut client) = (narrator(true), Client::default());
    let mut all = narrator.start(false);
    all.extend(narrator.tell(0, &asking(1), None));
    all.extend(narrator.tell(1, &text("one "), None));
    all.extend(narrator.catch_up("one two ", ""));
    all.extend(narrator.tell(9, &text("three"), None));
    all.extend(narrator.tell(10, &answered("one two three four", vec![]), None));
    all.extend(narrator.tell(11, &done(), None));
    all.iter().for_each(|event| client.takes(event));
    assert_eq!(client.said, [("run-1".to_owned(), "one two three four".to_owned())]);
}

#[derive(Debug, Clone)]
struct Round {
    pieces: Vec<RunEvent>,
    /// What the model said in the end: what was heard, or something else.
    other: Option<String>,
    calls: Vec<u8>,
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let piece = prop_oneof![
        4 => "[a-z ]{0,5}".prop_map(|word| text(&word)),
        2 => "[a-z ]{0,5}".prop_map(|word| reasoning(&word)),
        1 => Just(void()),
        1 => Just(RunEvent::Writing { tool: "a:b".into() }),
        1 => Just(asking(0)),
        1 => Just(RunEvent::Warned { limit: "budget".to_owned(), reason: "near".to_owned() }),
    ];
    let round = (
        prop::collection::vec(piece, 0..8),
        prop::option::weighted(0.1, "[a-z]{0,4}"),
        prop::collection::vec(0_u8..5, 0..4),
    );
    prop::collection::vec(round.prop_map(|(pieces, other, calls)| Round { pieces, other, calls }), 1..5)
}

/// A legal run of these rounds, and what was said in it in the end.
fn play(rounds: &[Round], end: u8) -> (Vec<RunEvent>, Vec<String>) {
    let (mut told, mut said, mut waits) = (vec![started()], Vec::new(), false);
    for (round, iteration) in rounds.iter().zip(1..) {
        told.push(asking(iteration));
        let mut words = String::new();
        for piece in &round.pieces {
            match piece {
                RunEvent::Text { text } => words.push_str(text),
                RunEvent::Void { .. } | RunEvent::Asking { .. } => words.clear(),
                _ => {}
            }
            told.push(match piece {
                RunEvent::Asking { .. } => asking(iteration),
                other => other.clone(),
            });
        }
        let words = round.other.clone().unwrap_or(words);
        let kinds: Vec<(String, &str, u8)> = (round.calls.iter().enumerate())
            .map(|(place, kind)| {
                (format!("m{iteration}{place}"), if *kind < 3 { "builtin:b" } else { "client:c" }, *kind)
            })
            .collect();
        let calls: Vec<CallNotice> = kinds.iter().map(|(id, tool, _)| notice(id, tool)).collect();
        told.push(answered(&words, calls.clone()));
        if !words.is_empty() {
            said.push(words);
        }
        told.extend(calls.into_iter().map(RunEvent::CallBegan));
        for (id, tool, kind) in &kinds {
            let id_of = ModelCallId::new(id);
            told.push(RunEvent::CallProgress { id: id_of, message: "on it".to_owned(), fraction: None });
            told.push(match kind {
                0 | 1 => ended(id, tool),
                3 => handed(id, tool),
                _ => asks(id, tool),
            });
            waits |= *kind > 1;
        }
        if waits {
            break;
        }
    }
    told.push(match end % 3 {
        _ if waits => RunEvent::Waiting { calls: Vec::new() },
        0 => done(),
        1 => RunEvent::Failed(RunFailure { kind: "empty".to_owned(), message: "no".to_owned() }),
        _ => RunEvent::Cancelled,
    });
    (told, said)
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn every_run_is_told_so_that_every_client_takes_it(rounds in rounds(), end in any::<u8>(), modern: bool) {
        let (told, said) = play(&rounds, end);
        let (client, _) = heard(modern, &told);
        prop_assert!(client.ended.is_some(), "there is no end");
        let heard: Vec<&String> = client.said.iter().filter(|(id, text)| id != "u" && !text.is_empty()).map(|(_, text)| text).collect();
        prop_assert_eq!(heard, said.iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_run_that_breaks_off_anywhere_is_ended_for_the_client(rounds in rounds(), cut: prop::sample::Index) {
        let (told, _) = play(&rounds, 0);
        let (mut narrator, mut client) = (narrator(true), Client::default());
        let mut all = narrator.start(true);
        for event in &told[..cut.index(told.len())] {
            all.extend(narrator.tell(0, event, None));
        }
        all.extend(narrator.fail("interrupted", "the server ends"));
        all.extend(narrator.rest(Vec::new()));
        all.extend(narrator.tell(0, &done(), None));
        all.iter().for_each(|event| if !matches!(event, Event::ActivitySnapshot { .. } | Event::ActivityDelta { .. }) { client.takes(event) });
        prop_assert!(client.ended.is_some());
    }
}
