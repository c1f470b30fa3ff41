//! What a program would start: other programs, texts that are scripts, files.

use super::call::Call;
use super::feed::Feed;
use super::finding::Finding;
use super::interpreters;
use super::paths::{is_secret, may_be_startup};
use super::reading_commands::only_tells;
use super::shell_builtins;
use super::started_by;
use super::value::{UNKNOWN, Value};
use super::variables;
use super::wrappers::{BEHIND_A_VERB, PLAIN, Wrapper, wrapper};

/// What a call would start.
#[derive(Default)]
pub(super) struct Unwrapped {
    pub(super) calls: Vec<Call>,
    /// Texts that a shell would run.
    pub(super) texts: Vec<Value>,
    pub(super) findings: Vec<Finding>,
    /// Files that an interpreter would run.
    pub(super) files: Vec<String>,
}

impl Unwrapped {
    pub(super) fn found(finding: Finding) -> Self {
        Self { findings: vec![finding], ..Self::default() }
    }

    pub(super) fn call(call: Option<Call>) -> Self {
        Self { calls: call.into_iter().collect(), ..Self::default() }
    }
}

/// What a call would start.
pub(super) fn unwrap(call: &Call) -> Unwrapped {
    let name = call.name();
    if interpreters::is_readable_shell(name) {
        return interpreters::shell(call);
    }
    match name {
        _ if wrapper(name).is_some_and(|wrapper| wrapper.name != "exec") && only_tells(call) => {
            Unwrapped::default()
        }
        "env" => env(call),
        "command" if only_looks_up(call) => Unwrapped::default(),
        "xargs" | "gxargs" => xargs(call),
        "find" | "gfind" => find(call),
        "trap" if call.arguments().len() > 1 => Unwrapped {
            texts: call.arguments().iter().find(|value| value.text != "--").cloned().into_iter().collect(),
            ..Unwrapped::default()
        },
        "alias" => Unwrapped {
            texts: call.arguments().iter().filter_map(behind_equals).collect(),
            ..Unwrapped::default()
        },
        "source" | "." => match shell_builtins::activated(call) {
            Some(script) => interpreters::from_file(script, Unwrapped::default()),
            None => Unwrapped::default(),
        },
        "eval" => Unwrapped { texts: vec![joined(call.arguments())], ..Unwrapped::default() },
        "busybox" | "toybox" if call.verb().is_empty() && !call.has_more => Unwrapped::default(),
        "jobs" if call.argument(0) == Some("-x") => Unwrapped::call(call.behind(1)),
        _ => match wrapper(name) {
            Some(wrapper) => wrapped(call, wrapper),
            None => verb(call).unwrap_or_else(|| started_by::unwrap(call)),
        },
    }
}

/// `command -v` with whatever follows; behind another word a `-v` is that program's own.
fn only_looks_up(call: &Call) -> bool {
    call.argument(0).is_some_and(|first| first.starts_with('-') && first.contains(['v', 'V']))
}

pub(super) fn behind_equals(value: &Value) -> Option<Value> {
    let (_, text) = value.text.split_once('=')?;
    Some(Value { text: text.to_owned(), ..value.clone() })
}

/// Words as one text, with a space between them.
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

const UNCLEAR: &str = "it cannot be told which program it would start";

/// Where the command begins behind the options of a wrapper.
pub(super) fn behind_options(call: &Call, wrapper: &Wrapper) -> Result<usize, Finding> {
    let arguments = call.arguments();
    let mut at = 0;
    while let Some(value) = arguments.get(at) {
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() {
            return Err(Finding::opaque(UNCLEAR));
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
                return Err(Finding::opaque(UNCLEAR));
            }
            continue;
        }
        let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else { break };
        match cluster.find(|letter: char| !wrapper.flags.contains(letter)) {
            None => at += 1,
            Some(place) => {
                let letter = cluster.get(place..).and_then(|rest| rest.chars().next());
                if letter.is_some_and(|letter| wrapper.joined.contains(letter)) {
                    at += 1;
                    continue;
                }
                if !letter.is_some_and(|letter| wrapper.valued.contains(letter)) {
                    return Err(Finding::opaque(UNCLEAR));
                }
                at += if place + 1 < cluster.len() { 1 } else { 2 };
            }
        }
    }
    let skipped = arguments.get(at..at + wrapper.skipped).unwrap_or_default();
    if skipped.iter().any(|value| value.splits) {
        return Err(Finding::opaque(UNCLEAR));
    }
    Ok(at + wrapper.skipped)
}

fn wrapped(call: &Call, wrapper: &Wrapper) -> Unwrapped {
    let mut at = match behind_options(call, wrapper) {
        Ok(at) => at,
        Err(finding) => return Unwrapped::found(finding),
    };
    let mut unwrapped = Unwrapped::default();
    while wrapper.assigns
        && let Some(text) = call.argument(at).filter(|text| variables::is_assignment(text))
    {
        let (name, value) = (variables::assigned(text), text.split_once('=').map_or("", |(_, value)| value));
        unwrapped.findings.extend(variables::judged(name).or_else(|| variables::judged_value(name, value)));
        at += 1;
    }
    // `flock FILE -c TEXT`
    if matches!(call.argument(at), Some("-c" | "--command")) && wrapper.name == "flock" {
        unwrapped.texts.extend(call.arguments().get(at + 1).cloned());
        return unwrapped;
    }
    let own = call.arguments().get(..at.min(call.arguments().len())).unwrap_or_default();
    if own.iter().any(|value| may_be_startup(value) || is_secret(value)) {
        unwrapped.findings.push(Finding::touch("may write a file that is run by others later"));
    }
    let inner = call.behind(at);
    if inner.is_none() && call.has_more {
        unwrapped.findings.push(Finding::opaque(UNCLEAR));
    }
    unwrapped.calls.extend(inner);
    unwrapped
}

fn env(call: &Call) -> Unwrapped {
    let splits = |value: &&Value| {
        let text = value.text.as_str();
        let long = text.strip_prefix("--").and_then(|name| name.split('=').next()).unwrap_or_default();
        (!long.is_empty() && "split-string".starts_with(long))
            || (text.starts_with('-') && !text.starts_with("--") && text.contains('S'))
    };
    if call.arguments().iter().take_while(|value| value.text.starts_with('-')).any(|value| splits(&value)) {
        let texts = call.arguments().iter().skip_while(|value| !splits(value));
        let mut texts: Vec<Value> = texts.cloned().collect();
        if let Some(first) = texts.first_mut() {
            let sign = if first.text.starts_with("--") { '=' } else { 'S' };
            first.text = first.text.split_once(sign).map(|(_, text)| text.to_owned()).unwrap_or_default();
        }
        let text = joined(&texts);
        // It knows escapes that no shell does.
        if text.text.contains('\\') || call.has_more {
            return Unwrapped::found(Finding::opaque(UNCLEAR));
        }
        return Unwrapped { texts: vec![text], ..Unwrapped::default() };
    }
    wrapper("env").map(|wrapper| wrapped(call, wrapper)).unwrap_or_default()
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

fn xargs(call: &Call) -> Unwrapped {
    let at = match behind_options(call, &XARGS) {
        Ok(at) => at,
        Err(finding) => return Unwrapped::found(finding),
    };
    let options = call.arguments().get(..at).unwrap_or_default();
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
    if call.has_more && at >= call.arguments().len() {
        return Unwrapped::found(Finding::opaque(UNCLEAR));
    }
    let mut unwrapped = Unwrapped::call(filled(call, at, call.arguments().len(), &marks));
    // The names that it hands on may stand in the line itself.
    if let Feed::Text(Some(text)) | Feed::Pipe { text: Some(text), .. } = &call.feed
        && text.split_whitespace().any(|word| is_secret(&Value::plain(word)))
    {
        unwrapped.findings.push(Finding::touch("a file that holds secrets"));
    }
    unwrapped
}

/// The command between two arguments, with marks in place of which something unknown will stand.
fn filled(call: &Call, from: usize, to: usize, marks: &[String]) -> Option<Call> {
    let words = call.arguments().get(from..to)?;
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
    let mut inner = Call::new(words.iter().map(fill).collect(), Feed::File, call.place);
    inner.has_more = true;
    Some(inner)
}

fn find(call: &Call) -> Unwrapped {
    let mut unwrapped = Unwrapped::default();
    let arguments = call.arguments();
    let is_unseen =
        |value: &Value| value.is_glob && value.text.starts_with(['*', '?', '[']) && value.text.ends_with('*');
    let is_unknown = |value: &Value| value.may_be_option() && value.known().is_none() || is_unseen(value);
    if call.has_more || arguments.iter().any(is_unknown) {
        unwrapped.findings.push(Finding::opaque("what `find` does with what it finds is not known before"));
    }
    let mut at = 0;
    while let Some(value) = arguments.get(at) {
        at += 1;
        if matches!(value.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let rest = arguments.get(at..).unwrap_or_default();
            let length =
                rest.iter().position(|value| matches!(value.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            unwrapped.calls.extend(filled(call, at, at + length, &["{}".to_owned()]));
            at += length;
        }
    }
    if call.has_argument(&["-delete"]) {
        unwrapped.findings.push(Finding::risk("deletes what it finds"));
    }
    if call.has_argument(&["-fprint", "-fprintf", "-fls", "-fprint0"]) {
        unwrapped.findings.push(Finding::risk("writes a file"));
    }
    unwrapped
}

/// `poetry run …` and the like.
fn verb(call: &Call) -> Option<Unwrapped> {
    let (_, verbs) = BEHIND_A_VERB.iter().find(|(name, _)| *name == call.name())?;
    if verbs.contains(&"") {
        return Some(Unwrapped::call(call.behind(0)));
    }
    // What stands before it are options and their values.
    let at = call.arguments().iter().position(|value| verbs.contains(&value.text.as_str()))?;
    let before = call.arguments().get(..at).unwrap_or_default();
    if !before.first().is_none_or(|first| first.text.starts_with('-')) {
        return None;
    }
    let arguments = call.arguments().iter().skip(at + 1);
    let options = arguments.take_while(|value| value.text.starts_with('-') && value.text != "--").count();
    let has_end = call.argument(at + 1 + options) == Some("--");
    let mut unwrapped = Unwrapped::call(call.behind(at + 1 + options + usize::from(has_end)));
    if options + at > 0 || call.has_more {
        unwrapped.findings.push(Finding::risk(UNCLEAR));
    }
    Some(unwrapped)
}
