//! The server is killed at any moment: subscribers miss nothing and get nothing twice, and no effect happens twice.

use serde_json::{Value, json};

use super::served::Served;
use super::stream::{End, Stream, Told, events};
use super::wire::Asked;
use crate::processes::until;
use crate::scale::scaled;
use crate::scenes::{DEATHS, WHOLE, closes_the_ways, effects, opens_the_ways, read, served, times_asked};

/// Each round takes several processes.
const MOST_ROUNDS: u32 = 10;

/// A run, and a subscriber that reconnects after every crash.
struct Watched {
    said: String,
    path: String,
    stream: Stream,
    /// Everything that was told, over all connections.
    told: Vec<Told>,
}

impl Watched {
    fn begins(served: &Served, key: &str, said: &str) -> Self {
        let run = served.send("POST", "/v1/runs", key, &json!({"message": said})).is(202).json();
        let path = format!("/v1/runs/{}", run["id"].as_str().unwrap());
        let stream = Stream::open(served.wire(), &Asked::new("GET", &format!("{path}/events")).key(key));
        Self { said: said.to_owned(), path, stream, told: Vec::new() }
    }

    /// Watches until the run is in the middle of what it is about.
    fn comes_to_it(&mut self, served: &Served, key: &str) {
        let (name, number) = self.said.split_once(' ').unwrap();
        let wanted: usize = number.parse().unwrap();
        let mut words = 0;
        let told = self.stream.until(|told| match name {
            "asks" => told.kind() == "waiting",
            "words" | "sum" if wanted > 0 => {
                // Of an answer that came before nothing counts.
                words = if told.kind() == "started" {
                    0
                } else {
                    words + told.event["text"].to_string().matches(',').count()
                };
                words == wanted
            }
            "words" => told.kind() == "asking",
            "sum" => told.kind() == "asking" && told.event["iteration"] == 2,
            _ => told.kind() == "call_began",
        });
        self.told.extend(told);
        match name {
            "before" => until(|| begun(served, key, "send_note") > 0),
            "after" | "quick" => until(|| effects(served, &self.said) == 1),
            _ => {}
        }
    }

    /// The server is dead: nothing more comes.
    fn is_cut_off(&mut self) {
        self.told.extend(self.stream.rest());
        let is_over = self.told.last().is_some_and(|last| last.kind() == "done");
        assert!(is_over || self.stream.end == Some(End::CutOff), "{}", self.said);
    }

    /// Goes on behind what was told last.
    fn connects_again(&mut self, served: &Served, key: &str) {
        self.stream = self.open_behind(served, key, self.told.last().unwrap());
    }

    fn open_behind(&self, served: &Served, key: &str, last: &Told) -> Stream {
        let asked = Asked::new("GET", &format!("{}/events", self.path)).key(key);
        Stream::open(served.wire(), &asked.header("Last-Event-ID", &last.id))
    }

    /// A subscriber that continues after any event gets everything once.
    fn check(&self, served: &Served, key: &str) {
        let whole = events(&served.get(&format!("{}/events", self.path), key).is(200).body);
        assert_eq!(whole.last().unwrap().kind(), "done", "{}: {whole:#?}", self.said);
        let known = known(&self.told, &whole);
        assert_eq!(structural(&known), whole, "{}", self.said);
        let answer = spoken(&known);
        assert!(WHOLE.starts_with(&answer), "{}: {answer}", self.said);
        // Of many words the first and the last will do.
        let places = self.told.len();
        for place in (0..places).filter(|place| *place < 10 || place + 10 > places) {
            let mut rest = self.open_behind(served, key, &self.told[place]);
            let mut told = self.told[..=place].to_vec();
            told.extend(rest.rest());
            assert_eq!(rest.end, Some(End::Whole));
            let known = self::known(&told, &whole);
            assert_eq!(structural(&known), whole, "{} behind {:?}", self.said, self.told[place]);
        }
    }
}

/// What is known after this was told: a run that is taken up takes back what was not kept.
#[track_caller]
fn known(told: &[Told], whole: &[Told]) -> Vec<Told> {
    let mut known: Vec<Told> = Vec::new();
    for next in told {
        if next.kind() == "started" {
            while let Some(gone) = known.pop_if(|last| last.seq() >= next.seq()) {
                assert!(!whole.contains(&gone), "told again: {gone:?}");
            }
        }
        assert!(known.last().is_none_or(|last| last.seq() < next.seq()), "{:?}, {next:?}", known.last());
        known.push(next.clone());
    }
    known
}

fn structural(told: &[Told]) -> Vec<Told> {
    let flows = ["text", "reasoning", "writing", "call_progress", "snapshot"];
    told.iter().filter(|told| !flows.contains(&told.kind())).cloned().collect()
}

/// The words of the last answer.
fn spoken(told: &[Told]) -> String {
    let begins = told.iter().rposition(|told| matches!(told.kind(), "asking" | "snapshot")).unwrap();
    told[begins..]
        .iter()
        .filter(|told| matches!(told.kind(), "text" | "snapshot"))
        .map(|told| told.event["text"].as_str().unwrap())
        .collect()
}

fn calls(served: &Served, key: &str, query: &str) -> Vec<Value> {
    let list = served.get(&format!("/v1/calls?limit=200&{query}"), key).is(200).json();
    list["calls"].as_array().unwrap().clone()
}

fn begun(served: &Served, key: &str, tool: &str) -> usize {
    calls(served, key, &format!("status=begun&tool={tool}")).len()
}

#[test]
fn nothing_is_missed_and_nothing_done_twice_whenever_the_server_is_killed() {
    for round in 0..scaled(1).min(MOST_ROUNDS) {
        let many = 2_500 + 617 * round;
        survives(&[
            "asks 0",
            "words 0",
            "words 1",
            "sum 0",
            "sum 7",
            "before 0",
            "after 0",
            &format!("words {many}"),
        ]);
    }
}

fn survives(scenes: &[&str]) {
    let (mut served, model) = served();
    let key = served.key("local", "chat,read,call,approve");
    let mut runs: Vec<Watched> = scenes.iter().map(|said| Watched::begins(&served, &key, said)).collect();
    runs.iter_mut().for_each(|run| run.comes_to_it(&served, &key));
    let named = json!({"tool": "send_note", "arguments": {
        "path": served.notes(), "text": "named", "receipt": served.home.path().join("receipt")}});
    let named = Asked::new("POST", "/v1/calls").key(&key).header("Idempotency-Key", "n").json(&named);
    let mut wire = served.wire();
    wire.send(&named);
    until(|| effects(&served, "named") == 1);
    for death in 0..DEATHS {
        // Something is done right now, and whether that is written down is left to chance.
        let mut quick = Watched::begins(&served, &key, &format!("quick {death}"));
        quick.comes_to_it(&served, &key);
        runs.push(quick);
        served.dies();
        runs.iter_mut().filter(|run| run.stream.end.is_none()).for_each(Watched::is_cut_off);
        opens_the_ways(&served);
        served.starts_again();
        for run in &mut runs {
            run.connects_again(&served, &key);
            if death + 1 < DEATHS && ["words", "sum"].iter().any(|name| run.said.starts_with(name)) {
                run.comes_to_it(&served, &key);
            }
        }
        closes_the_ways(&served);
    }
    let waiting = served.get("/v1/approvals", &key).is(200).json();
    let call = waiting["approvals"][0]["call_id"].as_str().unwrap();
    served.send("POST", &format!("/v1/approvals/{call}"), &key, &json!({"answer": "once"})).is(200);
    for run in &mut runs {
        run.told.extend(run.stream.rest());
        assert_eq!(run.stream.end, Some(End::Whole), "{}", run.said);
        run.check(&served, &key);
        let id = run.path.rsplit('/').next().unwrap();
        let rows = calls(&served, &key, &format!("run={id}"));
        let status = rows.first().map(|row| row["status"].as_str().unwrap());
        let name = run.said.split(' ').next().unwrap();
        let (status_known, done, asked): (&[Option<&str>], usize, usize) = match name {
            "words" => (&[None], 0, DEATHS + 1),
            "sum" => (&[Some("done")], 0, DEATHS + 2),
            "asks" => (&[Some("done")], 1, 2),
            "before" => (&[Some("unknown")], 0, 2),
            "after" => (&[Some("unknown")], 1, 2),
            _ => (&[Some("done"), Some("unknown")], 1, 2),
        };
        assert!(status_known.contains(&status) && rows.len() <= 1, "{}: {rows:?}", run.said);
        assert_eq!(effects(&served, &run.said), done, "{}", run.said);
        // Of one that was quick the server may have heard the answer, or not.
        let times = times_asked(&model, &run.said);
        assert!(times == asked || (name == "quick" && times <= asked + DEATHS), "{}: {times}", run.said);
        if status == Some("unknown") {
            assert!(read(&model, &run.said).contains("unknown"), "{}", read(&model, &run.said));
        }
    }
    served.ask(&named).refused(409, "in_progress");
    assert_eq!((effects(&served, "named"), begun(&served, &key, "send_note")), (1, 0));
}
