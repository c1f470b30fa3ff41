//! Walks scripts: their commands, and the files they read and write.

use std::rc::Rc;

use super::invocation::Invocation;
use super::report::Concern;
use super::stdin::StdinSource;
use super::value::{Origin, Value};
use super::walk::{CommandContext, ScriptWalker};
use super::words::holds_code;
use super::working_folder::WorkingFolder;
use super::{paths, risk, shell_builtins, variables};
use crate::shell::grammar::{
    Body, Command, Piece, Pipeline, Position, Redirection, Script, Simple, Target, TestPart, Word,
};

/// The effect of redirections on a command.
#[derive(Default)]
struct Redirected {
    stdin: Option<StdinSource>,
    writes_file: bool,
    /// The file that is emptied.
    emptied: Option<String>,
    /// The file that is standard input.
    input: Option<String>,
    is_connected: bool,
}

impl ScriptWalker<'_> {
    pub(super) fn script(&mut self, script: &Script, stdin: &StdinSource, around: CommandContext<'_>) {
        for item in &script.items {
            let around = CommandContext { is_beside: around.is_beside || item.background, ..around };
            let folder = item.background.then(|| self.folder.clone());
            self.pipeline(&item.chain.first, stdin, around);
            item.chain.rest.iter().for_each(|(_, pipeline)| self.pipeline(pipeline, stdin, around));
            self.go_back(folder);
        }
    }

    /// Walks a subshell, whose `cd` does not affect this shell.
    pub(super) fn apart(&mut self, script: &Script, stdin: &StdinSource, around: CommandContext<'_>) {
        let folder = self.folder.clone();
        self.script(script, stdin, around);
        self.folder = folder;
    }

    fn go_back(&mut self, folder: Option<WorkingFolder>) {
        if let Some(folder) = folder {
            self.folder = folder;
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, stdin: &StdinSource, around: CommandContext<'_>) {
        let around = CommandContext { is_beside: around.is_beside || pipeline.commands.len() > 1, ..around };
        let folder = (pipeline.commands.len() > 1).then(|| self.folder.clone());
        let mut stdin = stdin.clone();
        for command in &pipeline.commands {
            let from = self.runs.len();
            let text = self.command(command, &stdin, around);
            self.go_back(folder.clone());
            let carried = matches!(stdin, StdinSource::Pipe { is_fetched: true, .. });
            stdin = StdinSource::Pipe { is_fetched: carried || self.is_fetched_since(from), text };
        }
    }

    /// Walks a command. Returns its output, if known.
    fn command(
        &mut self,
        command: &Command,
        stdin: &StdinSource,
        around: CommandContext<'_>,
    ) -> Option<Rc<str>> {
        let redirected = self.redirections(&command.redirections, command.position, around);
        let stdin = redirected.stdin.as_ref().unwrap_or(stdin);
        if let Body::Simple(simple) = &command.body {
            return self.simple(simple, stdin.clone(), &redirected, command.position, around);
        }
        let stdin = stdin.shared();
        match &command.body {
            Body::Simple(_) => {}
            Body::Group(script) => self.script(script, &stdin, around),
            Body::Subshell(script) => self.apart(script, &stdin, around),
            Body::If(branches, otherwise) => {
                for (condition, then) in branches {
                    self.script(condition, &stdin, around);
                    self.script(then, &stdin, around);
                }
                otherwise.iter().for_each(|script| self.script(script, &stdin, around));
            }
            Body::Loop { condition, body, .. } => {
                self.script(condition, &stdin, around);
                self.script(body, &stdin, around);
            }
            Body::For { name, words, body, .. } => {
                self.sets(name, command.position);
                for word in words.iter().flatten() {
                    let value = self.value(&word.pieces, word.position, around);
                    self.report_secret_name(&value, word.position);
                }
                self.script(body, &stdin, around);
            }
            Body::Count { header, body } => {
                header.iter().for_each(|pieces| self.arithmetic(pieces, command.position, around));
                self.script(body, &stdin, around);
            }
            Body::Case { word, arms } => {
                self.value(&word.pieces, word.position, around);
                for arm in arms {
                    for pattern in &arm.patterns {
                        self.value(&pattern.pieces, pattern.position, around);
                    }
                    self.script(&arm.body, &stdin, around);
                }
            }
            Body::Arithmetic(pieces) => self.arithmetic(pieces, command.position, around),
            Body::Test(parts) => {
                for part in parts {
                    if let TestPart::Word(word) = part {
                        let value = self.value(&word.pieces, word.position, around);
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
                    self.tell(Concern::opaque(why), name, command.position);
                } else if risk::is_known(name) {
                    self.tell(
                        Concern::opaque("gives the name of a program another meaning"),
                        name,
                        command.position,
                    );
                }
                let inside = CommandContext { function: Some(name), is_beside: false };
                // It may be called from any folder.
                let folder = std::mem::take(&mut self.folder);
                self.command(body, &StdinSource::Inherited, inside);
                self.folder = folder;
            }
            Body::Coproc(inner) => {
                let folder = self.folder.clone();
                self.command(inner, &stdin, CommandContext { is_beside: true, ..around });
                self.folder = folder;
            }
        }
        None
    }

    fn simple(
        &mut self,
        simple: &Simple,
        stdin: StdinSource,
        redirected: &Redirected,
        position: Position,
        around: CommandContext<'_>,
    ) -> Option<Rc<str>> {
        for assignment in &simple.assignments {
            self.assignment(assignment, simple.words.is_empty(), around);
        }
        let words: Vec<Value> =
            simple.words.iter().map(|word| self.value(&word.pieces, word.position, around)).collect();
        if words.is_empty() {
            self.report_emptied_file(redirected, position);
            return None;
        }
        // These names may contain a substitution in brackets.
        self.counts |=
            words.first().is_some_and(|word| matches!(word.text.as_str(), "let" | "unset" | "test" | "["))
                && words.iter().skip(1).any(|word| word.text.contains('['));
        let mut invocation = Invocation::new(words, stdin, position);
        invocation.writes_file = redirected.writes_file;
        invocation.is_connected = redirected.is_connected;
        let prints_nothing = prints_nothing(&invocation);
        if prints_nothing
            || redirected.emptied.as_ref().is_some_and(|file| reads(&invocation, redirected, file))
        {
            self.report_emptied_file(redirected, position);
        }
        let printed = if prints_nothing { Some("".into()) } else { printed(&invocation) };
        self.call(invocation, around);
        printed
    }

    /// Reports a file that is truncated by a command that writes nothing, or reads the file afterwards.
    fn report_emptied_file(&mut self, redirected: &Redirected, position: Position) {
        if let Some(file) = &redirected.emptied {
            self.tell(Concern::risk("empties a file"), file, position);
        }
    }

    pub(super) fn sets(&mut self, name: &str, position: Position) {
        if let Some(concern) = variables::judged(name) {
            self.tell(concern, name, position);
        }
    }

    fn redirections(
        &mut self,
        redirections: &[Redirection],
        position: Position,
        around: CommandContext<'_>,
    ) -> Redirected {
        let mut redirected = Redirected::default();
        for redirection in redirections {
            let descriptor = redirection.descriptor.as_str();
            if let Some(name) = descriptor.strip_prefix('{') {
                self.sets(name.trim_end_matches('}'), position);
            }
            // `00` is also standard input, and so is the `0` of `0>`.
            let is_input = match descriptor {
                "" => redirection.operator.starts_with('<'),
                number => number.bytes().all(|byte| byte == b'0'),
            };
            match &redirection.target {
                Target::Here(here) => {
                    let value = match here.pieces() {
                        [Piece::Single(text)] => Value::plain(text),
                        pieces => self.quoted_value(pieces, position, around),
                    };
                    self.holds_code |= holds_code(&value.text);
                    if is_input {
                        redirected.stdin = Some(given(&value));
                    }
                }
                Target::Word(word) => {
                    let value = self.value(&word.pieces, word.position, around);
                    match redirection.operator {
                        "<<<" if is_input => redirected.stdin = Some(given(&value)),
                        _ if is_input => {
                            redirected.stdin = Some(read(&value));
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
            return self.report_secret_name(value, word.position);
        }
        if operator.ends_with('&') && is_descriptor {
            return;
        }
        let told = |walk: &mut Self, concern| walk.tell(concern, &value.shown(), word.position);
        if paths::is_connection(text) {
            redirected.is_connected = true;
            told(self, Concern::touch("opens a connection"));
        }
        if paths::is_secret(value) {
            told(self, Concern::touch("a file that holds secrets"));
        }
        if operator == "<" {
            if value.origin == Origin::Composed {
                told(self, Concern::touch(risk::COMPOSED));
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
            told(self, Concern::danger("writes onto a device"));
        } else if is_one(paths::is_record) {
            told(self, Concern::danger("wipes a record of what was done"));
        } else if is_one(paths::is_startup) {
            told(self, Concern::touch("writes a file that is run by others later"));
        } else if !paths::spares_the_system(value) || is_one(|path| paths::is_system(&Value::plain(path))) {
            told(self, Concern::touch("writes a system file, or one that is not known in advance"));
        } else if !matches!(text, "/dev/null" | "/dev/stderr" | "/dev/stdout") {
            self.writes_a_file(&value.shown(), word.position);
        }
    }
}

/// Standard input from the line itself.
fn given(value: &Value) -> StdinSource {
    match value.is_fetched {
        true => StdinSource::Pipe { is_fetched: true, text: None },
        false => StdinSource::Text(value.known().map(Rc::from)),
    }
}

/// Standard input from a file.
fn read(value: &Value) -> StdinSource {
    match value.is_fetched {
        true => StdinSource::Pipe { is_fetched: true, text: None },
        false if value.text == "/dev/null" => StdinSource::Empty,
        false => StdinSource::File,
    }
}

/// Whether a command reads the file its output replaces. The shell truncates that file first.
fn reads(invocation: &Invocation, redirected: &Redirected, file: &str) -> bool {
    let is_it = |text: &str| paths::normal(text) == paths::normal(file);
    let is_read = !matches!(invocation.name(), "echo" | "printf" | "test" | "[");
    is_read && invocation.operands().any(|value| is_it(&value.text))
        || redirected.input.as_deref().is_some_and(is_it)
}

/// Whether a command is known to print nothing, which leaves its output file empty.
fn prints_nothing(invocation: &Invocation) -> bool {
    let is_format = |value: &Value| matches!(value.text.as_str(), "-n" | "-e" | "-ne" | "%s");
    let mut words = invocation.arguments().iter().filter(|value| !is_format(value));
    let mut files = invocation.operands().peekable();
    match invocation.name() {
        ":" | "true" | "false" | "test" | "[" => true,
        "echo" | "printf" => words.all(|value| value.text.is_empty() && !value.splits),
        "cat" | "head" | "tail" | "sort" | "uniq" | "shuf" | "tac" | "nl" => match files.peek() {
            // A number is the value of an option.
            Some(_) => files.all(|file| {
                paths::normal(&file.text) == "/dev/null"
                    || file.text.bytes().all(|byte| byte.is_ascii_digit())
            }),
            None => invocation.stdin.is_empty(),
        },
        _ => false,
    }
}

/// The output of a command, if it is obvious.
fn printed(invocation: &Invocation) -> Option<Rc<str>> {
    if invocation.writes_file {
        return None;
    }
    let arguments: Option<Vec<&str>> = invocation.arguments().iter().map(Value::known).collect();
    match (invocation.name(), arguments?.as_slice()) {
        ("echo", words) if !words.iter().any(|word| word.starts_with('-') || word.contains('\\')) => {
            Some(words.join(" ").into())
        }
        ("printf", [text]) if !text.contains(['%', '\\', '-']) => Some((*text).into()),
        ("printf", ["%s" | "%s\\n", text]) => Some((*text).into()),
        ("cat", [] | ["-"]) => match &invocation.stdin {
            StdinSource::Text(text) | StdinSource::Pipe { text, .. } => text.clone(),
            StdinSource::Inherited | StdinSource::File | StdinSource::Empty => None,
        },
        _ => None,
    }
}
