//! `toolroom policy`, and what rules do to real calls.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::{Home, Ran, ran, repository};

/// A toolroom with this configuration of its user.
fn configured(text: &str) -> Home {
    let home = Home::new();
    configure(&home, text);
    home
}

fn configure(home: &Home, text: &str) {
    std::fs::write(home.path().join("toolroom.toml"), text).unwrap();
}

/// The example's tools, called from inside a folder.
fn run_in(home: &Home, folder: &Path, arguments: &[&str]) -> Ran {
    ran(home.own_tools(arguments).current_dir(folder).output().unwrap())
}

fn json_of(home: &Home, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    home.run_own(&arguments).json()
}

/// A path inside the home, as a word of the command line.
fn path_word(home: &Home, name: &str) -> String {
    format!("path={}", home.path().join(name).display())
}

const NOTES: &str = r#"
[[rule]]
id = "no-etc"
effect = "deny"
tool = "app:*_note"
when = "starts_with(args.path, '/etc')"
reason = "notes do not belong there"
match = [{ tool = "app:append_note", args = { path = "/etc/x" } }]
not_match = [{ tool = "app:append_note", args = { path = "/tmp/x" } }, { tool = "app:repeat" }]

[[rule]]
id = "public"
effect = "ask"
tool = "publish_note"
by = "operator"
match = [{}]
"#;

/// Asks how a call would be judged, then makes it: what comes of it has to be what was said.
#[track_caller]
fn agrees(home: &Home, words: &[&str], expected: &str) {
    let explain: Vec<&str> = ["policy", "explain"].into_iter().chain(words.iter().copied()).collect();
    let call: Vec<&str> =
        ["call"].into_iter().chain(words.iter().copied()).chain(["--no-input", "--json"]).collect();
    let told = json_of(home, &explain);
    let said = format!("{} {}", told["ruling"].as_str().unwrap(), told["rule"].as_str().unwrap());
    assert_eq!(said, expected, "{words:?}: {told:#}");
    let code = home.run_own(&explain).code;
    let called = home.run_own(&call);
    assert_eq!(called.code, code, "{words:?}: {called:?}");
    let report = called.json();
    assert_eq!(report["rule"], told["rule"], "{words:?}");
    let reason = told["reason"].as_str().unwrap_or_default();
    match told["ruling"].as_str().unwrap() {
        "allow" => assert_eq!((code, &report["outcome"]), (0, &json!("done")), "{report}"),
        "ask" => {
            assert_eq!((code, &report["outcome"]), (4, &json!("pending")), "{report}");
            assert_eq!(report["pending"]["reason"], reason);
            assert_eq!(report["pending"]["by"], told["by"]);
        }
        _ => {
            assert_eq!((code, &report["outcome"]), (3, &json!("denied")), "{report}");
            assert_eq!(report["error"]["message"], format!("denied: {reason}"));
        }
    }
    let fired: Vec<&str> = told["tried"].as_array().unwrap().iter().filter_map(decisive).collect();
    assert_eq!(fired, [told["rule"].as_str().unwrap()], "one rule decides: {told:#}");
}

/// The rule, if this is the one that decided: it fired, or failed and so denied, or its yes or its allow let it pass.
fn decisive(tried: &Value) -> Option<&str> {
    let decided = tried["finding"] == "fired" || tried["finding"].get("failed").is_some();
    tried["rule"].as_str().filter(|_| decided)
}

#[test]
fn presets_over_the_example_tools() {
    // `-` runs; anything else is the default rule that asks.
    #[rustfmt::skip]
    let table: [(&[&str], [&str; 3]); 8] = [
        //                                             open           balanced       careful
        (&["append_note", "text=x"],                  ["-",           "-",           "write"]),
        (&["publish_note", "text=x"],                 ["-",           "write",       "write"]),
        (&["mirror_note", "text=x"],                  ["-",           "write",       "write"]),
        (&["erase_notes"],                            ["destructive", "destructive", "destructive"]),
        (&["repeat", "text=x", "times=2"],            ["-",           "-",           "-"]),
        (&["countdown", "seconds=0"],                 ["-",           "-",           "-"]),
        (&["blurt", "text=x"],                        ["-",           "-",           "-"]),
        (&["search", "query=note"],                   ["-",           "-",           "-"]),
    ];
    for (place, preset) in ["open", "balanced", "careful"].into_iter().enumerate() {
        let home = configured(&format!("[policy]\npreset = '{preset}'\n"));
        let path = path_word(&home, "notes.txt");
        for (words, expected) in table {
            let mut words = words.to_vec();
            if words[0].contains("note") {
                words.push(&path);
            }
            let expected = match expected[place] {
                "-" => "allow default".to_owned(),
                concern => format!("ask default.{concern}"),
            };
            agrees(&home, &words, &expected);
        }
        let written = std::fs::read_to_string(home.path().join("notes.txt")).unwrap_or_default();
        let runs = table.iter().filter(|(words, by)| words[0].ends_with("_note") && by[place] == "-").count();
        assert_eq!(written.is_empty(), runs == 0, "{preset}: what asks has written nothing: {written}");
    }
}

#[test]
fn rules_decide_real_calls_as_they_were_explained() {
    let home = configured(&format!(
        "{NOTES}
        [[rule]]
        id = 'fine'
        effect = 'allow'
        tool = 'app:*'

        [[rule]]
        id = 'short'
        effect = 'ask'
        tool = 'mirror_note'
        when = 'len(args.txt) > 5'

        [[rule]]
        id = 'tainted'
        effect = 'deny'
        tool = 'append_note'
        when = \"provenance.untrusted and not provenance.private\"
        reason = 'strangers must not write notes'

        [[rule]]
        id = 'me'
        effect = 'ask'
        tool = 'blurt'
        when = \"caller.user == null and caller.entrance == 'cli'\"
        "
    ));
    let path = path_word(&home, "notes.txt");
    agrees(&home, &["erase_notes", &path], "allow fine");
    agrees(&home, &["append_note", &path, "text=x"], "allow fine");
    agrees(&home, &["append_note", "path=/etc/motd", "text=x"], "deny no-etc");
    agrees(&home, &["publish_note", "path=/etc/motd", "text=x"], "deny no-etc");
    agrees(&home, &["publish_note", &path, "text=x"], "ask public");
    agrees(&home, &["mirror_note", &path, "text=x"], "deny short");
    agrees(&home, &["blurt", "text=x"], "ask me");
    agrees(&home, &["append_note", &path, "text=x", "--provenance", "untrusted"], "deny tainted");
    agrees(&home, &["append_note", &path, "text=x", "--provenance", "untrusted,private"], "allow fine");
    agrees(&home, &["search", "query=x", "--provenance", "untrusted"], "allow default");
    agrees(&home, &["search", "query=x", "--provenance", "untrusted,outward"], "allow default");
    agrees(&home, &["web_search", "query=x", "--provenance", "private,untrusted"], "ask provenance.third");
    let denied = home.run_own(&["call", "mirror_note", &path, "text=x"]).ended(3);
    assert!(denied.err.contains("denied: rule `short` cannot be evaluated: `len` needs"), "{denied:?}");
}

#[test]
fn what_the_operator_has_to_answer_no_caller_can() {
    let home = configured(NOTES);
    let path = path_word(&home, "notes.txt");
    let call = ["call", "publish_note", &path, "text=hello", "--yes", "--no-input", "--json"];
    let parked = home.run_own(&call).ended(4);
    assert!(parked.err.contains("only the operator may approve"), "{parked:?}");
    assert!(!home.path().join("notes.txt").exists());
    let id = parked.json()["call_id"].as_str().unwrap().to_owned();
    home.run_own(&["approvals", "approve", &id]).ended(0);
    home.run_own(&["call", "--resume", &id]).ended(0);
    let written = std::fs::read_to_string(home.path().join("notes.txt")).unwrap();
    assert_eq!(written, format!("{id} hello\n"));
    let told = home.run_own(&["policy", "explain", "publish_note", &path, "text=x"]).ended(4);
    assert!(told.out.contains("\napprover     operator\n"), "{}", told.out);
}

#[test]
fn a_list_tells_what_holds_and_where_it_comes_from() {
    let home = Home::new();
    let none = home.run_own(&["policy"]).ended(0);
    assert!(none.out.starts_with("preset balanced (default)\n"), "{none:?}");
    assert!(none.err.contains("No rules configured; add them to"), "{none:?}");
    assert!(none.err.contains("No standing answers"), "{none:?}");

    configure(&home, &format!("policy.preset = 'careful'\n{NOTES}"));
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(
        project.join("toolroom.toml"),
        "[policy]\npreset = 'open'\n[[rule]]\nid = 'all'\neffect = 'allow'\ntool = '*'\n\
         [[rule]]\nid = 'less'\neffect = 'ask'\ntool = 'repeat'\n",
    )
    .unwrap();
    let listed = run_in(&home, &project, &["policy", "list"]).ended(0);
    let place = home.path().join("toolroom.toml").display().to_string();
    for line in [
        format!("preset careful ({place})"),
        format!("no-etc deny app:*_note when starts_with(args.path, '/etc') {place}:3"),
        format!("public ask publish_note by operator {place}:12"),
        format!("all allow * {}:3 not trusted: ignored", project.join("toolroom.toml").display()),
        format!("less ask repeat {}:7 not trusted: only narrows", project.join("toolroom.toml").display()),
        "default.write ask asks before a tool that changes something".to_owned(),
        "default allow allows everything else".to_owned(),
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(listed.out.lines().any(|shown| words(shown) == line), "{line} in\n{}", listed.out);
    }
    let document = run_in(&home, &project, &["policy", "list", "--json"]).ended(0).json();
    assert_eq!((&document["preset"], &document["preset_from"]), (&json!("careful"), &json!(place)));
    let standing: Vec<&str> =
        document["rules"].as_array().unwrap().iter().map(|rule| rule["standing"].as_str().unwrap()).collect();
    assert_eq!(standing, ["holds", "holds", "ignored", "narrows"]);
    assert_eq!((&document["rules"][0]["line"], &document["rules"][0]["file"]), (&json!(3), &json!(place)));
    assert_eq!(document["built_in"][0]["id"], "default.confirmation");
    // What is listed as ignored is: the call still asks; what narrows does.
    let judged = |words: &[&str]| {
        let arguments: Vec<&str> = ["policy", "explain"].into_iter().chain(words.iter().copied()).collect();
        run_in(&home, &project, &arguments).code
    };
    assert_eq!(judged(&["append_note", "path=/tmp/x", "text=x"]), 4);
    assert_eq!(judged(&["repeat", "text=x", "times=1"]), 4);
}

#[test]
fn an_explanation_shows_every_rule_and_runs_nothing() {
    let home = configured(NOTES);
    let told = home.run_own(&["policy", "explain", "append_note", "path=/etc/x", "text=x"]).ended(3);
    let expected = [
        "verdict      deny (rule no-etc)",
        "reason       notes do not belong there",
        "  no-etc                deny  fired",
        "  public                ask   not this tool",
        "  default.write         ask   condition false",
        "  provenance.third      ask   condition false",
    ];
    for line in expected {
        assert!(told.out.lines().any(|shown| shown == line), "{line} in\n{}", told.out);
    }
    let stdin = home.own_tools(&["policy", "explain", "repeat", "-"]).output().unwrap();
    assert_eq!(ran(stdin).code, 1, "what is missing in the arguments is said");
    let invalid = home.run_own(&["policy", "explain", "append_note", "path=/etc/x"]).ended(1);
    assert!(
        invalid.out.contains("missing argument `text`") && !invalid.out.contains("verdict"),
        "{invalid:?}"
    );
    let unknown = home.run_own(&["policy", "explain", "apend_note"]).ended(5);
    assert!(unknown.err.contains("append_note"), "{unknown:?}");
    assert_eq!(json_of(&home, &["policy", "explain", "apend_note"])["error"]["kind"], "not_found");
    home.run_own(&["policy", "explain", "repeat", "lonely"]).ended(2);
    home.run_own(&["tools", "disable", "append_note"]).ended(0);
    let off = json_of(&home, &["policy", "explain", "append_note", "path=/etc/x", "text=x"]);
    assert_eq!((&off["ruling"], &off["rule"]), (&json!("deny"), &json!("tool.off")));
    assert_eq!(off["tried"][0]["finding"], json!({"beaten_by": "tool.off"}));
    assert!(home.journal().is_empty(), "nothing was called");

    configure(
        &home,
        "[[rule]]\nid = 'bob'\neffect = 'deny'\ntool = 'repeat'\nwhen = \"caller.user == 'bob' and caller.entrance == 'mcp'\"\n",
    );
    let words = ["policy", "explain", "repeat", "text=x", "times=1", "--caller-user", "bob"];
    home.run_own(&words).ended(0);
    home.run_own(&[&words[..], &["--caller-entrance", "mcp"]].concat()).ended(3);
}

#[test]
fn a_call_that_is_explained_says_who_may_answer_and_what_else_had_a_say() {
    let home = configured(NOTES);
    let path = path_word(&home, "notes.txt");
    let call = ["call", "publish_note", &path, "text=x", "--no-input", "--explain"];
    let told = home.run_own(&call).ended(4);
    for line in [
        "verdict      ask (rule public)",
        "approver     operator",
        "also         default.write (ask): beaten by `public`",
    ] {
        assert!(told.err.lines().any(|shown| shown == line), "{line} in\n{}", told.err);
    }
    assert!(!told.err.contains("no-etc"), "{}", told.err);
    let document = json_of(&home, &call);
    assert_eq!(document["explain"]["by"], "operator");
    assert_eq!(document["explain"]["tried"].as_array().unwrap().len(), 8);
}

#[test]
fn a_check_finds_what_is_wrong_and_what_is_odd() {
    let home = configured(NOTES);
    let fine = home.run_own(&["policy", "check", "--strict"]).ended(0);
    assert_eq!(fine.out, "2 rules: no problems\n");
    assert_eq!(json_of(&home, &["policy", "check"])["ok"], true);

    let file = home.path().join("odd.toml");
    let name = file.to_str().unwrap();
    let odd = r#"
[[rule]]
id = "nobody"
effect = "ask"
tool = "apend_note"
match = [{}]
[[rule]]
id = "typo"
effect = "deny"
tool = "mirror_note"
when = "args.txt == 'x' or args.path == 'y'"
match = [{ args = { txt = "x" } }]
[[rule]]
id = "bare"
effect = "ask"
tool = "repeat"
[[rule]]
id = "moot"
effect = "allow"
tool = "app:erase_*"
match = [{ tool = "app:erase_notes" }]
[[rule]]
id = "stop"
effect = "deny"
tool = "app:*"
match = [{ tool = "app:x" }]
[[rule]]
id = "again"
effect = "deny"
tool = "app:lottery"
match = [{}]
"#;
    std::fs::write(&file, odd).unwrap();
    let told = home.run_own(&["policy", "check", name]).ended(0);
    let expected = [
        format!(
            "warning: {name}:2: `rule.nobody` matches no tool: unknown tool `apend_note`; did you mean `append_note`?"
        ),
        format!(
            "warning: {name}:7: `rule.typo` uses `args.txt`, which is no argument of `mirror_note`; did you mean `args.text`?"
        ),
        format!(
            "warning: {name}:13: `rule.bare` has no examples; add matching calls as `match` and other calls as `not_match`"
        ),
        format!(
            "warning: {name}:17: `rule.moot` never decides: rule `stop` denies every call it matches; remove one of them"
        ),
        format!(
            "warning: {name}:27: `rule.again` never decides: rule `stop` denies every call it matches; remove one of them"
        ),
        "6 rules: 5 warnings".to_owned(),
    ];
    assert_eq!(told.out.lines().collect::<Vec<_>>(), expected);
    home.run_own(&["policy", "check", "--strict", name]).ended(2);
    let document = json_of(&home, &["policy", "check", name]);
    let lints: Vec<&str> =
        document["warnings"].as_array().unwrap().iter().map(|told| told["lint"].as_str().unwrap()).collect();
    assert_eq!(lints, ["fits_no_tool", "unknown_argument", "no_examples", "never_decides", "never_decides"]);
    assert_eq!(
        (&document["warnings"][0]["line"], &document["warnings"][0]["file"]),
        (&json!(2), &json!(name))
    );

    let wrong = [
        ("[[rule]]\nid = 'x'\neffect = 'alow'\ntool = 'y'", ":3: `rule.effect` must be one of"),
        ("[[rule]\n", "1: "),
        (
            "[[rule]]\nid = 'x'\neffect = 'allow'\ntool = 'y'\nwhen = 'arg.x'\n",
            "unknown name `arg`, did you mean `args`?",
        ),
        ("[[rule]]\nid = 'x'\neffect = 'deny'\ntool = 'y'\nby = 'caller'\n", "has a `by` but does not ask"),
        (
            "\n[[rule]]\nid = 'x'\neffect = 'allow'\ntool = 'y'\nmatch = [{}, {tool = 'z'}, {tool = 'w'}]\n",
            "fails example 3 of its `match`",
        ),
        ("[tool.\"a\\u0007\"]\nrate = '3/h'\n", "is not a tool name: it must have"),
    ];
    for (text, told) in wrong {
        std::fs::write(&file, text).unwrap();
        let checked = home.run_own(&["policy", "check", name]).ended(2);
        assert!(checked.out.contains(told) && checked.out.contains("error"), "{text}: {checked:?}");
        let document = json_of(&home, &["policy", "check", name]);
        assert_eq!(document["ok"], false, "{text}");
        assert!(document["errors"][0]["line"].is_u64(), "{text}: {document}");
    }
    home.run_own(&["policy", "check", "/nowhere/rules.toml"]).ended(5);
    configure(&home, "[[rule]]\nid = 'x'\neffect = 'deny'\ntool = 'y'\nwhen = '('\n");
    let here = home.run_own(&["policy", "check"]).ended(2);
    assert!(here.out.contains(":1: the `when` of rule `x` cannot be used"), "{here:?}");
    let piped = home.run_with_stdin(&["policy", "check", "-"], NOTES);
    assert!(
        piped.code == 0 && piped.out.starts_with("warning: -:2: `rule.no-etc` matches no tool: "),
        "{piped:?}"
    );
}

#[test]
fn a_check_tells_which_rules_wait_for_trust() {
    let home = Home::new();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let allow = "[[rule]]\nid = 'x'\neffect = 'allow'\ntool = 'app:*'\n";
    std::fs::write(project.join("toolroom.toml"), allow).unwrap();
    let told = run_in(&home, &project, &["policy", "check"]).ended(0).out;
    assert!(told.contains("`rule.x` is ignored because its file is not trusted"), "{told}");
    assert!(told.ends_with("1 rule: 1 warning\n"), "{told}");
    let trusted = project.join("toolroom.toml");
    let told = home.run_own(&["policy", "check", trusted.to_str().unwrap()]).ended(0).out;
    assert!(
        told.contains("no examples") && !told.contains("ignored"),
        "a file that is named is one's own: {told}"
    );
}

#[test]
fn every_example_is_tried_even_of_rules_that_do_not_load() {
    let home = configured(NOTES);
    let told = home.run_own(&["policy", "test"]).ended(0);
    assert!(told.out.starts_with("ok  no-etc  3 examples"), "{told:?}");
    assert!(told.out.ends_with("2 ok, 0 failed, 0 untested\n"), "{told:?}");

    configure(
        &home,
        "[[rule]]\nid = 'big'\neffect = 'ask'\ntool = 'repeat'\nwhen = 'args.times > 10'\n\
         match = [{args = {times = 5}}, {args = {times = 11}}, {}]\nnot_match = [{args = {times = 12}}]\n\
         [[rule]]\nid = 'plain'\neffect = 'ask'\ntool = 'repeat'\n\
         [[rule]]\nid = 'bad'\neffect = 'ask'\ntool = 'repeat'\nwhen = '('\nmatch = [{}]\n",
    );
    home.run_own(&["policy", "list"]).ended(2);
    let told = home.run_own(&["policy", "test"]).ended(1);
    for part in [
        "failed    big    3 of 4 examples",
        "\n  match 1 {\"args\":{\"times\":5}}: the condition is false for it\n",
        "\n  match 3 {}: `>` needs",
        "\n  not_match 1 {\"args\":{\"times\":12}}: the rule applies to it\n",
        "untested  plain  no examples",
        "failed    bad    the `when` of rule `bad` cannot be used: ",
        "\n0 ok, 2 failed, 1 untested\n",
    ] {
        assert!(told.out.contains(part), "{part} in\n{}", told.out);
    }
    let document = json_of(&home, &["policy", "test"]);
    assert_eq!((&document["ok"], &document["failed"]), (&json!(false), &json!(2)));
    assert_eq!(document["rules"][0]["examples"][1].get("problem"), None);
    assert_eq!(document["rules"][0]["examples"][3]["problem"], "the rule applies to it");
    let piped = home.run_with_stdin(&["policy", "test", "-"], NOTES);
    assert_eq!(piped.code, 0, "{piped:?}");
    assert_eq!(home.run_with_stdin(&["policy", "test", "-"], "[[rule").code, 2);
}

/// Parks a call, answers it so that the answer stands, and gives the answer's id.
fn stand(home: &Home, words: &[&str], answer: &[&str]) -> String {
    let call: Vec<&str> = ["call"].into_iter().chain(words.iter().copied()).chain(["--no-input"]).collect();
    let id = json_of(home, &call)["call_id"].as_str().unwrap().to_owned();
    let arguments: Vec<&str> =
        ["approvals", answer[0], &id].into_iter().chain(answer[1..].iter().copied()).collect();
    json_of(home, &arguments)["standing"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn standing_answers_are_listed_exported_and_taken_back() {
    let home = Home::new();
    let path = path_word(&home, "notes.txt");
    let publish = ["publish_note", &path, "text=x"];
    let condition = format!("args.path == '{}'", home.path().join("notes.txt").display());
    let yes = stand(&home, &publish, &["approve", "--always", "--when", &condition]);
    let never = stand(&home, &["erase_notes", &path], &["deny", "--never"]);
    agrees(&home, &["erase_notes", &path], &format!("deny {never}"));
    let judged = json_of(&home, &["policy", "explain", "publish_note", &path, "text=x"]);
    assert_eq!((&judged["ruling"], &judged["rule"]), (&json!("allow"), &json!(yes)));

    let listed = home.run_own(&["policy", "list"]).ended(0).out;
    let last = &yes[yes.len() - 8..];
    let sentence = format!("  {last}  allow app:publish_note when {condition}, set by the operator");
    assert!(listed.contains(&sentence), "{sentence} in\n{listed}");
    let document = json_of(&home, &["policy", "list"]);
    assert_eq!(
        (&document["answers"][0]["id"], &document["answers"][0]["by"]),
        (&json!(yes), &json!("operator"))
    );
    assert!(document["answers"][0]["age_seconds"].is_u64() && document["answers"][0]["call"].is_string());

    let exported = home.run_own(&["policy", "export", "--answers"]).ended(0).out;
    assert!(exported.contains(&format!("id = \"{never}\"")) && !exported.contains("preset"), "{exported}");

    home.run_own(&["policy", "forget", last]).ended(0);
    home.run_own(&["policy", "forget", last]).ended(5);
    home.run_own(&["policy", "forget", ""]).ended(5);
    agrees(&home, &publish, "ask default.write");
    assert_eq!(json_of(&home, &["policy", "forget", &never])["forgotten"]["id"], never);
    assert_eq!(home.run_own(&["policy", "export", "--answers"]).ended(0).out, "");
}

#[test]
fn what_is_exported_can_be_loaded_and_means_the_same() {
    let home = configured(&format!("policy.preset = 'careful'\n{NOTES}"));
    let path = path_word(&home, "it's \\ odd \u{202e}.txt");
    stand(&home, &["append_note", &path, "text=x"], &["approve", "--always"]);
    stand(&home, &["erase_notes", &path], &["deny", "--never", "--when", "starts_with(args.path, '/')"]);
    let exported = home.run_own(&["policy", "export", "--all"]).ended(0).out;
    let place = home.path().join("toolroom.toml").display().to_string();
    assert!(exported.contains(&format!("# from {place}:3\n[[rule]]\nid = \"no-etc\"\n")), "{exported}");
    assert!(exported.contains("# standing answer of "), "{exported}");
    let other = configured(&exported);
    assert_eq!(json_of(&other, &["policy", "export"]), json_of(&home, &["policy", "export", "--all"]));
    other.run_own(&["policy", "check"]).ended(0);
    let again = other.run_own(&["policy", "export"]).ended(0).out;
    let without_comments =
        |text: &str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    assert_eq!(without_comments(&again), without_comments(&exported));
    for words in [
        &["append_note", &path, "text=x"][..],
        &["append_note", "path=/etc/x", "text=x"],
        &["publish_note", &path, "text=x"],
        &["erase_notes", &path],
        &["mirror_note", &path, "text=x"],
    ] {
        let words: Vec<&str> = ["policy", "explain"].into_iter().chain(words.iter().copied()).collect();
        assert_eq!(other.run_own(&words).code, home.run_own(&words).code, "{words:?}");
    }
}

#[test]
fn an_export_holds_no_secret() {
    let home = configured(
        "[[rule]]\nid = 'x'\neffect = 'deny'\ntool = 'repeat'\nwhen = \"args.text == 'correct-horse-battery'\"\n",
    );
    for arguments in [&["policy", "export"][..], &["policy", "export", "--json"], &["policy", "list"]] {
        let mut command = home.own_tools(arguments);
        let told = ran(command.env("BARN_API_KEY", "correct-horse-battery").output().unwrap()).ended(0);
        assert!(!told.out.contains("correct-horse-battery"), "{}", told.out);
    }
}

#[test]
fn the_risk_report_tells_what_becomes_of_risky_calls() {
    let home = configured(&format!("{NOTES}[[rule]]\nid = 'gone'\neffect = 'deny'\ntool = 'erase_notes'\n"));
    let told = home.run_own(&["tools", "--risk"]).ended(0);
    assert_eq!(
        told.out.lines().collect::<Vec<_>>(),
        [
            "app:erase_notes                high    destructive (destructive)         deny (rule gone)",
            "app:mirror_note                medium  idempotent_write (writes)         ask (rule default.write); depends on arguments: no-etc",
            "app:publish_note               medium  once_only_write (writes)          ask (rule public), by the operator; depends on arguments: no-etc",
            "builtin:create_calendar_event  medium  once_only_write (writes, egress)  ask (rule default.write)",
            "builtin:fs-write               medium  idempotent_write (writes)         ask (rule default.write)",
            "builtin:promote_learning       high    once_only_write (writes)          ask (rule default.write)",
            "builtin:write_file             medium  idempotent_write (writes)         ask (rule default.write)",
        ]
    );
    let document = json_of(&home, &["tools", "list", "--risk"]);
    assert_eq!((&document[1]["ruling"], &document[1]["depends_on"]), (&json!("ask"), &json!(["no-etc"])));
    assert_eq!((&document[2]["by"], &document[2]["capabilities"]), (&json!("operator"), &json!(["writes"])));
    home.run_own(&["tools", "disable", "erase_notes"]).ended(0);
    assert!(!home.run_own(&["tools", "--risk"]).ended(0).out.contains("erase_notes"));
    assert!(home.run_own(&["tools", "--risk", "--all"]).ended(0).out.contains("erase_notes"));
    home.run(&["tools", "disable", "write_file"]).ended(0);
    home.run(&["tools", "disable", "create_calendar_event"]).ended(0);
    home.run(&["switch", "off", "memory"]).ended(0);
    let builtin = home.run(&["tools", "--risk"]).ended(0);
    assert!(builtin.out.is_empty() && builtin.err.contains("No tools of medium or high risk"), "{builtin:?}");
}

fn documentation() -> String {
    std::fs::read_to_string(repository().join("docs/policy.md")).unwrap()
}

#[test]
fn the_documented_presets_are_those_of_the_code() {
    let home = Home::new();
    let lists = ["open", "balanced", "careful"].map(|preset| {
        let setting = format!("policy.preset={preset}");
        json_of(&home, &["policy", "list", "--set", &setting])["built_in"].as_array().unwrap().clone()
    });
    let rows: Vec<String> = (0..lists[0].len())
        .map(|row| {
            let about =
                lists[2][row]["meaning"].as_str().unwrap().strip_prefix("asks before a tool that ").unwrap();
            let asks = lists.each_ref().map(|list| list[row]["asks"].as_str().unwrap()).join(" | ");
            format!("| `{}` | {about} | {asks} |", lists[0][row]["id"].as_str().unwrap())
        })
        .collect();
    let text = documentation();
    let shown: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| `default.") || line.starts_with("| `provenance."))
        .collect();
    assert_eq!(shown, rows);
}

#[test]
fn the_documented_rules_pass_their_examples() {
    let home = Home::new();
    let text = documentation();
    let mut blocks = 0;
    for block in text.split("```toml\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let tested = home.run_with_stdin(&["policy", "test", "-"], block);
        assert!(tested.code == 0 && tested.out.contains(" 0 failed, 0 untested"), "{block}{tested:?}");
        blocks += 1;
    }
    assert!(blocks >= 2, "only {blocks} blocks were found");
}

#[test]
fn a_command_line_is_judged_without_being_run() {
    let home = configured("[policy]\nexec_allowlist = [\"git status\", \"ls *\"]\n");
    let explain = |security: &str, words: &[&str]| {
        let setting = format!("policy.exec_security={security}");
        let arguments = ["--set", &setting, "policy", "explain", "--json", "--"];
        home.run(&arguments.iter().chain(words).copied().collect::<Vec<_>>())
    };
    let check = |security: &str, words: &[&str], verdict: &str, code: i32| {
        let ran = explain(security, words);
        assert_eq!(
            (ran.json()["verdict"].as_str(), ran.code),
            (Some(verdict), code),
            "{security} {words:?}: {ran:?}"
        );
    };
    check("cautious", &["touch made"], "allow", 0);
    check("cautious", &["git", "push"], "ask", 4);
    check("cautious", &["rm -rf /"], "deny", 3);
    check("open", &["git push"], "allow", 0);
    check("open", &["ls ("], "ask", 4);
    check("strict", &["git status && ls -l"], "allow", 0);
    check("strict", &["git status; touch made"], "deny", 3);
    check("strict", &["ls ("], "deny", 3);
    assert!(!home.path().join("made").exists());

    let told = explain("cautious", &["ls; sudo rm $x"]).json();
    assert_eq!(told["security"], "cautious");
    assert_eq!(told["printed"], "ls; sudo rm ${x}");
    assert_eq!(
        told["commands"][2],
        json!({"program": "rm", "arguments": ["…"], "at": 4, "is_wrapped": true})
    );
    assert!(
        told["reasons"].as_array().unwrap().iter().any(|reason| reason["why"] == "removes files"),
        "{told}"
    );

    let text = home.run(&["policy", "explain", "--", "ls; sudo rm $x"]);
    assert!(text.out.contains("verdict      ask (exec_security cautious)"), "{text:?}");
    assert!(text.out.contains("\ncommands\n  ls\n  sudo rm …\n    rm …"), "{text:?}");
    assert_eq!(home.run(&["policy", "explain", "calculator", "--", "ls"]).code, 2);
    assert_eq!(home.run(&["policy", "explain"]).code, 2);
}

#[test]
fn an_entry_of_the_allow_list_that_is_no_command_is_told_with_its_line() {
    let home = configured("[policy]\nexec_allowlist = [\"git log; ls\"]\n");
    let ran = home.run(&["policy"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("it is not one command") && ran.err.contains("toolroom.toml:2"), "{ran:?}");
}
