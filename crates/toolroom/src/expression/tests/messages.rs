use super::super::{ExpressionProblem, evaluate};
use super::check_all;

#[test]
fn of_what_cannot_be_read() {
    check_all(
        &[
            ("", "the expression is empty at character 1"),
            (" \n\t ", "the expression is empty at character 1"),
            ("1 + ", "expected a value after `+` at character 5"),
            ("2 + * 3", "expected a value after `+`, found `*` at character 5"),
            ("* 3", "expected a value, found `*` at character 1"),
            ("1 ===1", "expected a value after `==`, found `=` at character 5"),
            ("not", "expected a value after `not` at character 4"),
            ("true and and", "expected a value after `and`, found `and` at character 10"),
            ("x == contains", "expected a value after `==`, found `contains` at character 6"),
            ("and(1, 2)", "expected a value, found `and` at character 1"),
            ("[1,]", "expected a value after `,`, found `]` at character 4"),
            ("max(,1)", "expected a value after `(`, found `,` at character 5"),
            ("a[]", "expected a value after `[`, found `]` at character 3"),
            (")", "expected a value, found `)` at character 1"),
            ("()", "nothing between `(` and `)` at character 1, put a value there"),
            (
                "1,2",
                "`,` outside a list or call at character 2, write [1, 2] for a list and 1_000 for a thousand",
            ),
            (
                "(1,2)",
                "`,` outside a list or call at character 3, write [1, 2] for a list and 1_000 for a thousand",
            ),
            ("1 2", "expected an operator, found `2` at character 3"),
            ("'a' 'b'", "expected an operator, found `'b'` at character 5"),
            ("1)", "expected an operator, found `)` at character 2, nothing was opened for it"),
            ("2(3)", "expected an operator, found `(` at character 2, write `*` to multiply"),
            ("5!", "expected an operator, found `!` at character 2, write factorial(5) for a factorial"),
            ("(5)!", "expected an operator, found `!` at character 4, write factorial(...) for a factorial"),
            ("(5!)", "expected an operator, found `!` at character 3, write factorial(5) for a factorial"),
            ("5.", "expected an operator, found `.` at character 2, write digits on both sides of the point"),
            ("sqrt 4", "expected an operator, found `4` at character 6, write sqrt(...) to call it"),
            (
                "x starts_with 'a'",
                "expected an operator, found `starts_with` at character 3, write starts_with(...) to call it",
            ),
            ("true AND true", "expected an operator, found `AND` at character 6, did you mean `and`?"),
            ("(1 + 2", "expected `)` to close the `(` of character 1, found the end at character 7"),
            ("max(1, 2]", "expected `)` to close the `(` of character 4, found `]` at character 9"),
            ("[1, 2", "expected `]` to close the `[` of character 1, found the end at character 6"),
            ("a[1", "expected `]` to close the `[` of character 2, found the end at character 4"),
            ("a.", "expected a name after `.` at character 3"),
            ("a.0", "expected a name after `.`, found `0` at character 3, write [0] for an item"),
            ("a.'b'", "expected a name after `.`, found `'b'` at character 3"),
            (
                "1 < 2 < 3",
                "comparisons do not chain: found `<` after another comparison at character 7, join them with `and`",
            ),
            (
                "1 in [1] not in [2]",
                "comparisons do not chain: found `not` after another comparison at character 10, join them with `and`",
            ),
            ("sqr(4)", "unknown function `sqr` at character 1, did you mean `sqrt`?"),
            ("1 + Max(1, 2)", "unknown function `Max` at character 5, did you mean `max`?"),
            ("length('a')", "unknown function `length` at character 1, did you mean `len`?"),
            ("iff(true, 1, 2)", "unknown function `iff` at character 1, did you mean `if`?"),
            ("banana(1)", "unknown function `banana` at character 1"),
            (
                "math::sqrt(4)",
                "unexpected character `:` at character 5, write if(condition, a, b) for a choice",
            ),
            ("a ? b : c", "unexpected character `?` at character 3, write if(condition, a, b) for a choice"),
            ("a & b", "unexpected character `&` at character 3, write `and` or `&&`"),
            ("a | b", "unexpected character `|` at character 3, write `or` or `||`"),
            ("“a”", "unexpected character `“` at character 1, write texts in ' or \""),
            ("1 # 2", "unexpected character `#` at character 3"),
            ("'äß' + €", "unexpected character `€` at character 8"),
            ("'abc", "the text is not closed: expected a second `'` at character 1"),
            ("1 + \"abc'", "the text is not closed: expected a second `\"` at character 5"),
            ("'abc\\", "the text is not closed: expected a second `'` at character 1"),
            (
                r"'a\q'",
                r#"unknown escape `\q` at character 3, known are \n \r \t \\ \' \" and \u{hex digits}"#,
            ),
            (
                r"'\u0041'",
                r#"unknown escape `\u` at character 2, known are \n \r \t \\ \' \" and \u{hex digits}"#,
            ),
            (
                r"'\u{d800}'",
                r#"unknown escape `\u{d800}` at character 2, known are \n \r \t \\ \' \" and \u{hex digits}"#,
            ),
            (
                "2pi",
                "`2pi` is not a number at character 1, write `*` to multiply and `_` only between digits",
            ),
            (
                "1 + 1__0",
                "`1__0` is not a number at character 5, write `*` to multiply and `_` only between digits",
            ),
            ("1_", "`1_` is not a number at character 1, write `*` to multiply and `_` only between digits"),
            (
                "1_.5",
                "`1_.5` is not a number at character 1, write `*` to multiply and `_` only between digits",
            ),
            (
                "1e_5",
                "`1e_5` is not a number at character 1, write `*` to multiply and `_` only between digits",
            ),
            ("0x", "`0x` is not a number at character 1, write `*` to multiply and `_` only between digits"),
            (
                "0xfg",
                "`0xfg` is not a number at character 1, write `*` to multiply and `_` only between digits",
            ),
            (
                "0b12",
                "`0b12` is not a number at character 1, write `*` to multiply and `_` only between digits",
            ),
            (
                "9223372036854775808",
                "the number `9223372036854775808` is too large for an int at character 1, write a float such as 1e20 for an approximate one",
            ),
            (
                "-9223372036854775808 ^ 2",
                "the number `9223372036854775808` is too large for an int at character 2, write a float such as 1e20 for an approximate one",
            ),
            ("1e999", "the number `1e999` is too large for a float at character 1"),
            ("sqrt()", "`sqrt` takes 1 argument, found 0 at character 1"),
            ("1 + sqrt(1, 2)", "`sqrt` takes 1 argument, found 2 at character 5"),
            ("pow(1)", "`pow` takes 2 arguments, found 1 at character 1"),
            ("round(1, 2, 3)", "`round` takes 1 to 2 arguments, found 3 at character 1"),
            ("max()", "`max` takes 1 or more arguments, found 0 at character 1"),
            ("if(true, 1)", "`if` takes 3 arguments, found 2 at character 1"),
        ],
        &(),
    );
}

#[test]
fn of_what_cannot_be_evaluated() {
    check_all(
        &[
            ("1 / 0", "division by zero at character 3"),
            ("1.5 / 0.0", "division by zero at character 5"),
            ("1 // 0", "division by zero at character 3"),
            ("1 % 0", "division by zero at character 3"),
            ("0 ^ -1", "division by zero at character 3"),
            ("0.0 ^ -1", "division by zero at character 5"),
            ("1e308 * 10", "`*` has no finite real result for 1e308 and 10 at character 7"),
            ("(-8) ^ 0.5", "`^` has no finite real result for -8 and 0.5 at character 6"),
            ("sqrt(-1)", "`sqrt` has no finite real result for -1 at character 1"),
            ("ln(0)", "`ln` has no finite real result for 0 at character 1"),
            ("log(-1)", "`log` has no finite real result for -1 at character 1"),
            ("log(8, 1)", "`log` has no finite real result for 8 and 1 at character 1"),
            ("log(8, 0)", "`log` needs a base above 0, found 0 at character 1"),
            ("asin(2)", "`asin` has no finite real result for 2 at character 1"),
            ("exp(1000)", "`exp` has no finite real result for 1000 at character 1"),
            ("factorial(171.0)", "`factorial` has no finite real result for 171.0 at character 1"),
            ("factorial(-1)", "`factorial` needs a whole number of 0 or more, found -1 at character 1"),
            ("factorial(1.5)", "`factorial` needs a whole number of 0 or more, found 1.5 at character 1"),
            ("round(1.5, 19)", "`round` needs digits from -18 to 18, found 19 at character 1"),
            ("round(1.5, null)", "`round` needs an int, found null at character 1"),
            ("min([])", "`min` needs at least one number, found an empty list at character 1"),
            ("avg([])", "`avg` needs at least one number, found an empty list at character 1"),
            ("max(1, 'a')", "`max` needs numbers, found text at character 1"),
            ("max([1], 2)", "`max` needs numbers or one list of numbers, found list and int at character 1"),
            ("gcd(1.0, 2)", "`gcd` needs an int, found float at character 1"),
            ("sqrt('4')", "`sqrt` needs a number, found text at character 1"),
            ("int('4x')", "`int` needs the digits of an int, found `4x` at character 1"),
            ("float('nan')", "`float` needs the digits of a number, found `nan` at character 1"),
            ("float('inf')", "`float` needs the digits of a number, found `inf` at character 1"),
            ("int(true)", "`int` needs a number or text, found bool at character 1"),
            ("text([])", "`text` needs a text, number, bool or null, found list at character 1"),
            ("len(5)", "`len` needs a text, list or map, found int at character 1"),
            ("upper(1)", "`upper` needs a text, found int at character 1"),
            ("starts_with('a', 1)", "`starts_with` needs two texts, found text and int at character 1"),
            (
                "replace('a', '', 'b')",
                "`replace` needs a text to look for, found an empty text at character 1",
            ),
            ("substring('abc', -1)", "`substring` needs an int of 0 or more, found -1 at character 1"),
            (
                "'a' + 1",
                "`+` needs two numbers or two texts, found text and int at character 5, use text(...) or concat(...)",
            ),
            (
                "1 + 'a'",
                "`+` needs two numbers or two texts, found int and text at character 3, use text(...) or concat(...)",
            ),
            ("null + 1", "`+` needs two numbers or two texts, found null and int at character 6"),
            ("'a' * 2", "`*` needs two numbers, found text and int at character 5"),
            ("'a' < 1", "`<` needs two numbers or two texts, found text and int at character 5"),
            ("true > false", "`>` needs two numbers or two texts, found bool and bool at character 6"),
            ("[1] <= [2]", "`<=` needs two numbers or two texts, found list and list at character 5"),
            ("-'a'", "`-` needs a number, found text at character 1"),
            ("+true", "`+` needs a number, found bool at character 1"),
            ("not 1", "`not` needs a bool, found int at character 1"),
            ("1 and true", "`and` needs a bool, found int at character 3"),
            ("true and 1", "`and` needs a bool, found int at character 6"),
            ("false or null", "`or` needs a bool, found null at character 7"),
            ("if(1, 2, 3)", "`if` needs a bool, found int at character 1"),
            (
                "1 in 'a1'",
                "`in` needs two texts, a list and an item, or a map and a text, found int and text at character 3",
            ),
            (
                "5 contains 5",
                "`contains` needs two texts, a list and an item, or a map and a text, found int and int at character 3",
            ),
        ],
        &(),
    );
}

#[test]
fn of_ints_that_overflow() {
    for (text, operation) in [
        ("9223372036854775807 + 1", "+"),
        ("-9223372036854775808 - 1", "-"),
        ("9223372036854775807 * 2", "*"),
        ("-9223372036854775808 / -1", "/"),
        ("-9223372036854775808 // -1", "//"),
        ("-(-9223372036854775808)", "-"),
        ("2 ^ 64", "^"),
        ("2 ^ 99999999999", "^"),
        ("abs(-9223372036854775808)", "abs"),
        ("sum(9223372036854775807, 1)", "sum"),
        ("factorial(21)", "factorial"),
        ("factorial(9223372036854775807)", "factorial"),
        ("gcd(-9223372036854775808, 0)", "gcd"),
        ("lcm(9223372036854775807, 2)", "lcm"),
        ("round(9223372036854775807, -1)", "round"),
        ("int(1e19)", "int"),
    ] {
        let error = evaluate(text, &()).unwrap_err();
        assert!(
            matches!(error.problem(), ExpressionProblem::IntOverflow { operation: found } if *found == operation),
            "of `{text}`: {error}"
        );
    }
    check_all(
        &[(
            "2 ^ 64",
            "the result of `^` is too large for an int at character 3, start from a float, as in 2.0^64, for an approximate result",
        )],
        &(),
    );
}
