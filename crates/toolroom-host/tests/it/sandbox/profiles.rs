//! What a profile allows, and what it is refused for.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use toolroom_host::process::{Cause, Order, ProgramEnd, Status, Supervisor, VariableError, Variables};
use toolroom_host::sandbox::{Level, Network, Profile, Sandbox, SandboxError, SandboxRequest};

use super::world::{is_root, own, write};
use crate::process::bench::{self, sandbox};
use crate::process::{BOUND, helper, until};

const LEVELS: [Level; 2] = [Level::Namespaces, Level::Landlock];

/// A folder that a confined program may change.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    own(folder.path());
    folder
}

async fn run(level: Level, profile: &Profile, folder: &Path, script: &str) -> ProgramEnd {
    let mut order = Order::new("bash", folder).with_arguments(["-c", script]);
    order.confinement = Some(sandbox(level).confine(profile).unwrap());
    Supervisor::new(helper()).run(order, &Default::default()).await.unwrap()
}

fn printed(ended: &ProgramEnd) -> String {
    ended.stdout.text(10_000) + &ended.stderr.text(10_000)
}

#[tokio::test]
async fn a_workspace_can_be_worked_in() {
    for level in LEVELS {
        let here = folder();
        let script = "set -e; pwd; echo text > file; mkdir -p a/b; mv file a/b; ln a/b/file link; cat link; \
            chmod +x link; t=$(mktemp); echo x > $t; [ -w $HOME ]; cd a; ls /usr/bin/env; echo out > /dev/stdout; \
            echo no > /dev/stderr; (exit 3)";
        let ended = run(level, &Profile::workspace(here.path()), here.path(), script).await;
        assert_eq!(ended.status, Status::Exited(3), "{}", printed(&ended));
        let place = here.path().canonicalize().unwrap();
        assert_eq!(ended.stdout.text(1_000), format!("{}\ntext\n/usr/bin/env\nout\n", place.display()));
        assert_eq!(ended.stderr.text(1_000), "no\n");
        assert_eq!(std::fs::read_to_string(here.path().join("a/b/file")).unwrap(), "text\n");
    }
}

#[tokio::test]
async fn a_repository_can_be_worked_in() {
    for level in LEVELS {
        let here = folder();
        let git = "git -c user.name=a -c user.email=a@b";
        let profile = Profile::workspace(here.path());
        let made = run(level, &profile, here.path(), "git init -q && echo text > file").await;
        assert_eq!((made.status, made.cause), (Status::Exited(0), Cause::Itself), "{}", printed(&made));
        let script = format!(
            "{git} add file && {git} commit -qm first && git checkout -qb other && git log --oneline | wc -l"
        );
        let worked = run(level, &profile, here.path(), &script).await;
        assert_eq!((printed(&worked).as_str(), worked.cause), ("1\n", Cause::Itself));
    }
}

#[tokio::test]
async fn who_may_only_read_changes_nothing() {
    for level in LEVELS {
        let here = folder();
        write(&here.path().join("file"), "text\n", 0o666);
        let profile = Profile::read_only(here.path());
        let script = "cat file; echo x > file; echo x > new; rm -f file; echo x > $TMPDIR/own && echo own";
        let ended = run(level, &profile, here.path(), script).await;
        assert_eq!(ended.stdout.text(100), "text\nown\n", "{}", printed(&ended));
        assert_eq!(std::fs::read_to_string(here.path().join("file")).unwrap(), "text\n");
        assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn what_is_hidden_in_a_workspace_is_not_read_or_the_program_is_refused() {
    for name in [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".git-credentials", "ours/journal.db"] {
        let here = folder();
        let file = here.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        write(&file, "canary", 0o666);
        own(here.path());
        let mut profile = Profile::workspace(here.path());
        profile.hidden.push(here.path().join("ours"));
        let script =
            format!("cat {name}; echo x >> {name}; mv {name} other && cat other; ls $(dirname {name})/*");
        let ended = run(Level::Namespaces, &profile, here.path(), &script).await;
        assert!(!printed(&ended).contains("canary"), "{name}: {}", printed(&ended));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "canary", "{name}");
        let refused = sandbox(Level::Landlock).confine(&profile).unwrap_err();
        assert!(matches!(refused, SandboxError::CannotExcept { .. }), "{refused}");
    }
}

#[tokio::test]
async fn what_may_only_be_read_inside_a_workspace_is_not_changed_or_the_program_is_refused() {
    let here = folder();
    std::fs::create_dir(here.path().join("fixed")).unwrap();
    write(&here.path().join("fixed/file"), "text\n", 0o666);
    own(here.path());
    let mut profile = Profile::workspace(here.path());
    profile.readable.push(here.path().join("fixed"));
    let ended =
        run(Level::Namespaces, &profile, here.path(), "cat fixed/file; echo x > fixed/file; mv fixed f")
            .await;
    assert_eq!(ended.stdout.text(100), "text\n");
    assert_eq!(std::fs::read_to_string(here.path().join("fixed/file")).unwrap(), "text\n");
    let refused = sandbox(Level::Landlock).confine(&profile).unwrap_err();
    assert!(matches!(refused, SandboxError::CannotExcept { .. }), "{refused}");
}

#[tokio::test]
async fn a_workspace_among_our_data_can_be_worked_in_and_the_data_not_be_seen() {
    let data = TempDir::new().unwrap();
    write(&data.path().join("journal.db"), "canary", 0o666);
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(data.path(), private).unwrap();
    let here = data.path().join("workspace");
    std::fs::create_dir(&here).unwrap();
    own(&here);
    for around in [None, Some(data.path())] {
        let mut profile = Profile::workspace(&here);
        profile.hidden.push(data.path().to_owned());
        profile.readable.extend(around.map(Path::to_owned));
        let ended =
            run(Level::Namespaces, &profile, &here, "echo x > file; cat $PWD/file ../journal.db; ls ..")
                .await;
        assert_eq!(ended.stdout.text(100), "x\nworkspace\n", "{around:?}: {}", printed(&ended));
    }
    let mut profile = Profile::workspace(&here);
    profile.hidden.push(data.path().to_owned());
    let confined = sandbox(Level::Landlock).confine(&profile);
    // Other users may not traverse root's folder.
    assert_eq!(matches!(confined, Err(SandboxError::Unreachable { .. })), is_root(), "{confined:?}");
}

#[tokio::test]
async fn a_home_of_its_own_stays_and_may_hold_anything() {
    for level in LEVELS {
        let (here, home) = (folder(), folder());
        let mut profile = Profile::workspace(here.path());
        profile.home = Some(home.path().to_owned());
        let script = "cd; mkdir .ssh; echo key > .ssh/config; echo rc > .bashrc";
        let ended = run(level, &profile, here.path(), script).await;
        assert_eq!(ended.cause, Cause::Itself);
        let again = run(level, &profile, here.path(), "cat ~/.ssh/config ~/.bashrc").await;
        assert_eq!(printed(&again), "key\nrc\n");
    }
}

#[tokio::test]
async fn temporary_files_are_its_own_and_gone_afterwards() {
    for level in LEVELS {
        let here = folder();
        let script =
            "echo x > $TMPDIR/file; mkdir -p $TMPDIR/a/b; ln -s / $TMPDIR/a/link; echo $TMPDIR; ls $TMPDIR";
        let ended = run(level, &Profile::workspace(here.path()), here.path(), script).await;
        let text = ended.stdout.text(1_000);
        let mut lines = text.lines();
        let place = Path::new(lines.next().unwrap());
        assert_eq!(lines.collect::<Vec<_>>(), ["a", "file"], "no files of other programs");
        assert!(place == Path::new("/tmp") || !place.exists(), "{text}");
    }
}

#[tokio::test]
async fn a_trespass_is_told_and_what_was_written_stands_beside() {
    let here = folder();
    std::fs::create_dir_all(here.path().join(".git/hooks")).unwrap();
    own(here.path());
    let script = "echo evil > .git/hooks/pre-push; while :; do sleep 1; done";
    let ended = run(Level::Landlock, &Profile::workspace(here.path()), here.path(), script).await;
    assert_eq!((ended.cause, ended.survivors), (Cause::Trespass, 0));
    assert_eq!(std::fs::read_dir(here.path().join(".git/hooks")).unwrap().count(), 0);
    let names = std::fs::read_dir(here.path().join(".git")).unwrap().map(|entry| entry.unwrap().file_name());
    let aside =
        names.map(|name| name.into_string().unwrap()).find(|name| name.starts_with("set-aside-hooks-"));
    assert_eq!(
        std::fs::read_to_string(here.path().join(".git").join(aside.unwrap()).join("pre-push")).unwrap(),
        "evil\n"
    );
}

#[tokio::test]
async fn what_is_the_same_again_is_no_trespass() {
    let here = folder();
    std::fs::create_dir_all(here.path().join(".git/hooks")).unwrap();
    write(&here.path().join(".git/hooks/pre-push"), "fine\n", 0o755);
    own(here.path());
    let script = "touch .git/hooks/pre-push; cp -p .git/hooks/pre-push x && mv x .git/hooks/pre-push";
    let ended = run(Level::Landlock, &Profile::workspace(here.path()), here.path(), script).await;
    assert_eq!((ended.cause, ended.status), (Cause::Itself, Status::Exited(0)), "{}", printed(&ended));
}

#[test]
fn folders_that_hold_the_system_or_are_not_there_are_refused() {
    for level in LEVELS {
        for wide in ["/", "/usr", "/etc", "/proc", "/dev", "/run", "/sys", "/proc/self"] {
            let refused = sandbox(level).confine(&Profile::workspace(wide)).unwrap_err();
            assert!(matches!(refused, SandboxError::TooWide { .. }), "{wide}: {refused}");
        }
        let missing = sandbox(level).confine(&Profile::workspace("/no/such/folder")).unwrap_err();
        assert!(matches!(missing, SandboxError::Folder { .. }), "{missing}");
        if is_root() {
            let folder = TempDir::new().unwrap();
            let others = sandbox(level).confine(&Profile::workspace(folder.path())).unwrap_err();
            assert!(others.to_string().contains("chown -R 65534"), "{others}");
        }
    }
    let profile = Profile { network: Network::Proxy { socket: "/x".into() }, ..Profile::bare() };
    let refused = sandbox(Level::Landlock).confine(&profile).unwrap_err();
    assert!(matches!(refused, SandboxError::NoProxy), "{refused}");
}

#[tokio::test]
async fn the_strongest_level_is_found_and_says_what_holds() {
    let found = Sandbox::find(&Supervisor::new(helper()), SandboxRequest::default()).await.unwrap();
    assert_eq!((found.level(), found.shortfall()), (Level::Namespaces, None));
    assert!(found.guarantees().iter().all(|promise| promise.holds || promise.name == "outside_sockets"));
    let weaker = sandbox(Level::Landlock).guarantees();
    let broken: Vec<_> = weaker.iter().filter(|promise| !promise.holds).map(|promise| promise.name).collect();
    assert!(broken.contains(&"processes") && !broken.contains(&"files"), "{broken:?}");
    assert!(weaker.iter().all(|promise| !promise.meaning.is_empty()));
}

/// Asks for a level in a process that finds programs only in this folder.
fn asked_for(level: &str, path: &Path) -> (bool, String, TempDir) {
    let here = folder();
    let mut command = Command::new(helper());
    command.arg(here.path()).args(["/usr/bin/touch", "there"]).env("CONFINED", level).env("PATH", path);
    let output = command.stdin(Stdio::null()).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned(), here)
}

#[test]
fn without_bubblewrap_its_level_is_refused_and_nothing_runs() {
    let empty = TempDir::new().unwrap();
    let (is_done, told, here) = asked_for("namespaces", empty.path());
    assert!(!is_done && told.contains("bubblewrap is not installed"), "{told}");
    assert!(!here.path().join("there").exists());
    let (is_done, told, here) = asked_for("landlock", empty.path());
    assert!(is_done && here.path().join("there").exists(), "{told}");
}

#[test]
fn with_a_broken_bubblewrap_its_level_is_refused_with_its_complaint() {
    for (script, complaint) in
        [("echo no namespaces today >&2; exit 1", "no namespaces today"), ("exit 0", "bubblewrap failed")]
    {
        let path = TempDir::new().unwrap();
        write(&path.path().join("bwrap"), &format!("#!/bin/sh\n{script}\n"), 0o755);
        let (is_done, told, here) = asked_for("namespaces", path.path());
        assert!(!is_done && told.contains(complaint), "{told}");
        assert!(!here.path().join("there").exists());
    }
}

/// Runs a script as a user that is not root, and gives what is told of it, with who that was.
fn told_by_an_ordinary_user(level: Level, here: &Path, script: &str) -> (String, String) {
    let examples = TempDir::new().unwrap();
    let program = examples.path().join("supervised");
    std::fs::copy(helper(), &program).unwrap();
    let mut command = Command::new(&program);
    if is_root() {
        use std::os::unix::fs::{PermissionsExt, chown};
        use std::os::unix::process::CommandExt;
        chown(here, Some(1_234), Some(1_234)).unwrap();
        std::fs::set_permissions(examples.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        command.uid(1_234).gid(1_234);
    }
    command.arg(here).args(["bash", "-c", script]).env("CONFINED", level.name());
    let output = command.output().unwrap();
    let uid = if is_root() { "1234".to_owned() } else { rustix::process::getuid().as_raw().to_string() };
    (String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr), uid)
}

#[test]
fn an_ordinary_user_is_confined_as_itself() {
    for level in LEVELS {
        let here = TempDir::new().unwrap();
        let script = "echo x > file; id -u; stat -c %u file; echo x > /tmp/$$ && rm /tmp/$$; kill -KILL $PPID; cat /proc/1/environ; echo on";
        let (told, uid) = told_by_an_ordinary_user(level, here.path(), script);
        assert!(told.starts_with(&format!("{uid}\n{uid}\non\nExited(0), Itself")), "{told}");
    }
}

#[test]
fn what_was_made_in_a_folder_that_was_closed_behind_it_is_taken_away_all_the_same() {
    for level in LEVELS {
        for close in ["chmod 000 .config/fish .config", "chmod 555 .", "chmod 000 ."] {
            let here = TempDir::new().unwrap();
            let script = format!(
                "mkdir -p .config/fish; echo evil > .config/fish/config.fish; echo evil > .zshrc; {close}"
            );
            let (told, _) = told_by_an_ordinary_user(level, here.path(), &script);
            assert!(told.contains("Trespass"), "{level:?} {close}: {told}");
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(here.path(), open).unwrap();
            for made in [".zshrc", ".config/fish"] {
                assert!(!here.path().join(made).exists(), "{level:?} {close}: {made}");
            }
        }
    }
}

#[tokio::test]
async fn a_link_that_a_program_left_opens_no_other_folder_to_the_next() {
    for level in LEVELS {
        let (here, outside) = (folder(), folder());
        std::fs::create_dir_all(here.path().join("a/b")).unwrap();
        own(here.path());
        let profile =
            Profile { writable: vec![here.path().to_owned(), here.path().join("a/b")], ..Profile::bare() };
        let script = format!("mv a old; mkdir a; ln -s {} a/b", outside.path().display());
        assert_eq!(run(level, &profile, here.path(), &script).await.status, Status::Exited(0));
        let refused = sandbox(level).confine(&profile).unwrap_err();
        assert!(matches!(refused, SandboxError::LeadsOut { .. }), "{refused}");
        let mut reading = Profile::workspace(here.path());
        reading.readable.push(here.path().join("a/b"));
        let refused = sandbox(level).confine(&reading).unwrap_err();
        assert!(matches!(refused, SandboxError::LeadsOut { .. }), "{refused}");
    }
}

#[tokio::test]
async fn repositories_inside_can_be_worked_with_and_gain_nothing() {
    for level in LEVELS {
        let here = folder();
        let git =
            "git -c user.name=a -c user.email=a@b -c protocol.file.allow=always -c init.defaultBranch=main";
        let make = format!(
            "set -e; {git} init -q one; cd one; echo x > file; {git} add .; {git} commit -qm first; cd ..; \
             {git} clone -q one two; {git} -C two worktree add -q ../three; {git} -C two submodule -q add $PWD/one four; \
             git -C two config user.name b; git -C two remote add other https://example.com/x.git"
        );
        let profile = Profile::workspace(here.path());
        let made = run(level, &profile, here.path(), &make).await;
        assert_eq!(
            (made.status, made.cause),
            (Status::Exited(0), Cause::Itself),
            "{level:?} {}",
            printed(&made)
        );
        // A person's own hook stays, wherever its repository goes.
        write(&here.path().join("two/.git/hooks/pre-push"), "person's\n", 0o755);
        let moved =
            run(level, &profile, here.path(), "rm -rf one; mv two five; git -C five checkout -qb x").await;
        assert_eq!(
            (moved.status, moved.cause),
            (Status::Exited(0), Cause::Itself),
            "{level:?} {}",
            printed(&moved)
        );
        let hook = here.path().join("five/.git/hooks/pre-push");
        let before = std::fs::read(here.path().join("five/.git/config")).unwrap();
        let script = "echo evil > five/.git/hooks/pre-push; git -C five config alias.x '!evil'; while :; do sleep 1; done";
        let ended = run(level, &profile, here.path(), script).await;
        assert_eq!((ended.cause, ended.survivors), (Cause::Trespass, 0), "{level:?}");
        assert_eq!(std::fs::read_to_string(hook).unwrap(), "person's\n");
        assert_eq!(std::fs::read(here.path().join("five/.git/config")).unwrap(), before);
    }
}

#[tokio::test]
async fn its_supervisors_cannot_be_signalled_or_read() {
    for level in LEVELS {
        let here = folder();
        let script = "for signal in KILL STOP TERM; do kill -$signal $PPID; kill -$signal 1; done; \
            cat /proc/$PPID/environ /proc/$PPID/mem /proc/1/environ; ls /proc/$PPID/fd /proc/1/fd; echo on";
        let ended = run(level, &Profile::workspace(here.path()), here.path(), script).await;
        assert_eq!((ended.stdout.text(1_000).as_str(), ended.status), ("on\n", Status::Exited(0)));
    }
}

#[tokio::test]
async fn all_end_with_the_process_that_keeps_the_namespaces() {
    let bench = bench::Bench::<{ bench::NAMESPACES }>::new();
    let script = "setsid sh -c 'trap \"\" TERM; sleep 600 & sleep 600' & sleep 600";
    let running = bench.supervisor.start(bench.shell(script)).await.unwrap();
    bench.until_alive(4).await;
    let parent = |pid: u32| -> u32 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let keeper = parent(parent(running.pid()));
    assert!(Command::new("kill").args(["-KILL", &keeper.to_string()]).status().unwrap().success());
    let ended = running.wait().await.unwrap();
    assert_eq!((ended.status, ended.survivors), (Status::Signalled(9), 0));
    until(BOUND, || bench.alive().is_empty()).await;
}

#[test]
fn variables_that_choose_code_cannot_be_passed_in() {
    let names =
        ["LD_PRELOAD", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "NODE_OPTIONS", "PYTHONSTARTUP", "PATH", "IFS"];
    for name in names {
        let refused = Variables::clean().with(name, "x");
        assert_eq!(refused, Err(VariableError::Refused { name: name.to_owned() }));
    }
    // Where it is passed on, it chooses.
    let file = TempDir::new().unwrap();
    write(&file.path().join("rc"), "echo YES\n", 0o644);
    let output =
        Command::new("bash").args(["-c", ":"]).env("BASH_ENV", file.path().join("rc")).output().unwrap();
    assert_eq!(output.stdout, b"YES\n");
}
