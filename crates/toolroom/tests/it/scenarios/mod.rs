//! The agent loop, as scenarios: what is there, what is said, what the models answer, and what has to come of it.
//!
//! Each file of `tests/scenarios` is a test. Above the line `---` stands the script, below it the transcript. To write
//! the transcript of a new scenario, run its test with `TOOLROOM_BLESS=1`, and read what it wrote before you keep it.

mod script;
mod stage;
mod transcript;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use regex::Regex;
use toolroom::agent::{ResumeRun, RunError, RunReport, SendRequest};
use toolroom::approval::{AnswerRequest, EditRequest};
use toolroom::conversation::{Content, ConversationId, Conversations, RunFilter};
use toolroom::ledger::{Answer, Answerer};
use toolroom::scope::Scope;

use script::{Does, Ending, Step, parse};
use stage::Stage;

/// What `LONG` stands for in a script: about 350 tokens.
fn long() -> String {
    ["and so on, and on, and on, without an end"; 40].join(", ")
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// Plays a scenario and compares what happened with what should have.
async fn play(name: &str) {
    let path = folder().join(format!("{name}.txt"));
    let text = std::fs::read_to_string(&path).unwrap();
    // What has to be long is not written out.
    let script = parse(&text.replace("LONG", &long()));
    let mut play = Play { stage: Stage::new(&script), conversation: None, lines: Lines::default() };
    for step in &script.steps {
        play.step(step).await;
    }
    let left = play.stage.prompt.lock().unwrap().turns.len();
    assert_eq!(left, 0, "{left} answers of models were not asked for; so far:\n{}", play.lines.text());
    let found = play.lines.text();
    if std::env::var_os("TOOLROOM_BLESS").is_some() {
        let (head, _) = text.split_once("\n---\n").unwrap();
        std::fs::write(&path, format!("{head}\n---\n{found}\n")).unwrap();
        return;
    }
    assert!(
        found == script.expected.replace(&long(), "LONG"),
        "{name}: expected\n{}\n\nfound\n{found}",
        script.expected
    );
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn add(&self, line: impl Into<String>) {
        // Ids differ from one time to the next.
        let ids = Regex::new("(run|call|conv)_[0-9a-f]{32}").unwrap();
        self.0.lock().unwrap().push(ids.replace_all(&line.into(), "${1}_…").into_owned());
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().join("\n").replace(&long(), "LONG")
    }
}

struct Play {
    stage: Stage,
    conversation: Option<ConversationId>,
    lines: Lines,
}

impl Play {
    async fn step(&mut self, step: &Step) {
        self.stage.prompt.lock().unwrap().turns.extend(step.turns.iter().cloned());
        match &step.does {
            Does::Say(text) => {
                self.lines.add(format!("> {text}"));
                let report = self.stage.agent.send(self.request(text)).await;
                self.report(report);
            }
            Does::SayUntil { tool, then, text } => self.say_until(tool, *then, text).await,
            Does::Answer { answer, operator } => self.answer(answer, *operator).await,
            Does::Edit(arguments) => {
                let question = self.question().await;
                let arguments = arguments.as_object().unwrap().clone();
                let scope = Scope::default();
                let edit = EditRequest { call: question, scope, by: Answerer::Caller, arguments };
                self.stage.room.edit(edit).await.unwrap();
                self.lines.add("> edits the arguments");
            }
            Does::Resume => {
                self.lines.add("> resume");
                let report = self.stage.agent.resume(self.open_run().await).await;
                self.report(report);
            }
            Does::Cancel => {
                self.lines.add("> cancel");
                let report = self.stage.agent.cancel(self.open_run().await).await;
                self.report(report);
            }
            Does::Requests => {
                let requests = std::mem::take(&mut self.stage.prompt.lock().unwrap().requests);
                requests.into_iter().for_each(|request| self.lines.add(request));
            }
            Does::Thread => self.thread().await,
        }
    }

    fn request(&self, text: &str) -> SendRequest {
        let lines = self.lines.clone();
        let mut request = SendRequest::new(text).watcher(move |event| {
            if let Some(line) = transcript::event(event) {
                lines.add(line);
            }
        });
        request.conversation.clone_from(&self.conversation);
        request
    }

    fn report(&mut self, report: Result<RunReport, RunError>) {
        match report {
            Ok(report) => {
                let run = &report.run;
                self.conversation = Some(run.conversation.clone());
                let mut bits = Vec::new();
                let provenance = run.provenance;
                bits.extend(provenance.private.then_some("private"));
                bits.extend(provenance.untrusted.then_some("untrusted"));
                bits.extend(provenance.outward.then_some("outward"));
                let bits = if bits.is_empty() { String::new() } else { format!(", {}", bits.join("+")) };
                let cost = if run.cost > 0.0 { format!(", ${:.4}", run.cost) } else { String::new() };
                self.lines.add(format!("= {} after {} answer(s){bits}{cost}", run.state, run.iterations));
            }
            Err(error) => self.lines.add(format!("! {error}")),
        }
    }

    /// Sends a message and ends it as soon as a tool runs: by stopping it, or as if the process had died.
    async fn say_until(&mut self, tool: &str, then: Ending, text: &str) {
        self.lines.add(format!("> {text}"));
        let mut request = self.request(text);
        let conversation = request.conversation.clone().unwrap_or_else(|| ConversationId::new("conv_1"));
        request.conversation = Some(conversation.clone());
        self.conversation = Some(conversation);
        let (agent, token) = (self.stage.agent.clone(), request.cancellation.clone());
        let task = tokio::spawn(async move { agent.send(request).await });
        let mut seen = self.stage.begun.subscribe();
        seen.wait_for(|begun| begun.iter().any(|name| name == tool)).await.unwrap();
        match then {
            Ending::Stop => {
                token.cancel();
                let report = task.await.unwrap();
                self.report(report);
            }
            Ending::Die => {
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
                self.stage.conversations.let_go();
                self.lines.add("! the process dies");
            }
        }
    }

    async fn answer(&mut self, answer: &str, operator: bool) {
        let answer: Answer = serde_json::from_value(serde_json::json!(answer)).unwrap();
        let by = if operator { Answerer::Operator } else { Answerer::Caller };
        let scope = Scope::default();
        let inbox = self.stage.room.approvals().questions(&scope).await.unwrap();
        for question in inbox.questions {
            let request = AnswerRequest {
                call: question.record.id.clone(),
                scope: scope.clone(),
                by,
                answer,
                when: None,
            };
            let answered = self.stage.room.answer(request).await;
            let taken = answered.map_or_else(|error| error.to_string(), |_| "taken".to_owned());
            self.lines.add(format!("> {} to {}: {taken}", answer.as_str(), question.record.tool));
        }
    }

    async fn question(&self) -> toolroom::ledger::CallId {
        let inbox = self.stage.room.approvals().questions(&Scope::default()).await.unwrap();
        inbox.questions.first().unwrap().record.id.clone()
    }

    async fn open_run(&self) -> ResumeRun {
        let scope = Scope::default();
        let runs = self.stage.conversations.runs(&scope, RunFilter::default()).await.unwrap();
        let run = runs.into_iter().find(|run| run.state.is_open()).unwrap();
        let lines = self.lines.clone();
        let mut resume = ResumeRun::new(run.id, scope);
        resume.watcher = Some(Arc::new(move |event| {
            if let Some(line) = transcript::event(event) {
                lines.add(line);
            }
        }));
        resume
    }

    /// The conversation as it is kept.
    async fn thread(&self) {
        let id = self.conversation.as_ref().unwrap();
        let entries = self.stage.conversations.entries(&Scope::default(), id, 0).await.unwrap();
        for entry in entries {
            match &entry.content {
                Content::Message(message) => self.lines.add(format!("  {}", transcript::line(message))),
                Content::Summary(summary) => {
                    self.lines.add(format!("  summary of {}: {}", summary.covers, summary.text));
                }
            }
        }
    }
}

macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $name() {
                play(stringify!($name)).await;
            }
        )*

        #[test]
        fn every_scenario_is_played() {
            let listed = [$(stringify!($name)),*];
            let files = std::fs::read_dir(folder()).unwrap();
            let mut names: Vec<String> = files
                .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            names.sort();
            assert_eq!(names, listed);
        }
    };
}

scenarios! {
    a_call_and_its_answer,
    a_call_that_asks_lets_the_run_wait,
    a_long_conversation_is_summed_up,
    a_model_that_says_it_is_too_long_is_asked_with_less,
    a_model_without_tools_gets_none,
    a_new_message_after_a_crash_answers_what_was_open,
    a_no_is_told_and_not_asked_again,
    a_run_that_waits_can_be_cancelled,
    a_small_model_on_the_device_is_asked_again_without_tools,
    a_window_that_is_too_small_is_skipped,
    after_a_crash_finished_work_is_not_repeated,
    after_so_many_answers_one_without_tools,
    an_agent_has_no_other_tools_than_its_own,
    an_empty_answer_is_asked_for_again,
    calls_printed_as_text_are_found,
    calls_run_side_by_side_and_answer_in_order,
    edited_arguments_are_the_ones_that_run,
    errors_are_results,
    going_to_and_fro_ends_the_loop,
    ids_that_are_used_again_are_told_apart,
    if_no_window_is_large_enough_that_is_said,
    if_nobody_answers_every_reason_is_told,
    only_the_operator_may_say_yes,
    serial_tools_wait_for_each_other,
    stop_ends_the_run,
    stopping_a_run_leaves_a_thread_that_can_go_on,
    the_budget_of_a_day_ends_a_run_between_two_answers,
    the_call_that_completes_the_three_asks,
    the_next_model_goes_on_where_the_first_one_stopped,
    the_same_calls_three_times_end_the_loop,
    too_many_tools_are_narrowed_to_those_that_fit,
    without_a_summary_the_oldest_are_dropped,
}
