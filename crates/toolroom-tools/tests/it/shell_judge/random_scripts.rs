//! Random scripts over programs that only tell that they ran.

use crate::mutation::Dice;

/// Programs that print their arguments: the first ones succeed, the last ones fail.
pub(super) const PROGRAMS: [&str; 6] = ["p1", "p2", "p3", "p4", "q1", "q2"];

/// Programs that start others.
pub(super) const STARTERS: [&str; 8] = ["env", "xargs", "timeout", "nice", "nohup", "find", "sh", "bash"];

/// Writes scripts. What is portable is read alike by `bash` and `sh`.
pub(super) struct Scribe {
    pub(super) dice: Dice,
    pub(super) is_portable: bool,
    /// Contains nothing that runs concurrently in an undefined order.
    pub(super) is_steady: bool,
    depth: usize,
    functions: usize,
}

impl Scribe {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed | 1);
        // The first numbers of neighbouring seeds are alike.
        (0..8).for_each(|_| assert!(dice.below(2) < 2));
        let is_portable = dice.below(2) == 0;
        Self { dice, is_portable, is_steady: false, depth: 0, functions: 0 }
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.dice.below(from.len())]
    }

    fn program(&mut self) -> &'static str {
        PROGRAMS[self.dice.below(PROGRAMS.len())]
    }

    pub(super) fn script(&mut self) -> String {
        let lines = 1 + self.dice.below(3);
        let mut text = String::new();
        for _ in 0..lines {
            text.push_str(&self.list());
            text.push('\n');
        }
        text
    }

    fn list(&mut self) -> String {
        let mut text = self.pipeline();
        for _ in 0..self.dice.below(3) {
            let steady = if self.is_steady { 5 } else { 6 };
            let mut join = self.pick(&[" && ", " || ", "; ", " ;", "\n", " & "][..steady]);
            // The lines of a here-document begin behind the next end of a line.
            if text.contains("<<") {
                join = "\n";
            }
            text = format!("{text}{join}{}", self.pipeline());
        }
        text
    }

    fn pipeline(&mut self) -> String {
        let first = self.command();
        if first.contains("<<") || self.dice.below(4) > 0 {
            return first;
        }
        let negation = self.pick(&["", "! "]);
        match self.is_steady {
            // It reads all of its input, so no writer gets SIGPIPE.
            true => format!("{negation}{first} | xargs {}", self.program()),
            false => format!("{negation}{first} | {}", self.command()),
        }
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self) -> String) -> String {
        if self.depth >= 2 {
            return self.simple();
        }
        self.depth += 1;
        let text = write(self);
        self.depth -= 1;
        text
    }

    fn command(&mut self) -> String {
        match self.dice.below(if self.is_portable { 16 } else { 20 }) {
            0..=5 => self.simple(),
            6 => self.nested(|s| format!("{{ {}\n}}", s.list())),
            7 => self.nested(|s| format!("( {}\n)", s.list())),
            8 => self.nested(|s| format!("if {}\nthen {}\nelse {}\nfi", s.list(), s.list(), s.list())),
            9 => self.nested(|s| format!("for v in {} {}; do {}\ndone", s.word(), s.word(), s.list())),
            10 => self.nested(|s| {
                format!("case {} in p*|{}) {}\n;; *) {}\nesac", s.word(), s.word(), s.list(), s.list())
            }),
            11 => self.nested(|s| {
                s.functions += 1;
                // A name of its own, so that it does not call itself.
                let name = format!("f{}", s.functions);
                format!("{name}() {{ {}\n}}\n{name} {}", s.list(), s.word())
            }),
            12 => self.nested(|s| format!("while q1 {}; do {}\ndone", s.word(), s.list())),
            13 => self.wrapped(),
            14 if self.dice.below(4) == 0 => self.sneaky(),
            14 => self.simple(),
            15 => format!("cat <<E\n{} {}\nE\n", self.expansion(true), self.program()).replace("cat", "p1"),
            16 => self.nested(|s| format!("[[ -n {} && {} == p* ]]", s.word(), s.word())),
            17 => self.nested(|s| format!("for ((i = 0; i < 2; i++)); do {}\ndone", s.list())),
            18 => self.nested(|s| format!("a=({} $({}\n))", s.word(), s.list())),
            _ if self.is_steady => self.simple(),
            _ => self.nested(|s| format!("p1 <({}\n)", s.list())),
        }
    }

    fn simple(&mut self) -> String {
        let mut text = String::new();
        if self.dice.below(6) == 0 {
            text.push_str(&format!("v={} ", self.word()));
        }
        text.push_str(&match self.dice.below(24) {
            0 => self.word(),
            1 => "echo".to_owned(),
            2 => ":".to_owned(),
            _ => self.spelled(),
        });
        for _ in 0..self.dice.below(3) {
            text.push(' ');
            text.push_str(&self.word());
        }
        text.push_str(self.pick(&["", "", "", "", " > out", " 2>&1", " < /dev/null", " 2>/dev/null >> out"]));
        text
    }

    /// The name of a program, spelled in some way.
    fn spelled(&mut self) -> String {
        let name = self.program();
        let (first, last) = name.split_at(1);
        match self.dice.below(8) {
            0 => format!("'{name}'"),
            1 => format!("\"{name}\""),
            2 => format!("\\{name}"),
            3 => format!("{first}''{last}"),
            4 => format!("{first}\\\n{last}"),
            5 if !self.is_portable => format!("$'\\x{:02x}{last}'", name.as_bytes()[0]),
            _ => name.to_owned(),
        }
    }

    fn word(&mut self) -> String {
        match self.dice.below(9) {
            0 => self.expansion(false),
            1 => format!("\"{}\"", self.expansion(true)),
            2 => "'a  b'".to_owned(),
            3 => "x*".to_owned(),
            4 => "a\\ b".to_owned(),
            5 => self.spelled(),
            6 if !self.is_portable => "{p1,p2}".to_owned(),
            _ => {
                self.pick(&["a", "-n", "1", "", "~x", "b#c", "k=v", "''", "$", "\"a'b\"", "'\"'"]).to_owned()
            }
        }
    }

    fn expansion(&mut self, quoted: bool) -> String {
        match self.dice.below(9) {
            0 => "$v".to_owned(),
            1 => "${v}".to_owned(),
            2 => format!("${{v:-{}}}", self.program()),
            3 => "${v%x}".to_owned(),
            4 => "$((1 + 2 * 3))".to_owned(),
            5 => "$#".to_owned(),
            6 if !quoted => self.nested(|s| format!("`{}`", s.program())),
            _ => self.nested(|s| format!("$({}\n)", s.list())),
        }
    }

    fn wrapped(&mut self) -> String {
        let program = self.spelled();
        match self.dice.below(8) {
            0 => format!("env {program} a"),
            1 => format!("env X=1 -- {program}").replace(" --", ""),
            2 => format!("timeout 5 {program}"),
            3 => format!("nice -n 1 {program}"),
            4 => format!("p1 a b | xargs {program}"),
            5 => format!("find . -maxdepth 0 -exec {program} {{}} \\;"),
            6 => format!("sh -c '{}; {}'", self.program(), self.program()),
            _ => format!("nohup {program} a"),
        }
    }

    /// What may run something that is not written where commands are.
    fn sneaky(&mut self) -> String {
        let program = self.program();
        match self.dice.below(if self.is_portable { 9 } else { 14 }) {
            0 => format!("v={program}; $v"),
            7 if self.is_steady => format!("{program} a"),
            1 => format!("eval '{program} a'"),
            2 => format!("trap {program} EXIT"),
            3 => format!("alias p1={program}\np1"),
            4 => format!("echo {program} > file; . ./file"),
            5 => format!("$(p1 {program})"),
            6 => format!("set -- {program}; \"$@\""),
            7 => format!("echo {program} | sh"),
            8 => format!("sh <<E\n{program}\nE\n"),
            9 => format!("x='a[$({program})]'; echo $((x))"),
            10 => format!("x='a[$({program})]'; [[ x -eq 1 ]]"),
            11 => format!("{{{program},a}}"),
            12 => format!("x='$({program})'; echo ${{x@P}}"),
            _ => format!("mapfile -C {program} -c 1 y <<< x"),
        }
    }
}
