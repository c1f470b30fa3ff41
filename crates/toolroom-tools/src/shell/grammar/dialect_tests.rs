//! Each construct alone; for portable ones the system's shell is the reference.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the shell is asked what it can read"
)]

use std::process::Command;

use super::super::{parse, print};
use super::only_bash;

fn found(text: &str) -> Option<&'static str> {
    only_bash(&parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}")))
}

#[test]
fn bash_only_syntax_is_found_in_any_position() {
    for (text, expected) in [
        ("[[ -f x ]]", "`[[ … ]]`"),
        ("((x+1))", "`((…))`"),
        ("for ((i=0;i<3;i++)) do a; done", "`for ((…))`"),
        ("select x in a; do b; done", "`select`"),
        ("coproc cat", "`coproc`"),
        ("time sleep 1", "`time` in front of a pipeline"),
        ("case x in a) b;& *) c;; esac", "`;&`"),
        ("case x in a) b;;& *) c;; esac", "`;;&`"),
        ("a=(1 2)", "an array"),
        ("a[1]=x", "an array"),
        ("echo ${a[1]}", "an array"),
        ("echo \"${#a[@]}\"", "an array"),
        ("a+=x", "`+=`"),
        ("diff <(a) b", "`<(…)`"),
        ("tee >(a)", "`<(…)`"),
        ("cat <<< x", "`<<<`"),
        ("a &> f", "`&>`"),
        ("a &>> f", "`&>`"),
        ("a >& f", "`>&` with something else than a number"),
        ("a 2>&1-", "`>&` with something else than a number"),
        ("a {fd}> f", "a descriptor with a name"),
        ("a 10> f", "a descriptor above 9"),
        ("echo $'\\e[0m'", "`$'…'`"),
        ("echo {a,b}", "`{…,…}`"),
        ("echo x{1..3}", "`{…,…}`"),
        ("echo {$a,b}", "`{…,…}`"),
        ("echo ${!x}", "`${!…}`"),
        ("echo ${x/a/b}", "`${…/…}`"),
        ("echo ${x:1:2}", "`${…:…}`"),
        ("echo ${x^^}", "`${…^}`, `${…,}` or `${…@…}`"),
        ("echo ${x@Q}", "`${…^}`, `${…,}` or `${…@…}`"),
        ("echo $((i++))", "`++`, `--`, `**`, `,`, `#` or `[` in arithmetic"),
        ("echo $((2**3))", "`++`, `--`, `**`, `,`, `#` or `[` in arithmetic"),
        ("source x", "a builtin such as `source`"),
        ("declare -a x", "a builtin such as `source`"),
        ("a-b() { c; }", "a function whose name has signs in it"),
    ] {
        assert_eq!(found(text), Some(expected), "{text:?}");
        for around in [
            format!("a && b || {text}"),
            format!("if a; then b; else\n{text}\nfi"),
            format!("while a; do\n{text}\ndone"),
            format!("f() {{\n{text}\n}}"),
            format!("x=$(\n{text}\n)"),
            format!("echo \"${{x:-$(\n{text}\n)}}\""),
            format!("cat <<A\n$(\n{text}\n)\nA\n"),
            format!("( {text}\n )"),
            format!("case a in b)\n{text}\n;; esac"),
        ] {
            assert!(found(&around).is_some(), "{around:?}");
        }
    }
}

#[test]
fn portably_printed_syntax_is_accepted_by_the_systems_shell() {
    for text in [
        "ls -la; echo $x ${x:-a} ${x%%.*} ${#x} \"$@\" $? $$",
        "a |& b",
        "function f { a; }; f",
        "echo $'a\\tb' $\"hi\"",
        "a 2>&1 >&- 3<> f >| g >> h <&$fd",
        "cat <<'A' <<B\n{a,b} $((i++))\nA\n$((1 + 2))\nB\n",
        "for x in 1 2; do echo \"$x\"; done",
        "case $x in a|b) c;; (d) ;; *) e; esac",
        "if a; then b; elif c; then d; else e; fi",
        "while ! a; do b & done",
        "(a; b) | { c; }",
        "x={a,b} find . -exec ls {} \\;",
        "echo '{a,b}' \"{a,b}\" \\{a,b\\}",
        "echo $((x * (2 - 1) % 3 << 1)) `pwd`",
        "echo {} {a} a,b",
    ] {
        assert_eq!(found(text), None, "{text:?}");
        let printed = print(&parse(text).unwrap());
        let read = Command::new("/bin/sh").args(["-n", "-c", &printed]).output().unwrap();
        assert!(read.status.success(), "{printed:?}: {read:?}");
    }
}
