//! A person at a terminal, played by a script: what is typed, and when.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::{Ran, ran};

/// Runs a program on a terminal of its own.
const DRIVER: &str = r#"
import json, os, pty, select, subprocess, sys
play, program = json.loads(sys.argv[1]), sys.argv[2:]
ready, go = os.pipe()
child, terminal = pty.fork()
if child == 0:
    os.close(go)
    os.read(ready, 1)
    os.execv(program[0], program)
os.write(terminal, play["ahead"].encode())
os.write(go, b"!")
shown, seen, steps = "", 0, list(play["steps"])
while True:
    if steps and steps[0]["when"] in shown[seen:]:
        step, seen = steps.pop(0), len(shown)
        if step["run"]:
            subprocess.run(step["run"], shell=True, check=True)
        os.write(terminal, step["types"].encode())
    if not select.select([terminal], [], [], 120)[0]:
        sys.exit("nothing happens; shown so far: " + shown)
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        piece = b""
    if not piece:
        break
    shown += piece.decode(errors="replace")
status = os.waitpid(child, 0)[1]
sys.stdout.write(shown.replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"#;

/// What somebody does at the terminal.
#[derive(Default)]
pub(crate) struct Person {
    ahead: String,
    steps: Vec<Value>,
}

impl Person {
    /// Types this before the program has begun.
    pub(crate) fn ahead(mut self, text: &str) -> Self {
        self.ahead.push_str(text);
        self
    }

    /// Types this when that is on the screen.
    pub(crate) fn types(self, when: &str, text: &str) -> Self {
        self.does(when, "", text)
    }

    /// Runs something in another terminal when that is on the screen, and then types.
    pub(crate) fn does(mut self, when: &str, run: &str, types: &str) -> Self {
        self.steps.push(json!({"when": when, "run": run, "types": types}));
        self
    }

    /// Sits down at this command. What is on the screen in the end is its output.
    pub(crate) fn at(self, command: &Command) -> Ran {
        let mut driver = Command::new("python3");
        driver.args(["-c", DRIVER, &json!({"ahead": self.ahead, "steps": self.steps}).to_string()]);
        driver.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => driver.env(name, value),
                None => driver.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            driver.current_dir(folder);
        }
        driver.env("NO_COLOR", "1").stdin(Stdio::null());
        ran(driver.output().unwrap())
    }
}
