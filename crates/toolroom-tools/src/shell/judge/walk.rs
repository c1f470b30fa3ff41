//! Walks a script and everything it would start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use toolroom::policy::Ruling;

use super::interpreters::is_portable;
use super::invocation::Invocation;
use super::paths::{is_one_file_inside, normal};
use super::report::{CommandVerdict, Concern, ConcernLevel, PlannedCommand, Reason};
use super::settings::{JudgeSettings, Security};
use super::started_programs::{self, StartedPrograms};
use super::stdin::{self, StdinSource};
use super::value::{Origin, Value};
use super::working_folder::WorkingFolder;
use super::{danger, risk};
use crate::shell::grammar::{Position, Script, parse};

/// Nested texts, as in `bash -c "bash -c …"`.
const MAX_TEXT_DEPTH: usize = 6;

/// Total bytes of such texts.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Wrappers around one command.
const MAX_WRAPPERS: usize = 16;

/// Reasons in a verdict.
const MAX_REASONS: usize = 200;

/// Arguments shown per command.
const MAX_ARGUMENTS: usize = 100;

/// Characters shown per argument.
const MAX_ARGUMENT_CHARS: usize = 1_000;

/// A text that is run as a script.
struct Text {
    text: Rc<str>,
    position: Position,
    depth: usize,
    stdin: StdinSource,
    folder: WorkingFolder,
}

/// The context of a command.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CommandContext<'t> {
    /// The function whose body it is in.
    pub(super) function: Option<&'t str>,
    /// It runs concurrently: in a pipeline or in the background.
    pub(super) is_beside: bool,
}

/// How far `cd` may have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FolderChange {
    Nowhere,
    /// Below the folder of the line.
    Below,
    /// Elsewhere, or unknown.
    Outside,
}

pub(super) struct ScriptWalker<'s> {
    settings: &'s JudgeSettings,
    reasons: Vec<(ConcernLevel, Reason)>,
    told: BTreeSet<(usize, String)>,
    pub(super) runs: Vec<PlannedCommand>,
    texts: VecDeque<Text>,
    text_bytes: usize,
    text_depth: usize,
    /// Position of the text being walked, if it is not the line itself.
    origin: Option<Position>,
    /// Which function calls which, and whether concurrently.
    calls: BTreeMap<String, BTreeMap<String, bool>>,
    /// Files that the line writes.
    written: BTreeSet<String>,
    /// Files that it runs, with the commands that run them.
    started: Vec<(String, String, Position)>,
    /// The working folder of the current command.
    pub(super) folder: WorkingFolder,
    /// How far `cd` may have moved. Once the folder is unknown, a file has several names.
    folder_change: FolderChange,
    /// A file was already removed without approval.
    has_removed: bool,
    /// The current word is assembled by the line itself.
    pub(super) word_origin: Origin,
    /// Some text contains a substitution that has not run yet.
    pub(super) holds_code: bool,
    /// Some part evaluates texts as numbers.
    pub(super) counts: bool,
}

impl<'s> ScriptWalker<'s> {
    pub(super) fn new(settings: &'s JudgeSettings) -> Self {
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
            folder: WorkingFolder::default(),
            folder_change: FolderChange::Nowhere,
            has_removed: false,
            word_origin: Origin::default(),
            holds_code: false,
            counts: false,
        }
    }

    /// Walks a script and the texts it runs.
    pub(super) fn whole(&mut self, script: &Script) {
        self.script(script, &StdinSource::Inherited, CommandContext::default());
        self.texts();
    }

    /// Walks a program with its arguments.
    pub(super) fn argv(&mut self, program: &str, arguments: &[String]) {
        let words = std::iter::once(program).chain(arguments.iter().map(String::as_str));
        let hidden = words.clone().any(|word| word.contains(super::value::UNKNOWN));
        let words: Vec<Value> = words.map(Value::plain).collect();
        let invocation = Invocation::new(words, StdinSource::Inherited, Position::default());
        if hidden {
            self.tell(
                Concern::opaque("a character in it stands for nothing"),
                &invocation.shown(),
                invocation.position,
            );
        }
        self.call(invocation, CommandContext::default());
        self.texts();
    }

    fn texts(&mut self) {
        while let Some(text) = self.texts.pop_front() {
            self.text_depth = text.depth;
            self.origin = Some(text.position);
            self.folder = text.folder;
            match parse(&text.text) {
                Ok(script) => self.script(&script, &text.stdin, CommandContext::default()),
                Err(error) => {
                    let why = format!("a text in it that would run is not understood: {}", error.why);
                    self.tell(Concern::opaque(why), &text.text, text.position);
                }
            }
        }
    }

    /// Queues a text that would run as a script.
    pub(super) fn run_text(&mut self, text: &str, stdin: &StdinSource, position: Position) {
        self.text_bytes += text.len();
        if self.text_depth >= MAX_TEXT_DEPTH || self.text_bytes > MAX_TEXT_BYTES {
            self.tell(Concern::opaque("too many texts in texts would run"), text, position);
            return;
        }
        let depth = self.text_depth + 1;
        let position = self.origin.unwrap_or(position);
        let (stdin, folder) = (stdin.shared(), self.folder.clone());
        self.texts.push_back(Text { text: text.into(), position, depth, stdin, folder });
    }

    /// Judges an invocation and what it starts.
    pub(super) fn call(&mut self, invocation: Invocation, around: CommandContext<'_>) {
        if let (Some(function), Some(name)) = (around.function, invocation.program().known()) {
            let beside =
                self.calls.entry(function.to_owned()).or_default().entry(name.to_owned()).or_default();
            *beside |= around.is_beside;
        }
        let mut open = vec![(invocation, 0)];
        while let Some((invocation, depth)) = open.pop() {
            self.record(&invocation, depth > 0);
            let told =
                |walk: &mut Self, concern| walk.tell(concern, &invocation.shown(), invocation.position);
            if depth > MAX_WRAPPERS {
                told(self, Concern::opaque("too many wrappers around a command"));
                return;
            }
            let program = invocation.program();
            let is_known = program.known().is_some_and(|name| {
                !name.is_empty() && !program.is_glob && !name.chars().any(char::is_control)
            });
            if !is_known {
                let weight = if program.is_fetched { ConcernLevel::Danger } else { ConcernLevel::Opaque };
                told(self, Concern::new(weight, "the name of the program is not known before it runs"));
                continue;
            }
            if self.settings.security == Security::Strict
                && !self.settings.allowlist.iter().any(|entry| entry.names(&invocation))
            {
                told(self, Concern::opaque("the allow-list does not name it"));
            }
            let StartedPrograms { calls, texts, concerns, files } =
                started_programs::programs_started_by(&invocation);
            let dangers = danger::concerns(&invocation, &self.folder);
            let may_remove = depth == 0
                && self.text_depth == 0
                && self.folder_change != FolderChange::Outside
                && !self.has_removed;
            let removes = may_remove && risk::removes_one_file(&invocation);
            self.has_removed |= removes;
            let risks = risk::concerns(&invocation, &self.folder, removes);
            let concerns = concerns.into_iter().chain(dangers).chain(risks);
            concerns.for_each(|concern| told(self, concern));
            for text in texts {
                match text.known() {
                    Some(known) => {
                        let is_bash =
                            matches!(invocation.name(), "bash" | "rbash" | "eval" | "trap" | "alias");
                        if !is_bash && !is_portable(known) {
                            told(self, Concern::opaque("runs a text that shells do not read alike"));
                        }
                        self.run_text(known, &invocation.stdin, invocation.position);
                    }
                    None if text.is_fetched => {
                        told(self, Concern::danger("runs what was downloaded or decoded"));
                    }
                    None => told(self, Concern::opaque("runs a text that is not known in advance")),
                }
            }
            if matches!(
                invocation.name(),
                "tee" | "cp" | "mv" | "ln" | "install" | "dd" | "sed" | "curl" | "wget" | "sort" | "xxd"
            ) {
                invocation.operands().for_each(|value| self.writes(value.text.trim_start_matches("of=")));
            }
            let started = files.into_iter().chain(program.text.contains('/').then(|| program.text.clone()));
            for file in started {
                self.started.push((normal(&file).into_owned(), invocation.shown(), invocation.position));
            }
            if let Some(folder) = self.folder.after(&invocation) {
                self.folder = folder;
                let is_below =
                    matches!(invocation.arguments(), [to] if is_one_file_inside(to) && to.text != "-");
                self.folder_change = self.folder_change.max(if is_below {
                    FolderChange::Below
                } else {
                    FolderChange::Outside
                });
            }
            open.extend(calls.into_iter().map(|inner| (inner, depth + 1)));
        }
    }

    fn record(&mut self, invocation: &Invocation, is_wrapped: bool) {
        let program = invocation.program();
        let told = invocation.arguments().iter().take(MAX_ARGUMENTS);
        let mut arguments: Vec<String> = told.map(|value| shortened(&value.shown())).collect();
        if invocation.has_more || invocation.arguments().len() > MAX_ARGUMENTS {
            arguments.push("…".to_owned());
        }
        let program = program.known().filter(|_| !program.is_glob).map(str::to_owned);
        let at = self.origin.unwrap_or(invocation.position).0;
        self.runs.push(PlannedCommand { program, arguments, at, is_wrapped });
    }

    /// Whether a downloader or decoder was walked since then.
    pub(super) fn is_fetched_since(&self, from: usize) -> bool {
        let programs = self.runs.iter().skip(from).filter_map(|run| run.program.as_deref());
        programs.into_iter().any(|program| stdin::is_fetched(program.rsplit('/').next().unwrap_or(program)))
    }

    /// Whether the first command walked since then lists names.
    pub(super) fn lists_since(&self, from: usize) -> bool {
        let first = self.runs.get(from).and_then(|run| run.program.as_deref());
        first.is_some_and(|program| stdin::is_listing(program.rsplit('/').next().unwrap_or(program)))
    }

    /// A variable set for one program; the allow-list does not cover it.
    pub(super) fn environment(&mut self, name: &str, position: Position) {
        if self.settings.security == Security::Strict {
            self.tell(Concern::opaque("the allow-list names programs without variables"), name, position);
        }
    }

    /// A written file; the allow-list does not cover it.
    pub(super) fn writes_a_file(&mut self, file: &str, position: Position) {
        if self.settings.security == Security::Strict {
            self.tell(Concern::opaque("the allow-list names programs, not files to write"), file, position);
        }
    }

    /// Remembers a file that the line writes.
    pub(super) fn writes(&mut self, file: &str) {
        let file = normal(file);
        if !self.written.contains(file.as_ref()) {
            self.written.insert(file.into_owned());
        }
    }

    pub(super) fn tell(&mut self, concern: Concern, command: &str, position: Position) {
        let verdict = self.settings.security.ruling(concern.level);
        let at = self.origin.unwrap_or(position).0;
        if verdict == Ruling::Allow || !self.told.insert((at, concern.why.clone())) {
            return;
        }
        let is_worse = self.reasons.iter().all(|(weight, _)| *weight < concern.level);
        if self.reasons.len() >= MAX_REASONS && !is_worse {
            return;
        }
        let command = command.chars().take(200).collect();
        let reason = Reason { verdict, command, at, why: concern.why };
        self.reasons.push((concern.level, reason));
    }

    /// The verdict.
    pub(super) fn finish(mut self, printed: Option<String>) -> CommandVerdict {
        self.origin = None;
        self.bombs();
        if self.holds_code && self.counts {
            let why = "a text in it would run as a command where a number is expected";
            self.tell(Concern::opaque(why), "", Position::default());
        }
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        if self.folder_change != FolderChange::Nowhere {
            self.written = self.written.iter().map(|path| name(path)).collect();
        }
        for (file, command, position) in std::mem::take(&mut self.started) {
            let file = if self.folder_change != FolderChange::Nowhere { name(&file) } else { file };
            if self.written.contains(&file) {
                self.tell(Concern::opaque("runs a file that the same line writes"), &command, position);
            }
        }
        self.reasons.sort_by_key(|(weight, reason)| (std::cmp::Reverse(*weight), reason.at));
        let reasons: Vec<Reason> = self.reasons.into_iter().map(|(_, reason)| reason).collect();
        let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Ruling::Allow);
        CommandVerdict { verdict, reasons, commands: self.runs, printed }
    }

    /// Reports fork bombs: functions that call themselves concurrently, directly or through another one.
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
            self.tell(Concern::danger(why), &function, Position::default());
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_ARGUMENT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
