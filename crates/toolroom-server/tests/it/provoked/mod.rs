//! A catalogue of what goes wrong: every message says what it is about, why it does not go, and what to do next.

mod commands;
mod desk;
mod machine;
mod requests;

use crate::home::{Home, Ran, ran};

/// What a message has to say.
#[derive(Clone, Copy)]
struct Says {
    /// What it is about, by its name.
    what: &'static str,
    /// Why it does not go.
    why: &'static str,
    /// What to type, to write or to do instead.
    next: &'static str,
}

impl Says {
    /// What of it the text does not say.
    fn missing_in(self, text: &str) -> Vec<&'static str> {
        [self.what, self.why, self.next].into_iter().filter(|words| !text.contains(words)).collect()
    }
}

/// A command that goes wrong.
struct Provoked {
    /// What is there before.
    scene: fn(&Home),
    words: &'static [&'static str],
    code: i32,
    says: Says,
}

/// A command that goes wrong in a new home.
const fn row(
    words: &'static [&'static str],
    code: i32,
    what: &'static str,
    why: &'static str,
    next: &'static str,
) -> Provoked {
    Provoked { scene: |_| {}, words, code, says: Says { what, why, next } }
}

impl Provoked {
    /// The same, after this.
    const fn after(mut self, scene: fn(&Home)) -> Self {
        self.scene = scene;
        self
    }

    /// What is wrong with what was told; nothing, if it is fine.
    fn fault(&self) -> Option<String> {
        let home = Home::new();
        (self.scene)(&home);
        let told = at_home(&home, self.words);
        let missing = self.says.missing_in(&told.err);
        let fine = told.code == self.code && missing.is_empty();
        (!fine).then(|| {
            let (words, code) = (self.words.join(" "), self.code);
            format!("toolroom {words}: exit code {code} expected, {missing:?} not said: {told:?}")
        })
    }
}

/// The command without keys, models and desktop.
fn at_home(home: &Home, words: &[&str]) -> Ran {
    const ABSENT: [&str; 8] = [
        "ANTHROPIC_API_KEY",
        "BRAVE_API_KEY",
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
        "OPENAI_API_KEY",
        "TAVILY_API_KEY",
        "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR",
    ];
    let mut command = home.command(words);
    for name in ABSENT {
        command.env_remove(name);
    }
    ran(command.current_dir(home.path()).output().unwrap())
}

/// Writes a file into the home.
fn writes(home: &Home, name: &str, text: &str) {
    std::fs::write(home.path().join(name), text).unwrap();
}

#[track_caller]
fn all_fine(table: &[Provoked]) {
    let faults: Vec<String> = table.iter().filter_map(Provoked::fault).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), table.len(), faults.join("\n"));
}

#[test]
fn wrong_commands_say_what_why_and_what_next() {
    all_fine(commands::TABLE);
}

#[test]
fn calls_that_cannot_be_made_say_what_why_and_what_next() {
    all_fine(desk::TABLE);
}

#[test]
fn a_machine_that_is_not_in_order_says_what_why_and_what_next() {
    all_fine(machine::TABLE);
}

#[test]
fn the_catalogue_is_long_and_repeats_nothing() {
    let mut seen = std::collections::BTreeSet::new();
    let commands = [commands::TABLE, desk::TABLE, machine::TABLE].into_iter().flatten();
    for provoked in commands {
        let Says { what, why, next } = provoked.says;
        assert!(seen.insert((what, why, next)), "{what} {why} {next}");
    }
    for asked in requests::TABLE {
        let Says { what, why, next } = asked.says;
        assert!(seen.insert((what, why, next)), "{what} {why} {next}");
    }
    assert!(seen.len() >= 60, "only {} kinds of error", seen.len());
}
