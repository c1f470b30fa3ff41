//! Whenever a process is killed in the middle of a run, on every wire: the conversation goes on, nothing that was done
//! is done again, and the model reads what really happened.

use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::aimock::Aimock;
use crate::fault_proxy::{FaultProxy, Hold};
use crate::home::Ran;
use crate::scale::scaled;
use crate::wires::{ANTHROPIC, GEMINI, Lab, OPENAI_CHAT, OPENAI_RESPONSES, Wire, paired, said};

/// However much is wanted: every death takes several processes.
const MOST_DEATHS: u32 = 40;

/// Long for a machine, and only waited for when a test fails.
const LONG: Duration = Duration::from_secs(60);

/// When the process dies.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// So much of an answer has come.
    Answer(Hold),
    /// A call needs approval.
    Asks,
    /// One program has ended, the other one has begun and not yet done anything.
    Begun,
    /// One program has ended, the other one has done what it does and not yet ended.
    Done,
    /// An effect has happened, journaled or not.
    Upon,
}

impl Moment {
    const KINDS: u32 = 8;

    fn of(n: u32) -> Self {
        // In the middle at first, and then everywhere.
        let per_mille = if n < Self::KINDS { 500 } else { n * 617 % 1_000 };
        match n % Self::KINDS {
            0 => Self::Answer(Hold { after: 0, per_mille: 0 }),
            1 => Self::Answer(Hold { after: 0, per_mille }),
            2 => Self::Asks,
            3 => Self::Begun,
            4 => Self::Done,
            5 => Self::Upon,
            6 => Self::Answer(Hold { after: 1, per_mille: 0 }),
            _ => Self::Answer(Hold { after: 1, per_mille }),
        }
    }
}

/// A model that calls a tool that does nothing, and two programs that do something.
fn model() -> Aimock {
    let program = |id: &str, script: &str| {
        let arguments = json!({"command": script, "fresh": true});
        json!({"id": id, "name": "builtin__execute_shell_command", "arguments": arguments})
    };
    Aimock::start(&[
        json!({"match": {"userMessage": "go on"}, "response": {"content": "Going on."}}),
        json!({"match": {"userMessage": "work", "hasToolResult": true}, "chunkSize": 3,
            "response": {"content": "That is what I know."}}),
        json!({"match": {"userMessage": "work"}, "chunkSize": 9, "response": {"content": "To work.", "toolCalls": [
            {"id": "call_sum", "name": "builtin__calculator", "arguments": {"expression": "17*23"}},
            program("call_one", "echo one >> effects; echo did one"),
            program("call_two", "test -p before && cat before; echo two >> effects; test -p after && cat after; \
                echo did two"),
        ]}}),
    ])
}

/// A toolroom whose process dies.
struct Bench {
    lab: Lab,
    workspace: PathBuf,
}

impl Bench {
    fn new(wire: Wire, url: &str) -> Self {
        // Outside a sandbox every command has to be approved.
        let lab = Lab::new(wire, url, "[policy]\nexec_sandbox = \"off\"\n");
        lab.run(&["tools", "enable", "execute_shell_command"]).ended(0);
        let workspace = lab.home.path().join("workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        Self { lab, workspace }
    }

    /// Lets the second program wait here until it is killed, too.
    fn stops_at(&self, place: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.workspace.join(place)).status().unwrap();
        assert!(made.success());
    }

    fn effects(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.workspace.join("effects")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn has_done(&self, word: &str) -> bool {
        self.effects().iter().any(|effect| effect == word)
    }

    /// What the journal says of the call of this id of the model.
    fn status(&self, call: &str) -> Option<String> {
        let rows = self.lab.home.journal();
        let row = rows.iter().find(|row| row["model_call"] == call)?;
        row["status"].as_str().map(str::to_owned)
    }

    fn is(&self, call: &str, status: &str) -> bool {
        self.status(call).as_deref() == Some(status)
    }

    /// Starts a run, and kills its process at that moment.
    fn dies(&self, gate: &FaultProxy, moment: Moment) {
        match moment {
            Moment::Answer(hold) => gate.holds(hold),
            Moment::Begun => self.stops_at("before"),
            Moment::Done => self.stops_at("after"),
            Moment::Asks | Moment::Upon => {}
        }
        // A program has to be approved, and with `--yes` it is: only not always before the process dies.
        let mut child = self.lab.command(&["chat", "work", "--yes", "--json"]).spawn().unwrap();
        let runs = |call: &str| self.is("call_one", "done") && self.is(call, "begun");
        match moment {
            Moment::Answer(_) => gate.is_holding(),
            Moment::Asks => until(&mut child, || self.status("call_one").is_some()),
            Moment::Begun => until(&mut child, || runs("call_two")),
            Moment::Done => until(&mut child, || self.has_done("two") && runs("call_two")),
            Moment::Upon => until(&mut child, || !self.effects().is_empty()),
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for place in ["before", "after"] {
            drop(std::fs::remove_file(self.workspace.join(place)));
        }
    }

    /// Goes on with the run itself, or with the conversation.
    fn goes_on(&self, with_the_run: bool) -> Ran {
        let resume = || self.lab.run(&["runs", "resume", "last", "--yes", "--json"]);
        if with_the_run {
            return resume();
        }
        let ran = self.lab.run(&["chat", "--continue", "go on", "--yes", "--json"]);
        // Where an answer is waited for, that comes first.
        if ran.code == 3 && ran.out.contains("waiting for approval") { resume() } else { ran }
    }
}

/// Waits until this is so, while the process lives.
fn until(child: &mut Child, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "it never came to that");
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::yield_now();
    }
}

fn survives(wire: Wire) {
    let mock = model();
    let gate = FaultProxy::before(&mock.url());
    for n in 0..scaled(Moment::KINDS).min(MOST_DEATHS) {
        let (moment, with_the_run) = (Moment::of(n), (n / 2 + n / Moment::KINDS).is_multiple_of(2));
        let bench = Bench::new(wire, &gate.url());
        bench.dies(&gate, moment);
        let is_left = bench.lab.run(&["runs", "--json"]).ended(0).json();
        // Only the last moment lets some live to answer.
        let is_over = is_left[0]["state"] == "done";
        if !is_over {
            let document = bench.goes_on(with_the_run).ended(0).json();
            assert_eq!(document["state"], "done", "{n}: {moment:?}: {document}");
        }
        check(&bench, &mock, &format!("{wire:?} {n} {moment:?} {with_the_run}"));
        let last = bench.lab.run(&["chat", "--continue", "go on once more", "--json"]).ended(0).json();
        assert_eq!(last["text"], "Going on.", "{n}: {moment:?}");
        paired(&last_thread(&mock));
    }
}

/// What was sent last, in the words of Chat Completions.
fn last_thread(mock: &Aimock) -> Vec<Value> {
    said(&mock.journal().last().unwrap()["body"])
}

/// Nothing is open, nothing was done twice, and the model knows what the journal knows.
fn check(bench: &Bench, mock: &Aimock, when: &str) {
    let runs = bench.lab.run(&["runs", "--json"]).ended(0).json();
    let states: Vec<&str> =
        runs.as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap()).collect();
    assert!(matches!(states[..], ["done"] | ["done", "failed"]), "{when}: {states:?}");
    if let Some(failed) = runs.get(1) {
        assert_eq!(failed["failure"]["kind"], "interrupted", "{when}: {failed}");
    }
    let (effects, rows) = (bench.effects(), bench.lab.home.journal());
    let thread = last_thread(mock);
    let calls = paired(&thread);
    for (call, word) in [("call_one", "one"), ("call_two", "two"), ("call_sum", "391")] {
        let rows: Vec<&Value> = rows.iter().filter(|row| row["model_call"] == call).collect();
        let happened = effects.iter().filter(|effect| *effect == word).count();
        assert!(rows.len() <= 1 && happened <= rows.len(), "{when}: {call}: {happened}: {rows:?}");
        let result = thread.iter().find(|message| message["tool_call_id"] == call);
        assert_eq!(result.is_some(), calls.iter().any(|id| id == call), "{when}: {call}");
        let Some(read) = result.map(|message| message["content"].as_str().unwrap()) else {
            assert!(rows.is_empty(), "{when}: {call} was made, and the model knows nothing of it");
            continue;
        };
        match rows.first().map(|row| row["status"].as_str().unwrap()) {
            Some("done") => {
                assert!(happened == 1 || call == "call_sum", "{when}: {call}");
                let told = if call == "call_sum" { word.to_owned() } else { format!("did {word}") };
                assert!(read.contains(&told), "{when}: {call}: {read}");
            }
            Some("unknown") => {
                assert!(read.contains("the outcome of this call is unknown"), "{when}: {call}: {read}");
                assert_eq!(read.contains("do not repeat it"), call != "call_sum", "{when}: {call}: {read}");
            }
            Some("cancelled") => {
                assert!(happened == 0 && read.contains("was not made"), "{when}: {call}: {read}");
            }
            None => {
                assert!(read.contains("interrupted before it began"), "{when}: {call}: {read}");
            }
            other => panic!("{when}: {call}: {other:?}: {read}"),
        }
    }
    for (place, call, known) in [("Begun", "call_one", "done"), ("Done", "call_two", "unknown")] {
        let is_there = when.contains(place);
        assert!(!is_there || bench.is(call, known), "{when}: {rows:?}");
    }
}

#[test]
fn a_killed_run_goes_on_over_chat_completions() {
    survives(OPENAI_CHAT);
}

#[test]
fn a_killed_run_goes_on_over_responses() {
    survives(OPENAI_RESPONSES);
}

#[test]
fn a_killed_run_goes_on_over_messages() {
    survives(ANTHROPIC);
}

#[test]
fn a_killed_run_goes_on_over_generate_content() {
    survives(GEMINI);
}
