//! Exact error messages.

use super::{environment, flags, trusted, user, wrong};
use crate::config::load;

fn check(text: &str, expected: &[&str]) {
    assert_eq!(wrong(&[user(text)]), expected, "{text}");
}

#[test]
fn all_unknown_keys_are_reported_with_the_nearest_known_one() {
    check(
        "preset = 'open'\ncolour = 1\n[polcy]\npreset = 'open'\n[policy]\npresett = 'open'\nexpires = '1h'\n\
         [[rules]]\nid = 'x'\n[tool.lottery]\nrates = '3/h'\n",
        &[
            "user.toml:1: `preset` is not a known key; did you mean `policy.preset`?",
            "user.toml:2: `colour` is not a known key; \
             known here: `workspace`, `policy`, `files`, `network`, `search`, `location`, `calendar`, `redaction`, `retention`, `server`, `log`, `telemetry`, `model`, `vendor`, `agent`, \
             `tool`, `rule`",
            "user.toml:3: `polcy` is not a known key; did you mean `policy`?",
            "user.toml:6: `policy.presett` is not a known key; did you mean `policy.preset`?",
            "user.toml:7: `policy.expires` is not a known key; did you mean `policy.approval_expires`?",
            "user.toml:8: `rules` is not a known key; did you mean `rule`?",
            "user.toml:11: `tool.lottery.rates` is not a known key; did you mean `tool.lottery.rate`?",
        ],
    );
}

#[test]
fn an_invalid_value_is_reported_with_the_expected_one() {
    check(
        "[policy]\npreset = 'opne'\napproval_expires = 30\n[redaction]\npatterns = 'yes'\nenvironment = 1\n",
        &[
            "user.toml:2: `policy.preset` must be one of \"open\", \"balanced\", \"careful\", got \"opne\" \
             (did you mean \"open\"?)",
            "user.toml:3: `policy.approval_expires` must be a span such as \"30s\", from 1s to 30d, got the number 30",
            "user.toml:5: `redaction.patterns` must be true or false, got \"yes\"",
            "user.toml:6: `redaction.environment` must be true or false, got the number 1",
        ],
    );
    check(
        "[server]\nlisten = 'localhost:1'\nhosts = ['a b', 'tools.example.com']\nat_once = 0\n",
        &[
            "user.toml:2: `server.listen` must be an address and a port such as \"127.0.0.1:7300\", got \"localhost:1\": \
             expected an address and a port",
            "user.toml:3: `server.hosts` must be a name such as \"tools.example.com\", got \"a b\": \
             expected a name or an address, with an optional port",
            "user.toml:4: `server.at_once` must be a whole number from 1 to 100000, got the number 0",
        ],
    );
    check(
        "policy = 3\nrule = { id = 'x' }\ntool = []\nredaction.patterns.x = true",
        &[
            "user.toml:1: `policy` must be a table, got the number 3",
            "user.toml:2: `rule` must be a list of tables, got a table",
            "user.toml:3: `tool` must be a table, got a list",
            "user.toml:4: `redaction.patterns` must be true or false, got a table",
        ],
    );
}

#[test]
fn spans_numbers_and_rates_have_bounds() {
    let rate = "must be a rate such as \"3/h\" or \"20/day project\"";
    for (line, expected) in [
        ("timeout = '0ms'", "`tool.x.timeout` must be a span such as \"30s\", from 1ms to 24h, got \"0ms\""),
        ("timeout = '25h'", "`tool.x.timeout` must be a span such as \"30s\", from 1ms to 24h, got \"25h\""),
        (
            "timeout = '1w'",
            "`tool.x.timeout` must be a span such as \"30s\", from 1ms to 24h, got \"1w\": \
             unknown unit `w`; use ms, s, m, h or d",
        ),
        (
            "timeout = 2026-01-01",
            "`tool.x.timeout` must be a span such as \"30s\", from 1ms to 24h, got a date",
        ),
        ("concurrency = 0", "`tool.x.concurrency` must be a whole number from 1 to 10000, got the number 0"),
        (
            "concurrency = 2.0",
            "`tool.x.concurrency` must be a whole number from 1 to 10000, got the number 2.0",
        ),
        (
            "concurrency = 0xffffffffffffffffff",
            "`tool.x.concurrency` must be a whole number from 1 to 10000, got the number 0xffffffffffffffffff",
        ),
        (
            "result_cap = 199",
            "`tool.x.result_cap` must be a whole number from 200 to 10000000, got the number 199",
        ),
        (
            "open = ['http://printer.lan/']",
            "`tool.x.open` must be a destination such as \"printer.lan\" or \"10.1.2.3:8080\", got \
             \"http://printer.lan/\": `http://printer.lan/` is more than a host: write it without scheme and path, such as \
             `printer.lan` or `10.1.2.3:8080`",
        ),
        ("open = 'printer.lan'", "`tool.x.open` must be a list of destinations, got \"printer.lan\""),
        ("rate = 3", &format!("`tool.x.rate` {rate}, or a list of rates, got the number 3")),
        ("rate = ['3/h', 3]", &format!("`tool.x.rate` {rate}, got the number 3")),
        (
            "rate = '0/h'",
            &format!("`tool.x.rate` {rate}, got \"0/h\": the number of calls must be from 1 to 1000000"),
        ),
        (
            "rate = ['3/hour']",
            &format!(
                "`tool.x.rate` {rate}, got \"3/hour\": use `3/s`, `3/min`, `3/h` or `3/day`, \
                 optionally followed by ` user` or ` project`"
            ),
        ),
        (
            "rate = ['1/s', '2/s', '3/s', '4/s', '5/s', '6/s', '7/s', '8/s', '9/s']",
            "`tool.x.rate` must have at most 8 entries, has 9",
        ),
    ] {
        check(&format!("[tool.x]\n{line}"), &[&format!("user.toml:2: {expected}")]);
    }
    let most = |policy: &str| load(&[user(policy)]).is_ok();
    assert!(most("[policy]\napproval_expires = '30d'\n[tool.x]\ntimeout = '24h'\nconcurrency = 10_000"));
    assert!(most("[policy]\napproval_expires = '1s'\n[tool.x]\ntimeout = '1ms'\nresult_cap = 200"));
}

#[test]
fn problems_of_rules_have_lines() {
    check(
        "[[rule]]\nid = 'a'\n\n[[rule]]\neffect = 'alow'\ntool = '*'\nwen = 'true'\n\
         match = [{ args = { at = 1979-05-27, n = inf, b = 99999999999999999999 }, effect = 'reed' }]\n",
        &[
            "user.toml:1: `rule.effect` is missing",
            "user.toml:1: `rule.tool` is missing",
            "user.toml:4: `rule.id` is missing",
            "user.toml:5: `rule.effect` must be one of \"allow\", \"ask\", \"deny\", got \"alow\" \
             (did you mean \"allow\"?)",
            "user.toml:7: `rule.wen` is not a known key; did you mean `rule.when`?",
            "user.toml:8: `rule.match.args.at` must not contain a date without quotes",
            "user.toml:8: `rule.match.args.n` must not contain a number that is not finite",
            "user.toml:8: `rule.match.args.b` must not contain a number beyond 64 bits",
            "user.toml:8: `rule.match.effect` must be one of \"pure\", \"read\", \"idempotent_write\", \
             \"once_only_write\", \"destructive\", got \"reed\" (did you mean \"read\"?)",
        ],
    );
}

#[test]
fn no_two_rules_have_the_same_id() {
    let rule = "\n[[rule]]\nid = 'a'\neffect = 'deny'\ntool = '*'\n";
    let expected = "\"a\" is already the id of the rule at user.toml:2";
    check(&format!("{rule}{rule}"), &[&format!("user.toml:7: `rule.id` {expected}")]);
    assert_eq!(wrong(&[trusted(rule), user(rule)]), [format!("project.toml:2: `rule.id` {expected}")]);
}

#[test]
fn problems_of_all_layers_are_reported_with_their_origin() {
    assert_eq!(
        wrong(&[
            flags(&["policy.presett=open", "redaction.patterns=no", "nonsense", "a b=1", "x\ny=1"]),
            environment(&[("TOOLROOM_POLICY_PRESET", "lax")]),
            user("[policy]\npreset = 1"),
            trusted("[policy\n"),
        ]),
        [
            "user.toml:2: `policy.preset` must be one of \"open\", \"balanced\", \"careful\", got the number 1",
            "project.toml:1: syntax error at column 8: unclosed table, expected `]`\n  1 | [policy\n    |        ^",
            "TOOLROOM_POLICY_PRESET: `policy.preset` must be one of \"open\", \"balanced\", \"careful\", got \"lax\"",
            "--set: `nonsense` is not `key=value`",
            "--set: `a b` is not a key; write it as in the file, with dots",
            "--set: `x\\ny` is not a key; write it as in the file, with dots",
            "--set: `policy.presett` is not a known key; did you mean `policy.preset`?",
            "--set: `redaction.patterns` must be true or false, got \"no\"",
        ]
    );
}

#[test]
fn counts_are_bounded_and_so_is_the_list_of_problems() {
    let tools: String = (0..1_001).map(|number| format!("[tool.t{number}]\n")).collect();
    check(&tools, &["user.toml:1: `tool` must have at most 1000 entries, has 1001"]);
    let rules: String = (0..1_001)
        .map(|number| format!("[[rule]]\nid = 'r{number}'\neffect = 'ask'\ntool = '*'\n"))
        .collect();
    check(&rules, &["user.toml:1: `rule` must have at most 1000 entries, has 1001"]);

    let text: String = (0..5_000).map(|number| format!("k{number} = 1\n")).collect();
    let error = load(&[user(&text)]).unwrap_err();
    assert_eq!((error.problems.len(), error.cut), (100, true));
    assert!(error.to_string().ends_with("\nthere are more problems; fix these first"));
    let one = load(&[user("x = 1\n")]).unwrap_err().to_string();
    assert!(one.starts_with("user.toml:1: `x` is not a known key") && one.lines().count() == 1, "{one}");
}

#[test]
fn tool_names_are_checked() {
    let name = "it must have 1 to 256 bytes and no control characters";
    check("[tool.'']", &[&format!("user.toml:1: `tool.\"\"` is not a tool name: {name}")]);
    check("[tool.\"a\\nb\"]", &[&format!("user.toml:1: `tool.\"a\\nb\"` is not a tool name: {name}")]);
    assert_eq!(wrong(&[user(&format!("[tool.{}]", "x".repeat(257)))]).len(), 1);
}

#[test]
fn errors_escape_control_characters_of_the_file() {
    let text =
        "\"\\u001b[2J\\u202e\" = 1\n[policy]\npreset = \"\\u001b\\n\"\napproval_expires = \"1\\u001b\\n\"\n";
    let told = load(&[user(text)]).unwrap_err().to_string();
    assert!(!told.contains(['\u{1b}', '\u{202e}']) && told.lines().count() == 3, "{told:?}");
    let long = format!("{} = 1\n[policy]\npreset = '{}'", "k".repeat(9_999), "v".repeat(9_999));
    assert!(load(&[user(&long)]).unwrap_err().to_string().len() < 500);
}
