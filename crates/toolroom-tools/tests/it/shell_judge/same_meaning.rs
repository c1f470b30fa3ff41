//! What is printed from a tree does what the text did.

use toolroom_tools::shell::grammar::{parse, print};

use super::random_scripts::Scribe;
use super::traced::Stage;
use crate::scale::scaled;

/// Texts in which reading and writing could differ.
const TEXTS: &[&str] = &[
    "p1 $(case x in *) p2 <<A\nhi\nA\n;; esac\np3 c)\np1 \"$(p2 <<'A'\nx\nA\n)\" && p4",
    "echo a;echo b # c\necho d",
    "echo \"a  $(echo \"b  c\")\" 'd'\\''e' $'f\\n\\tg' \"`echo \\\"h  i\\\"`\"",
    "v=x; echo ${v}y $v'z' \"${v:-a b}\" ${u:-c d} ${v#x}- ${#v} \"${u:-\"q  r\"}\" ${v/x/y} ${v^^}",
    "cat() { while IFS= read -r l; do echo \"$l\"; done; }\ncat <<A\nx $((1+1)) \\$v `echo y` \"z\"\nA\ncat <<'A'\n$x `y`\nA\ncat <<-A\n\t\tx\n\tA\n",
    "r() { read -r a; read -r b <&3; echo $a $b; }\nr <<A 3<<B\n1\nA\n2\nB\n",
    "x=$(echo <<A\nbody\nA\n); echo \"[$x]\"",
    "for x in 1 2; do for y; do echo $x; done; case $x in 1) echo one;; (2|3) echo two;; esac; done",
    "set -- a 'b c'; for x; do echo \"<$x>\"; done; echo \"$@\" $# \"$*\" ${1} ${@:2}",
    "i=0; while ((i < 3)); do ((i++)); [[ $i == 2 && ( a < b ) ]] && echo two; done; until false; do break; done",
    "for ((i=0;i<2;i++)) do echo $i; done; [[ abc =~ ^(a|x)b ]] && echo ${BASH_REMATCH[1]}",
    "a=(1 'b c' [5]=d); a+=(e); echo ${a[@]} ${#a[@]} \"${!a[@]}\" ${a[1]}; declare -A m=([k]=v); echo ${m[k]}",
    "f() { echo \"$1\"; } > out; f x; while read -r l; do echo \"got $l\"; done < out; function g { echo g; }; g",
    "{ echo a; echo b >&2; } 2>&1 | { read -r x; echo $x; }; (exit 3); echo $?; ! true; echo $?",
    "echo a |& { read -r x; echo \"$x\"; }; echo {a,b}{1..3} \\* '*' \"*\" \\\\ a\\\nb",
    "x='a b'; echo $x \"$x\" $'\\e[0m' $'\\u00e9'; case $x in a*) echo star;& b) echo fall;; esac",
    "if true; then echo 1; elif false; then echo 2; else echo 3; fi; true && echo y || echo n; false || echo z &\nwait",
    "exec 3> file; echo x >&3; exec 3>&-; read -r y < file; echo $y; echo z >| file; read -r y < file; echo \"$y\"",
    "read -r a b <<< \"one two\"; echo $b; x=1 y=2; echo $x$y; z+=q; z+=r; echo $z; echo $((x+y*(3-1)))",
    "coproc { echo hi; }; read -r l <&\"${COPROC[0]}\"; echo $l; time -p true 2> /dev/null; select s in a; do break; done < /dev/null",
    "echo a > f1; read -r c < f1; echo \"$c\" <(:) | { read -r x y; echo $x; }; echo $[ 1 ]",
];

fn same(stage: &Stage, shell: &str, text: &str) {
    let Ok(tree) = parse(text) else { return };
    let printed = print(&tree);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{text:?} as {printed:?}: {error}"));
    assert_eq!(again, tree, "{text:?} as {printed:?}");
    assert_eq!(print(&again), printed);
    assert_eq!(stage.run(shell, &printed), stage.run(shell, text), "{shell}: {text}\nas\n{printed}");
}

#[test]
fn chosen_texts_mean_the_same_when_they_are_printed() {
    let stage = Stage::new();
    for text in TEXTS {
        same(&stage, "/bin/bash", text);
        assert!(parse(text).is_ok() || text.contains("$["), "{text}: {:?}", parse(text));
    }
}

#[test]
fn random_texts_mean_the_same_when_they_are_printed() {
    let stage = Stage::new();
    let (mut read, mut compared) = (0, 0);
    let tries = scaled(100);
    for seed in 0..tries {
        let mut scribe = Scribe::new(0xbead_0000 + u64::from(seed) * 104_729);
        scribe.is_steady = true;
        let script = scribe.script();
        // Where a shell knows aliases they count from the next line on, and what is printed has fewer lines.
        if script.contains("alias") {
            continue;
        }
        read += u32::from(parse(&script).is_ok());
        if misread_by_bash(&script) {
            continue;
        }
        compared += 1;
        same(&stage, "/bin/bash", &script);
        if scribe.is_portable {
            same(&stage, "/bin/sh", &script);
        }
    }
    assert!(read * 10 >= tries * 6, "only {read} of {tries} were understood");
    assert!(compared * 10 >= tries * 6, "only {compared} of {tries} were compared");
}

/// Texts that bash 5.2 misreads: in a `$(…)` it loses the first `;` after a here-document, so that two commands become one.
const MISREAD: &[&str] = &[
    "x=$(p1 <<A\nhi\nA\np2; q2 x)",
    "x=\"$(p1 <<A\nhi\nA\np2 ;v=1 q2 x)\"",
    "x=\"$(p1 <<A\nhi\nA\ncase a in a) p2 ;v=1 q2 x\n;; esac)\"",
    "x=$(p1 <<A\nhi\nA\nif p2; then q2 x; fi)",
];

#[test]
fn what_bash_misreads_is_printed_so_that_it_does_not() {
    let stage = Stage::new();
    for text in MISREAD {
        let printed = print(&parse(text).unwrap());
        assert_eq!(stage.run("/bin/bash", &printed).ran, ["p1", "p2", "q2"], "{printed}");
    }
}

/// Whether it may be one of those: what such a text does is no measure of what is printed.
fn misread_by_bash(script: &str) -> bool {
    let substitution = script.split_once("$(").map(|(_, behind)| behind);
    let document = substitution.and_then(|text| text.split_once("<<")).map(|(_, behind)| behind);
    document.is_some_and(|text| text.replace(";;", "").contains(';'))
}
