use super::{MAX_COMMANDS, MAX_PIECES, MAX_TEXT, parse, print};

/// Prints a parsed text, and checks that the result parses to the same tree.
fn printed(text: &str) -> String {
    let tree = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let printed = print(&tree);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{text:?} as {printed:?}: {error}"));
    assert_eq!(again, tree, "{text:?} as {printed:?}");
    printed
}

#[test]
fn scripts_are_printed_in_one_form() {
    let check = |text: &str, expected: &str| assert_eq!(printed(text), expected, "{text:?}");
    check("ls", "ls");
    check("  ls   -la\t# all\n\n", "ls -la");
    check("a;b\nc & d", "a; b; c & d");
    check("a&&b||c", "a && b || c");
    check("a |& b", "a 2>&1 | b");
    check("! time -p a | b", "time -p ! a | b");
    check("> f x=1 a b < g", "x=1 a b > f < g");
    check("echo `ls \\`pwd\\``", "echo $(ls $(pwd))");
    check("echo \"`echo \\\"a b\\\"`\"", "echo \"$(echo \"a b\")\"");
    check("echo $x$1y${z}", "echo ${x}${1}y${z}");
    check("echo $'it\\'s\\x20\\u00e9'", "echo 'it'\\''s é'");
    check("echo $'\\e[0m\\n'", "echo $'\\033[0m\n'");
    check("echo $\"hi\"", "echo \"hi\"");
    check("{ a;b; }", "{ a; b; }");
    check("(a;b)&", "( a; b ) &");
    check("((x+1))", "((x+1))");
    check("echo $((1 + $x * (2 - 1)))", "echo $((1 + ${x} * (2 - 1)))");
    check("echo $( (a) )", "echo $( ( a ))");
    check("if a; then b; elif c\nthen d; else e; fi", "if a; then b; elif c; then d; else e; fi");
    check("while a; do b; done < f", "while a; do b; done < f");
    check("until a\ndo b & done", "until a; do b & done");
    check("for x in 1 2; do a; done", "for x in 1 2; do a; done");
    check("for x\ndo a; done", "for x; do a; done");
    check("for ((i=0;i<3;i++)) do a; done", "for ((i=0;i<3;i++)); do a; done");
    check("select x in a; do b; done", "select x in a; do b; done");
    check("case $x in a|b) c;; (d) ;& *) e; esac", "case ${x} in (a | b) c ;; (d)  ;& (*) e ;; esac");
    check("f () { a; }", "f() { a; }");
    check("function f { a; }", "f() { a; }");
    check("function f() (a) > g", "f() ( a ) > g");
    check("[[ -f $x && ! a < b || ( c == d* ) ]]", "[[ -f ${x} && ! a < b || ( c == d* ) ]]");
    check("[[ $x =~ ^(a|b)+$ ]]", "[[ ${x} =~ ^(a|b)+$ ]]");
    check("a=(1 'b c' [3]=d) b+=x c[$i]=y", "a=(1 'b c' [3]=d) b+=x c[${i}]=y");
    check("declare -a x=(1 2)", "declare -a x=(1 2)");
    check("diff <(a) >(b)", "diff <(a) >(b)");
    check(
        "a 2>&1 >&- 3<>f &>g 4>>h >|i <<<\"x $y\" {fd}>j",
        "a 2>&1 >&- 3<> f &> g 4>> h >| i <<< \"x ${y}\" {fd}> j",
    );
    check("cat <<A | b\nx $y\nA\nc", "cat <<EOF | b\nx ${y}\nEOF\nc");
    check("cat <<-'A'\n\tx $y\n\tEOF\n\tA\n", "cat <<'EOF_1'\nx $y\nEOF\nEOF_1\n");
    check("cat <<A <<B\n1\nA\n2\nB\n", "cat <<EOF <<EOF\n1\nEOF\n2\nEOF\n");
    check("x=$(cat <<A\n1\nA\n)", "x=$(cat <<EOF\n1\nEOF\n)");
    check("{ cat <<A; } | b\n1\nA\n", "{ cat <<EOF\n1\nEOF\n } | b");
}

#[test]
fn unsupported_syntax_is_an_error() {
    let texts = [
        "'",
        "\"",
        "`ls",
        "$(ls",
        "${x",
        "echo $((1",
        "((1)",
        "((a);(b))",
        "$((a) | (b))",
        "if a; then b",
        "if a; fi",
        "for x in a do b; done",
        "while a; done",
        "case x in a) b;;",
        "case x a) b;; esac",
        "fi",
        "then",
        "do a",
        "}",
        ")",
        "a )",
        "a ;; b",
        "; a",
        "a & ; b",
        "a | | b",
        "a &&",
        "| a",
        "a |",
        "!",
        "{ a }",
        "{ }",
        "()",
        "( )",
        "a ( b )",
        "f() a",
        "f( ) ( )",
        "f() g() { a; }",
        "function if { a; }",
        "> f if a; then b; fi",
        "x=1 if",
        "i\\\nf a; then b; fi",
        "a <",
        "a > ;",
        "cat <<A",
        "cat <<A\nx",
        "cat <<$x\n$x\n",
        "cat <<A $(b\nc)\nA\n",
        "cat <<A `b\nc`\nA\n",
        "cat $(cat <<A)\nA\n",
        "a[0 ]=x ls",
        "a[0=x",
        "x=(a",
        "x=(a)b",
        "echo x=(a)",
        "echo $[1+1]",
        "${ ls; }",
        "${|ls;}",
        "${x",
        "${}",
        "${x y}",
        "${#x:-y}",
        "${x:-<(ls)}",
        "\"${x:-'a'}\"",
        "\"${x:-`a`}\"",
        "$'\\xff'",
        "$'\\0'",
        "$'\\ca'",
        "$'\\ud800'",
        "$\\\n(ls)",
        "a &\\\n& b",
        "<\\\n(ls)",
        "2\\\n> f",
        "echo a\\",
        "[[ ]]",
        "echo $`ls`",
        "echo \"$`ls`\"",
        "[[ -n && a ]]",
        "[[ a b ]]",
        "[[ -n == p* ]]",
        "[[ a && ]]",
        "[[ a == ]]",
        "[[ ! ]]",
        "[[ a",
        "[[ ( a ]]",
        "[[ a ) ]]",
        "[[ a ; b ]]",
        "[[ a == @(b|c) ]]",
        "[[ a =~ a|b ]]",
        "ls @(a|b)",
        "coproc N { a; }",
        "time -x a",
        "time",
        "(( 'a' ))",
        "((a;b))",
        "for ((a;b)); do c; done",
        "echo $((\"1\"))",
        "a\r",
        "a\0b",
        "a\u{202e}b",
        "a\u{200b}b",
        "a\u{1b}[0m",
        "a\u{a0}b",
        "a\u{feff}",
        "a\u{e0041}",
        "a\u{85}b",
        "if a; then b; fi c",
        "{ a; } b",
        "f() { a; } b",
        "cat <<A\n`echo \\\"x\\\"`\nA\n",
        "! ",
        "in",
        "]]",
    ];
    let understood: Vec<_> =
        texts.iter().filter_map(|text| Some((text, print(&parse(text).ok()?)))).collect();
    assert!(understood.is_empty(), "{understood:?}");
}

#[test]
fn limits_fail_closed_with_a_small_stack() {
    let deep = [
        "(".repeat(200_000),
        "$(".repeat(200_000),
        "`".repeat(200_001),
        "\"$(".repeat(100_000),
        "{ ".repeat(200_000),
        "if ".repeat(100_000),
        "${x:-".repeat(100_000),
        "$((".repeat(100_000),
        "<(".repeat(100_000),
        "case x in a) ".repeat(50_000),
        "f() { ".repeat(50_000),
        "coproc ".repeat(100_000),
        "x=(".repeat(100_000),
        "cat <<A $(".repeat(50_000),
        "while ".repeat(100_000),
        "[[ (".repeat(100_000),
        "\"${x:-\"".repeat(100_000),
        format!("{}a{}", "( ".repeat(5_000), ")".repeat(5_000)),
        "x\n".repeat(10_000),
        format!("echo {}", "$(a)".repeat(MAX_COMMANDS)),
        "x;".repeat(MAX_COMMANDS + 1),
        "a".repeat(MAX_TEXT + 1),
        "a ".repeat(MAX_PIECES + 1),
        format!("echo {}", "''".repeat(MAX_PIECES + 1)),
        format!("echo {}", "$a".repeat(MAX_PIECES + 1)),
        format!("echo \"{}\"", "\\$".repeat(MAX_PIECES + 1)),
        format!("echo {}", "> f ".repeat(MAX_PIECES + 1)),
    ];
    let reading = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(move || {
        for text in &deep {
            assert!(parse(text).is_err(), "{text:.20}");
        }
        let fits = format!("{}a{}", "( ".repeat(40), ")".repeat(40));
        assert_eq!(parse(&print(&parse(&fits).unwrap())).unwrap(), parse(&fits).unwrap());
        assert!(parse(&"! ".repeat(500_000)).is_err());
        assert!(parse(&format!("{}a", "! ".repeat(100_000))).is_ok());
        assert!(parse(&"x;".repeat(MAX_COMMANDS)).is_ok());
        assert!(parse(&"a".repeat(MAX_TEXT)).is_ok());
    });
    reading.unwrap().join().unwrap();
}
