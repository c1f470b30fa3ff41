//! The syntax tree of a script.

use std::sync::{Arc, OnceLock};

/// Byte offset in the text. Ignored when trees are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position(pub usize);

impl PartialEq for Position {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Position {}

/// A sequence of commands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// In order.
    pub items: Vec<Item>,
}

/// A chain, in the foreground or background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What runs.
    pub chain: Chain,
    /// Ended by `&`.
    pub background: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The first one always runs.
    pub first: Pipeline,
    /// Each runs depending on the previous one.
    pub rest: Vec<(Link, Pipeline)>,
}

/// How a pipeline depends on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`. `|&` is read as `2>&1 |`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// Behind `time`.
    pub timed: Option<Timed>,
    /// Behind `!`.
    pub negated: bool,
    /// At least one.
    pub commands: Vec<Command>,
}

/// The two forms of `time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// `time`
    Plain,
    /// `time -p`
    Portable,
}

/// One command with its redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Where it begins.
    pub position: Position,
    /// What it is.
    pub body: Body,
    /// In order.
    pub redirections: Vec<Redirection>,
}

/// The kinds of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Assignments and words.
    Simple(Simple),
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `if`, with its conditions and what follows from them, and `else`.
    If(Vec<(Script, Script)>, Option<Script>),
    /// `while` or `until`.
    Loop {
        /// `until`.
        until: bool,
        /// Evaluated before each round.
        condition: Script,
        /// The loop body.
        body: Script,
    },
    /// `for` or `select` over words; without words over the arguments.
    For {
        /// `select`.
        select: bool,
        /// The variable.
        name: String,
        /// The words behind `in`.
        words: Option<Vec<Word>>,
        /// What is done.
        body: Script,
    },
    /// `for ((…; …; …))`
    Count {
        /// The three expressions.
        header: [Vec<Piece>; 3],
        /// What is done.
        body: Script,
    },
    /// `case`
    Case {
        /// What is compared.
        word: Word,
        /// In order.
        arms: Vec<Arm>,
    },
    /// `((…))`
    Arithmetic(Vec<Piece>),
    /// `[[ … ]]`
    Test(Vec<TestPart>),
    /// The definition of a function.
    Function {
        /// Its name.
        name: String,
        /// Runs when the function is called.
        body: Box<Command>,
    },
    /// `coproc`
    Coproc(Box<Command>),
}

/// An arm of a `case`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// At least one.
    pub patterns: Vec<Word>,
    /// May be empty.
    pub body: Script,
    /// What happens after it.
    pub end: ArmEnd,
}

/// What happens after an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`
    Leave,
    /// `;&`
    Enter,
    /// `;;&`
    Compare,
}

/// A part of `[[ … ]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestPart {
    /// An operand, or an operator that is written as a word.
    Word(Word),
    /// `&&`, `||`, `!`, `(`, `)`, `<`, `>`
    Operator(&'static str),
}

/// Assignments and words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Simple {
    /// In front of the words.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
}

/// `name=value`, `name+=value`, `name[…]=value`, `name=(…)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The whole of it as it was written.
    pub word: Word,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The number or `{name}` in front of it, or nothing.
    pub descriptor: String,
    /// `<`, `>`, `>>`, `>|`, `<>`, `<&`, `>&`, `&>`, `&>>`, `<<<` or `<<`
    pub operator: &'static str,
    /// Where to.
    pub target: Target,
}

/// Where a redirection leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A word.
    Word(Word),
    /// The lines of a here-document.
    Here(HereDocument),
}

/// A here-document. Its lines follow later, so they are filled in afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HereDocument {
    /// Whether the shell expands the content.
    pub expands: bool,
    pub(super) body: Arc<OnceLock<Vec<Piece>>>,
}

impl HereDocument {
    /// The content.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        self.body.get().map_or(&[], Vec::as_slice)
    }
}

/// A word: pieces side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Where it begins.
    pub position: Position,
    /// At least one, except behind `=`.
    pub pieces: Vec<Piece>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal. Unquoted, the shell still expands `~`, `*` and `{…}` in it.
    Bare(String),
    /// A character behind a backslash.
    Escaped(char),
    /// Single-quoted text.
    Single(String),
    /// Double quotes.
    Double(Vec<Piece>),
    /// `$name` or `${…}`
    Parameter(Box<Parameter>),
    /// `$((…))`
    Arithmetic(Vec<Piece>),
    /// `$(…)` or backquotes.
    Substitution(Script),
    /// `<(…)` or `>(…)`
    Process {
        /// `>(…)`
        output: bool,
        /// What runs.
        script: Script,
    },
    /// `(…)` behind `name=`
    Elements(Vec<Word>),
}

/// A parameter expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// `#` or `!` in front of the name, or nothing.
    pub prefix: &'static str,
    /// A name, a number or a sign.
    pub name: String,
    /// What stands in `[…]`.
    pub subscript: Option<Vec<Piece>>,
    /// `:-`, `%`, `/` …, or nothing.
    pub operator: &'static str,
    /// What follows it.
    pub operand: Vec<Piece>,
}
