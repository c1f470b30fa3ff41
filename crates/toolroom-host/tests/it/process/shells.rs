//! Shells that live on between commands: what carries over, and what they say.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolroom_host::process::{Cause, Order, Status};
use toolroom_host::shell::{Command, CommandEnd, Interpreter, Outcome, ShellError, Shells};

use super::{BOUND, Bench, until};

/// One conversation's shell.
pub(super) struct Talk {
    pub(super) bench: Bench,
    pub(super) shells: Shells,
}

impl Talk {
    pub(super) fn new(interpreter: Interpreter) -> Self {
        let bench = Bench::new();
        let shells = Shells::new(bench.supervisor.clone(), interpreter);
        Self { bench, shells }
    }

    pub(super) fn with_bash() -> Self {
        assert_eq!(Interpreter::detect(), Interpreter::Bash);
        Self::new(Interpreter::Bash)
    }

    pub(super) fn order(&self) -> Order {
        let mut order = self.bench.order("", &[]);
        order.kept_bytes = 64 * 1024;
        order.grace = Duration::from_millis(100);
        order
    }

    pub(super) async fn outcome(&self, text: &str) -> Outcome {
        self.shells.run("a", self.order(), &command(text)).await.unwrap()
    }

    /// Gives what a command printed, and takes no other end than code 0.
    pub(super) async fn says(&self, text: &str) -> String {
        let outcome = self.outcome(text).await;
        let (out, err) = (outcome.stdout.text(10_000), outcome.stderr.text(10_000));
        assert_eq!((outcome.end, err.as_str()), (CommandEnd::Done(0), ""), "{text}: {out}");
        out
    }
}

pub(super) fn command(text: &str) -> Command {
    within(text, BOUND)
}

pub(super) fn within(text: &str, time: Duration) -> Command {
    let until = Instant::now() + BOUND.max(time);
    Command { text: text.to_owned(), folder: None, variables: Vec::new(), wall: time, until }
}

#[tokio::test]
async fn what_a_command_changes_is_there_for_the_next() {
    for interpreter in [Interpreter::Bash, Interpreter::Sh] {
        let talk = Talk::new(interpreter);
        std::fs::create_dir(talk.bench.path().join("sub folder")).unwrap();
        let done =
            talk.outcome("cd 'sub folder'; export A='1 2'; b=3; f() { echo \"f $A $b\"; }; umask 027").await;
        let inside = talk.bench.path().canonicalize().unwrap().join("sub folder");
        assert_eq!((done.end, done.folder), (CommandEnd::Done(0), Some(inside.clone())));
        let seen = talk.says("pwd; f; umask; sh -c 'echo $A$b'").await;
        assert_eq!(seen, format!("{}\nf 1 2 3\n0027\n1 2\n", inside.display()));
        // Redirections of its own stay; those of its streams do not.
        talk.says("exec 5>log; echo one >&5; exec >gone 2>&-").await;
        assert_eq!(talk.says("echo two >&5; cat log; ls").await, "one\ntwo\ngone\nlog\n", "{interpreter:?}");
    }
}

#[tokio::test]
async fn arrays_and_declarations_stay_too() {
    let talk = Talk::with_bash();
    talk.says("declare -A map=([x]=y); list=(1 2 3); declare -i number=4").await;
    assert_eq!(talk.says("number+=1; echo ${map[x]} ${#list[@]} $number").await, "y 3 5\n");
}

#[tokio::test]
async fn codes_and_streams_are_told_apart() {
    let talk = Talk::with_bash();
    for (text, code, out, err) in [
        ("true", 0, "", ""),
        ("false", 1, "", ""),
        ("(exit 77)", 77, "", ""),
        ("echo out; echo err >&2; sh -c 'exit 3'", 3, "out\n", "err\n"),
        ("printf 'no newline'", 0, "no newline", ""),
        ("sh -c 'kill -9 $$'", 137, "", "bash: line "),
        ("no-such-program", 127, "", "bash: line "),
        ("if then", 2, "", "bash: eval: "),
        ("echo \"unclosed", 2, "", "bash: eval: "),
        ("break; echo no", 0, "", ""),
        ("continue; echo no", 0, "", ""),
        ("return 9", 2, "", "bash: "),
        ("TMOUT=1; echo \"[$__toolroom]\"", 0, "[]\n", ""),
        ("cat; read x; echo $?", 0, "1\n", ""),
        ("", 0, "", ""),
        ("# only a comment", 0, "", ""),
        ("echo a \\\n  b; cat <<'END'\n$x 'quoted'\nEND", 0, "a b\n$x 'quoted'\n", ""),
        ("echo 'it'\\''s'", 0, "it's\n", ""),
    ] {
        let outcome = talk.outcome(text).await;
        assert_eq!(
            (outcome.end, outcome.stdout.text(999)),
            (CommandEnd::Done(code), out.to_owned()),
            "{text}"
        );
        let said = outcome.stderr.text(999);
        assert!(said.starts_with(err) && said.is_empty() == err.is_empty(), "{text}: {said}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_harms_no_other_command() {
    let broken = "echo \"unclosed|echo 'unclosed|echo `unclosed|echo $(unclosed|echo ${unclosed|echo $((1|(|)|{|}|{ echo|\
        if true|if then|while :; do|case x in|f() {|done|fi|esac|;;|&&|cat <<END\nno end|cat <<'END|echo \\|[[ a|((1|a=(1|\
        for|for x in|!|< |> |2>&|; ;|\u{1}\u{2}\u{7f}|}}}}|))))|\"\"\"|'''|$'\\|select x|function|coproc {|time|&|echo &&|\
        \r\n|#|\\\n|\"$(echo \"|`'|<<|<<<|$[|${a:-'|echo $(cat <<E\nx|f()|{ { }|8>&|eval '\"'";
    for interpreter in [Interpreter::Bash, Interpreter::Sh] {
        let talk = Talk::new(interpreter);
        talk.says("state=there").await;
        for text in broken.split('|') {
            let end = talk.outcome(text).await.end;
            assert!(matches!(end, CommandEnd::Done(_)), "{interpreter:?} {text}: {end:?}");
            let next = talk.outcome("echo $state").await;
            assert_eq!(next.stdout.text(99), "there\n", "{interpreter:?} {text}");
        }
    }
}

#[tokio::test]
async fn bytes_come_as_they_are() {
    let talk = Talk::with_bash();
    let outcome = talk.outcome("printf '\\000\\001\\377\\n\\000'; head -c 70000 /dev/zero >&2").await;
    assert_eq!(outcome.stdout.ends().0, b"\0\x01\xff\n\0");
    assert_eq!((outcome.stderr.total_bytes(), outcome.stderr.dropped_bytes()), (70_000, 70_000 - 64 * 1024));
    // The next page begins empty.
    assert_eq!(talk.says("printf x").await, "x");
}

#[tokio::test]
async fn what_is_printed_is_never_taken_for_an_end() {
    let talk = Talk::with_bash();
    // Like a report, on every descriptor there may be, with the word of another.
    let word = "0".repeat(32);
    let forged = format!(
        "for n in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do printf '{word} 0\\n/\\n\\0\\0{word}\\0' >&$n; done \
         2>/dev/null; sleep 0.05; echo end >&2; (exit 5)"
    );
    let outcome = talk.outcome(&forged).await;
    assert_eq!((outcome.end, outcome.stderr.text(99).ends_with("end\n")), (CommandEnd::Done(5), true));
    assert_eq!(talk.says("echo on").await, "on\n");
    // No program is given more than its three streams.
    let seen = talk.says("sh -c 'ls /proc/$$/fd'; readlink /proc/self/fd/0").await;
    assert_eq!(seen, "0\n1\n2\n/dev/null\n");
}

#[tokio::test]
async fn options_that_would_end_the_shell_end_with_the_command() {
    let talk = Talk::with_bash();
    assert_eq!(talk.outcome("set -eux; echo fine").await.end, CommandEnd::Done(0));
    let next = talk.outcome("false; echo $unknown on").await;
    assert_eq!((next.stdout.text(99), next.stderr.text(99)), ("on\n".to_owned(), String::new()));
    // Traps that run with every command do not disturb the report.
    let trapped = talk.outcome("trap 'echo trapped' DEBUG; trap 'echo failed' ERR; cd /; false").await;
    assert_eq!((trapped.end, trapped.folder), (CommandEnd::Done(1), Some(PathBuf::from("/"))));
    assert_eq!(talk.says("echo on").await, "on\n");
    let outcome = talk.outcome("set -e; false; echo never").await;
    assert_eq!(outcome.end, CommandEnd::ShellEnded(Status::Exited(1), Cause::Itself));
    assert_eq!(outcome.stdout.text(99), "");
}

#[tokio::test]
async fn variables_of_a_command_are_for_it_alone() {
    for interpreter in [Interpreter::Bash, Interpreter::Sh] {
        let talk = Talk::new(interpreter);
        let mut asked = command("sh -c 'echo \"[$A][$B]\"'; echo $A; cd /; C=3");
        asked.variables = vec![("A".to_owned(), "it's $HOME\n".into()), ("B".to_owned(), "".into())];
        let outcome = talk.shells.run("a", talk.order(), &asked).await.unwrap();
        assert_eq!(outcome.stdout.text(99), "[it's $HOME\n][]\nit's $HOME\n", "{interpreter:?}");
        assert_eq!(talk.says("echo \"[$A][$B][$C]$PWD\"").await, "[][][3]/\n", "{interpreter:?}");
    }
}

#[tokio::test]
async fn a_folder_is_entered_and_stays() {
    let talk = Talk::with_bash();
    let go = |folder: PathBuf| Command { folder: Some(folder), ..command("pwd") };
    std::fs::create_dir(talk.bench.path().join("-it's")).unwrap();
    let inside = talk.bench.path().canonicalize().unwrap().join("-it's");
    let outcome = talk.shells.run("a", talk.order(), &go(inside.clone())).await.unwrap();
    assert_eq!(outcome.stdout.text(999), format!("{}\n", inside.display()));
    assert_eq!(talk.says("pwd").await, format!("{}\n", inside.display()));
    let missing = talk.shells.run("a", talk.order(), &go("/no/such".into())).await;
    assert!(matches!(missing, Err(ShellError::Folder { .. })), "{missing:?}");
    std::fs::remove_dir(&inside).unwrap();
    let outcome = talk.outcome("true").await;
    assert_eq!((outcome.end, outcome.folder), (CommandEnd::Done(0), None));
}

#[tokio::test]
async fn what_no_shell_can_read_is_refused() {
    let talk = Talk::with_bash();
    let zero = talk.shells.run("a", talk.order(), &command("a\0b")).await;
    assert!(matches!(zero, Err(ShellError::ZeroByte)), "{zero:?}");
    let long = talk.shells.run("a", talk.order(), &command(&"x".repeat(128 * 1024))).await;
    assert!(matches!(long, Err(ShellError::TooLong { .. })), "{long:?}");
    assert_eq!(talk.shells.count(), 0);
    let longest = format!("x='{}'; echo ${{#x}}", "y".repeat(100_000));
    assert_eq!(talk.says(&longest).await, "100000\n");
}

#[tokio::test]
async fn commands_of_one_conversation_run_one_after_another() {
    let talk = Arc::new(Talk::with_bash());
    let text = "n=$(cat n 2>/dev/null || echo 0); m=$((m + 1)); sleep 0.01; echo $((n + 1)) > n";
    let all: Vec<_> = (0..20)
        .map(|_| {
            let talk = Arc::clone(&talk);
            tokio::spawn(async move { talk.outcome(text).await.end })
        })
        .collect();
    for one in all {
        assert_eq!(one.await.unwrap(), CommandEnd::Done(0));
    }
    assert_eq!(talk.says("cat n; echo $m").await, "20\n20\n");
}

#[tokio::test]
async fn conversations_have_shells_of_their_own_and_the_least_used_makes_room() {
    let mut talk = Talk::with_bash();
    talk.shells = Shells::new(talk.bench.supervisor.clone(), Interpreter::Bash).with_maximum(2);
    let says = async |name: &str, text: &str| {
        let outcome = talk.shells.run(name, talk.order(), &command(text)).await.unwrap();
        outcome.stdout.text(99)
    };
    assert_eq!(says("a", "x=a; echo $x").await, "a\n");
    assert_eq!(says("b", "echo $x; x=b").await, "\n");
    assert_eq!(says("a", "echo $x").await, "a\n");
    assert_eq!(says("c", "x=c").await, "");
    // `b` had to go, so `a` is still there.
    assert_eq!((says("a", "echo $x").await.as_str(), talk.shells.count()), ("a\n", 2));
    assert_eq!(says("b", "echo $x").await, "\n");
    until(BOUND, || talk.bench.alive().len() == 2).await;
}

#[tokio::test]
async fn shells_at_work_are_not_put_away() {
    let mut talk = Talk::with_bash();
    talk.shells = Shells::new(talk.bench.supervisor.clone(), Interpreter::Bash).with_maximum(1);
    let talk = Arc::new(talk);
    let busy = tokio::spawn({
        let talk = Arc::clone(&talk);
        async move { talk.outcome("until [ -e go ]; do sleep 0.01; done; echo gone").await.stdout.text(99) }
    });
    talk.bench.until_alive(1).await;
    let refused = talk.shells.run("b", talk.order(), &command("true")).await;
    assert!(matches!(refused, Err(ShellError::Full { most: 1 })), "{refused:?}");
    let soon = Command { until: Instant::now() + Duration::from_millis(50), ..command("true") };
    let late = talk.shells.run("a", talk.order(), &soon).await;
    assert!(matches!(late, Err(ShellError::Busy)), "{late:?}");
    std::fs::write(talk.bench.path().join("go"), "").unwrap();
    assert_eq!(busy.await.unwrap(), "gone\n");
}
