//! Cost of judging a command line.

#![expect(
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench reads the clock and its arguments, and rounds its figures"
)]

#[path = "../../toolroom/benches/measure/mod.rs"]
#[expect(dead_code, reason = "partly used in this bench")]
mod measure;

use measure::{Bar, Measure};
use toolroom_tools::shell::judge::{JudgeSettings, judge};

const MEBIBYTE: usize = 1024 * 1024;

/// For lines of maximum length.
const AIM_US: f64 = 50_000.0;

fn main() {
    let measure = Measure::from_arguments();
    let settings = JudgeSettings::default();
    // Leaves room for the text around it.
    let filled = |piece: &str| piece.repeat((MEBIBYTE - 64) / piece.len());
    let line = format!("grep -n pattern {} | head\n", "some/long/path/of/a/file.rs ".repeat(20));
    let aim = Bar::aim(AIM_US);
    let cases = [
        ("usual_line", "cd src && cargo test 2>&1 | grep -E 'FAIL|error' | head -20".to_owned(), Bar::NONE),
        ("mebibyte_of_arguments", format!("echo {}", filled("word ")), aim),
        ("mebibyte_of_quotes", format!("echo {}", filled("'a b' \"c $d\" ")), aim),
        ("mebibyte_of_lines", filled(&line), aim),
        ("mebibyte_of_here_document", format!("cat > f <<'EOF'\n{}EOF\n", filled("a line of text\n")), aim),
        ("mebibyte_of_wrappers", filled("env "), aim),
        ("mebibyte_of_redirections", format!("echo {}", filled("> f ")), aim),
        ("mebibyte_of_descriptors", format!("echo {}", filled("2>&1 ")), aim),
        ("mebibyte_of_braces", format!("echo {}", filled("{aaaa ")), aim),
        ("mebibyte_of_choices", format!("echo {}", filled("{a,b} ")), aim),
        ("mebibyte_of_paths", format!("cp {}", filled("src/a.rs ")), aim),
        ("mebibyte_of_long_arguments", format!("echo {}", filled("sixteen_letters_ ")), aim),
        (
            "mebibyte_of_long_quotes",
            format!(
                "echo {}",
                filled(
                    "'a text of more than thirty letters, and then of more than fifty' \"and one with $this\" "
                )
            ),
            aim,
        ),
        ("mebibyte_of_long_redirections", format!("echo {}", filled("> some/file/here ")), aim),
        ("mebibyte_of_long_paths", format!("cp {}", filled("src/some/path.rs ")), aim),
        ("mebibyte_of_brackets", filled("$("), aim),
        ("mebibyte_of_commands", filled("a;"), aim),
        ("mebibyte_of_one_word", filled("a"), aim),
    ];
    for (case, text, bar) in &cases {
        assert!(text.len() <= MEBIBYTE, "{case}: {}", text.len());
        // The other cases end at a limit of the judge.
        let is_long = case.contains("long") || case.contains("lines");
        assert!(!is_long || judge(text, &settings).printed.is_some(), "{case}");
        measure.time("judge", case, *bar, || judge(text, &settings));
    }
}
