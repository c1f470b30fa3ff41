//! Temporary files are gone after a program's end, even if it locked them or processes were killed.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use toolroom_host::process::{OutputStream, ProcessError};

use super::world::is_root;
use crate::process::bench::{Bench, LANDLOCK};
use crate::process::{BOUND, helper, until};

/// Closes, nests and hides what it leaves in its temporary folder, in every way.
const STUBBORN: &str = "echo $TMPDIR; cd $TMPDIR; mkdir deep; cd deep; \
    perl -e 'for (1..1500) { mkdir \"d\"; chdir \"d\" }'; cd $TMPDIR; mkdir -p a/b c/d; echo x > a/b/file; \
    echo x > c/d/file; chmod 000 a/b; chmod 000 a; chmod 555 c/d; chmod 444 c; mkdir e; chmod 111 e; ln -s / root; \
    mkfifo pipe; chmod 000 $TMPDIR/.. $TMPDIR; true";

/// The folder of ours around the temporary folder that a program told.
fn around(told: &str) -> PathBuf {
    let folder = Path::new(told.lines().next().unwrap()).parent().unwrap().to_owned();
    assert!(folder.parent() == Some(Path::new("/tmp")), "{told}");
    folder
}

#[test]
fn a_program_leaves_no_temporary_files_even_if_it_locks_them() {
    for uid in [0, 1_234] {
        let (here, bin) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let program = bin.path().join("supervised");
        std::fs::copy(helper(), &program).unwrap();
        std::fs::set_permissions(bin.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let mut command = Command::new(&program);
        if is_root() {
            let owner = if uid == 0 { super::world::NOBODY } else { uid };
            chown(here.path(), Some(owner), Some(owner)).unwrap();
            command.uid(uid).gid(uid);
        }
        command.arg(here.path()).args(["bash", "-c", STUBBORN]).env("CONFINED", "landlock");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains("Exited(0), Itself"), "{told}{}", String::from_utf8_lossy(&output.stderr));
        assert!(!around(&told).exists(), "{told}");
    }
}

fn parent(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
}

#[tokio::test]
async fn a_killed_helper_leaves_no_temporary_files() {
    let bench = Bench::<LANDLOCK>::new();
    let script = "echo $TMPDIR; echo x > $TMPDIR/file; exec sleep 600";
    let running = bench.supervisor.start(bench.shell(script)).await.unwrap();
    until(BOUND, || running.output(OutputStream::Stdout).text(1_000).ends_with('\n')).await;
    let folder = around(&running.output(OutputStream::Stdout).text(1_000));
    assert!(folder.exists());
    kill(parent(running.pid()));
    assert!(matches!(running.wait().await, Err(ProcessError::HelperLost)));
    assert!(!folder.exists());
}

#[tokio::test]
async fn what_all_who_were_killed_left_is_gone_with_the_next_start() {
    let bench = Bench::<LANDLOCK>::new();
    let script = "echo $TMPDIR > told; echo $PPID >> told; exec sleep 600";
    let mut command = Command::new(helper());
    command.arg(bench.path()).args(["bash", "-c", script]).env("CONFINED", "landlock");
    let mut ours = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let told = || std::fs::read_to_string(bench.path().join("told")).unwrap_or_default();
    until(BOUND, || told().lines().count() == 2).await;
    let (folder, helper) = (around(&told()), told().lines().nth(1).unwrap().parse().unwrap());
    ours.kill().unwrap();
    kill(helper);
    ours.wait().unwrap();
    until(BOUND, || !Path::new(&format!("/proc/{helper}/stat")).exists() || is_zombie(helper)).await;
    let is_left = folder.exists();
    assert_eq!(bench.printed("echo on").await, "on\n");
    assert!(!folder.exists(), "it was there before: {is_left}");
}

fn is_zombie(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}
