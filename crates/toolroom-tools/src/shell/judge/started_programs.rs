//! What an invocation would start: other programs, texts run as scripts, script files.

use super::interpreters;
use super::invocation::Invocation;
use super::launchers;
use super::paths::{is_secret, may_be_startup};
use super::reading_commands::only_tells;
use super::report::Concern;
use super::shell_builtins;
use super::stdin::StdinSource;
use super::value::{UNKNOWN, Value};
use super::variables;
use super::wrappers::{BEHIND_A_VERB, PLAIN, Wrapper, wrapper};

/// What an invocation would start.
#[derive(Default)]
pub(super) struct StartedPrograms {
    pub(super) calls: Vec<Invocation>,
    /// Texts that a shell would run.
    pub(super) texts: Vec<Value>,
    pub(super) concerns: Vec<Concern>,
    /// Files that an interpreter would run.
    pub(super) files: Vec<String>,
}

impl StartedPrograms {
    pub(super) fn found(concern: Concern) -> Self {
        Self { concerns: vec![concern], ..Self::default() }
    }

    pub(super) fn call(invocation: Option<Invocation>) -> Self {
        Self { calls: invocation.into_iter().collect(), ..Self::default() }
    }
}

/// What an invocation would start.
pub(super) fn programs_started_by(invocation: &Invocation) -> StartedPrograms {
    let name = invocation.name();
    if interpreters::is_readable_shell(name) {
        return interpreters::shell(invocation);
    }
    match name {
        _ if wrapper(name).is_some_and(|wrapper| wrapper.name != "exec") && only_tells(invocation) => {
            StartedPrograms::default()
        }
        "env" => env(invocation),
        "command" if only_looks_up(invocation) => StartedPrograms::default(),
        "xargs" | "gxargs" => xargs(invocation),
        "find" | "gfind" => find(invocation),
        "trap" if invocation.arguments().len() > 1 => StartedPrograms {
            texts: invocation
                .arguments()
                .iter()
                .find(|value| value.text != "--")
                .cloned()
                .into_iter()
                .collect(),
            ..StartedPrograms::default()
        },
        "alias" => StartedPrograms {
            texts: invocation.arguments().iter().filter_map(behind_equals).collect(),
            ..StartedPrograms::default()
        },
        "source" | "." => match shell_builtins::activated(invocation) {
            Some(script) => interpreters::from_file(script, StartedPrograms::default()),
            None => StartedPrograms::default(),
        },
        "eval" => {
            StartedPrograms { texts: vec![joined(invocation.arguments())], ..StartedPrograms::default() }
        }
        "busybox" | "toybox" if invocation.verb().is_empty() && !invocation.has_more => {
            StartedPrograms::default()
        }
        "jobs" if invocation.argument(0) == Some("-x") => StartedPrograms::call(invocation.behind(1)),
        _ => match wrapper(name) {
            Some(wrapper) => wrapped(invocation, wrapper),
            None => verb(invocation).unwrap_or_else(|| launchers::programs_started_by(invocation)),
        },
    }
}

/// `command -v` only looks up a name. Behind another word, `-v` is an option of that program.
fn only_looks_up(invocation: &Invocation) -> bool {
    invocation.argument(0).is_some_and(|first| first.starts_with('-') && first.contains(['v', 'V']))
}

pub(super) fn behind_equals(value: &Value) -> Option<Value> {
    let (_, text) = value.text.split_once('=')?;
    Some(Value { text: text.to_owned(), ..value.clone() })
}

/// Words joined by spaces.
pub(super) fn joined(words: &[Value]) -> Value {
    let mut text = Value::default();
    for (index, word) in words.iter().enumerate() {
        text.text.push_str(if index > 0 { " " } else { "" });
        text.text.push_str(&word.text);
        text.splits |= word.splits || word.is_glob;
        text.is_fetched |= word.is_fetched;
    }
    text
}

const UNCLEAR: &str = "the program it would start cannot be determined";

/// The index of the command behind the options of a wrapper.
pub(super) fn behind_options(invocation: &Invocation, wrapper: &Wrapper) -> Result<usize, Concern> {
    let arguments = invocation.arguments();
    let mut at = 0;
    while let Some(value) = arguments.get(at) {
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() {
            return Err(Concern::opaque(UNCLEAR));
        }
        if text == "--" {
            at += 1;
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, has_value) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
            if wrapper.long_valued.contains(&name) {
                at += if has_value { 1 } else { 2 };
            } else if wrapper.long.contains(&name) {
                at += 1;
            } else {
                return Err(Concern::opaque(UNCLEAR));
            }
            continue;
        }
        let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else { break };
        match cluster.find(|letter: char| !wrapper.flags.contains(letter)) {
            None => at += 1,
            Some(position) => {
                let letter = cluster.get(position..).and_then(|rest| rest.chars().next());
                if letter.is_some_and(|letter| wrapper.joined.contains(letter)) {
                    at += 1;
                    continue;
                }
                if !letter.is_some_and(|letter| wrapper.valued.contains(letter)) {
                    return Err(Concern::opaque(UNCLEAR));
                }
                at += if position + 1 < cluster.len() { 1 } else { 2 };
            }
        }
    }
    let skipped = arguments.get(at..at + wrapper.skipped).unwrap_or_default();
    if skipped.iter().any(|value| value.splits) {
        return Err(Concern::opaque(UNCLEAR));
    }
    Ok(at + wrapper.skipped)
}

fn wrapped(invocation: &Invocation, wrapper: &Wrapper) -> StartedPrograms {
    let mut at = match behind_options(invocation, wrapper) {
        Ok(at) => at,
        Err(concern) => return StartedPrograms::found(concern),
    };
    let mut started = StartedPrograms::default();
    while wrapper.assigns
        && let Some(text) = invocation.argument(at).filter(|text| variables::is_assignment(text))
    {
        let (name, value) = (variables::assigned(text), text.split_once('=').map_or("", |(_, value)| value));
        started.concerns.extend(variables::judged(name).or_else(|| variables::judged_value(name, value)));
        at += 1;
    }
    // `flock FILE -c TEXT`
    if matches!(invocation.argument(at), Some("-c" | "--command")) && wrapper.name == "flock" {
        started.texts.extend(invocation.arguments().get(at + 1).cloned());
        return started;
    }
    let own = invocation.arguments().get(..at.min(invocation.arguments().len())).unwrap_or_default();
    if own.iter().any(|value| may_be_startup(value) || is_secret(value)) {
        started.concerns.push(Concern::touch("may write a file that is run by others later"));
    }
    let inner = invocation.behind(at);
    if inner.is_none() && invocation.has_more {
        started.concerns.push(Concern::opaque(UNCLEAR));
    }
    started.calls.extend(inner);
    started
}

fn env(invocation: &Invocation) -> StartedPrograms {
    let splits = |value: &&Value| {
        let text = value.text.as_str();
        let long = text.strip_prefix("--").and_then(|name| name.split('=').next()).unwrap_or_default();
        (!long.is_empty() && "split-string".starts_with(long))
            || (text.starts_with('-') && !text.starts_with("--") && text.contains('S'))
    };
    if invocation
        .arguments()
        .iter()
        .take_while(|value| value.text.starts_with('-'))
        .any(|value| splits(&value))
    {
        let texts = invocation.arguments().iter().skip_while(|value| !splits(value));
        let mut texts: Vec<Value> = texts.cloned().collect();
        if let Some(first) = texts.first_mut() {
            let sign = if first.text.starts_with("--") { '=' } else { 'S' };
            first.text = first.text.split_once(sign).map(|(_, text)| text.to_owned()).unwrap_or_default();
        }
        let text = joined(&texts);
        // It supports escapes that no shell has.
        if text.text.contains('\\') || invocation.has_more {
            return StartedPrograms::found(Concern::opaque(UNCLEAR));
        }
        return StartedPrograms { texts: vec![text], ..StartedPrograms::default() };
    }
    wrapper("env").map(|wrapper| wrapped(invocation, wrapper)).unwrap_or_default()
}

const XARGS: Wrapper = Wrapper {
    name: "xargs",
    flags: "0rtxpo",
    valued: "ILnPsEadRSJ",
    joined: "ile",
    long: &[
        "null",
        "no-run-if-empty",
        "verbose",
        "exit",
        "interactive",
        "open-tty",
        "show-limits",
        "replace",
    ],
    long_valued: &[
        "max-lines",
        "max-args",
        "max-procs",
        "max-chars",
        "arg-file",
        "delimiter",
        "eof",
        "process-slot-var",
    ],
    ..PLAIN
};

fn xargs(invocation: &Invocation) -> StartedPrograms {
    let at = match behind_options(invocation, &XARGS) {
        Ok(at) => at,
        Err(concern) => return StartedPrograms::found(concern),
    };
    let options = invocation.arguments().get(..at).unwrap_or_default();
    let mut marks = vec!["{}".to_owned()];
    for (index, option) in options.iter().enumerate() {
        if let Some(mark) = option.text.strip_prefix("--replace=").or_else(|| option.text.strip_prefix("-I"))
        {
            let next = options.get(index + 1).map(|next| next.text.as_str());
            marks.push(if mark.is_empty() { next.unwrap_or("{}") } else { mark }.to_owned());
        } else if let Some((_, mark)) =
            option.text.strip_prefix('-').and_then(|cluster| cluster.split_once(['i', 'I', 'J']))
        {
            let next = options.get(index + 1).map(|next| next.text.as_str());
            marks.push(if mark.is_empty() { next.unwrap_or("{}") } else { mark }.to_owned());
        }
    }
    if invocation.has_more && at >= invocation.arguments().len() {
        return StartedPrograms::found(Concern::opaque(UNCLEAR));
    }
    let mut started = StartedPrograms::call(filled(invocation, at, invocation.arguments().len(), &marks));
    // The names it passes on may be in the line itself.
    if let StdinSource::Text(Some(text)) | StdinSource::Pipe { text: Some(text), .. } = &invocation.stdin
        && text.split_whitespace().any(|word| is_secret(&Value::plain(word)))
    {
        started.concerns.push(Concern::touch("a file that holds secrets"));
    }
    started
}

/// The command between two arguments, with unknown values for the placeholders.
fn filled(invocation: &Invocation, from: usize, to: usize, marks: &[String]) -> Option<Invocation> {
    let words = invocation.arguments().get(from..to)?;
    if words.is_empty() {
        return None;
    }
    let fill = |value: &Value| {
        let mut value = value.clone();
        for mark in marks.iter().filter(|mark| !mark.is_empty()) {
            value.text = value.text.replace(mark.as_str(), UNKNOWN.encode_utf8(&mut [0; 4]));
        }
        value
    };
    let mut inner = Invocation::new(words.iter().map(fill).collect(), StdinSource::File, invocation.position);
    inner.has_more = true;
    Some(inner)
}

fn find(invocation: &Invocation) -> StartedPrograms {
    let mut started = StartedPrograms::default();
    let arguments = invocation.arguments();
    let is_unseen =
        |value: &Value| value.is_glob && value.text.starts_with(['*', '?', '[']) && value.text.ends_with('*');
    let is_unknown = |value: &Value| value.may_be_option() && value.known().is_none() || is_unseen(value);
    if invocation.has_more || arguments.iter().any(is_unknown) {
        started.concerns.push(Concern::opaque("what `find` does with what it finds is not known in advance"));
    }
    let mut at = 0;
    while let Some(value) = arguments.get(at) {
        at += 1;
        if matches!(value.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let rest = arguments.get(at..).unwrap_or_default();
            let length =
                rest.iter().position(|value| matches!(value.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            started.calls.extend(filled(invocation, at, at + length, &["{}".to_owned()]));
            at += length;
        }
    }
    if invocation.has_argument(&["-delete"]) {
        started.concerns.push(Concern::risk("deletes what it finds"));
    }
    if invocation.has_argument(&["-fprint", "-fprintf", "-fls", "-fprint0"]) {
        started.concerns.push(Concern::risk("writes a file"));
    }
    started
}

/// `poetry run …` and similar.
fn verb(invocation: &Invocation) -> Option<StartedPrograms> {
    let (_, verbs) = BEHIND_A_VERB.iter().find(|(name, _)| *name == invocation.name())?;
    if verbs.contains(&"") {
        return Some(StartedPrograms::call(invocation.behind(0)));
    }
    // Preceded by options and their values.
    let at = invocation.arguments().iter().position(|value| verbs.contains(&value.text.as_str()))?;
    let before = invocation.arguments().get(..at).unwrap_or_default();
    if !before.first().is_none_or(|first| first.text.starts_with('-')) {
        return None;
    }
    let arguments = invocation.arguments().iter().skip(at + 1);
    let options = arguments.take_while(|value| value.text.starts_with('-') && value.text != "--").count();
    let has_end = invocation.argument(at + 1 + options) == Some("--");
    let mut started = StartedPrograms::call(invocation.behind(at + 1 + options + usize::from(has_end)));
    if options + at > 0 || invocation.has_more {
        started.concerns.push(Concern::risk(UNCLEAR));
    }
    Some(started)
}
