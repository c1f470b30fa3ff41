//! Paths made to get out.

use toolroom_host::files::{Lines, Parents};

use super::{CANARY, Ground, MARK};
use crate::mutation::Dice;
use crate::scale::scaled;

const STRINGS: u32 = 20_000;

/// However much is wanted: each of them is written, too.
const MOST: u32 = 400_000;

/// Parts of paths: steps up, links that lead out, and ways to write a dot or a slash.
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

const GLUE: &[&str] = &["/", "/", "/", "//", "/./", "\\", "%2f"];

fn make(dice: &mut Dice, prefixes: &[String]) -> String {
    let mut path = prefixes[dice.below(prefixes.len())].clone();
    for _ in 0..dice.below(7) {
        path.push_str(PARTS[dice.below(PARTS.len())]);
        path.push_str(GLUE[dice.below(GLUE.len())]);
    }
    let ends = ["", "", "canary.txt", "outside/canary.txt", MARK, "new.txt", "."];
    path + ends[dice.below(ends.len())]
}

#[test]
fn no_path_leads_out() {
    let ground = Ground::in_memory();
    let (outside, inside) = (ground.outside(), ground.inside(""));
    ground.link("link_out", "../outside");
    ground.link("link_abs", &outside);
    ground.link("link_canary", "../outside/canary.txt");
    ground.link("link_proc", "/proc/self/root");
    ground.link("link_cwd", "/proc/self/cwd");
    ground.link("link_fd", "/proc/self/fd");
    ground.link("link_in", "dir");
    ground.link("link_up", "..");
    ground.link("link_loop", "link_loop");
    ground.link("dir/link_up", "../..");
    let [outside, inside] = [outside, inside].map(|path| path.to_str().unwrap().to_owned());
    let mut prefixes: Vec<String> =
        ["", "", "", "/", "//", "./", "../", "dir/", "dir/sub/", "link_in/"].map(String::from).to_vec();
    prefixes.extend([format!("{inside}/"), format!("{inside}/../"), format!("{inside}/dir/../../")]);
    prefixes.extend([
        format!("{outside}/"),
        format!("{inside}..{outside}/"),
        format!("/proc/self/root{outside}/"),
    ]);
    prefixes.extend([
        format!("/proc/self/cwd/{outside}/"),
        format!("file://{outside}/"),
        format!("{inside}x/"),
    ]);
    let spaces = ground.both();
    let mut dice = Dice(0x7_ea51e);
    let (mut read, mut written, mut listed) = (0_u32, 0_u32, 0_u32);
    for _ in 0..scaled(STRINGS).min(MOST) {
        let path = make(&mut dice, &prefixes);
        let space = &spaces[dice.below(spaces.len())];
        if let Ok(text) = space.read(&path) {
            assert!(!text.contains(CANARY), "{path}");
            read += 1;
        }
        if let Ok(page) = space.read_lines(&path, Lines { first: 1, count: 9, max_bytes: 999 }) {
            assert!(!page.text.contains(CANARY), "{path}");
        }
        if let Ok(listing) = space.list(&path, 1_000) {
            // A write may have made a file of that name in here; outside it is as long as the canary.
            let is_mark = |entry: &toolroom_host::files::Entry| entry.name == MARK && entry.size != 0;
            assert!(!listing.entries.iter().any(is_mark), "{path}");
            listed += 1;
        }
        let parents = if dice.below(2) == 0 { Parents::Create } else { Parents::MustExist };
        written += u32::from(space.write(&path, b"", parents).is_ok());
        ground.assert_untouched(&path);
    }
    // Some of it is harmless, or nothing was tried.
    assert!(read > 500 && written > 500 && listed > 500, "{read} read, {written} written, {listed} listed");
}
