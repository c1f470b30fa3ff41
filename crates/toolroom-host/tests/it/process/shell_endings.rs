//! Commands that end their shell, or have to be ended with it.

use std::time::Duration;

use toolroom_host::process::{Cause, Limit, Status};
use toolroom_host::shell::{CommandEnd, Interpreter, ShellError};

use super::shells::{Talk, command, within};
use super::{BOUND, descriptors, rounds, until, zombies};

/// Children of every unpleasant kind, around a command that waits.
const NASTY: &str = "sleep 600 & (sleep 600 &) ; setsid sh -c 'trap \"\" TERM INT HUP; sleep 600 & sleep 600' & \
     (trap '' TERM; exec 1>&- 2>&-; sleep 600) & sleep 600 | sleep 600; sleep 600; touch canary";

#[tokio::test]
async fn a_command_that_ends_its_shell_is_told_and_the_next_one_is_new() {
    let talk = Talk::with_bash();
    for (text, status) in [
        ("echo so far; exit 3", Status::Exited(3)),
        ("echo so far; kill -9 $$", Status::Signalled(9)),
        ("echo so far; kill $$; sleep 600", Status::Signalled(15)),
        ("echo so far; exec sh -c 'exit 4'", Status::Exited(4)),
        ("echo so far; exec sleep 0.05", Status::Exited(0)),
        ("echo so far; trap 'exit 5' EXIT; set -u; echo $unknown", Status::Exited(5)),
        ("echo so far; exec 10>&- 11>&- 12>&- 13>&- 14>&- 15>&- 16>&- 17>&- 18>&- 19>&-", Status::Exited(1)),
    ] {
        talk.says("state=there; cd /").await;
        let outcome = talk.outcome(text).await;
        assert_eq!(outcome.end, CommandEnd::ShellEnded(status, Cause::Itself), "{text}");
        assert_eq!(outcome.stdout.text(99), "so far\n", "{text}");
        assert_eq!(outcome.folder.as_deref(), Some(std::path::Path::new("/")));
        let folder = talk.bench.path().canonicalize().unwrap();
        assert_eq!(talk.says("echo $state; pwd").await, format!("\n{}\n", folder.display()), "{text}");
    }
}

#[tokio::test]
async fn a_shell_that_is_ended_between_two_commands_is_replaced() {
    let talk = Talk::with_bash();
    let pid = talk.says("echo $$").await;
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until(BOUND, || talk.bench.alive().is_empty()).await;
    let mut outcome = talk.outcome("echo new").await;
    if outcome.end != CommandEnd::Done(0) {
        // It was not known yet.
        outcome = talk.outcome("echo new").await;
    }
    assert_eq!(outcome.stdout.text(99), "new\n");
}

#[tokio::test]
async fn what_is_left_running_keeps_no_command_from_ending() {
    let talk = Talk::with_bash();
    assert_eq!(talk.says("sleep 600 & (sleep 600 &); setsid sleep 600 & echo here").await, "here\n");
    assert_eq!(talk.says("jobs -p | wc -l").await.trim(), "2");
    // What is printed between commands is told with the next.
    talk.says("(until [ -e go ]; do sleep 0.01; done; echo late; touch gone) & true").await;
    std::fs::write(talk.bench.path().join("go"), "").unwrap();
    until(BOUND, || talk.bench.path().join("gone").exists()).await;
    assert_eq!(talk.says("echo now").await, "late\nnow\n");
    let endless = talk.says("yes & true").await;
    assert!(endless.is_empty() || endless.starts_with("y\n"));
    // A background process prints without end, and commands still end.
    for _ in 0..5 {
        assert_eq!(talk.outcome("echo between >&2").await.stderr.text(99), "between\n");
    }
    drop(talk.shells);
    until(BOUND, || talk.bench.alive().is_empty()).await;
}

#[tokio::test]
async fn what_takes_too_long_is_ended_and_the_state_from_before_is_there() {
    let talk = Talk::with_bash();
    let before =
        "cd /tmp; export A=1; declare -A m=([k]='v w'); f() { echo \"f $1\"; }; umask 077; readonly R=5";
    talk.says(before).await;
    for text in ["echo so far; A=2; cd /; sleep 600; touch canary", "echo so far; while :; do :; done"] {
        let late = within(text, Duration::from_millis(300));
        let outcome = talk.shells.run("a", talk.order(), &late).await.unwrap();
        assert_eq!((outcome.end, outcome.stdout.text(99)), (CommandEnd::OutOfTime, "so far\n".to_owned()));
        assert_eq!(outcome.folder.as_deref(), Some(std::path::Path::new("/tmp")));
        let state = talk.says("echo $A ${m[k]} $R; f x; umask; pwd; sh -c 'echo $A'").await;
        assert_eq!(state, "1 v w 5\nf x\n0077\n/tmp\n1\n");
    }
    assert!(!talk.bench.path().join("canary").exists());
}

#[tokio::test]
async fn a_new_shell_runs_commands_after_any_damage_by_a_command() {
    let talk = Talk::with_bash();
    for text in [
        "readonly __toolroom",
        "readonly POSIXLY_CORRECT=",
        "readonly IFS=x",
        "declare -n __toolroom=BASH_VERSINFO",
        "eval() { sleep 600; }; readonly -f eval",
        "trap 'eval() { sleep 600; }' DEBUG",
        "trap() { :; }; command trap 'echo trapped; command() { sleep 600; }' DEBUG RETURN ERR",
        "shopt -s expand_aliases; alias unset='sleep 600 #' eval='sleep 600 #' {='sleep 600 #'",
        "set -n",
        "set -r",
        "set -kfCTE -o posix",
        "enable -n eval",
        "ulimit -n 3",
        "ulimit -f 0; echo x > file",
        "umask 777",
        "kill -STOP $$",
        "mkdir gone; cd gone; rmdir ../gone",
        "exec 10>&- 11>&- 12>&-",
        "{ while read -r -d '' stolen <&10; do :; done; } & true",
        "exec 0<&10 1>&10 2>&10; cat",
        "trap 'echo here' CHLD; sleep 0.01 & wait",
        "PATH= IFS=0123456789 HOME= PWD=/nowhere OLDPWD=",
    ] {
        talk.outcome("true").await;
        let first = within(text, Duration::from_millis(400));
        drop(talk.shells.run("a", talk.order(), &first).await.unwrap());
        // What was done to it may only show now.
        let second = within("true", Duration::from_millis(400));
        drop(talk.shells.run("a", talk.order(), &second).await.unwrap());
        let third = talk.outcome("echo on; false").await;
        assert_eq!((third.end, third.stdout.text(99).as_str()), (CommandEnd::Done(1), "on\n"), "{text}");
        talk.shells.close("a");
    }
}

#[tokio::test]
async fn endless_output_is_ended_by_its_limit_and_counted_for_each_command() {
    let talk = Talk::with_bash();
    let mut order = talk.order();
    order.limits.output_bytes = Some(1_000_000);
    for _ in 0..3 {
        let text = command("head -c 900000 /dev/zero");
        let outcome = talk.shells.run("a", order.clone(), &text).await.unwrap();
        assert_eq!((outcome.end, outcome.stdout.total_bytes()), (CommandEnd::Done(0), 900_000));
    }
    let outcome = talk.shells.run("a", order, &command("yes")).await.unwrap();
    let CommandEnd::ShellEnded(_, cause) = outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(cause, Cause::Limit(Limit::Output));
    assert!(outcome.stdout.dropped_bytes() > 900_000);
    until(BOUND, || talk.bench.alive().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_commands_that_are_given_up_or_late() {
    let talk = Talk::with_bash();
    talk.says("true").await;
    let before = descriptors();
    for round in 0..rounds(40) {
        let bound = Duration::from_millis(u64::from(round % 20) * 7);
        if round % 2 == 0 {
            let outcome = talk.shells.run("a", talk.order(), &within(NASTY, bound)).await.unwrap();
            assert_eq!(outcome.end, CommandEnd::OutOfTime);
            assert_eq!(talk.bench.alive(), Vec::<String>::new());
        } else {
            let late = within(NASTY, BOUND);
            drop(tokio::time::timeout(bound, talk.shells.run("a", talk.order(), &late)).await);
            until(BOUND, || talk.bench.alive().is_empty()).await;
        }
    }
    assert!(!talk.bench.path().join("canary").exists());
    assert_eq!(talk.says("echo fine").await, "fine\n");
    until(BOUND, || zombies() == 0 && descriptors() <= before).await;
}

#[tokio::test]
async fn closing_a_conversation_ends_its_shell_and_what_runs_there() {
    let talk = Talk::with_bash();
    talk.says("sleep 600 & true").await;
    talk.shells.close("a");
    until(BOUND, || talk.bench.alive().is_empty()).await;
    let late = command(NASTY);
    let (ended, ()) = tokio::join!(talk.shells.run("a", talk.order(), &late), async {
        talk.bench.until_alive(8).await;
        talk.shells.close("a");
    });
    assert!(matches!(ended, Err(ShellError::Closed)), "{ended:?}");
    until(BOUND, || talk.bench.alive().is_empty()).await;
    assert_eq!(talk.shells.count(), 0);
}

#[tokio::test]
async fn functions_with_the_names_of_its_own_words_keep_no_shell_from_answering() {
    for interpreter in [Interpreter::Bash, Interpreter::Sh] {
        let talk = Talk::new(interpreter);
        for name in [
            "eval", "command", "builtin", "printf", "set", "unset", "trap", "pwd", "umask", "declare",
            "export", "read", "break", "continue", "shopt", "unalias", "return", "exit", "local", "test",
            "echo", ":", "true",
        ] {
            talk.outcome("state=there").await;
            let text = format!("{name}() {{ while :; do sleep 1; done; }}");
            let end = talk.outcome(&text).await.end;
            assert!(
                matches!(end, CommandEnd::Done(_) | CommandEnd::ShellEnded(..)),
                "{interpreter:?} {text}: {end:?}"
            );
            let next = talk.outcome("false").await;
            assert_eq!(next.end, CommandEnd::Done(1), "{interpreter:?} {text}");
        }
    }
}
