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
use toolroom::approval::{AnswerRequest, EditRequest, Responder};
use toolroom::call::{Delivery, Outcome};
use toolroom::conversation::{AgentId, Content, ConversationId, Conversations, RunFilter};
use toolroom::ledger::{Answer, CallFilter, Journal, SwitchState};
use toolroom::model::{Block, Image};
use toolroom::scope::Scope;
use toolroom::tool::ClientTools;

use script::{Does, Ending, Step, parse};
use stage::{Stage, client_tool};

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
            Does::Answer { answer, tool, operator } => self.answer(answer, tool.as_deref(), *operator).await,
            Does::Edit(arguments) => {
                let question = self.question().await;
                let arguments = arguments.as_object().unwrap().clone();
                let scope = Scope::default();
                let edit = EditRequest { call: question, scope, by: Responder::Approver, arguments };
                self.stage.room.edit(edit).await.unwrap();
                self.lines.add("> edits the arguments");
            }
            Does::Handed => self.handed().await,
            Does::Deliver { tool, outcome } => self.deliver(tool, outcome.clone()).await,
            Does::Resume { twice: false } => {
                self.lines.add("> resume");
                let report = self.stage.agent.resume(self.open_run().await).await;
                self.report(report);
            }
            Does::Resume { twice: true } => {
                self.lines.add("> resume, twice");
                let (one, other) = (self.open_run().await, self.open_run().await);
                let agent = &self.stage.agent;
                let (one, other) = tokio::join!(agent.resume(one), agent.resume(other));
                self.report(one);
                self.report(other);
            }
            Does::ResumeWith(tools) => {
                self.lines.add("> resume with other tools");
                let mut resume = self.open_run().await;
                resume.client_tools =
                    Some(ClientTools::new(tools.iter().map(client_tool).collect()).unwrap());
                let report = self.stage.agent.resume(resume).await;
                self.report(report);
            }
            Does::ResumeAs(name) => {
                self.lines.add(format!("> resume as {name}"));
                let other = self.stage.other(|record| record.id = AgentId::new(name));
                let report = other.resume(self.open_run().await).await;
                self.report(report);
            }
            Does::Picture(text) => {
                self.lines.add(format!("> [image] {text}"));
                let mut request = self.request(text);
                let image = Image { media_type: "image/png".to_owned(), base64: "AAAA".into() };
                request.message.blocks.push(Block::Image(image));
                let report = self.stage.agent.send(request).await;
                self.report(report);
            }
            Does::Switch { tool, on } => {
                let state = if *on { SwitchState::On } else { SwitchState::Off };
                self.stage.ledger.set_tool(&Scope::default().project, tool, state);
                self.lines.add(format!("> switches {tool} {state}"));
            }
            Does::Deny(tool) => {
                self.stage.agent = self.stage.other(|record| record.deny.push(tool.clone()));
                self.lines.add(format!("> denies the agent {tool}"));
            }
            Does::DayPasses => {
                self.stage.clock.advance(std::time::Duration::from_secs(24 * 60 * 60));
                self.lines.add("> a day passes");
            }
            Does::Questions => {
                let listed = self.stage.room.approvals().questions(&Scope::default()).await.unwrap();
                self.lines.add(format!("> {} question(s) wait", listed.questions.len()));
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
        let mut request = SendRequest::new(text).listener(move |event| {
            if let Some(line) = transcript::event(event) {
                lines.add(line);
            }
        });
        request.conversation.clone_from(&self.conversation);
        request.client_tools(self.stage.client_tools.clone())
    }

    /// What waits for the client.
    async fn handed(&self) {
        let ResumeRun { run, scope, .. } = self.open_run().await;
        for handed in self.stage.agent.client_calls(&scope, &run).await.unwrap() {
            let asked = self.stage.room.question_details(&scope, &handed.call).await.unwrap().unwrap();
            let arguments = serde_json::Value::Object(asked.arguments.unwrap());
            self.lines.add(format!("> the client has {}#{} {arguments}", handed.tool, handed.id));
        }
    }

    /// Lets the client say what came of the newest call of one of its tools, handed to it or not.
    async fn deliver(&mut self, tool: &str, outcome: Result<serde_json::Value, String>) {
        let scope = Scope::default();
        let filter = CallFilter { tool: Some(format!("client:{tool}")), ..CallFilter::default() };
        let calls = self.stage.ledger.calls(&scope, filter).await.unwrap();
        let call = calls.first().unwrap().id.clone();
        let delivered = self.stage.agent.deliver(Delivery::new(call, scope, outcome)).await;
        let taken = delivered.map_or_else(
            |error| error.to_string(),
            |report| match &report.outcome {
                Outcome::Denied(denial) => format!("denied: {}", denial.reason),
                outcome => outcome.name().to_owned(),
            },
        );
        self.lines.add(format!("> delivers {tool}: {taken}"));
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
        if tool == "model" {
            let hangs = Arc::clone(&self.stage.prompt.lock().unwrap().hangs);
            hangs.notified().await;
        } else {
            let mut seen = self.stage.begun.subscribe();
            seen.wait_for(|begun| begun.iter().any(|name| name == tool)).await.unwrap();
        }
        match then {
            Ending::Stop => {
                token.cancel();
                let report = task.await.unwrap();
                self.report(report);
            }
            Ending::Die => {
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
                self.lines.add("! the process dies");
            }
        }
    }

    async fn answer(&mut self, answer: &str, tool: Option<&str>, operator: bool) {
        let answer: Answer = serde_json::from_value(serde_json::json!(answer)).unwrap();
        let by = if operator { Responder::Operator } else { Responder::Approver };
        let scope = Scope::default();
        let listed = self.stage.room.approvals().questions(&scope).await.unwrap();
        let is_meant = |name: &str| tool.is_none_or(|tool| name.ends_with(&format!(":{tool}")));
        for question in listed.questions.into_iter().filter(|question| is_meant(&question.record.tool)) {
            let request = AnswerRequest {
                call: question.record.id.clone(),
                scope: scope.clone(),
                by: by.clone(),
                answer,
                when: None,
            };
            let answered = self.stage.room.answer(request).await;
            let taken = answered.map_or_else(|error| error.to_string(), |_| "taken".to_owned());
            self.lines.add(format!("> {} to {}: {taken}", answer.as_str(), question.record.tool));
        }
    }

    async fn question(&self) -> toolroom::ledger::CallId {
        let listed = self.stage.room.approvals().questions(&Scope::default()).await.unwrap();
        listed.questions.first().unwrap().record.id.clone()
    }

    async fn open_run(&self) -> ResumeRun {
        let scope = Scope::default();
        let runs = self.stage.conversations.runs(&scope, RunFilter::default()).await.unwrap();
        let run = runs.into_iter().find(|run| run.state.is_open()).unwrap();
        let lines = self.lines.clone();
        let mut resume = ResumeRun::new(run.id, scope);
        resume.listener = Some(Arc::new(move |event| {
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
    a_budget_that_is_nearly_spent_is_told_once,
    a_call_and_its_answer,
    a_call_that_asks_lets_the_run_wait,
    a_client_may_have_other_tools_when_the_run_goes_on,
    a_client_runs_its_own_tool,
    a_client_that_sends_no_result_in_time_is_told_of,
    a_clients_tool_takes_the_name_of_no_other,
    a_clients_tool_that_holds_a_secret_begins_nothing,
    a_clients_tool_that_is_forbidden_is_never_handed_out,
    a_failure_at_the_client_is_told_to_the_model,
    a_long_conversation_is_summed_up,
    a_long_result_is_kept_whole_elsewhere,
    a_model_that_says_it_is_too_long_is_asked_with_less,
    a_model_without_tools_gets_none,
    a_new_message_after_a_crash_answers_what_was_open,
    a_new_message_waits_for_the_client,
    a_no_is_told_and_not_asked_again,
    a_person_is_asked_before_the_client_is,
    a_picture_stays_in_the_conversation,
    a_rule_that_denies_is_told_to_the_model,
    a_run_that_waits_can_be_cancelled,
    a_secret_is_hidden_from_the_model,
    a_small_model_looks_over_the_tools,
    a_small_model_on_the_device_is_asked_again_without_tools,
    a_tool_that_is_off_is_not_offered,
    a_tool_that_is_switched_off_voids_the_yes,
    a_tool_the_agent_lost_voids_the_yes,
    a_window_that_is_too_small_is_skipped,
    a_write_that_was_stopped_is_not_repeated,
    after_a_crash_finished_work_is_not_repeated,
    after_a_crash_the_client_is_waited_for_again,
    after_a_stop_nothing_more_is_called,
    after_so_many_answers_one_without_tools,
    an_agent_has_no_other_tools_than_its_own,
    an_answer_that_broke_off_does_not_count,
    an_answer_that_is_cut_off_is_told,
    an_approval_that_expires_is_a_no,
    an_empty_answer_is_asked_for_again,
    an_empty_message_begins_nothing,
    another_agent_does_not_go_on_with_the_run,
    arguments_that_do_not_fit_never_reach_the_client,
    calls_of_an_answer_that_is_cut_off_are_not_made,
    calls_printed_as_text_are_found,
    calls_run_side_by_side_and_answer_in_order,
    cancelling_takes_back_an_edited_question,
    cancelling_takes_back_what_was_handed_out,
    edited_arguments_are_the_ones_that_run,
    empty_answers_are_paid_for,
    errors_are_results,
    every_model_failure_is_reported,
    going_to_and_fro_ends_the_loop,
    ids_that_are_used_again_are_told_apart,
    if_no_window_is_large_enough_that_is_said,
    if_the_small_model_fails_words_alone_decide,
    of_two_who_resume_one_goes_on,
    only_the_operator_may_say_yes,
    results_of_the_client_come_in_any_order,
    serial_tools_wait_for_each_other,
    server_tools_of_the_same_answer_do_not_wait_for_the_client,
    signs_of_life_are_told,
    stop_ends_the_run,
    stop_takes_back_the_other_questions,
    stopping_a_run_leaves_a_thread_that_can_go_on,
    stopping_while_the_model_answers_keeps_what_was_said,
    the_budget_of_a_day_ends_a_run_between_two_answers,
    the_call_that_completes_the_three_asks,
    the_client_is_handed_edited_arguments,
    the_last_answer_shows_no_printed_calls,
    the_next_model_goes_on_where_the_first_one_stopped,
    the_same_calls_three_times_end_the_loop,
    too_many_tools_are_narrowed_to_those_that_fit,
    what_ran_counts_although_it_was_not_shown,
    what_the_client_sends_counts_as_sent_outward,
    what_was_forbidden_meanwhile_is_not_taken_from_the_client,
    without_a_summary_the_oldest_are_dropped,
}
