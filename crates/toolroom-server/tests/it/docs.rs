//! Every `console` example in the README, under `docs/` and in the language reference is run, and prints what it says.
//!
//! A block is a session of its own toolroom per file: lines that start with `$ ` are commands for bash, the
//! lines below are what they print (stdout and stderr together). `…` stands for any text.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::home::{Home, binary, repository};

#[test]
fn examples_do_what_they_show() {
    let root = repository();
    let mut files = vec![root.join("README.md"), root.join("crates/toolroom/src/expression/language.md")];
    markdown_below(&root.join("docs"), &mut files);
    let (mut examples, mut wrong) = (0, Vec::new());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let home = Home::new();
        for (command, expected) in sessions(&text) {
            let printed = run(&home, &command);
            if !matches(&expected, &printed) {
                let file = file.display();
                wrong.push(format!("{file}: `{command}` printed\n{printed}\ninstead of\n{expected}"));
            }
            examples += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(examples >= 10, "only {examples} examples were found");
}

fn markdown_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            markdown_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}

/// Commands and what they should print.
fn sessions(markdown: &str) -> Vec<(String, String)> {
    let mut sessions: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), sessions.last_mut()) {
                (Some(command), _) => sessions.push((command.to_owned(), String::new())),
                (None, Some((_, expected))) => {
                    expected.push_str(line);
                    expected.push('\n');
                }
                (None, None) => panic!("output before the first command: {line}"),
            },
            (false, _) => {}
        }
    }
    sessions
}

fn run(home: &Home, command: &str) -> String {
    let folder = binary().parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(home.path());
    bash.env("PATH", path).env("TOOLROOM_HOME", home.path()).env("TZ", "UTC");
    // Opens nothing on the desktop of the developer.
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] {
        bash.env_remove(name);
    }
    String::from_utf8(bash.output().unwrap().stdout).unwrap()
}

/// Line by line; `…` matches any text inside its line, and a line that is only `…` any number of lines.
fn matches(expected: &str, printed: &str) -> bool {
    let (expected, printed): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), printed.lines().collect());
    lines_match(&expected, &printed)
}

fn lines_match(expected: &[&str], printed: &[&str]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        (Some((want, wants)), Some((got, gots))) => {
            line_matches(want, got.trim_end()) && lines_match(wants, gots)
        }
        _ => false,
    }
}

fn line_matches(expected: &str, printed: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = parts.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
