//! Programs that run text: shells, which are read again, and others, which are not.

use super::call::Call;
use super::feed::Feed;
use super::finding::Finding;
use super::paths::{is_descriptor, is_outside};
use super::shell_builtins;
use super::unwrap::Unwrapped;
use super::value::Value;

const SHELLS: [&str; 10] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "yash", "posh"];

/// Shells that read other languages.
const FOREIGN_SHELLS: [&str; 9] = ["fish", "csh", "tcsh", "nu", "elvish", "xonsh", "osh", "rc", "es"];

fn bare(name: &str) -> &str {
    name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-')
}

/// Whether this is a shell whose language is read here.
pub(super) fn is_readable_shell(name: &str) -> bool {
    SHELLS.contains(&bare(name))
}

pub(super) fn is_shell(name: &str) -> bool {
    is_readable_shell(name) || FOREIGN_SHELLS.contains(&bare(name))
}

/// Whether a shell that may not be bash reads a text as bash does.
pub(super) fn is_portable(text: &str) -> bool {
    let is_arithmetic = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('$'));
    let elsewhere = ["$'", "&>", "[[ ", "[[\t"].iter().any(|sign| text.contains(sign));
    !elsewhere && text.match_indices("((").all(|(at, _)| is_arithmetic(at))
}

/// An interpreter that is not a shell: its names, the short options behind which a program stands, the long ones.
struct Interpreter {
    names: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
    /// Words that do not name a file.
    verbs: &'static [&'static str],
    /// Short options with a value that is no file to run.
    valued: &'static str,
    /// Short options that only tell something. Elsewhere the same letters run what is read.
    tells: &'static str,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy", "ipython", "python3-dbg", "micropython", "jython", "sage", "bpython"],
        short: "ci",
        long: &[],
        verbs: &[],
        valued: "WXm",
        tells: "Vh",
    },
    Interpreter {
        names: &["node", "nodejs", "iojs", "babel-node", "qjs", "d8", "jsc", "rhino"],
        short: "epi",
        long: &["eval", "print", "require", "import", "loader", "interactive"],
        verbs: &[],
        valued: "rC",
        tells: "vh",
    },
    Interpreter {
        names: &["bun", "deno", "tsx", "ts-node"],
        short: "ep",
        long: &["eval", "print", "preload"],
        verbs: &["eval", "repl"],
        valued: "",
        tells: "vVh",
    },
    Interpreter { names: &["perl"], short: "eEMmd", long: &[], verbs: &[], valued: "I", tells: "vVh" },
    Interpreter {
        names: &["ruby", "irb", "jruby"],
        short: "er",
        long: &[],
        verbs: &[],
        valued: "IC",
        tells: "vh",
    },
    Interpreter { names: &["php"], short: "rRBEFa", long: &["run"], verbs: &[], valued: "dcz", tells: "vhi" },
    Interpreter { names: &["lua", "luajit"], short: "eli", long: &[], verbs: &[], valued: "", tells: "v" },
    Interpreter { names: &["Rscript", "R"], short: "e", long: &[], verbs: &[], valued: "", tells: "" },
    Interpreter {
        names: &[
            "julia",
            "elixir",
            "iex",
            "groovy",
            "scala",
            "ghc",
            "erl",
            "swipl",
            "raku",
            "perl6",
            "clojure",
            "clj",
            "bb",
            "kotlin",
            "swift",
            "jrunscript",
            "gnuplot",
            "octave",
        ],
        short: "eEg",
        long: &["eval", "print"],
        verbs: &[],
        valued: "",
        tells: "",
    },
    Interpreter {
        names: &["pwsh", "powershell"],
        short: "cCeE",
        long: &[],
        verbs: &[],
        valued: "",
        tells: "",
    },
    Interpreter {
        names: &[
            "tclsh", "wish", "guile", "racket", "sbcl", "clisp", "ocaml", "gst", "jshell", "gjs", "fish",
            "csh", "tcsh", "nu", "elvish", "xonsh", "osh", "rc", "es",
        ],
        short: "ce",
        long: &["eval", "load"],
        verbs: &[],
        valued: "",
        tells: "",
    },
];

fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let is_named = |interpreter: &&Interpreter| {
        interpreter.names.contains(&name) || interpreter.names.contains(&bare(name))
    };
    INTERPRETERS.iter().find(is_named)
}

pub(super) fn is_interpreter(name: &str) -> bool {
    is_shell(name) || interpreter(name).is_some()
}

/// A shell: the text behind `-c`, a file, or standard input.
pub(super) fn shell(call: &Call) -> Unwrapped {
    let arguments = call.arguments();
    let (mut at, mut has_text, mut reads_input) = (0, false, false);
    let mut unwrapped = Unwrapped::default();
    while let Some(value) = arguments.get(at) {
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() && !has_text {
            return from_file(value, unwrapped);
        }
        let is_option = text.len() > 1 && (text.starts_with('-') || text.starts_with('+'));
        if !is_option || text == "--" || value.known().is_none() {
            at += usize::from(text == "--");
            break;
        }
        at += 1;
        match text.strip_prefix("--") {
            Some("rcfile" | "init-file") => {
                at += 1;
                unwrapped.findings.push(Finding::opaque("reads commands from a file of its own first"));
            }
            Some("command") => has_text = true,
            Some("login" | "interactive" | "init-command") => {
                unwrapped.findings.push(Finding::risk("reads startup files first"));
            }
            Some("posix" | "norc" | "noprofile" | "version" | "help" | "verbose" | "restricted") => {}
            Some(_) => unwrapped.findings.push(Finding::opaque("a shell with an option that is not known")),
            // bash takes its long options with one dash, too.
            None if matches!(text, "-rcfile" | "-init-file") => {
                at += 1;
                unwrapped.findings.push(Finding::opaque("reads commands from a file of its own first"));
            }
            None if matches!(text, "-norc" | "-noprofile" | "-posix" | "-version" | "-help" | "-verbose") => {
            }
            None => {
                let letters = text.get(1..).unwrap_or_default();
                has_text |= text.starts_with('-') && letters.contains('c');
                reads_input |= letters.contains('s');
                for letter in letters.chars().filter(|letter| matches!(letter, 'o' | 'O')) {
                    let option = call.argument(at).unwrap_or_default();
                    if letter == 'O' || !shell_builtins::leaves_reading_alone(option) {
                        unwrapped
                            .findings
                            .push(Finding::opaque("a shell that reads commands in another way"));
                    }
                    at += 1;
                }
                if letters.contains(|letter: char| !"abefhmnpruvxBCEPTcsoOil".contains(letter)) {
                    unwrapped.findings.push(Finding::opaque("a shell with an option that is not known"));
                }
                if letters.contains(['i', 'l']) {
                    unwrapped
                        .findings
                        .push(Finding::risk("an interactive shell, which reads startup files first"));
                }
            }
        }
    }
    match arguments.get(at) {
        Some(text) if has_text => unwrapped.texts.push(text.clone()),
        None if has_text && !call.has_more => {}
        Some(file) if !reads_input && !matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0") => {
            return from_file(file, unwrapped);
        }
        None if call.has_more => {
            unwrapped.findings.push(Finding::opaque("runs texts or files that are not known before"));
        }
        _ if only_tells(call, "") => {}
        _ => from_input(call, &mut unwrapped),
    }
    unwrapped
}

/// Asked for nothing but its version or its options. `short` are the letters of short options that do that.
pub(super) fn only_tells(call: &Call, short: &str) -> bool {
    let is_letter =
        |text: &str| text.len() == 2 && text.starts_with('-') && text.ends_with(|sign| short.contains(sign));
    let tells =
        |value: &Value| matches!(value.text.as_str(), "--version" | "--help") || is_letter(&value.text);
    matches!(call.arguments(), [only] if tells(only)) && !call.has_more
}

pub(super) fn from_file(file: &Value, mut unwrapped: Unwrapped) -> Unwrapped {
    if file.is_fetched {
        unwrapped.findings.push(Finding::danger("runs what was downloaded or decoded"));
    } else if is_descriptor(&file.text) {
        unwrapped.findings.push(Finding::opaque("runs what it reads, which is not known before"));
    } else if file.known().is_none() || file.is_glob {
        unwrapped.findings.push(Finding::opaque("runs a file whose name is not known before"));
    }
    unwrapped.files.push(file.text.clone());
    unwrapped
}

/// A shell that reads its commands from standard input.
fn from_input(call: &Call, unwrapped: &mut Unwrapped) {
    match &call.feed {
        Feed::Text(Some(text)) => unwrapped.texts.push(Value::plain(text)),
        Feed::Pipe { is_fetched: true, .. } => {
            unwrapped.findings.push(Finding::danger("what was downloaded or decoded would be run"));
        }
        Feed::Pipe { text: Some(text), .. } => {
            unwrapped.texts.push(Value::plain(text));
            unwrapped.findings.push(Finding::risk("a shell that runs what another command prints"));
        }
        Feed::Text(None) | Feed::Pipe { .. } | Feed::File | Feed::Empty | Feed::Inherited => {
            unwrapped
                .findings
                .push(Finding::opaque("a shell that runs what it reads, which is not known before"));
        }
    }
}

/// Other interpreters: a program in the line asks, a file runs.
pub(super) fn inline(call: &Call) -> Unwrapped {
    let Some(interpreter) = interpreter(call.name()) else { return Unwrapped::default() };
    let mut unwrapped = Unwrapped::default();
    let mut at = 0;
    while let Some(value) = call.arguments().get(at) {
        at += 1;
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() {
            return from_file(value, unwrapped);
        }
        if text == "-" || interpreter.verbs.contains(&text) {
            break;
        }
        let Some(option) = text.strip_prefix('-') else {
            let file = text.rsplit('/').next().unwrap_or_default();
            unwrapped.findings.extend(command_of_a_script(file, call.argument(at).unwrap_or_default(), call));
            return from_file(value, unwrapped);
        };
        if let Some(long) = option.strip_prefix('-') {
            let name = long.split('=').next().unwrap_or_default();
            if interpreter.long.contains(&name) {
                return in_line(value, call.arguments().get(at));
            }
            if only_tells(call, interpreter.tells) {
                return unwrapped;
            }
            continue;
        }
        // What follows a module's name is for the module.
        let before_code =
            option.find(|letter: char| interpreter.short.contains(letter)).unwrap_or(option.len());
        if let Some(place) =
            option.find('m').filter(|place| interpreter.valued.contains('m') && *place < before_code)
        {
            let joined = option.get(place + 1..).filter(|name| !name.is_empty());
            let name = joined.or_else(|| call.argument(at)).unwrap_or_default();
            if joined.is_none() && name == "pip" {
                unwrapped.calls.extend(call.behind(at));
                return unwrapped;
            }
            unwrapped.findings.extend(module(name).or_else(|| command_of_a_module(name, call)));
            if name.is_empty() && call.has_more {
                unwrapped.findings.push(Finding::opaque("a module that is not known before"));
            }
            return unwrapped;
        }
        if option.contains(|letter: char| interpreter.short.contains(letter)) {
            return in_line(value, call.arguments().get(at));
        }
        if only_tells(call, interpreter.tells) {
            return unwrapped;
        }
        at += usize::from(option.len() == 1 && interpreter.valued.contains(option));
    }
    match &call.feed {
        Feed::Pipe { is_fetched: true, .. } => {
            unwrapped.findings.push(Finding::danger("what was downloaded or decoded would be run"));
        }
        _ if call.name() == "deno" || call.name() == "bun" => {}
        // The test files of the project.
        _ if call.name() == "node" && call.has_argument(&["--test"]) => {}
        _ => unwrapped.findings.push(Finding::opaque("an interpreter that runs what it reads")),
    }
    unwrapped
}

/// What speaks against a command of a script that many projects have.
fn command_of_a_script(file: &str, command: &str, call: &Call) -> Option<Finding> {
    match (file, command) {
        (
            "manage.py" | "artisan" | "console",
            "shell" | "shell_plus" | "tinker" | "dbshell" | "runscript",
        ) => Some(Finding::opaque("an interpreter that runs what it reads")),
        ("manage.py", "flush" | "reset_db" | "sqlflush") => {
            Some(Finding::risk("throws away what is in a database"))
        }
        ("manage.py", "migrate") if call.has_argument(&["zero"]) => {
            Some(Finding::risk("throws away what is in a database"))
        }
        ("setup.py", "install" | "develop" | "upload" | "register") => {
            Some(Finding::risk("installs or publishes packages"))
        }
        _ => None,
    }
}

/// A program behind an option.
fn in_line(option: &Value, program: Option<&Value>) -> Unwrapped {
    let is_fetched = option.is_fetched || program.is_some_and(|program| program.is_fetched);
    Unwrapped::found(match is_fetched {
        true => Finding::danger("runs what was downloaded or decoded"),
        false => Finding::opaque("a program in the line itself, in a language nobody reads here"),
    })
}

/// What speaks against the arguments of a harmless Python module.
fn command_of_a_module(name: &str, call: &Call) -> Option<Finding> {
    match name {
        "venv" | "virtualenv" if call.has_option("", &["clear"]) => {
            Some(Finding::risk("removes or replaces what is there"))
        }
        "zipfile" | "tarfile"
            if call.has_option("e", &["extract"]) && call.operands().last().is_some_and(is_outside) =>
        {
            Some(Finding::risk("unpacks files outside of the folder it runs in"))
        }
        _ => None,
    }
}

fn module(name: &str) -> Option<Finding> {
    match name {
        "pip" | "ensurepip" | "pipx" | "easy_install" => Some(Finding::risk("installs packages")),
        "http.server" | "SimpleHTTPServer" | "smtpd" => Some(Finding::risk("opens a port")),
        "code" | "pdb" | "timeit" | "trace" | "cProfile" | "profile" | "runpy" | "IPython" | "pty"
        | "asyncio" | "bpython" | "ptpython" | "idlelib" | "doctest" => {
            Some(Finding::opaque("a module that runs any program"))
        }
        _ => None,
    }
}
