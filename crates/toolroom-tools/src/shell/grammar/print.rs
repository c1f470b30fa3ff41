//! Prints a tree: what was judged is what runs.

use std::collections::HashSet;

use super::print_word::{bare_lines, pieces, word};
use super::tree::{
    Arm, ArmEnd, Body, Chain, Command, HereDocument, Link, Pipeline, Redirection, Script, Simple, Target,
    TestPart, Timed,
};

/// Prints the script; parsing the result gives the same tree.
#[must_use]
pub fn print(script: &Script) -> String {
    let mut printer = Printer::default();
    printer.script(script);
    printer.text
}

#[derive(Default)]
pub(super) struct Printer {
    pub(super) text: String,
    /// Here-document lines that follow the current line.
    pending: String,
    /// Some have been written. From then on items end with a line: bash 5.2 loses a `;` after such lines in `$(…)`.
    has_lines: bool,
}

impl Printer {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The items; the last one is ended only if lines have to follow it.
    pub(super) fn script(&mut self, script: &Script) {
        // A substitution with lines of its own must not begin while an outer command's lines are pending.
        self.end_line();
        for (index, item) in script.items.iter().enumerate() {
            if index > 0 {
                self.separate();
            }
            self.chain(&item.chain);
            if item.background {
                self.push(" &");
            } else if index + 1 < script.items.len() && self.pending.is_empty() && !self.has_lines {
                self.push(";");
            }
        }
        self.end_line();
    }

    /// The items, ended so that a closing word may follow.
    fn closed(&mut self, script: &Script) {
        self.script(script);
        let is_ended = script.items.last().is_none_or(|item| item.background) || self.text.ends_with('\n');
        self.push(match (is_ended, self.has_lines) {
            (true, _) => " ",
            (false, true) => "\n",
            (false, false) => "; ",
        });
    }

    /// Separates two items.
    fn separate(&mut self) {
        match self.pending.is_empty() {
            true if self.has_lines => self.push("\n"),
            true => self.push(" "),
            false => self.end_line(),
        }
    }

    /// Writes the pending lines, if any.
    fn end_line(&mut self) {
        if !self.pending.is_empty() {
            self.has_lines = true;
            self.text.push('\n');
            self.text.push_str(&std::mem::take(&mut self.pending));
        }
    }

    fn chain(&mut self, chain: &Chain) {
        self.pipeline(&chain.first);
        for (link, pipeline) in &chain.rest {
            self.push(match link {
                Link::And => " && ",
                Link::Or => " || ",
            });
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.push(match pipeline.timed {
            None => "",
            Some(Timed::Plain) => "time ",
            Some(Timed::Portable) => "time -p ",
        });
        if pipeline.negated {
            self.push("! ");
        }
        for (index, command) in pipeline.commands.iter().enumerate() {
            if index > 0 {
                self.push(" | ");
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        let start = self.text.len();
        self.body(&command.body);
        for redirection in &command.redirections {
            if self.text.len() > start {
                self.push(" ");
            }
            self.redirection(redirection);
        }
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Simple(simple) => self.simple(simple),
            Body::Group(script) => {
                self.push("{ ");
                self.closed(script);
                self.push("}");
            }
            Body::Subshell(script) => {
                self.push("( ");
                self.script(script);
                self.push(" )");
            }
            Body::If(branches, otherwise) => {
                for (index, (condition, then)) in branches.iter().enumerate() {
                    self.push(if index == 0 { "if " } else { "elif " });
                    self.closed(condition);
                    self.push("then ");
                    self.closed(then);
                }
                if let Some(otherwise) = otherwise {
                    self.push("else ");
                    self.closed(otherwise);
                }
                self.push("fi");
            }
            Body::Loop { until, condition, body } => {
                self.push(if *until { "until " } else { "while " });
                self.closed(condition);
                self.done(body);
            }
            Body::For { select, name, words, body } => {
                self.push(if *select { "select " } else { "for " });
                self.push(name);
                if let Some(words) = words {
                    self.push(" in");
                    for each in words {
                        self.push(" ");
                        word(self, each);
                    }
                }
                self.push("; ");
                self.done(body);
            }
            Body::Count { header, body } => {
                self.push("for ((");
                for (index, expression) in header.iter().enumerate() {
                    self.push(if index > 0 { ";" } else { "" });
                    pieces(self, expression);
                }
                self.push(")); ");
                self.done(body);
            }
            Body::Case { word: compared, arms } => {
                self.push("case ");
                word(self, compared);
                self.push(" in ");
                arms.iter().for_each(|arm| self.arm(arm));
                self.push("esac");
            }
            Body::Arithmetic(expression) => {
                self.push("((");
                pieces(self, expression);
                self.push("))");
            }
            Body::Test(parts) => {
                self.push("[[");
                for part in parts {
                    self.push(" ");
                    match part {
                        TestPart::Word(operand) => word(self, operand),
                        TestPart::Operator(operator) => self.push(operator),
                    }
                }
                self.push(" ]]");
            }
            Body::Function { name, body } => {
                self.push(name);
                self.push("() ");
                self.command(body);
            }
            Body::Coproc(command) => {
                self.push("coproc ");
                self.command(command);
            }
        }
    }

    fn done(&mut self, body: &Script) {
        self.push("do ");
        self.closed(body);
        self.push("done");
    }

    fn arm(&mut self, arm: &Arm) {
        for (index, pattern) in arm.patterns.iter().enumerate() {
            self.push(if index == 0 { "(" } else { " | " });
            word(self, pattern);
        }
        self.push(") ");
        self.script(&arm.body);
        self.push(match arm.end {
            ArmEnd::Leave => " ;; ",
            ArmEnd::Enter => " ;& ",
            ArmEnd::Compare => " ;;& ",
        });
    }

    fn simple(&mut self, simple: &Simple) {
        let assigned = simple.assignments.iter().map(|assignment| &assignment.word);
        for (index, each) in assigned.chain(&simple.words).enumerate() {
            if index > 0 {
                self.push(" ");
            }
            word(self, each);
        }
    }

    fn redirection(&mut self, redirection: &Redirection) {
        self.push(&redirection.descriptor);
        self.push(redirection.operator);
        match &redirection.target {
            Target::Here(here) => self.here(here),
            Target::Word(target) => {
                if !matches!(redirection.operator, ">&" | "<&") {
                    self.push(" ");
                }
                word(self, target);
            }
        }
    }

    fn here(&mut self, here: &HereDocument) {
        let lines = bare_lines(here.pieces());
        let mut delimiter = "EOF".to_owned();
        let mut number = 0_u32;
        let taken: HashSet<&str> = lines.lines().filter(|line| line.starts_with("EOF")).collect();
        // There are fewer here-documents than numbers.
        while taken.contains(delimiter.as_str()) {
            number += 1;
            delimiter = format!("EOF_{number}");
        }
        match here.expands {
            true => self.push(&delimiter),
            false => self.push(&format!("'{delimiter}'")),
        }
        self.pending.push_str(&lines);
        self.pending.push_str(&delimiter);
        self.pending.push('\n');
    }
}
