//! A folder of programs that tell that they ran, and shells that find no others.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use toolroom::policy::Ruling;
use toolroom_tools::shell::judge::{JudgeSettings, Security, judge};

use super::random_scripts::{PROGRAMS, STARTERS, Scribe};
use crate::scale::scaled;

/// What a script did.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trace {
    /// The programs that ran, sorted: those of a pipeline run in any order.
    pub(super) ran: Vec<String>,
    /// The lines that were printed, sorted.
    pub(super) printed: Vec<String>,
    pub(super) status: Option<i32>,
}

pub(super) struct Stage {
    folder: TempDir,
}

impl Stage {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let programs = folder.path().join("programs");
        fs::create_dir(&programs).unwrap();
        let write = |name: &str, text: String| {
            let path = programs.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        for name in PROGRAMS {
            let status = u8::from(name.starts_with('q'));
            write(name, format!("#!/bin/sh\necho {name} >> \"$TRACE\"\necho \"$*\"\nexit {status}\n"));
        }
        for name in STARTERS {
            let real = ["/usr/bin", "/bin"].map(|folder| format!("{folder}/{name}"));
            let real = real.iter().find(|path| Path::new(path).exists()).unwrap();
            write(name, format!("#!/bin/sh\necho {name} >> \"$TRACE\"\nexec {real} \"$@\"\n"));
        }
        Self { folder }
    }

    /// Runs a script with nothing but the traced programs.
    pub(super) fn run(&self, shell: &str, script: &str) -> Trace {
        let room = TempDir::new_in(self.folder.path()).unwrap();
        let (work, trace, file) =
            (room.path().join("work"), room.path().join("trace"), room.path().join("script"));
        fs::create_dir(&work).unwrap();
        fs::write(&file, script).unwrap();
        fs::write(&trace, "").unwrap();
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-k", "1", "60", shell]).arg(&file).current_dir(&work).env_clear();
        command.env("PATH", self.folder.path().join("programs")).env("TRACE", &trace).env("HOME", &work);
        command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().unwrap();
        let sorted = |text: &str| {
            // A shell's own complaints name a line, and printing changes lines.
            let lines = text.lines().filter(|line| !line.contains("/script:"));
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort();
            lines
        };
        Trace {
            ran: sorted(&fs::read_to_string(&trace).unwrap()),
            printed: sorted(&String::from_utf8_lossy(&output.stdout)),
            status: output.status.code(),
        }
    }
}

#[test]
fn every_program_that_runs_was_predicted_or_the_judge_asks() {
    let stage = Stage::new();
    let settings = JudgeSettings { security: Security::Cautious, ..JudgeSettings::default() };
    let (mut unasked, mut ran) = (0, 0);
    let tries = scaled(300);
    for seed in 0..tries {
        let mut scribe = Scribe::new(0x5eed_0000 + u64::from(seed) * 7_919);
        let script = scribe.script();
        let judged = judge(&script, &settings);
        if judged.verdict != Ruling::Allow {
            continue;
        }
        unasked += 1;
        let programs = judged.commands.iter().filter_map(|run| run.program.as_deref());
        let predicted: BTreeSet<&str> = programs.collect();
        let printed = judged.printed.unwrap();
        let shells: &[&str] = if scribe.is_portable { &["/bin/bash", "/bin/sh"] } else { &["/bin/bash"] };
        for shell in shells {
            for text in [&script, &printed] {
                let trace = stage.run(shell, text);
                ran += trace.ran.len();
                let surprise = trace.ran.iter().find(|name| !predicted.contains(name.as_str()));
                assert_eq!(
                    surprise, None,
                    "{shell} ran it, predicted were {predicted:?}:\n{text}\nof\n{script}"
                );
            }
        }
    }
    println!("{tries} scripts, {unasked} unasked, {ran} programs ran");
    assert!(unasked * 5 >= tries, "only {unasked} of {tries} scripts ran unasked");
    assert!(ran > unasked as usize, "only {ran} programs ran");
}
