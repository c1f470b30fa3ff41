//! Paths made to get out, for everything that takes a path.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::mutation::Dice;

/// Is in files outside only.
pub(crate) const CANARY: &str = "CANARY-7f3a";

/// The name of a file that is outside only.
pub(crate) const MARK: &str = "only-outside.mark";

/// How many are tried of everything, times the scale.
pub(crate) const STRINGS: u32 = 20_000;

/// Parts of paths: steps up and links that lead out, and then ways to write a dot or a slash.
const PARTS: &[&str] = &[
    "..",
    "..",
    "..",
    ".",
    "",
    "a",
    "dir",
    "sub",
    "file.txt",
    "canary.txt",
    "outside",
    "ws",
    "link_out",
    "link_abs",
    "link_canary",
    "link_proc",
    "link_cwd",
    "link_in",
    "link_up",
    "link_loop",
    "link_fd",
    "...",
    "....",
    "..;",
    "..%2f",
    "%2e%2e",
    "%2e%2e%2f",
    "..%252f",
    "..%c0%af",
    "..\\",
    "..\\..\\",
    "\u{ff0e}\u{ff0e}",
    "\u{2025}",
    "..\u{200b}",
    " ..",
    ".. ",
    "~",
    "~root",
    "C:",
    "file:",
    "proc",
    "self",
    "root",
    "fd",
    "3",
    "etc",
    "passwd",
    "..\0",
    "\n",
    "%00",
    ".\u{301}.",
    "\u{2215}",
    "..\u{2215}..",
    "$HOME",
    "*",
    "{..,..}",
    "\u{202e}..",
    MARK,
];

/// How many of the parts, and of what joins them, every system understands.
const PLAIN: (usize, usize) = (21, 5);

const GLUE: &[&str] = &["/", "/", "/", "//", "/./", "\\", "%2f"];

/// Without end, and the same ones on every run.
pub(crate) struct WaysOut {
    pub(crate) dice: Dice,
    prefixes: Vec<String>,
}

impl WaysOut {
    /// Lays links in the folder `inside` that lead out of it: `steps` is the way from there to `outside`.
    pub(crate) fn lay(inside: &Path, outside: &Path, steps: &str) -> Self {
        let link = |name: &str, to: &str| symlink(to, inside.join(name)).unwrap();
        let text = |path: &Path| path.to_str().unwrap().trim_end_matches('/').to_owned();
        let (within, beyond) = (text(inside), text(outside));
        link("link_out", steps);
        link("link_abs", &beyond);
        link("link_canary", &format!("{steps}/canary.txt"));
        link("link_proc", "/proc/self/root");
        link("link_cwd", "/proc/self/cwd");
        link("link_fd", "/proc/self/fd");
        link("link_in", "dir");
        link("link_up", "..");
        link("link_loop", "link_loop");
        link("dir/link_up", "../..");
        let plain = ["", "", "", "/", "//", "./", "../", "dir/", "dir/sub/", "link_in/"].map(String::from);
        let built = [
            format!("{steps}/"),
            format!("dir/../{steps}/"),
            format!("{within}/"),
            format!("{within}/../"),
            format!("{within}/dir/../../"),
            format!("{within}/{steps}/"),
            format!("{within}/..{beyond}/"),
            format!("{within}x/"),
            format!("{beyond}/"),
            format!("/proc/self/root{beyond}/"),
            format!("/proc/self/cwd/{beyond}/"),
            format!("file://{beyond}/"),
        ];
        Self { dice: Dice(0x7_ea51e), prefixes: plain.into_iter().chain(built).collect() }
    }

    pub(crate) fn next(&mut self) -> String {
        let Self { dice, prefixes } = self;
        let mut path = prefixes[dice.below(prefixes.len())].clone();
        // A few plain parts most often lead out; the others may, if they are misinterpreted.
        let (parts, glue) = if dice.below(2) == 0 { PLAIN } else { (PARTS.len(), GLUE.len()) };
        let most = 1 + dice.below(7);
        for _ in 0..dice.below(most) {
            path.push_str(PARTS[dice.below(parts)]);
            path.push_str(GLUE[dice.below(glue)]);
        }
        let ends = ["", "", "canary.txt", "outside/canary.txt", MARK, "new.txt", "."];
        path + ends[dice.below(ends.len())]
    }
}
