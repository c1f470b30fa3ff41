//! What a confined program leaves in repositories, judged by what their owner's git then runs.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use toolroom_host::sandbox::Level;

use super::world::{NOBODY, is_root};
use crate::process::helper;

const LEVELS: [Level; 2] = [Level::Namespaces, Level::Landlock];

/// An ordinary user.
const ORDINARY: u32 = 1_234;

/// What an owner has, what a program does to it, and what the owner does then. `$EVIL` is a program that leaves a trace,
/// `$OUT` a folder outside.
struct Attack {
    name: &'static str,
    before: &'static str,
    attack: &'static str,
    after: &'static str,
}

const fn attack(
    name: &'static str,
    before: &'static str,
    attack: &'static str,
    after: &'static str,
) -> Attack {
    Attack { name, before, attack, after }
}

const COMMIT: &str = "git commit -q --allow-empty -m x";

const ATTACKS: [Attack; 26] = [
    attack(
        "a decoy beside its repository",
        "",
        "git init -q sub; git -C sub config core.fsmonitor $EVIL; echo ref: refs/heads/main > sub/HEAD; mkdir sub/objects sub/refs",
        "git -C sub status",
    ),
    attack(
        "a decoy around its repository",
        "",
        "mkdir -p a/objects/b a/refs; echo x > a/HEAD; git init -q a/objects/b/c; git -C a/objects/b/c config core.fsmonitor $EVIL",
        "git -C a/objects/b/c status",
    ),
    attack(
        "a repository in a closed folder",
        "",
        "mkdir p; git init -q p/sub; git -C p/sub config core.fsmonitor $EVIL; chmod 111 p",
        "git -C p/sub status",
    ),
    attack(
        "a closed folder that the owner opens",
        "",
        "mkdir -p p/q; git init -q p/q/sub; git -C p/q/sub config core.fsmonitor $EVIL; chmod 000 p/q; chmod 000 p",
        "chmod 700 p; chmod 700 p/q; git -C p/q/sub status",
    ),
    attack(
        "a closed repository",
        "",
        "git init -q sub; git -C sub config core.fsmonitor $EVIL; chmod 111 sub/.git",
        "git -C sub status",
    ),
    attack(
        "a closed folder of hooks",
        "git init -q sub",
        "mkdir -p sub/.git/hooks; cp $EVIL sub/.git/hooks/pre-commit; chmod 111 sub/.git/hooks",
        "cd sub; git commit -q --allow-empty -m x",
    ),
    attack(
        "a repository behind three thousand folders",
        "",
        "seq 3000 | xargs mkdir; mkdir -p z/y; git init -q z/y/x; git -C z/y/x config core.fsmonitor $EVIL",
        "git -C z/y/x status",
    ),
    attack(
        "a folder of hooks that settings name",
        "git init -q; git config core.hooksPath .husky; mkdir .husky; echo : > .husky/pre-commit; chmod +x .husky/pre-commit",
        "cat $EVIL > .husky/pre-commit",
        COMMIT,
    ),
    attack(
        "one more hook where settings say",
        "git init -q; git config core.hooksPath .husky; mkdir .husky",
        "cp $EVIL .husky/pre-commit",
        COMMIT,
    ),
    attack(
        "a folder of hooks that settings name and that is missing",
        "git init -q; git config core.hooksPath .husky",
        "mkdir .husky; cp $EVIL .husky/pre-commit",
        COMMIT,
    ),
    attack(
        "a hook that a wrapper of husky runs",
        "git init -q; git config core.hooksPath .husky/_; mkdir -p .husky/_; echo : > .husky/pre-commit; \
         printf '#!/bin/sh\\nsh .husky/pre-commit\\n' > .husky/_/pre-commit; chmod +x .husky/_/pre-commit",
        "cat $EVIL > .husky/pre-commit",
        COMMIT,
    ),
    attack(
        "a folder of hooks of a repository further inside",
        "git init -q a/sub; git -C a/sub config core.hooksPath .githooks; mkdir a/sub/.githooks",
        "cp $EVIL a/sub/.githooks/pre-commit",
        "cd a/sub; git commit -q --allow-empty -m x",
    ),
    attack(
        "a folder of hooks that comes with a repository that is moved",
        "git init -q sub; git -C sub config core.hooksPath .githooks",
        "mv sub other; mkdir other/.githooks; cp $EVIL other/.githooks/pre-commit",
        "cd other; git commit -q --allow-empty -m x",
    ),
    attack(
        "a hook that is a link",
        "git init -q; mkdir -p tools .git/hooks; echo : > tools/check; chmod +x tools/check; ln -s ../../tools/check .git/hooks/pre-commit",
        "cat $EVIL > tools/check",
        COMMIT,
    ),
    attack(
        "a link on the way to a hook",
        "git init -q; mkdir -p v1 .git/hooks; echo : > v1/check; chmod +x v1/check; ln -s v1 now; ln -s ../../now/check .git/hooks/pre-commit",
        "mkdir v2; cp $EVIL v2/check; ln -sfn v2 now",
        COMMIT,
    ),
    attack(
        "a folder of hooks that is a link",
        "git init -q; mkdir tools; rm -rf .git/hooks; ln -s ../tools .git/hooks",
        "cp $EVIL tools/pre-commit",
        COMMIT,
    ),
    attack(
        "settings that are included",
        "git init -q; git config include.path ../shared.inc; echo '[user] name = a' > shared.inc",
        "git config -f shared.inc core.fsmonitor $EVIL",
        "git status",
    ),
    attack(
        "settings that are included and missing",
        "git init -q; git config includeIf.gitdir:/.path ../tools/shared",
        "mkdir tools; git config -f tools/shared core.fsmonitor $EVIL",
        "git status",
    ),
    attack(
        "a filter",
        "git init -q; mkdir tools; echo cat > tools/clean; chmod +x tools/clean; git config filter.f.clean 'tools/clean %f'; \
         echo '*.txt filter=f' > .gitattributes",
        "cat $EVIL > tools/clean; echo x > a.txt",
        "git add -A",
    ),
    attack(
        "a large program",
        "git init -q a; mkdir a/tools; cp /bin/bash a/tools/clean; git -C a config filter.f.clean 'tools/clean %f'; \
         echo '*.txt filter=f' > a/.gitattributes",
        "cp /bin/bash a/tools/clean; cat $EVIL > a/tools/clean; echo : >> a/tools/clean; echo x > a/a.txt; \
         head -c 300000 /dev/zero | tr '\\0' '\\n' >> a/tools/clean",
        "cd a; git add -A",
    ),
    attack(
        "a program that asks for changes",
        "git init -q; mkdir tools; echo : > tools/changes; chmod +x tools/changes; git config core.fsmonitor tools/changes",
        "mv tools old; mkdir tools; cp $EVIL tools/changes",
        "git status",
    ),
    attack(
        "a program that talks to others",
        "git init -q; echo : > ssh.sh; git config core.sshCommand 'sh ./ssh.sh -q'",
        "cat $EVIL > ssh.sh",
        "git fetch -q ssh://127.0.0.1/x",
    ),
    attack(
        "hooks that the owner's own settings name",
        "git config --global core.hooksPath .githooks; git init -q sub; mkdir sub/.githooks",
        "cp $EVIL sub/.githooks/pre-commit",
        "cd sub; git commit -q --allow-empty -m x",
    ),
    attack(
        "hooks of a repository that lies outside",
        "git init -q $OUT/main; cd $OUT/main; git commit -q --allow-empty -m x; git config core.hooksPath .githooks; \
         git worktree add -q -f $HERE/tree; mkdir $HERE/tree/.githooks",
        "cp $EVIL tree/.githooks/pre-commit",
        "cd tree; git commit -q --allow-empty -m x",
    ),
    attack(
        "a repository that was only lying there",
        "git init -q x; mkdir fixture; mv x/.git fixture/dotgit; git -C fixture/dotgit config core.bare false; \
         git -C fixture/dotgit config core.fsmonitor $EVIL",
        "mv fixture/dotgit fixture/.git",
        "git -C fixture status",
    ),
    attack(
        "a way to a repository that was only lying there",
        "git init -q x; mkdir -p fixture new; mv x/.git fixture/dotgit; git -C fixture/dotgit config core.bare false; \
         git -C fixture/dotgit config core.fsmonitor $EVIL",
        "echo gitdir: ../fixture/dotgit > new/.git",
        "git -C new status",
    ),
];

/// An owner with a folder, and a place outside.
struct Owner {
    uid: u32,
    here: TempDir,
    out: TempDir,
}

impl Owner {
    fn new(uid: u32) -> Self {
        let (here, out) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let evil = format!("#!/bin/sh\ntouch {}/trace\n", out.path().display());
        let settings = "[safe]\ndirectory = *\n[user]\nname = a\nemail = a@b\n[init]\ndefaultBranch = main\n";
        std::fs::write(out.path().join("evil"), evil).unwrap();
        std::fs::write(out.path().join(".gitconfig"), settings).unwrap();
        std::fs::copy(helper(), out.path().join("supervised")).unwrap();
        std::fs::set_permissions(out.path().join("evil"), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(out.path(), PermissionsExt::from_mode(0o755)).unwrap();
        if is_root() {
            for path in [here.path(), out.path(), &out.path().join(".gitconfig")] {
                chown(path, Some(uid), Some(uid)).unwrap();
            }
        }
        Self { uid, here, out }
    }

    fn command(&self, program: &Path, by: u32) -> Command {
        let mut command = Command::new(program);
        let (here, out) = (self.here.path(), self.out.path());
        command.current_dir(here).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", out);
        command.env("OUT", out).env("HERE", here).env("EVIL", out.join("evil"));
        if is_root() && by != 0 {
            command.uid(by).gid(by);
        }
        command.stdin(Stdio::null());
        command
    }

    /// Does something as the owner.
    fn does(&self, script: &str) {
        drop(self.command(Path::new("bash"), self.uid).args(["-c", script]).output().unwrap());
    }

    /// Runs a script confined, started by `by`, and gives what was told of it.
    fn lets_run(&self, script: &str, level: Level, by: u32) -> String {
        let mut command = self.command(&self.out.path().join("supervised"), by);
        let evil = format!(
            "EVIL=$PWD/evil; printf '#!/bin/sh\\ntouch {}/trace\\n' > evil; chmod +x evil; ",
            self.out.path().display()
        );
        command.arg(self.here.path()).args(["bash", "-c", &(evil + script)]).env("CONFINED", level.name());
        let output = command.output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    fn is_hit(&self) -> bool {
        self.out.path().join("trace").exists()
    }
}

/// Those after which the owner's git ran what the program wanted.
fn hits(level: Level, by: u32) -> Vec<String> {
    let mut hits = Vec::new();
    for Attack { name, before, attack, after } in ATTACKS {
        let owner = Owner::new(if by == 0 { NOBODY } else { by });
        owner.does(before);
        let told = owner.lets_run(attack, level, by);
        owner.does(after);
        if owner.is_hit() || !(told.contains("Itself") || told.contains("Trespass")) {
            hits.push(format!("{name}: {told}"));
        }
    }
    hits
}

macro_rules! as_users {
    ($($name:ident: $level:expr, $by:expr;)*) => {
        $(#[test]
        fn $name() {
            let by = if is_root() { $by } else { rustix::process::getuid().as_raw() };
            assert_eq!(hits($level, by), Vec::<String>::new());
        })*
    };
}

as_users! {
    the_owners_git_runs_nothing_of_a_program_that_root_started_in_namespaces: LEVELS[0], 0;
    the_owners_git_runs_nothing_of_a_program_that_root_started_behind_landlock: LEVELS[1], 0;
    the_owners_git_runs_nothing_of_a_program_that_a_user_started_in_namespaces: LEVELS[0], ORDINARY;
    the_owners_git_runs_nothing_of_a_program_that_a_user_started_behind_landlock: LEVELS[1], ORDINARY;
}

#[test]
fn every_attack_on_a_repository_hits_without_a_sandbox() {
    let by = if is_root() { ORDINARY } else { rustix::process::getuid().as_raw() };
    let misses = ATTACKS.iter().filter(|Attack { before, attack, after, .. }| {
        let owner = Owner::new(by);
        owner.does(before);
        owner.does(attack);
        owner.does(after);
        !owner.is_hit()
    });
    assert_eq!(misses.map(|attack| attack.name).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn a_running_program_that_blinds_the_watch_is_ended() {
    for attack in [
        "mkdir p; git init -q p/sub; chmod 111 p; exec sleep 600",
        "mkdir objects; echo x > HEAD; git init -q sub; cp $EVIL sub/.git/hooks/x; exec sleep 600",
    ] {
        for level in LEVELS {
            let told = Owner::new(ORDINARY).lets_run(attack, level, ORDINARY);
            assert!(told.contains("Trespass"), "{attack} {level:?}: {told}");
        }
    }
}

#[test]
fn ordinary_work_is_no_finding() {
    let husky = "git init -q; git config core.hooksPath .husky; mkdir .husky tools; cp /bin/true .husky/pre-commit; \
        git config filter.f.clean 'tools/clean %f'; cp /bin/cat tools/clean; echo '*.txt filter=f' > .gitattributes; \
        git config alias.t '!./build/t'; git config core.excludesFile ../ignored";
    for (before, work) in [
        ("", "mkdir closed; chmod 000 closed"),
        ("mkdir -p open; chmod 111 open", "echo x > open/file; mkdir -p 1/2; chmod 555 1"),
        ("", "seq 2500 | xargs mkdir; rm -rf 1 2 3"),
        (
            husky,
            "echo x > a.txt; mkdir build; cp /bin/true build/t; git add -A && git -c user.name=a -c user.email=a@b commit -qm x && git status && mv a.txt b.txt",
        ),
        ("git init -q x; git -C x config core.fsmonitor true", "mv x y; git -C y status; git clone -q y z"),
    ] {
        for level in LEVELS {
            let owner = Owner::new(ORDINARY);
            owner.does(before);
            let told = owner.lets_run(work, level, ORDINARY);
            assert!(told.contains("Exited(0), Itself"), "{work} {level:?}: {told}");
            let closed = owner.here.path().join("closed").metadata();
            assert!(closed.map_or(true, |found| found.permissions().mode() & 0o777 == 0), "{work} {level:?}");
        }
    }
}
