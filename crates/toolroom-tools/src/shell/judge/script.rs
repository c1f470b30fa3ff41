//! Walks scripts: which commands there are, and what they read and write.

use std::rc::Rc;

use super::call::Call;
use super::feed::Feed;
use super::finding::Finding;
use super::folder::Folder;
use super::value::{Origin, Value};
use super::walk::{Around, Walk};
use super::words::holds_code;
use super::{paths, risk, shell_builtins, variables};
use crate::shell::grammar::{
    Body, Command, Piece, Pipeline, Place, Redirection, Script, Simple, Target, TestPart, Word,
};

/// What redirections do to a command.
#[derive(Default)]
struct Redirected {
    feed: Option<Feed>,
    writes_file: bool,
    /// The file that loses what was in it.
    emptied: Option<String>,
    /// The file that is read as standard input.
    input: Option<String>,
    is_connected: bool,
}

impl Walk<'_> {
    pub(super) fn script(&mut self, script: &Script, feed: &Feed, around: Around<'_>) {
        for item in &script.items {
            let around = Around { is_beside: around.is_beside || item.background, ..around };
            let folder = item.background.then(|| self.folder.clone());
            self.pipeline(&item.chain.first, feed, around);
            item.chain.rest.iter().for_each(|(_, pipeline)| self.pipeline(pipeline, feed, around));
            self.go_back(folder);
        }
    }

    /// Walks what another shell runs, which may go elsewhere without this one.
    pub(super) fn apart(&mut self, script: &Script, feed: &Feed, around: Around<'_>) {
        let folder = self.folder.clone();
        self.script(script, feed, around);
        self.folder = folder;
    }

    fn go_back(&mut self, folder: Option<Folder>) {
        if let Some(folder) = folder {
            self.folder = folder;
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, feed: &Feed, around: Around<'_>) {
        let around = Around { is_beside: around.is_beside || pipeline.commands.len() > 1, ..around };
        let folder = (pipeline.commands.len() > 1).then(|| self.folder.clone());
        let mut feed = feed.clone();
        for command in &pipeline.commands {
            let from = self.runs.len();
            let text = self.command(command, &feed, around);
            self.go_back(folder.clone());
            let carried = matches!(feed, Feed::Pipe { is_fetched: true, .. });
            feed = Feed::Pipe { is_fetched: carried || self.is_fetched_since(from), text };
        }
    }

    /// Walks a command and says what it prints, if that is known.
    fn command(&mut self, command: &Command, feed: &Feed, around: Around<'_>) -> Option<Rc<str>> {
        let redirected = self.redirections(&command.redirections, command.place, around);
        let feed = redirected.feed.as_ref().unwrap_or(feed);
        if let Body::Simple(simple) = &command.body {
            return self.simple(simple, feed.clone(), &redirected, command.place, around);
        }
        let feed = feed.shared();
        match &command.body {
            Body::Simple(_) => {}
            Body::Group(script) => self.script(script, &feed, around),
            Body::Subshell(script) => self.apart(script, &feed, around),
            Body::If(branches, otherwise) => {
                for (condition, then) in branches {
                    self.script(condition, &feed, around);
                    self.script(then, &feed, around);
                }
                otherwise.iter().for_each(|script| self.script(script, &feed, around));
            }
            Body::Loop { condition, body, .. } => {
                self.script(condition, &feed, around);
                self.script(body, &feed, around);
            }
            Body::For { name, words, body, .. } => {
                self.sets(name, command.place);
                for word in words.iter().flatten() {
                    let value = self.value(&word.pieces, word.place, around);
                    self.report_secret_name(&value, word.place);
                }
                self.script(body, &feed, around);
            }
            Body::Count { header, body } => {
                header.iter().for_each(|pieces| self.arithmetic(pieces, command.place, around));
                self.script(body, &feed, around);
            }
            Body::Case { word, arms } => {
                self.value(&word.pieces, word.place, around);
                for arm in arms {
                    for pattern in &arm.patterns {
                        self.value(&pattern.pieces, pattern.place, around);
                    }
                    self.script(&arm.body, &feed, around);
                }
            }
            Body::Arithmetic(pieces) => self.arithmetic(pieces, command.place, around),
            Body::Test(parts) => {
                for part in parts {
                    if let TestPart::Word(word) = part {
                        let value = self.value(&word.pieces, word.place, around);
                        if matches!(value.text.as_str(), "-v" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
                        {
                            self.counts = true;
                        }
                    }
                }
            }
            Body::Function { name, body } => {
                if shell_builtins::is_one(name) {
                    let why = "gives a command of the shell itself another meaning";
                    self.tell(Finding::opaque(why), name, command.place);
                } else if risk::is_known(name) {
                    self.tell(
                        Finding::opaque("gives the name of a program another meaning"),
                        name,
                        command.place,
                    );
                }
                let inside = Around { function: Some(name), is_beside: false };
                // Nobody knows where it will be called.
                let folder = std::mem::take(&mut self.folder);
                self.command(body, &Feed::Inherited, inside);
                self.folder = folder;
            }
            Body::Coproc(inner) => {
                let folder = self.folder.clone();
                self.command(inner, &feed, Around { is_beside: true, ..around });
                self.folder = folder;
            }
        }
        None
    }

    fn simple(
        &mut self,
        simple: &Simple,
        feed: Feed,
        redirected: &Redirected,
        place: Place,
        around: Around<'_>,
    ) -> Option<Rc<str>> {
        for assignment in &simple.assignments {
            self.assignment(assignment, simple.words.is_empty(), around);
        }
        let words: Vec<Value> =
            simple.words.iter().map(|word| self.value(&word.pieces, word.place, around)).collect();
        if words.is_empty() {
            self.report_emptied_file(redirected, place);
            return None;
        }
        // What these name may stand in brackets.
        self.counts |=
            words.first().is_some_and(|word| matches!(word.text.as_str(), "let" | "unset" | "test" | "["))
                && words.iter().skip(1).any(|word| word.text.contains('['));
        let mut call = Call::new(words, feed, place);
        call.writes_file = redirected.writes_file;
        call.is_connected = redirected.is_connected;
        let prints_nothing = prints_nothing(&call);
        if prints_nothing || redirected.emptied.as_ref().is_some_and(|file| reads(&call, redirected, file)) {
            self.report_emptied_file(redirected, place);
        }
        let printed = if prints_nothing { Some("".into()) } else { printed(&call) };
        self.call(call, around);
        printed
    }

    /// A file that is opened for writing, by a command that writes nothing or reads the file afterwards.
    fn report_emptied_file(&mut self, redirected: &Redirected, place: Place) {
        if let Some(file) = &redirected.emptied {
            self.tell(Finding::risk("empties a file"), file, place);
        }
    }

    pub(super) fn sets(&mut self, name: &str, place: Place) {
        if let Some(finding) = variables::judged(name) {
            self.tell(finding, name, place);
        }
    }

    fn redirections(&mut self, redirections: &[Redirection], place: Place, around: Around<'_>) -> Redirected {
        let mut redirected = Redirected::default();
        for redirection in redirections {
            let descriptor = redirection.descriptor.as_str();
            if let Some(name) = descriptor.strip_prefix('{') {
                self.sets(name.trim_end_matches('}'), place);
            }
            // Whoever writes `00` means the same, and `0>` leads standard input elsewhere, too.
            let is_input = match descriptor {
                "" => redirection.operator.starts_with('<'),
                number => number.bytes().all(|byte| byte == b'0'),
            };
            match &redirection.target {
                Target::Here(here) => {
                    let value = match here.pieces() {
                        [Piece::Single(text)] => Value::plain(text),
                        pieces => self.quoted_value(pieces, place, around),
                    };
                    self.holds_code |= holds_code(&value.text);
                    if is_input {
                        redirected.feed = Some(given(&value));
                    }
                }
                Target::Word(word) => {
                    let value = self.value(&word.pieces, word.place, around);
                    match redirection.operator {
                        "<<<" if is_input => redirected.feed = Some(given(&value)),
                        _ if is_input => {
                            redirected.feed = Some(read(&value));
                            redirected.input = Some(value.shown());
                        }
                        _ => {}
                    }
                    self.redirected(redirection.operator, &value, word, &mut redirected);
                }
            }
        }
        redirected
    }

    fn redirected(&mut self, operator: &str, value: &Value, word: &Word, redirected: &mut Redirected) {
        let text = value.text.as_str();
        let is_descriptor =
            text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if operator == "<<<" {
            return self.report_secret_name(value, word.place);
        }
        if operator.ends_with('&') && is_descriptor {
            return;
        }
        let told = |walk: &mut Self, finding| walk.tell(finding, &value.shown(), word.place);
        if paths::is_connection(text) {
            redirected.is_connected = true;
            told(self, Finding::touch("opens a connection"));
        }
        if paths::is_secret(value) {
            told(self, Finding::touch("a file that holds secrets"));
        }
        if operator == "<" {
            if value.origin == Origin::Composed {
                told(self, Finding::touch(risk::COMPOSED));
            }
            return;
        }
        redirected.writes_file |= text != "/dev/null";
        if matches!(operator, ">" | ">|" | "&>") && !text.starts_with("/dev/") {
            redirected.emptied = Some(value.shown());
        }
        self.writes(text);
        let elsewhere = self.folder.path(text);
        let is_one = |judge: fn(&str) -> bool| judge(text) || elsewhere.as_deref().is_some_and(judge);
        if is_one(paths::is_device) {
            told(self, Finding::danger("writes onto a device"));
        } else if is_one(paths::is_record) {
            told(self, Finding::danger("wipes a record of what was done"));
        } else if is_one(paths::is_startup) {
            told(self, Finding::touch("writes a file that is run by others later"));
        } else if !paths::spares_the_system(value) || is_one(|path| paths::is_system(&Value::plain(path))) {
            told(self, Finding::touch("writes a file of the system, or one that is not known before"));
        } else if !matches!(text, "/dev/null" | "/dev/stderr" | "/dev/stdout") {
            self.writes_a_file(&value.shown(), word.place);
        }
    }
}

/// Standard input that stands in the line itself.
fn given(value: &Value) -> Feed {
    match value.is_fetched {
        true => Feed::Pipe { is_fetched: true, text: None },
        false => Feed::Text(value.known().map(Rc::from)),
    }
}

/// Standard input that comes from a file.
fn read(value: &Value) -> Feed {
    match value.is_fetched {
        true => Feed::Pipe { is_fetched: true, text: None },
        false if value.text == "/dev/null" => Feed::Empty,
        false => Feed::File,
    }
}

/// Whether a command reads the file that its output replaces. The shell empties that file first.
fn reads(call: &Call, redirected: &Redirected, file: &str) -> bool {
    let is_it = |text: &str| paths::normal(text) == paths::normal(file);
    let is_read = !matches!(call.name(), "echo" | "printf" | "test" | "[");
    is_read && call.operands().any(|value| is_it(&value.text))
        || redirected.input.as_deref().is_some_and(is_it)
}

/// Whether a command is known to print nothing, so that the file it writes ends up empty.
fn prints_nothing(call: &Call) -> bool {
    let is_format = |value: &Value| matches!(value.text.as_str(), "-n" | "-e" | "-ne" | "%s");
    let mut words = call.arguments().iter().filter(|value| !is_format(value));
    let mut files = call.operands().peekable();
    match call.name() {
        ":" | "true" | "false" | "test" | "[" => true,
        "echo" | "printf" => words.all(|value| value.text.is_empty() && !value.splits),
        "cat" | "head" | "tail" | "sort" | "uniq" | "shuf" | "tac" | "nl" => match files.peek() {
            // A number is the value of an option.
            Some(_) => files.all(|file| {
                paths::normal(&file.text) == "/dev/null"
                    || file.text.bytes().all(|byte| byte.is_ascii_digit())
            }),
            None => call.feed.is_empty(),
        },
        _ => false,
    }
}

/// What a command prints, where that is plain.
fn printed(call: &Call) -> Option<Rc<str>> {
    if call.writes_file {
        return None;
    }
    let arguments: Option<Vec<&str>> = call.arguments().iter().map(Value::known).collect();
    match (call.name(), arguments?.as_slice()) {
        ("echo", words) if !words.iter().any(|word| word.starts_with('-') || word.contains('\\')) => {
            Some(words.join(" ").into())
        }
        ("printf", [text]) if !text.contains(['%', '\\', '-']) => Some((*text).into()),
        ("printf", ["%s" | "%s\\n", text]) => Some((*text).into()),
        ("cat", [] | ["-"]) => match &call.feed {
            Feed::Text(text) | Feed::Pipe { text, .. } => text.clone(),
            Feed::Inherited | Feed::File | Feed::Empty => None,
        },
        _ => None,
    }
}
