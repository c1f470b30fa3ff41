//! Programs that run text: shells, whose scripts are parsed, and other interpreters.

use super::invocation::Invocation;
use super::paths::{is_descriptor, is_outside};
use super::report::Concern;
use super::shell_builtins;
use super::started_programs::StartedPrograms;
use super::stdin::StdinSource;
use super::value::Value;

const SHELLS: [&str; 10] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "yash", "posh"];

/// Shells with another language.
const FOREIGN_SHELLS: [&str; 9] = ["fish", "csh", "tcsh", "nu", "elvish", "xonsh", "osh", "rc", "es"];

fn bare(name: &str) -> &str {
    name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-')
}

/// Whether the shell's scripts can be parsed here.
pub(super) fn is_readable_shell(name: &str) -> bool {
    SHELLS.contains(&bare(name))
}

pub(super) fn is_shell(name: &str) -> bool {
    is_readable_shell(name) || FOREIGN_SHELLS.contains(&bare(name))
}

/// Whether every POSIX shell reads the text as bash does.
pub(super) fn is_portable(text: &str) -> bool {
    let is_arithmetic = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('$'));
    let elsewhere = ["$'", "&>", "[[ ", "[[\t"].iter().any(|sign| text.contains(sign));
    !elsewhere && text.match_indices("((").all(|(at, _)| is_arithmetic(at))
}

/// An interpreter other than a shell: its names, and the short and long options that take a program.
struct Interpreter {
    names: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
    /// Words that do not name a file.
    verbs: &'static [&'static str],
    /// Short options with a value that is not a file to run.
    valued: &'static str,
    /// Short options that only print information. In other interpreters the same letters run code.
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

/// A shell: the text behind `-c`, a script file, or standard input.
pub(super) fn shell(invocation: &Invocation) -> StartedPrograms {
    let arguments = invocation.arguments();
    let (mut at, mut has_text, mut reads_input) = (0, false, false);
    let mut started = StartedPrograms::default();
    while let Some(value) = arguments.get(at) {
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() && !has_text {
            return from_file(value, started);
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
                started.concerns.push(Concern::opaque("reads commands from a file of its own first"));
            }
            Some("command") => has_text = true,
            Some("login" | "interactive" | "init-command") => {
                started.concerns.push(Concern::risk("reads startup files first"));
            }
            Some("posix" | "norc" | "noprofile" | "version" | "help" | "verbose" | "restricted") => {}
            Some(_) => started.concerns.push(Concern::opaque("a shell with an option that is not known")),
            // bash also accepts its long options with one dash.
            None if matches!(text, "-rcfile" | "-init-file") => {
                at += 1;
                started.concerns.push(Concern::opaque("reads commands from a file of its own first"));
            }
            None if matches!(text, "-norc" | "-noprofile" | "-posix" | "-version" | "-help" | "-verbose") => {
            }
            None => {
                let letters = text.get(1..).unwrap_or_default();
                has_text |= text.starts_with('-') && letters.contains('c');
                reads_input |= letters.contains('s');
                for letter in letters.chars().filter(|letter| matches!(letter, 'o' | 'O')) {
                    let option = invocation.argument(at).unwrap_or_default();
                    if letter == 'O' || !shell_builtins::leaves_reading_alone(option) {
                        started.concerns.push(Concern::opaque("a shell that reads commands in another way"));
                    }
                    at += 1;
                }
                if letters.contains(|letter: char| !"abefhmnpruvxBCEPTcsoOil".contains(letter)) {
                    started.concerns.push(Concern::opaque("a shell with an option that is not known"));
                }
                if letters.contains(['i', 'l']) {
                    started
                        .concerns
                        .push(Concern::risk("an interactive shell, which reads startup files first"));
                }
            }
        }
    }
    match arguments.get(at) {
        Some(text) if has_text => started.texts.push(text.clone()),
        None if has_text && !invocation.has_more => {}
        Some(file) if !reads_input && !matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0") => {
            return from_file(file, started);
        }
        None if invocation.has_more => {
            started.concerns.push(Concern::opaque("runs texts or files that are not known in advance"));
        }
        _ if only_tells(invocation, "") => {}
        _ => from_input(invocation, &mut started),
    }
    started
}

/// Whether only the version or help is requested. `short` has the letters of such short options.
pub(super) fn only_tells(invocation: &Invocation, short: &str) -> bool {
    let is_letter =
        |text: &str| text.len() == 2 && text.starts_with('-') && text.ends_with(|sign| short.contains(sign));
    let tells =
        |value: &Value| matches!(value.text.as_str(), "--version" | "--help") || is_letter(&value.text);
    matches!(invocation.arguments(), [only] if tells(only)) && !invocation.has_more
}

pub(super) fn from_file(file: &Value, mut started: StartedPrograms) -> StartedPrograms {
    if file.is_fetched {
        started.concerns.push(Concern::danger("runs what was downloaded or decoded"));
    } else if is_descriptor(&file.text) {
        started.concerns.push(Concern::opaque("runs what it reads, which is not known in advance"));
    } else if file.known().is_none() || file.is_glob {
        started.concerns.push(Concern::opaque("runs a file whose name is not known in advance"));
    }
    started.files.push(file.text.clone());
    started
}

/// A shell that reads commands from standard input.
fn from_input(invocation: &Invocation, started: &mut StartedPrograms) {
    match &invocation.stdin {
        StdinSource::Text(Some(text)) => started.texts.push(Value::plain(text)),
        StdinSource::Pipe { is_fetched: true, .. } => {
            started.concerns.push(Concern::danger("what was downloaded or decoded would be run"));
        }
        StdinSource::Pipe { text: Some(text), .. } => {
            started.texts.push(Value::plain(text));
            started.concerns.push(Concern::risk("a shell that runs what another command prints"));
        }
        StdinSource::Text(None)
        | StdinSource::Pipe { .. }
        | StdinSource::File
        | StdinSource::Empty
        | StdinSource::Inherited => {
            started
                .concerns
                .push(Concern::opaque("a shell that runs what it reads, which is not known in advance"));
        }
    }
}

/// Other interpreters: inline code needs approval, a script file may run.
pub(super) fn inline(invocation: &Invocation) -> StartedPrograms {
    let Some(interpreter) = interpreter(invocation.name()) else { return StartedPrograms::default() };
    let mut started = StartedPrograms::default();
    let mut at = 0;
    while let Some(value) = invocation.arguments().get(at) {
        at += 1;
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() {
            return from_file(value, started);
        }
        if text == "-" || interpreter.verbs.contains(&text) {
            break;
        }
        let Some(option) = text.strip_prefix('-') else {
            let file = text.rsplit('/').next().unwrap_or_default();
            started.concerns.extend(command_of_a_script(
                file,
                invocation.argument(at).unwrap_or_default(),
                invocation,
            ));
            return from_file(value, started);
        };
        if let Some(long) = option.strip_prefix('-') {
            let name = long.split('=').next().unwrap_or_default();
            if interpreter.long.contains(&name) {
                return in_line(value, invocation.arguments().get(at));
            }
            if only_tells(invocation, interpreter.tells) {
                return started;
            }
            continue;
        }
        // The arguments after a module name belong to the module.
        let before_code =
            option.find(|letter: char| interpreter.short.contains(letter)).unwrap_or(option.len());
        if let Some(position) =
            option.find('m').filter(|position| interpreter.valued.contains('m') && *position < before_code)
        {
            let joined = option.get(position + 1..).filter(|name| !name.is_empty());
            let name = joined.or_else(|| invocation.argument(at)).unwrap_or_default();
            if joined.is_none() && name == "pip" {
                started.calls.extend(invocation.behind(at));
                return started;
            }
            started.concerns.extend(module(name).or_else(|| command_of_a_module(name, invocation)));
            if name.is_empty() && invocation.has_more {
                started.concerns.push(Concern::opaque("a module that is not known in advance"));
            }
            return started;
        }
        if option.contains(|letter: char| interpreter.short.contains(letter)) {
            return in_line(value, invocation.arguments().get(at));
        }
        if only_tells(invocation, interpreter.tells) {
            return started;
        }
        at += usize::from(option.len() == 1 && interpreter.valued.contains(option));
    }
    match &invocation.stdin {
        StdinSource::Pipe { is_fetched: true, .. } => {
            started.concerns.push(Concern::danger("what was downloaded or decoded would be run"));
        }
        _ if invocation.name() == "deno" || invocation.name() == "bun" => {}
        // The test files of the project.
        _ if invocation.name() == "node" && invocation.has_argument(&["--test"]) => {}
        _ => started.concerns.push(Concern::opaque("an interpreter that runs what it reads")),
    }
    started
}

/// Concerns about a command of a script that many projects have.
fn command_of_a_script(file: &str, command: &str, invocation: &Invocation) -> Option<Concern> {
    match (file, command) {
        (
            "manage.py" | "artisan" | "console",
            "shell" | "shell_plus" | "tinker" | "dbshell" | "runscript",
        ) => Some(Concern::opaque("an interpreter that runs what it reads")),
        ("manage.py", "flush" | "reset_db" | "sqlflush") => {
            Some(Concern::risk("deletes data from a database"))
        }
        ("manage.py", "migrate") if invocation.has_argument(&["zero"]) => {
            Some(Concern::risk("deletes data from a database"))
        }
        ("setup.py", "install" | "develop" | "upload" | "register") => {
            Some(Concern::risk("installs or publishes packages"))
        }
        _ => None,
    }
}

/// Inline code behind an option.
fn in_line(option: &Value, program: Option<&Value>) -> StartedPrograms {
    let is_fetched = option.is_fetched || program.is_some_and(|program| program.is_fetched);
    StartedPrograms::found(match is_fetched {
        true => Concern::danger("runs what was downloaded or decoded"),
        false => Concern::opaque("an inline program in a language that is not analysed"),
    })
}

/// Concerns about the arguments of a harmless Python module.
fn command_of_a_module(name: &str, invocation: &Invocation) -> Option<Concern> {
    match name {
        "venv" | "virtualenv" if invocation.has_option("", &["clear"]) => {
            Some(Concern::risk("removes or replaces existing files"))
        }
        "zipfile" | "tarfile"
            if invocation.has_option("e", &["extract"])
                && invocation.operands().last().is_some_and(is_outside) =>
        {
            Some(Concern::risk("unpacks files outside of the folder it runs in"))
        }
        _ => None,
    }
}

fn module(name: &str) -> Option<Concern> {
    match name {
        "pip" | "ensurepip" | "pipx" | "easy_install" => Some(Concern::risk("installs packages")),
        "http.server" | "SimpleHTTPServer" | "smtpd" => Some(Concern::risk("opens a port")),
        "code" | "pdb" | "timeit" | "trace" | "cProfile" | "profile" | "runpy" | "IPython" | "pty"
        | "asyncio" | "bpython" | "ptpython" | "idlelib" | "doctest" => {
            Some(Concern::opaque("a module that runs any program"))
        }
        _ => None,
    }
}
