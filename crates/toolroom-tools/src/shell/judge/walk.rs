//! Walks a tree and everything that it would start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use toolroom::policy::Ruling;

use super::call::Call;
use super::feed::{self, Feed};
use super::finding::{Finding, Weight};
use super::folder::Folder;
use super::interpreters::is_portable;
use super::paths::{is_one_file_inside, normal};
use super::report::{Judged, Reason, Run};
use super::settings::{Security, Settings};
use super::unwrap::{self, Unwrapped};
use super::value::{Origin, Value};
use super::{danger, risk};
use crate::shell::grammar::{Place, Script, parse};

/// Texts in texts, as in `bash -c "bash -c …"`.
const MAX_TEXT_DEPTH: usize = 6;

/// Bytes of such texts.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Wrappers around one command.
const MAX_WRAPPERS: usize = 16;

/// Reasons that are kept; more tell nothing new.
const MAX_REASONS: usize = 200;

/// Arguments of a command that are told.
const MAX_ARGUMENTS: usize = 100;

/// Characters of each.
const MAX_ARGUMENT_CHARS: usize = 1_000;

/// A text that is run as a script.
struct Text {
    text: Rc<str>,
    place: Place,
    depth: usize,
    feed: Feed,
    folder: Folder,
}

/// What a command stands in.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around<'t> {
    /// The function whose body this is.
    pub(super) function: Option<&'t str>,
    /// It runs beside others: in a pipeline or in the background.
    pub(super) is_beside: bool,
}

/// Where the commands of a line go with `cd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FolderChange {
    Nowhere,
    /// Below the folder in which the line begins.
    Below,
    /// Elsewhere, or nobody knows where.
    Outside,
}

pub(super) struct Walk<'s> {
    settings: &'s Settings,
    reasons: Vec<(Weight, Reason)>,
    told: BTreeSet<(usize, String)>,
    pub(super) runs: Vec<Run>,
    texts: VecDeque<Text>,
    text_bytes: usize,
    text_depth: usize,
    /// Where the text that is walked came from, if it is not the line itself.
    origin: Option<Place>,
    /// Which function calls which, and whether beside others.
    calls: BTreeMap<String, BTreeMap<String, bool>>,
    /// Files that the line writes.
    written: BTreeSet<String>,
    /// Files that it runs, with their commands.
    started: Vec<(String, String, Place)>,
    /// Where the command runs that is walked.
    pub(super) folder: Folder,
    /// How far its commands go. Once one goes anywhere, a file has more names than one.
    folder_change: FolderChange,
    /// A file was removed unasked.
    has_removed: bool,
    /// Whether the word that is walked is put together by the line itself.
    pub(super) word_origin: Origin,
    /// Some text of it holds a substitution that nobody has run yet.
    pub(super) holds_code: bool,
    /// Some part of it takes texts for numbers.
    pub(super) counts: bool,
}

impl<'s> Walk<'s> {
    pub(super) fn new(settings: &'s Settings) -> Self {
        Self {
            settings,
            reasons: Vec::new(),
            told: BTreeSet::new(),
            runs: Vec::new(),
            texts: VecDeque::new(),
            text_bytes: 0,
            text_depth: 0,
            origin: None,
            calls: BTreeMap::new(),
            written: BTreeSet::new(),
            started: Vec::new(),
            folder: Folder::default(),
            folder_change: FolderChange::Nowhere,
            has_removed: false,
            word_origin: Origin::default(),
            holds_code: false,
            counts: false,
        }
    }

    /// Walks a script and the texts in it that are scripts.
    pub(super) fn whole(&mut self, script: &Script) {
        self.script(script, &Feed::Inherited, Around::default());
        self.texts();
    }

    /// Walks one program with its arguments.
    pub(super) fn argv(&mut self, program: &str, arguments: &[String]) {
        let words = std::iter::once(program).chain(arguments.iter().map(String::as_str));
        let hidden = words.clone().any(|word| word.contains(super::value::UNKNOWN));
        let words: Vec<Value> = words.map(Value::plain).collect();
        let call = Call::new(words, Feed::Inherited, Place::default());
        if hidden {
            self.tell(Finding::opaque("a character in it stands for nothing"), &call.shown(), call.place);
        }
        self.call(call, Around::default());
        self.texts();
    }

    fn texts(&mut self) {
        while let Some(text) = self.texts.pop_front() {
            self.text_depth = text.depth;
            self.origin = Some(text.place);
            self.folder = text.folder;
            match parse(&text.text) {
                Ok(script) => self.script(&script, &text.feed, Around::default()),
                Err(error) => {
                    let why = format!("a text in it that would run is not understood: {}", error.why);
                    self.tell(Finding::opaque(why), &text.text, text.place);
                }
            }
        }
    }

    /// Looks later at a text that would run as a script.
    pub(super) fn run_text(&mut self, text: &str, feed: &Feed, place: Place) {
        self.text_bytes += text.len();
        if self.text_depth >= MAX_TEXT_DEPTH || self.text_bytes > MAX_TEXT_BYTES {
            self.tell(Finding::opaque("too many texts in texts would run"), text, place);
            return;
        }
        let depth = self.text_depth + 1;
        let place = self.origin.unwrap_or(place);
        let (feed, folder) = (feed.shared(), self.folder.clone());
        self.texts.push_back(Text { text: text.into(), place, depth, feed, folder });
    }

    /// Judges a call and what it starts.
    pub(super) fn call(&mut self, call: Call, around: Around<'_>) {
        if let (Some(function), Some(name)) = (around.function, call.program().known()) {
            let beside =
                self.calls.entry(function.to_owned()).or_default().entry(name.to_owned()).or_default();
            *beside |= around.is_beside;
        }
        let mut open = vec![(call, 0)];
        while let Some((call, depth)) = open.pop() {
            self.record(&call, depth > 0);
            let told = |walk: &mut Self, finding| walk.tell(finding, &call.shown(), call.place);
            if depth > MAX_WRAPPERS {
                told(self, Finding::opaque("too many wrappers around a command"));
                return;
            }
            let program = call.program();
            let is_known = program.known().is_some_and(|name| {
                !name.is_empty() && !program.is_glob && !name.chars().any(char::is_control)
            });
            if !is_known {
                let weight = if program.is_fetched { Weight::Danger } else { Weight::Opaque };
                told(self, Finding::new(weight, "the name of the program is not known before it runs"));
                continue;
            }
            if self.settings.security == Security::Strict
                && !self.settings.allowlist.iter().any(|entry| entry.names(&call))
            {
                told(self, Finding::opaque("the allow-list does not name it"));
            }
            let Unwrapped { calls, texts, findings, files } = unwrap::unwrap(&call);
            let dangers = danger::findings(&call, &self.folder);
            let may_remove = depth == 0
                && self.text_depth == 0
                && self.folder_change != FolderChange::Outside
                && !self.has_removed;
            let removes = may_remove && risk::removes_one_file(&call);
            self.has_removed |= removes;
            let risks = risk::findings(&call, &self.folder, removes);
            let findings = findings.into_iter().chain(dangers).chain(risks);
            findings.for_each(|finding| told(self, finding));
            for text in texts {
                match text.known() {
                    Some(known) => {
                        let is_bash = matches!(call.name(), "bash" | "rbash" | "eval" | "trap" | "alias");
                        if !is_bash && !is_portable(known) {
                            told(self, Finding::opaque("runs a text that shells do not read alike"));
                        }
                        self.run_text(known, &call.feed, call.place);
                    }
                    None if text.is_fetched => {
                        told(self, Finding::danger("runs what was downloaded or decoded"));
                    }
                    None => told(self, Finding::opaque("runs a text that is not known before")),
                }
            }
            if matches!(
                call.name(),
                "tee" | "cp" | "mv" | "ln" | "install" | "dd" | "sed" | "curl" | "wget" | "sort" | "xxd"
            ) {
                call.operands().for_each(|value| self.writes(value.text.trim_start_matches("of=")));
            }
            let started = files.into_iter().chain(program.text.contains('/').then(|| program.text.clone()));
            for file in started {
                self.started.push((normal(&file).into_owned(), call.shown(), call.place));
            }
            if let Some(folder) = self.folder.after(&call) {
                self.folder = folder;
                let is_below = matches!(call.arguments(), [to] if is_one_file_inside(to) && to.text != "-");
                self.folder_change = self.folder_change.max(if is_below {
                    FolderChange::Below
                } else {
                    FolderChange::Outside
                });
            }
            open.extend(calls.into_iter().map(|inner| (inner, depth + 1)));
        }
    }

    fn record(&mut self, call: &Call, is_wrapped: bool) {
        let program = call.program();
        let told = call.arguments().iter().take(MAX_ARGUMENTS);
        let mut arguments: Vec<String> = told.map(|value| shortened(&value.shown())).collect();
        if call.has_more || call.arguments().len() > MAX_ARGUMENTS {
            arguments.push("…".to_owned());
        }
        let program = program.known().filter(|_| !program.is_glob).map(str::to_owned);
        let at = self.origin.unwrap_or(call.place).0;
        self.runs.push(Run { program, arguments, at, is_wrapped });
    }

    /// Whether a download or a decoder is among what was walked since then.
    pub(super) fn is_fetched_since(&self, from: usize) -> bool {
        let programs = self.runs.iter().skip(from).filter_map(|run| run.program.as_deref());
        programs.into_iter().any(|program| feed::is_fetched(program.rsplit('/').next().unwrap_or(program)))
    }

    /// Whether what was walked since then begins with a command that lists what is there.
    pub(super) fn lists_since(&self, from: usize) -> bool {
        let first = self.runs.get(from).and_then(|run| run.program.as_deref());
        first.is_some_and(|program| feed::is_listing(program.rsplit('/').next().unwrap_or(program)))
    }

    /// A variable that is set for one program; an allow-list says nothing of it.
    pub(super) fn environment(&mut self, name: &str, place: Place) {
        if self.settings.security == Security::Strict {
            self.tell(Finding::opaque("the allow-list names programs without variables"), name, place);
        }
    }

    /// A file that is written; an allow-list says nothing of it.
    pub(super) fn writes_a_file(&mut self, file: &str, place: Place) {
        if self.settings.security == Security::Strict {
            self.tell(Finding::opaque("the allow-list names programs, not files to write"), file, place);
        }
    }

    /// Remembers a file that the line writes.
    pub(super) fn writes(&mut self, file: &str) {
        let file = normal(file);
        if !self.written.contains(file.as_ref()) {
            self.written.insert(file.into_owned());
        }
    }

    pub(super) fn tell(&mut self, finding: Finding, command: &str, place: Place) {
        let verdict = self.settings.security.ruling(finding.weight);
        let at = self.origin.unwrap_or(place).0;
        if verdict == Ruling::Allow || !self.told.insert((at, finding.why.clone())) {
            return;
        }
        let is_worse = self.reasons.iter().all(|(weight, _)| *weight < finding.weight);
        if self.reasons.len() >= MAX_REASONS && !is_worse {
            return;
        }
        let command = command.chars().take(200).collect();
        let reason = Reason { verdict, command, at, why: finding.why };
        self.reasons.push((finding.weight, reason));
    }

    /// What the walk found.
    pub(super) fn finish(mut self, printed: Option<String>) -> Judged {
        self.origin = None;
        self.bombs();
        if self.holds_code && self.counts {
            let why = "a text in it would run as a command where a number is expected";
            self.tell(Finding::opaque(why), "", Place::default());
        }
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        if self.folder_change != FolderChange::Nowhere {
            self.written = self.written.iter().map(|path| name(path)).collect();
        }
        for (file, command, place) in std::mem::take(&mut self.started) {
            let file = if self.folder_change != FolderChange::Nowhere { name(&file) } else { file };
            if self.written.contains(&file) {
                self.tell(Finding::opaque("runs a file that the same line writes"), &command, place);
            }
        }
        self.reasons.sort_by_key(|(weight, reason)| (std::cmp::Reverse(*weight), reason.at));
        let reasons: Vec<Reason> = self.reasons.into_iter().map(|(_, reason)| reason).collect();
        let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Ruling::Allow);
        Judged { verdict, reasons, commands: self.runs, printed }
    }

    /// Functions that call themselves beside others, at once or through another one.
    fn bombs(&mut self) {
        let mut found = Vec::new();
        for (function, callees) in &self.calls {
            for (callee, beside) in callees {
                let back = self.calls.get(callee).and_then(|inner| inner.get(function));
                if (callee == function && *beside) || back.is_some_and(|back| *back || *beside) {
                    found.push(function.clone());
                }
            }
        }
        for function in found {
            let why = "a function that starts itself again and again, beside itself";
            self.tell(Finding::danger(why), &function, Place::default());
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_ARGUMENT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
