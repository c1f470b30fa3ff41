//! Where programs write: archives unpacked elsewhere, and system files.

use super::invocation::Invocation;
use super::launchers::valued;
use super::paths::{holds_startup, is_outside, is_root, is_system};
use super::report::Concern;
use super::tar;
use super::working_folder::WorkingFolder;

/// Programs that write many files into a folder, and the options for the folder.
const UNPACKING: &[(&str, &str, &[&str])] = &[
    ("tar gtar bsdtar", "C", &["directory", "one-top-level"]),
    ("unzip cabextract", "d", &["directory"]),
    ("cpio bsdcpio", "D", &["directory"]),
    ("7z 7za 7zr 7zz", "o", &[]),
    ("unar", "o", &[]),
    ("bsdunzip ripmime ouch", "d", &["dir"]),
    ("munpack", "C", &[]),
    ("aunpack atool", "X", &["extract-to"]),
    ("patch", "d", &["directory"]),
    ("unsquashfs", "d", &["dest"]),
    ("jar", "C", &[]),
    ("unrar rar dpkg-deb", "", &[]),
];

/// Programs that write each of their file arguments.
const WRITING: &str = "tee touch mkdir rmdir chmod mv install mkfifo patch";

/// Programs that write their last argument, or into the folder behind `-t`.
const COPYING: &str = "cp ln rsync";

/// Programs that write the file behind `-o`.
const MAKING: &str = "sort gcc g++ cc c++ clang clang++ go rustc ld patch shuf";

/// Concerns about where an invocation writes. `folder` is where it runs.
pub(super) fn concerns(invocation: &Invocation, folder: &WorkingFolder) -> Option<Concern> {
    let name = invocation.name();
    let is_one = |names: &str| names.split(' ').any(|each| each == name);
    if let Some((_, short, long)) = UNPACKING.iter().find(|(names, ..)| is_one(names)) {
        let last = invocation.operands().skip(1).last().filter(|_| short.is_empty());
        let mut targets = valued(invocation, short, long);
        if name.ends_with("tar") {
            targets.extend(tar::value_behind_letters(invocation, 'C'));
        }
        let leads_out = targets.iter().chain(last).any(is_outside) || folder.is_of_the_system();
        if leads_out {
            return Some(Concern::risk("unpacks files outside of the folder it runs in"));
        }
    }
    let last = invocation.operands().last().filter(|_| is_one(COPYING) || matches!(name, "mv" | "install"));
    let into = valued(invocation, "tC", &["target-directory", "directory"]);
    if last.into_iter().chain(&into).any(holds_startup) {
        return Some(Concern::touch("may write a file that is run by others later"));
    }
    let is_in_place = matches!(name, "sed" | "gsed") && invocation.has_option("i", &["in-place"]);
    let writes = if is_one(WRITING) || is_in_place {
        invocation.operands().any(is_system)
    } else if is_one(COPYING) {
        let last = invocation.operands().last();
        let into = valued(invocation, "t", &["target-directory"]);
        last.into_iter().chain(&into).any(|value| is_system(value) || name == "rsync" && is_root(value))
    } else {
        is_one(MAKING) && valued(invocation, "o", &["output"]).iter().any(is_system)
    };
    writes.then(|| Concern::risk("writes a file of the system"))
}
