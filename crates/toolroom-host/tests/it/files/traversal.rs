//! Paths made to get out.

use toolroom_host::files::{Lines, Parents};

use super::Ground;
use super::ways_out::{CANARY, MARK, STRINGS, WaysOut};
use crate::scale::scaled;

/// However much is wanted: each of them is written, too.
const MOST: u32 = 400_000;

#[test]
fn no_path_leads_out() {
    let ground = Ground::in_memory();
    let mut ways = WaysOut::lay(&ground.inside(""), &ground.outside(), "../outside");
    let spaces = ground.both();
    let (mut read, mut written, mut listed) = (0_u32, 0_u32, 0_u32);
    for _ in 0..scaled(STRINGS).min(MOST) {
        let path = ways.next();
        let space = &spaces[ways.dice.below(spaces.len())];
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
        let parents = if ways.dice.below(2) == 0 { Parents::Create } else { Parents::MustExist };
        written += u32::from(space.write(&path, b"", parents).is_ok());
        ground.assert_untouched(&path);
    }
    // Some of it is harmless, or nothing was tried.
    assert!(read > 500 && written > 500 && listed > 500, "{read} read, {written} written, {listed} listed");
}
