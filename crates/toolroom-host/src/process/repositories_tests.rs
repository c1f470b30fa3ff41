//! What git itself finds in folders made at random, before and after a program was at work there.

use std::os::unix::fs::symlink;

use proptest::prelude::{Strategy, prop_assert_eq, proptest};
use proptest::{collection, sample};

use super::*;
use crate::scale::cases;

/// Names that mean something to git, and some that do not.
const NAMES: [&str; 9] = ["a", "b", " a", ".git", "objects", "refs", "hooks", "modules", "worktrees"];

/// Where pointers and links lead.
const PLACES: [&str; 10] =
    ["a", "b", " a", ".git", "../a", "../b", "../.git", "../a/.git", "../../.git/modules/b", "."];

const FILES: [&str; 6] = ["HEAD", "config", "config.worktree", "hooks/pre-commit", "commondir", ".git"];

/// One random step: an action in an existing folder, chosen by number.
#[derive(Debug, Clone)]
enum Step {
    Folder(usize, &'static str),
    /// A whole repository.
    Repository(usize, &'static str),
    File(usize, &'static str, &'static str),
    Link(usize, &'static str, &'static str),
    Move(usize, usize, &'static str),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (folder, name) = (0..40_usize, sample::select(NAMES.as_slice()));
    let place = sample::select(PLACES.as_slice());
    let step = (0..8_u8, folder.clone(), folder, name, sample::select(FILES.as_slice()), place).prop_map(
        |(kind, folder, other, name, file, place)| match kind {
            0 | 1 => Step::Folder(folder, name),
            2 | 3 => Step::Repository(folder, name),
            4 | 5 => Step::File(folder, file, place),
            6 => Step::Link(folder, name, place),
            _ => Step::Move(folder, other, name),
        },
    );
    collection::vec(step, 1..16)
}

/// All folders below one, in order.
#[expect(clippy::disallowed_methods, reason = "a test looks at its own files")]
fn folders(root: &Path) -> Vec<PathBuf> {
    let mut all = vec![root.to_owned()];
    let mut next = 0;
    while let Some(folder) = all.get(next).cloned() {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut inner: Vec<PathBuf> =
            entries.filter(|entry| entry.file_type().unwrap().is_dir()).map(|entry| entry.path()).collect();
        inner.sort();
        all.extend(inner);
        next += 1;
    }
    all
}

/// Does one step, if it can be done. `mark` is what git would run.
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
fn take(root: &Path, step: &Step, mark: &str) {
    let all = folders(root);
    let at = |number: &usize| all[number % all.len()].clone();
    let settings = format!("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {mark}\n");
    // What cannot be done is left out.
    drop(match step {
        Step::Folder(folder, name) => std::fs::create_dir(at(folder).join(name)),
        Step::Repository(folder, name) => {
            let repository = at(folder).join(name);
            for part in ["objects", "refs", "hooks"] {
                drop(std::fs::create_dir_all(repository.join(part)));
            }
            drop(std::fs::write(repository.join("HEAD"), "ref: refs/heads/main\n"));
            drop(std::fs::write(repository.join("hooks/pre-commit"), mark));
            std::fs::write(repository.join("config"), settings)
        }
        Step::File(folder, name, place) => {
            let text = match *name {
                "HEAD" => "ref: refs/heads/main\n".to_owned(),
                "config" | "config.worktree" => settings,
                "commondir" => format!("{place}\n"),
                ".git" => format!("gitdir: {place}\n"),
                _ => mark.to_owned(),
            };
            std::fs::write(at(folder).join(name), text)
        }
        Step::Link(folder, name, place) => symlink(place, at(folder).join(name)),
        Step::Move(folder, other, name) => match at(folder) {
            folder if folder == root => Ok(()),
            folder => std::fs::rename(folder, at(other).join(name)),
        },
    });
}

/// The folders in which git would run what has this mark.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "git itself is asked")]
fn found_by_git(root: &Path, mark: &str) -> Vec<PathBuf> {
    let asks = |folder: &Path, words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "safe.directory=*"]).args(words).current_dir(folder).env_clear();
        git.env("PATH", "/usr/bin:/bin")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim_end_matches('\n').to_owned()
    };
    let would_run = |folder: &PathBuf| {
        let hook = folder.join(asks(folder, &["rev-parse", "--git-path", "hooks/pre-commit"]));
        asks(folder, &["config", "--get", "core.fsmonitor"]) == mark
            || std::fs::read_to_string(hook).is_ok_and(|text| text == mark)
    };
    folders(root).into_iter().filter(would_run).collect()
}

/// What git would run of a program that took these steps after the owner took the others: before, and after the watch.
fn judged(owners: &[Step], programs: &[Step]) -> (usize, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    let root = folder.path().canonicalize().unwrap();
    owners.iter().for_each(|step| take(&root, step, "fine"));
    let (repositories, _) = Repositories::scan(vec![root.clone()], &GitOwner::default());
    programs.iter().for_each(|step| take(&root, step, "evil"));
    let before = found_by_git(&root, "evil").len();
    repositories.put_back();
    (before, found_by_git(&root, "evil"))
}

#[test]
fn git_finds_what_the_watch_takes_away() {
    let repository = [Step::Repository(0, ".git")];
    assert_eq!(judged(&[], &repository), (5, Vec::new()));
    let behind = [Step::Repository(0, "a"), Step::File(0, ".git", "a")];
    assert_eq!(judged(&[], &behind), (5, Vec::new()));
}

/// A folder in memory, as many files would take a disk long.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
fn a_look_that_folders_of_a_program_cut_short_is_a_finding() {
    let folder = in_memory();
    let root = folder.path().canonicalize().unwrap();
    let (repositories, _) = Repositories::scan(vec![root.clone()], &GitOwner::default());
    for count in 0..=FOLDERS_BEFORE + FOLDERS_MADE {
        std::fs::create_dir(root.join(count.to_string())).unwrap();
    }
    take(&root, &Step::Repository(1, ".git"), "evil");
    assert_eq!(repositories.put_back(), Some(Cause::Limit(Limit::Folders)));
    // Where so many were there before, they are no finding, and young executions nearby still are.
    let (before, _) = Repositories::scan(vec![root.clone()], &GitOwner::default());
    assert_eq!(before.put_back(), None);
    take(&root, &Step::Repository(0, ".git"), "evil");
    assert_eq!(before.put_back(), Some(Cause::Trespass));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
fn many_files_hide_no_repository() {
    let folder = in_memory();
    let root = folder.path().canonicalize().unwrap();
    let (repositories, _) = Repositories::scan(vec![root.clone()], &GitOwner::default());
    for count in 0..25_000 {
        std::fs::write(root.join(count.to_string()), "").unwrap();
    }
    take(&root, &Step::Repository(0, ".git"), "evil");
    assert_eq!(repositories.put_back(), Some(Cause::Trespass));
    assert_eq!(found_by_git(&root, "evil"), Vec::<PathBuf>::new());
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn git_runs_nothing_new_wherever_it_is_used(owners in steps(), programs in steps()) {
        prop_assert_eq!(judged(&owners, &programs).1, Vec::<PathBuf>::new());
    }
}
