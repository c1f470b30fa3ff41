//! Settings that were written in every way, and what git itself makes of them.

use std::io::Write;
use std::process::Stdio;

use proptest::prelude::{prop_assert, proptest};
use proptest::{collection, sample};

use super::*;
use crate::scale::cases;

fn runs(text: &str) -> bool {
    doubtful(text.as_bytes()).iter().any(|setting| matches!(setting, Setting::Runs(_)))
}

#[test]
fn what_git_writes_itself_is_harmless() {
    let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n# a comment \\\n; another\n\n\
        [remote \"origin\"]\r\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
        [branch \"a/b.c\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user] name = A B # c\n[submodule \"m\"]\nactive\n";
    assert_eq!(doubtful(text.as_bytes()), []);
    let module = "[core]\nworktree = ../../../m\n";
    assert_eq!(doubtful(module.as_bytes()), [Setting::Place("../../../m".to_owned())]);
}

#[test]
fn what_may_run_something_is_found_however_it_is_written() {
    for text in [
        "[core]\nfsmonitor = evil",
        "[CORE]\nFSMonitor=evil",
        "[core] hooksPath = /tmp",
        "[core]pager=evil",
        "[core]\nbare = false\\\npager = evil",
        "[core \"x\"]\nsshCommand = evil",
        "[ core]\neditor = evil",
        "[filter \"a\"]\nsmudge = evil",
        "[alias]\nst = !evil",
        "[include]\npath = evil",
        "[includeIf \"gitdir:/\"]\npath = evil",
        "[remote \"o\"]\nurl = ext::sh -c evil",
        "[remote \"o\"]\nurl = \"ext\":\"\":evil",
        "[remote \"a\\\"]\nuploadpack = evil\n[user \"]\nname = x",
        "[remote \"o\"]\nuploadpack = evil",
        "[submodule \"m\"]\nupdate = !evil",
        "[user\nname = evil",
        "\u{feff}[core]\npager = evil",
        "name = evil",
        "[user]\nname = a\n[core]\u{b}pager = evil",
    ] {
        assert!(runs(text), "{text:?}");
    }
    assert!(matches!(doubtful(b"[core]\n\xff").as_slice(), [Setting::Runs(_)]));
}

#[test]
fn the_list_is_sorted_and_holds_nothing_twice() {
    assert!(HARMLESS.is_sorted_by(|one, next| one < next));
}

/// Pieces of settings, so that most of what is made of them means something to git.
const PIECES: [&str; 34] = [
    "[core]",
    "[core",
    "[Core \"x\"]",
    "[user]",
    "[remote \"o\"]",
    "[remote \"a\\\"]",
    "[include]",
    "[",
    "]",
    "\"",
    "\\",
    "\\\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\u{b}",
    "=",
    " = ",
    "#",
    ";",
    "pager",
    "bare",
    "name",
    "url",
    "worktree",
    "path",
    "evil",
    "ext::sh",
    "\u{feff}",
    ".",
];

/// The names git finds, in its own words; `None` if it refuses the text.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "git itself is asked")]
fn found_by_git(text: &str) -> Option<Vec<(String, String)>> {
    let mut git = std::process::Command::new("git")
        .args(["config", "--file", "-", "--no-includes", "--list", "-z"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = git.wait_with_output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let entry = |entry: &str| {
        let (name, value) = entry.split_once('\n').unwrap_or((entry, ""));
        (name.to_owned(), value.to_owned())
    };
    output.status.success().then(|| list.split_terminator('\0').map(entry).collect())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn settings_that_git_finds_and_that_are_not_harmless_are_found(
        pieces in collection::vec(sample::select(PIECES.as_slice()), 1..24),
    ) {
        let text = pieces.concat();
        for (name, value) in found_by_git(&text).unwrap_or_default() {
            let (section, key) = (name.split('.').next().unwrap(), name.rsplit('.').next().unwrap());
            let short = format!("{section}.{key}");
            let is_harmless = HARMLESS.contains(&short.as_str())
                || (ADDRESSES.contains(&short.as_str()) && !value.contains("::"));
            prop_assert!(is_harmless || !doubtful(text.as_bytes()).is_empty(), "{text:?}: {name}={value}");
        }
    }
}
