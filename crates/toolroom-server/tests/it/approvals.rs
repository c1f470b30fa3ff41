//! `toolroom approvals` and `call --resume`: parked, answered, run once. Judged by effect: `publish_note` appends a
//! line with its call's id to a file.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::home::{Home, Ran, finished};

/// A rule whose question is the operator's.
pub(crate) const OPERATORS: &str = "
[[rule]]
id = \"ask-operator\"
effect = \"ask\"
tool = \"app:publish_note\"
by = \"operator\"
reason = \"what is published is public\"
";

/// A toolroom with a file for notes.
pub(crate) struct Desk {
    pub(crate) home: Home,
    pub(crate) notes: PathBuf,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        let notes = home.path().join("notes");
        Self { home, notes }
    }

    /// One with this configuration.
    pub(crate) fn configured(config: &str) -> Self {
        let desk = Self::new();
        std::fs::write(desk.home.path().join("toolroom.toml"), config).unwrap();
        desk
    }

    pub(crate) fn path(&self) -> String {
        format!("path={}", self.notes.display())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.home.run_own(arguments)
    }

    /// Calls `publish_note`, and gets JSON.
    pub(crate) fn call(&self, text: &str) -> Ran {
        self.call_with(text, &[])
    }

    pub(crate) fn call_with(&self, text: &str, more: &[&str]) -> Ran {
        let (path, text) = (self.path(), format!("text={text}"));
        self.run(&[&["call", "publish_note", &path, &text, "--json"], more].concat())
    }

    /// A call that waits, by its id.
    pub(crate) fn park(&self, text: &str) -> String {
        self.call(text).ended(4).call_id()
    }

    /// The newest call, once it is parked.
    pub(crate) fn parked(&self) -> String {
        crate::call::wait_for_status(&self.home, "pending");
        self.newest()
    }

    pub(crate) fn newest(&self) -> String {
        self.home.journal()[0]["id"].as_str().unwrap().to_owned()
    }

    /// The status of the newest call.
    pub(crate) fn status(&self) -> String {
        self.home.journal()[0]["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn question(&self, call: &str) -> Value {
        self.run(&["approvals", "show", call, "--json"]).ended(0).json()
    }

    /// What was published, oldest first.
    pub(crate) fn effects(&self) -> Vec<String> {
        let written = std::fs::read_to_string(&self.notes).unwrap_or_default();
        written.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    }
}

#[test]
fn without_a_terminal_a_call_that_asks_is_parked_and_says_what_to_type() {
    let desk = Desk::new();
    let ran = desk.run(&["call", "publish_note", &desk.path(), "text=hello"]).ended(4);
    let call = desk.newest();
    assert!(ran.out.is_empty(), "{ran:?}");
    for part in [
        format!("{call} waits for approval: `publish_note` changes something"),
        format!("`toolroom approvals approve {call}`"),
        format!("`toolroom call --resume {call}`"),
    ] {
        assert!(ran.err.contains(&part), "{part}: {}", ran.err);
    }
    assert!(!ran.err.contains("error"), "waiting is no error: {}", ran.err);

    let report = desk.call("hello").ended(4).json();
    assert_eq!((&report["outcome"], &report["rule"]), (&json!("pending"), &json!("default.write")));
    let pending = &report["pending"];
    assert_eq!(pending["by"], "caller");
    assert!(pending["reason"].as_str().unwrap().contains("changes something"));
    assert!(pending["hint"].as_str().unwrap().contains(report["call_id"].as_str().unwrap()));
    let left = pending["expires_at"].as_i64().unwrap() - desk.question("last")["asked_at"].as_i64().unwrap();
    assert!((86_390_000_000..86_410_000_000).contains(&left), "{left}");
    assert!(desk.effects().is_empty());
}

#[test]
fn an_answer_runs_nothing_and_a_resume_runs_once() {
    let desk = Desk::new();
    let call = desk.park("hello");
    let early = desk.run(&["call", "--resume", &call, "--json"]).ended(4).json();
    assert_eq!((&early["outcome"], &early["call_id"]), (&json!("pending"), &json!(call)));

    let said = desk.run(&["approvals", "approve", &call]).ended(0);
    assert!(
        said.err.contains(&format!(
            "Approved once: app:publish_note; run it with `toolroom call --resume {call}`"
        ))
    );
    assert!(desk.effects().is_empty(), "an answer runs nothing");
    for again in [&["approvals", "approve", &call][..], &["approvals", "deny", &call]] {
        let again = desk.run(again).ended(3);
        assert!(again.err.contains("was answered already: once, by the operator"), "{again:?}");
    }
    let ran = desk.run(&["call", "--resume", &call]).ended(0);
    assert_eq!((ran.out.as_str(), desk.effects()), ("noted\n", vec!["hello".to_owned()]));
    let row = &desk.home.journal()[0];
    assert_eq!((&row["id"], &row["status"]), (&json!(call), &json!("done")));

    let twice = desk.run(&["call", "--resume", &call]).ended(3);
    assert!(twice.err.contains("has run already and is done; an approval is used once"), "{twice:?}");
    let late = desk.run(&["approvals", "approve", &call]).ended(3);
    assert!(late.err.contains("was answered already, and has begun"), "{late:?}");
    let twice = desk.run(&["call", "--resume", &call, "--json"]).ended(3).json();
    assert_eq!(twice["error"]["kind"], "permission_denied");
    assert_eq!(desk.effects().len(), 1);
}

#[test]
fn a_no_is_a_denial() {
    for (flags, says) in [
        (&[][..], "a person said no"),
        (&["--stop"][..], "a person said no, and to end the run"),
        (&["--never"][..], "a person said no, and never to ask again"),
    ] {
        let desk = Desk::new();
        let call = desk.park("hello");
        let said = desk.run(&[&["approvals", "deny", &call], flags].concat()).ended(0);
        assert!(said.err.contains("the call will not run"), "{said:?}");
        let resumed = desk.run(&["call", "--resume", &call]).ended(3);
        assert!(resumed.err.contains(&format!("denied: {says}\n")), "{resumed:?}");
        let resumed = desk.run(&["call", "--resume", &call, "--json"]).ended(3).json();
        assert_eq!((&resumed["outcome"], &resumed["rule"]), (&json!("denied"), &json!("approval.refused")));
        assert!(desk.effects().is_empty());
    }
}

#[test]
fn a_question_expires() {
    let desk = Desk::new();
    let short = ["--set", "policy.approval_expires=1s"];
    let [unanswered, unused] = ["one", "two"].map(|text| desk.call_with(text, &short).ended(4).call_id());
    // If this machine is slow the answer comes too late already, which is the same in the end.
    desk.run(&["approvals", "approve", &unused]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    for call in [&unanswered, &unused] {
        while desk.question(call)["state"] != "expired" {
            assert!(std::time::Instant::now() < deadline, "it never expires");
        }
        assert!(
            desk.run(&["approvals", "approve", call])
                .ended(3)
                .err
                .contains("expired before it was answered or run")
        );
        let resumed = desk.run(&["call", "--resume", call]).ended(3);
        assert!(
            resumed.err.contains("denied: not answered in time, or the answer was not used in time"),
            "{resumed:?}"
        );
        let row = desk.run(&["log", call, "--json"]).ended(0).json();
        assert_eq!((&row["status"], &row["rule"]), (&json!("denied"), &json!("approval.expired")));
    }
    assert!(desk.run(&["approvals"]).ended(0).err.contains("No calls are waiting for approval"));
    assert!(desk.effects().is_empty());
}

#[test]
fn an_edit_is_a_call_of_its_own() {
    let desk = Desk::new();
    let call = desk.park("hello");
    let arguments = |text: &str| json!({"path": desk.notes, "text": text}).to_string();
    for (wrong, code, says) in [
        ("{broken", 2, "--edit"),
        ("[]", 2, "--edit"),
        ("{\"text\": \"no path\"}", 1, "the edited arguments are refused: invalid arguments"),
    ] {
        let ran = desk.run(&["approvals", "approve", &call, "--edit", wrong]).ended(code);
        assert!(ran.err.contains(says), "{ran:?}");
    }
    assert_eq!(desk.question(&call)["state"], "waiting", "what was wrong has changed nothing");

    let said =
        desk.run(&["approvals", "approve", &call, "--edit", &arguments("edited"), "--json"]).ended(0).json();
    let new = said["replaced_by"].as_str().unwrap().to_owned();
    assert_eq!(
        (&said["call_id"], &said["answer"], &said["waits_for"]),
        (&json!(call), &json!("edit"), &Value::Null)
    );
    let old = desk.question(&call);
    assert_eq!((&old["state"], &old["replaced_by"]), (&json!("refused"), &json!(new)));
    let late = desk.run(&["approvals", "approve", &call]).ended(3);
    assert!(late.err.contains(&format!("were edited; replaced by `{new}`")), "{late:?}");
    assert!(desk.effects().is_empty());

    let ran = desk.run(&["call", "--resume", &call]).ended(0);
    assert!(ran.err.contains(&format!("replaced by {new}")), "{ran:?}");
    assert_eq!(desk.effects(), ["edited"]);
    for name in [&call, &new] {
        desk.run(&["call", "--resume", name]).ended(3);
    }

    let call = desk.park("hello");
    let mut stdin = desk.home.own_tools(&["approvals", "approve", &call, "--edit", "-"]);
    let mut child = stdin.stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), arguments("piped").as_bytes()).unwrap();
    finished(child).ended(0);
    desk.run(&["call", "--resume", "last"]).ended(0);
    assert_eq!(desk.effects(), ["edited", "piped"]);
}

#[test]
fn an_edit_of_what_was_answered_already_is_refused_as_such() {
    let desk = Desk::new();
    for (answer, says) in [("approve", "was answered already: once"), ("deny", "was answered already: no")] {
        desk.call("hello").ended(4);
        let call = desk.newest();
        desk.home.run_own(&["approvals", answer, &call]).ended(0);
        let ran = desk.home.run_own(&["approvals", "approve", &call, "--edit", "{}"]).ended(3);
        assert!(ran.err.contains(says), "{ran:?}");
    }
}

#[test]
fn an_edit_does_not_get_past_a_rule() {
    let desk = Desk::configured(
        "[[rule]]\nid = \"no-secrets\"\neffect = \"deny\"\ntool = \"*\"\nwhen = \"args.text contains 'secret'\"\n",
    );
    let call = desk.park("hello");
    let edit = json!({"path": desk.notes, "text": "a secret"}).to_string();
    let ran = desk.run(&["approvals", "approve", &call, "--edit", &edit]).ended(3);
    assert!(ran.err.contains("the edited call is denied") && ran.err.contains("no-secrets"), "{ran:?}");
    assert_eq!(desk.question(&call)["state"], "waiting");
}

#[test]
fn questions_are_listed_and_found_by_id_by_its_end_and_as_the_last() {
    let desk = Desk::new();
    let empty = desk.run(&["approvals"]).ended(0);
    assert!(empty.out.is_empty() && empty.err.contains("No calls are waiting for approval"), "{empty:?}");
    assert_eq!(desk.run(&["approvals", "list", "--json"]).ended(0).out, "[]\n");
    for name in ["last", "call_nothing", "%"] {
        let ran = desk.run(&["approvals", "show", name]).ended(5);
        assert!(ran.err.contains("no waiting call") || ran.err.contains("no calls are waiting"), "{ran:?}");
        desk.run(&["approvals", "approve", name]).ended(5);
        desk.run(&["call", "--resume", name]).ended(5);
    }

    let (first, second) = (desk.park("one"), desk.park("two"));
    let listing = desk.run(&["approvals"]).ended(0);
    assert_eq!(listing.out.lines().count(), 2, "{listing:?}");
    let line = listing.out.lines().next().unwrap();
    for part in [&first[first.len() - 8..], "app:publish_note", "waiting", "h left, caller", "one"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(listing.err.contains("toolroom approvals approve ID"), "{listing:?}");
    let listed = desk.run(&["approvals", "--json"]).ended(0).json();
    assert_eq!((&listed[0]["call_id"], &listed[1]["call_id"]), (&json!(first), &json!(second)));

    for name in [&first, &first[first.len() - 8..]] {
        let shown = desk.run(&["approvals", "show", name]).ended(0).out;
        for part in [&first, "waiting", "default.write", "caller or operator", "cli", "\"text\": \"one\""] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
    assert_eq!(desk.question("last")["call_id"], json!(second));
    assert_eq!(desk.question("last")["arguments"], json!({"path": desk.notes, "text": "two"}));
    let several = desk.run(&["approvals", "show", "call_"]);
    assert_eq!(several.code, 5, "an end, not a beginning: {several:?}");
    // A call that was never parked is no question.
    desk.run(&["call", "calculator", "expression=1"]).ended(0);
    let other = desk.newest();
    desk.run(&["approvals", "show", &other]).ended(5);
    desk.run(&["call", "--resume", &other]).ended(5);

    desk.run(&["approvals", "deny", "last"]).ended(0);
    desk.run(&["approvals", "approve", &first[first.len() - 8..]]).ended(0);
    assert_eq!(desk.question(&second)["state"], "refused");
    let listed = desk.run(&["approvals", "--json"]).ended(0).json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["state"]), (1, &json!("granted")));
    assert_eq!(
        desk.run(&["approvals"]).ended(0).err,
        "Run approved calls with `toolroom call --resume ID`\n"
    );
    let shown = desk.run(&["approvals", "show", &second]).ended(0).out;
    assert!(shown.contains("no by the operator") && shown.contains("no longer stored"), "{shown}");
}

#[test]
fn wrong_usage_is_code_two_and_answers_nothing() {
    let desk = Desk::new();
    let call = desk.park("hello");
    for arguments in [
        &["approvals", "approve"][..],
        &["approvals", "approve", ""],
        &["approvals", "deny", ""],
        &["call", "--resume", ""],
        &["log", ""],
        &["approvals", "approve", &call, "--session", "--always"],
        &["approvals", "approve", &call, "--when", "true"],
        &["approvals", "approve", &call, "--edit", "{}", "--always"],
        &["approvals", "approve", &call, "--edit", "{}", "--when", "true"],
        &["approvals", "approve", &call, "--session", "--when", "true"],
        &["approvals", "approve", &call, "--always", "--when", "args.text =="],
        &["approvals", "approve", &call, "--always", "--when", "args.text == 'other'"],
        &["approvals", "approve", &call, "--always", "--when", "secret.x == 1"],
        &["approvals", "deny", &call, "--when", "true"],
        &["approvals", "deny", &call, "--never", "--stop"],
        &["approvals", "frobnicate"],
        &["call", "--resume", &call, "publish_note"],
        &["call", "--resume", &call, "--dry-run"],
        &["call", "--resume", &call, "--provenance", "private"],
        &["call", "--resume", &call, "--wait", "text=x"],
        &["call", "publish_note", "--wait", "5minutes"],
        &["call", "publish_note", "--wait", "soon"],
        &["call", "--wait"],
    ] {
        let ran = desk.run(arguments).ended(2);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{arguments:?}: {ran:?}");
    }
    assert_eq!(desk.question(&call)["state"], "waiting");
    assert_eq!(desk.home.journal().len(), 1);
}

#[test]
fn yes_answers_for_the_caller_alone() {
    let desk = Desk::new();
    let ran = desk.call_with("hello", &["--yes"]).ended(0).json();
    assert_eq!((&ran["outcome"], &ran["result"]), (&json!("done"), &json!("noted")));
    let question = desk.question(ran["call_id"].as_str().unwrap());
    assert_eq!((&question["answer"], &question["answered_by"]), (&json!("once"), &json!("caller")));
    assert_eq!(desk.effects(), ["hello"]);
    desk.call("hello").ended(4);

    let desk = Desk::configured(OPERATORS);
    let ran = desk.run(&["call", "publish_note", &desk.path(), "text=hello", "--yes"]).ended(4);
    for part in [
        "`--yes` answers as the caller; only the operator may approve this call",
        "what is published is public",
        "as the operator, answer with `toolroom approvals approve",
    ] {
        assert!(ran.err.contains(part), "{part}: {ran:?}");
    }
    let report = desk.call_with("hello", &["--yes"]).ended(4).json();
    assert_eq!((&report["pending"]["by"], &report["rule"]), (&json!("operator"), &json!("ask-operator")));
    assert!(desk.effects().is_empty());
    // The owner of the data folder is the operator.
    desk.run(&["approvals", "approve", "last"]).ended(0);
    desk.run(&["call", "--resume", "last"]).ended(0);
    assert_eq!(desk.effects(), ["hello"]);
}

#[test]
fn of_many_at_once_one_answer_counts_and_one_resume_runs() {
    let desk = Desk::new();
    let call = desk.park("hello");
    let start = |arguments: &[&str]| desk.home.own_tools(arguments).spawn().unwrap();
    let answers: Vec<_> = (0..8)
        .map(|n| {
            let verb = if n % 2 == 0 { "approve" } else { "deny" };
            (verb, start(&["approvals", verb, &call, "--json"]))
        })
        .collect();
    let answers: Vec<_> = answers.into_iter().map(|(verb, child)| (verb, finished(child))).collect();
    let taken: Vec<_> = answers.iter().filter(|(_, ran)| ran.code == 0).collect();
    assert_eq!(taken.len(), 1, "{answers:?}");
    assert!(answers.iter().all(|(_, ran)| ran.code == 0 || ran.code == 3), "{answers:?}");
    let state = desk.question(&call)["state"].clone();
    assert_eq!(state, if taken[0].0 == "approve" { "granted" } else { "refused" });

    let call = desk.park("again");
    desk.run(&["approvals", "approve", &call]).ended(0);
    let resumes: Vec<_> = (0..6).map(|_| start(&["call", "--resume", &call, "--json"])).collect();
    let codes: Vec<i32> = resumes.into_iter().map(|child| finished(child).code).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| *code == 0 || *code == 3), "{codes:?}");
    assert_eq!(desk.effects(), ["again"]);
}

#[test]
fn watching_shows_questions_and_what_becomes_of_them() {
    use std::io::{BufRead, BufReader};
    let desk = Desk::new();
    let first = desk.park("one");
    let mut watch = desk.home.own_tools(&["approvals", "watch", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let mut expect = |call: &str, state: &str| {
        let news = next();
        assert_eq!((&news["call_id"], &news["state"]), (&json!(call), &json!(state)), "{news}");
    };
    expect(&first, "waiting");
    let second = desk.park("two");
    expect(&second, "waiting");
    desk.run(&["approvals", "approve", &first]).ended(0);
    expect(&first, "granted");
    desk.run(&["approvals", "deny", &second]).ended(0);
    expect(&second, "refused");
    desk.run(&["call", "--resume", &first]).ended(0);
    expect(&first, "used");
    let short = desk.call_with("three", &["--set", "policy.approval_expires=1s"]).ended(4).call_id();
    expect(&short, "waiting");
    expect(&short, "expired");
    let last = desk.park("four");
    expect(&last, "waiting");
    let pid = rustix::process::Pid::from_child(&watch);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(130));
    assert!(lines.next().is_none(), "each change is told once");
}
