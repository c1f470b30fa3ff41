//! Whenever the server is killed, the thread goes on with its next run: a crash is not a client that hangs up.

use serde_json::{Value, json};

use crate::processes::until;
use crate::scale::scaled;
use crate::scenes::{DEATHS, WHOLE, closes_the_ways, effects, opens_the_ways, read, served, times_asked};
use crate::serve::Served;
use crate::serve::stream::{End, Stream, Told};
use crate::serve::wire::Asked;

/// However much is wanted: every round takes several processes.
const MOST_ROUNDS: u32 = 10;

/// A thread as its client has it.
struct Thread {
    name: String,
    modern: bool,
    messages: Vec<Value>,
    said: String,
    runs: usize,
    /// What the current run has told.
    told: Vec<Told>,
    stream: Stream,
}

impl Thread {
    fn begins(served: &Served, key: &str, said: &str, modern: bool) -> Self {
        let name = format!("{said} {modern}");
        let said = format!("{said} {}", u8::from(modern));
        let messages = vec![json!({"id": "u1", "role": "user", "content": said})];
        let stream = post(served, key, &name, 0, modern, &messages, None);
        Self { name, modern, messages, said, runs: 1, told: Vec::new(), stream }
    }

    /// Another run of the same thread.
    fn goes_on(&mut self, served: &Served, key: &str, resume: Option<Value>) {
        self.stream = post(served, key, &self.name, self.runs, self.modern, &self.messages, resume);
        self.runs += 1;
        self.told.clear();
    }

    fn scene(&self) -> &str {
        self.name.split(' ').next().unwrap()
    }

    fn is_resting(&self) -> bool {
        matches!(self.scene(), "asks" | "client")
    }

    /// Listens until the run is in the middle of what it is about.
    fn comes_to_it(&mut self, served: &Served, key: &str) {
        let wanted: usize = self.name.split(' ').nth(1).unwrap().parse().unwrap();
        let mut words = 0;
        let told = self.stream.until(|told| match self.name.split(' ').next().unwrap() {
            "asks" | "client" => told.kind() == "RUN_FINISHED",
            "words" | "sum" if wanted > 0 => {
                words += told.event["delta"].as_str().map_or(0, |delta| delta.matches(", ").count());
                words == wanted
            }
            "words" => told.kind() == "STEP_STARTED",
            "sum" => told.kind() == "STEP_STARTED" && told.event["stepName"] == "round 2",
            _ => told.kind() == "ACTIVITY_SNAPSHOT",
        });
        self.told.extend(told);
        match self.scene() {
            "before" => until(|| {
                let begun = served.get("/v1/calls?status=begun&tool=send_note", key).is(200).json();
                begun["calls"].to_string().contains(&self.said)
            }),
            "after" => until(|| effects(served, &self.said) == 1),
            _ => {}
        }
    }

    /// The run ends well, and nothing was told that has no place in it.
    fn ends_well(&mut self) {
        self.told.extend(self.stream.rest());
        assert_eq!(self.stream.end, Some(End::Whole), "{}", self.name);
        let kinds: Vec<&str> = self.told.iter().map(Told::kind).collect();
        assert_eq!(
            (kinds[0], *kinds.last().unwrap()),
            ("RUN_STARTED", "RUN_FINISHED"),
            "{}: {kinds:?}",
            self.name
        );
        let ends = kinds.iter().filter(|kind| matches!(**kind, "RUN_FINISHED" | "RUN_ERROR")).count();
        assert_eq!(ends, 1, "{}: {kinds:?}", self.name);
        let deltas = self.told.iter().filter(|told| told.kind() == "TEXT_MESSAGE_CONTENT");
        let text: String = deltas.map(|told| told.event["delta"].as_str().unwrap()).collect();
        assert_eq!(text, WHOLE, "{}", self.name);
    }

    fn told_last(&self, kind: &str) -> &Value {
        &self.told.iter().rev().find(|told| told.kind() == kind).unwrap().event
    }

    /// The next run, with all answers and results the thread waits for.
    fn is_answered(&mut self, served: &Served, key: &str) {
        match self.scene() {
            "asks" => {
                let interrupt = self.told_last("RUN_FINISHED")["outcome"]["interrupts"][0]["id"].clone();
                let answer =
                    json!([{"interruptId": interrupt, "status": "resolved", "payload": {"approved": true}}]);
                self.goes_on(served, key, Some(answer));
            }
            "client" => {
                let call = self.told_last("TOOL_CALL_START")["toolCallId"].clone();
                self.messages
                    .push(json!({"id": "t1", "role": "tool", "toolCallId": call, "content": "12 C"}));
                self.goes_on(served, key, None);
            }
            _ => self.goes_on(served, key, None),
        }
        self.ends_well();
    }
}

fn post(
    served: &Served,
    key: &str,
    thread: &str,
    run: usize,
    modern: bool,
    messages: &[Value],
    resume: Option<Value>,
) -> Stream {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tools = json!([{"name": "get_weather", "description": "Weather", "parameters": parameters}]);
    let mut input = json!({
        "threadId": thread, "runId": format!("r{run}"), "messages": messages, "tools": tools,
        "state": {}, "context": [], "forwardedProps": {},
    });
    if modern {
        input["protocolVersion"] = json!("1.0");
    }
    if let Some(resume) = resume {
        input["resume"] = resume;
    }
    Stream::open(served.wire(), &Asked::new("POST", "/agui/default").key(key).json(&input))
}

fn states(served: &Served, key: &str) -> Vec<String> {
    let runs = served.get("/v1/runs?limit=200", key).is(200).json();
    runs["runs"].as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn threads_go_on_whenever_the_server_is_killed_and_nothing_is_done_twice() {
    for round in 0..scaled(1).min(MOST_ROUNDS) {
        let (some, many) = (format!("sum {}", 7 + round), format!("words {}", 2_500 + 617 * round));
        go_on(&["asks 0", "client 0", "words 0", "words 1", "sum 0", &some, "before 0", "after 0", &many]);
    }
}

fn go_on(scenes: &[&str]) {
    let (mut served, model) = served();
    let key = served.key("local", "chat,read,answer");
    let both = scenes.iter().flat_map(|scene| [(scene, true), (scene, false)]);
    let mut threads: Vec<Thread> =
        both.map(|(scene, modern)| Thread::begins(&served, &key, scene, modern)).collect();
    threads.iter_mut().for_each(|thread| thread.comes_to_it(&served, &key));
    for death in 0..DEATHS {
        served.dies();
        for thread in &mut threads {
            thread.told.extend(thread.stream.rest());
            let is_over = thread.is_resting() || thread.told.last().unwrap().kind() == "RUN_FINISHED";
            assert!(is_over || thread.stream.end == Some(End::CutOff), "{}", thread.name);
        }
        opens_the_ways(&served);
        served.starts_again();
        let states = states(&served, &key);
        assert!(!states.iter().any(|state| state == "cancelled" || state == "failed"), "{states:?}");
        if death + 1 < DEATHS {
            for thread in &mut threads {
                match thread.scene() {
                    "words" | "sum" => {
                        thread.goes_on(&served, &key, None);
                        thread.comes_to_it(&served, &key);
                    }
                    // Of these the next run tells how it went on.
                    "before" => thread.is_answered(&served, &key),
                    _ => {}
                }
            }
        }
    }
    for thread in &mut threads {
        if thread.scene() != "before" {
            thread.is_answered(&served, &key);
        }
        let (done, asked) = match thread.scene() {
            "words" => (0, DEATHS + 1),
            "sum" => (0, DEATHS + 2),
            "asks" | "after" => (1, 2),
            _ => (0, 2),
        };
        assert_eq!(effects(&served, &thread.said), done, "{}", thread.name);
        assert_eq!(times_asked(&model, &thread.said), asked, "{}", thread.name);
        let read = read(&model, &thread.said);
        match thread.scene() {
            "before" | "after" => assert!(read.contains("unknown"), "{}: {read}", thread.name),
            "client" => assert!(read.contains("12 C"), "{}: {read}", thread.name),
            _ => {}
        }
    }
    assert!(states(&served, &key).iter().all(|state| state == "done"));
    closes_the_ways(&served);
}

#[test]
fn who_says_something_else_after_a_crash_is_answered_and_nothing_is_done_again() {
    let (mut served, model) = served();
    let key = served.key("local", "chat,read,answer");
    for scene in ["words 3", "before 0", "after 0", "asks 0", "client 0"] {
        closes_the_ways(&served);
        let mut thread = Thread::begins(&served, &key, scene, true);
        thread.comes_to_it(&served, &key);
        served.dies();
        opens_the_ways(&served);
        served.starts_again();
        thread.messages.push(json!({"id": "u2", "role": "user", "content": format!("else {scene}")}));
        let is_asked = scene.starts_with("asks");
        let resume = is_asked.then(|| {
            let interrupt = &thread.told_last("RUN_FINISHED")["outcome"]["interrupts"][0]["id"];
            json!([{"interruptId": interrupt, "status": "cancelled"}])
        });
        thread.goes_on(&served, &key, resume);
        thread.ends_well();
        assert_eq!(effects(&served, &thread.said), usize::from(scene.starts_with("after")), "{scene}");
        assert_eq!(times_asked(&model, &thread.said), 1, "{scene}");
    }
}
