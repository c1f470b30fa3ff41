//! Two corpora of commands, each line with the verdict it must get: what a harmful command does must not run unasked,
//! whichever program does it, and everyday work must not ask.

use toolroom::policy::Ruling;
use toolroom_tools::shell::judge::{JudgeSettings, Security, judge};

const HARMFUL: &str = include_str!("../../shell/harmful_commands.txt");
const EVERYDAY: &str = include_str!("../../shell/everyday_commands.txt");

/// The lines of a corpus: the expected verdict and the command.
fn lines(corpus: &str) -> impl Iterator<Item = (&str, String)> {
    let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    lines.map(|line| {
        let (class, command) = line.split_once(' ').unwrap();
        (class, command.replace('⏎', "\n"))
    })
}

/// Checks every line and lists those with another verdict.
fn check(corpus: &str, least: usize) {
    let settings = JudgeSettings::default();
    let mut count = 0;
    let mut wrong = Vec::new();
    for (class, command) in lines(corpus) {
        let judged = judge(&command, &settings);
        let is_right = match class {
            "run" => judged.verdict == Ruling::Allow,
            "ask" => judged.verdict >= Ruling::Ask,
            "deny" => judged.verdict == Ruling::Deny,
            _ => panic!("`{class}` is no class"),
        };
        count += 1;
        if !is_right {
            wrong.push(format!("{class} {command:?}: {:?}", judged.reasons.first().map(|it| &it.why)));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= least, "only {count} commands");
}

#[test]
fn a_harmful_command_asks_for_any_program() {
    check(HARMFUL, 1_200);
}

#[test]
fn everyday_commands_run_unasked() {
    check(EVERYDAY, 550);
}

#[test]
fn a_danger_is_refused_in_every_mode() {
    for security in [Security::Open, Security::Cautious, Security::Strict] {
        let settings = JudgeSettings { security, ..JudgeSettings::default() };
        for (class, command) in lines(HARMFUL).filter(|(class, _)| *class == "deny") {
            assert_eq!(judge(&command, &settings).verdict, Ruling::Deny, "{class} {command}");
        }
    }
}
