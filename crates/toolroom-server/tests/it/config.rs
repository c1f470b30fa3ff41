//! `toolroom config`, and that what is configured really holds.

use std::path::Path;

use serde_json::{Value, json};
use toolroom_server::config::reference;

use crate::home::{Home, Ran, ran, repository};
use crate::project::Project;

const USERS_FILE: &str = r#"
[policy]
preset = "careful"
[tool.lottery]
rate = "2/h"
[[rule]]
id = "no-mail"
effect = "deny"
tool = "send_*"
match = [{ tool = "app:send_mail", args = { to = "x" } }]
"#;

fn database(project: &Project) -> std::path::PathBuf {
    project.home.path().join("toolroom.db")
}

#[test]
fn places_are_shown_with_what_is_there_and_nothing_is_made() {
    let project = Project::new("");
    let home = project.home.path().display().to_string();
    let shown = project.run(&["config", "path"]).ended(0).out;
    assert!(
        shown.contains(&format!(
            "user file     {home}/toolroom.toml  not found; create it with `toolroom init`"
        )),
        "{shown}"
    );
    assert!(shown.contains("project file  none"), "{shown}");
    assert!(
        shown.contains(&format!("{home}/toolroom.db    not created yet; the first call creates it")),
        "{shown}"
    );

    project.write("[policy]\npreset = 'open'");
    let places = project.run(&["config", "path", "--json"]).ended(0).json();
    let file = project.file().display().to_string();
    assert_eq!(places["project_file"], json!({"path": file, "exists": true, "trusted": false}));
    assert_eq!(places["user_file"]["exists"], false);
    assert_eq!(places["database"], json!({"path": format!("{home}/toolroom.db"), "exists": false}));
    assert_eq!(places["master_key"]["exists"], false);
    assert!(!database(&project).exists());

    project.run(&["trust", "--yes"]).ended(0);
    let places = project.run(&["config", "path", "--json"]).ended(0).json();
    assert_eq!(
        (&places["project_file"]["trusted"], &places["database"]["exists"]),
        (&json!(true), &json!(true))
    );
    let mut command = project.home.command(&["config", "path", "--json"]);
    command.env("TOOLROOM_MASTER_KEY", "not-shown-anywhere");
    let ran = project.finish(command).ended(0);
    assert_eq!(ran.json()["master_key"], json!({"variable": "TOOLROOM_MASTER_KEY", "exists": true}));
    assert!(!ran.out.contains("not-shown"));
}

#[test]
fn what_holds_is_shown_as_a_file_could_say_it() {
    let project = Project::new(USERS_FILE);
    let home = project.home.path().display().to_string();
    let shown = project.run(&["--set", "tool.lottery.timeout=5", "config", "show", "--origin"]).ended(0);
    assert_eq!(
        shown.out,
        format!(
            "policy.preset = \"careful\"  # {home}/toolroom.toml\n\
             policy.approval_expires = \"24h\"  # default\n\
             policy.exec_security = \"cautious\"  # default\n\
             policy.exec_allowlist = []  # default\n\
             policy.exec_sandbox = \"workspace\"  # default\n\
             policy.exec_disk_mib = 2048  # default\n\
             policy.provenance.files = [\"private\", \"untrusted\"]  # default\n\
             policy.provenance.direct_calls = \"30m\"  # default\n\
             files.read = []  # default\n\
             files.write = []  # default\n\
             files.programs_read = []  # default\n\
             network.open = []  # default\nsearch.providers = []  # default\nlocation.provider = \"ipwhois\"  # default\n\
             redaction.patterns = true  # default\n\
             redaction.environment = true  # default\n\
             server.listen = \"127.0.0.1:7300\"  # default\n\
             server.hosts = []  # default\n\
             server.trusted_proxies = []  # default\n\
             server.key_rate = 6000  # default\n\
             server.ip_rate = 6000  # default\n\
             server.session_rate = 600  # default\n\
             server.at_once = 2048  # default\n\
             log.format = \"auto\"  # default\n\
             log.level = \"info\"  # default\n\
             telemetry.otlp_key_header = \"authorization\"  # default\n\
             telemetry.service_name = \"toolroom\"  # default\n\
             tool.lottery.rate = \"2/h\"  # {home}/toolroom.toml\n\
             tool.lottery.timeout = \"5s\"  # --set\n\
             [[rule]]  # {home}/toolroom.toml\n\
             id = \"no-mail\"\neffect = \"deny\"\ntool = \"send_*\"\n\
             match = [{{ tool = \"app:send_mail\", args = {{ to = \"x\" }} }}]\n"
        )
    );
    project.write_user_file(&shown.out);
    let again = project.run(&["config", "show"]).ended(0).out;
    assert_eq!(
        again,
        shown.out.lines().fold(String::new(), |text, line| {
            text + line.split_once("  # ").map_or(line, |(setting, _)| setting) + "\n"
        })
    );
}

#[test]
fn a_part_of_it_is_shown_by_key_and_a_wrong_key_gets_the_nearest() {
    let project = Project::new(USERS_FILE);
    let show = |key: &str| project.run(&["config", "show", key]);
    assert_eq!(show("policy.preset").ended(0).out, "policy.preset = \"careful\"\n");
    assert_eq!(show("redaction").ended(0).out, "redaction.patterns = true\nredaction.environment = true\n");
    assert_eq!(show("tool").ended(0).out, "tool.lottery.rate = \"2/h\"\n");
    assert!(show("rule.no-mail").ended(0).out.starts_with("[[rule]]\nid = \"no-mail\"\n"));
    let says = |key: &str, text: &str| assert!(show(key).ended(5).err.contains(text), "{key}");
    says("policy.presett", "unknown configuration key `policy.presett`; did you mean `policy.preset`?");
    says("preset", "did you mean `policy.preset`?");
    says("zzz", "see `toolroom config show`");
    says("tool.lottery.timeout", "`tool.lottery.timeout` is not set");
    let document = project.run(&["config", "show", "policy.preset", "--json"]).ended(0).json();
    let path = project.home.path().join("toolroom.toml").display().to_string();
    let setting =
        json!({"key": "policy.preset", "value": "careful", "origin": {"kind": "user", "path": path}});
    assert_eq!(document, json!({"settings": [setting], "ignored": []}));
}

#[test]
fn what_a_project_may_not_set_is_told_beside_what_holds() {
    let project = Project::new("");
    project.write("[policy]\npreset = 'open'\n[tool.lottery]\nrate = '1/h'");
    let ran = project.run(&["config", "show"]).ended(0);
    assert!(
        ran.out.contains("policy.preset = \"balanced\"") && ran.out.contains("rate = \"1/h\""),
        "{ran:?}"
    );
    let file = project.file().display().to_string();
    let ignored = format!("{file}:2: `policy.preset = \"open\"` is ignored: more lenient than \"balanced\"");
    assert!(ran.err.contains(&ignored) && ran.err.contains("`toolroom trust`"), "{ran:?}");
    let told = project.run_own(&["call", "lottery"]).ended(0).err;
    assert_eq!(told, format!("hint: `{file}` is not trusted; ignored settings: 1; see `toolroom trust`\n"));
}

#[test]
fn a_check_tells_everything_with_its_place() {
    let project = Project::new("[policy]\npreset = 'lax'\n");
    project.write("[tool.x]\nrates = '1/h'\ntimeout = '0s'\n");
    let ran = project.run(&["config", "check"]).ended(2);
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!((lines.len(), ran.out.as_str()), (3, ""), "{ran:?}");
    for (line, says) in
        lines.iter().zip([":2: `policy.preset` must", ":2: `tool.x.rates`", ":3: `tool.x.timeout`"])
    {
        assert!(line.starts_with("error: /") && line.contains(says), "{line}");
    }
    let document = project.run(&["config", "check", "--json"]).ended(2).json();
    assert_eq!((&document["ok"], document["problems"].as_array().unwrap().len()), (&json!(false), 3));
    let first = &document["problems"][0];
    assert_eq!((&first["line"], &first["key"]), (&json!(2), &json!("policy.preset")));

    let one = project.run(&["config", "check", "toolroom.toml"]).ended(2);
    assert_eq!(one.err.lines().count(), 2, "one file alone: {one:?}");
    project.write(USERS_FILE);
    assert_eq!(
        project.run_own(&["config", "check", "toolroom.toml"]).ended(0).out,
        "ok: 1 key, 1 rule, 1 limit\n"
    );
    assert!(project.run(&["config", "check", "none.toml"]).ended(5).err.contains("no file `none.toml`"));
    assert!(project.run(&["config", "check", "."]).ended(2).err.contains("is not a regular file"));
    assert!(!database(&project).exists());
}

#[test]
fn a_check_warns_of_what_is_probably_not_meant() {
    let project =
        Project::new("[tool.lotery]\nrate = '1/h'\n[[rule]]\nid = 'a'\neffect = 'deny'\ntool = 'repeat'\n");
    let ran = project.run_own(&["config", "check"]).ended(0);
    assert_eq!(ran.out, "ok: 0 keys, 1 rule, 1 limit\n");
    for says in [
        "toolroom.toml:3: `rule.a` has no examples",
        "toolroom.toml:1: `tool.lotery` matches no tool: unknown tool `lotery`; did you mean `app:lottery`?",
    ] {
        assert!(ran.err.contains(says), "{ran:?}");
    }
    let document = project.run_own(&["config", "check", "--json"]).ended(0).json();
    assert_eq!((&document["ok"], document["warnings"].as_array().unwrap().len()), (&json!(true), 2));
}

#[test]
fn a_check_warns_of_folders_that_are_never_opened() {
    let home = Home::new();
    let write = ["config", "check", "--set", "files.write=[\"/\", \"/etc\", \"/srv\"]"];
    let ran = home.run(&write).ended(0);
    for folder in ["/", "/etc"] {
        let says = format!(
            "`files.write` names `{folder}`, which lies in the system folder `{folder}`, which is never opened \
             for tools; use a folder of your own"
        );
        assert!(ran.err.contains(&says), "{ran:?}");
    }
    assert!(!ran.err.contains("/srv"), "{ran:?}");
}

#[test]
fn the_schema_is_printed_for_editors() {
    let schema = Home::new().run(&["config", "schema"]).ended(0).json();
    assert_eq!(schema["title"], "toolroom.toml");
    assert!(schema["properties"]["policy"]["properties"]["preset"].is_object());
}

#[test]
fn a_database_that_cannot_be_opened_takes_trust_away_and_nothing_else() {
    let project = Project::new("");
    project.write("[policy]\npreset = 'open'");
    project.run(&["trust", "--yes"]).ended(0);
    let preset = || project.run(&["config", "show", "policy.preset"]).ended(0);
    assert_eq!(preset().out, "policy.preset = \"open\"\n");
    for name in ["toolroom.db-wal", "toolroom.db-shm"] {
        drop(std::fs::remove_file(project.home.path().join(name)));
    }
    std::fs::write(database(&project), "this is no database, it is a letter to my aunt").unwrap();
    let ran = preset();
    assert_eq!(ran.out, "policy.preset = \"balanced\"\n");
    assert!(ran.err.contains("counts as not trusted, because the database cannot be read"), "{ran:?}");
    assert_eq!(project.run(&["config", "check"]).ended(0).out, "ok: 0 keys, 0 rules, 0 limits\n");
    let places = project.run(&["config", "path", "--json"]).ended(0).json();
    assert_eq!(places["project_file"]["trusted"], false);
    project.run(&["log"]).ended(1);
}

#[test]
fn a_broken_configuration_stops_every_other_command_and_changes_nothing() {
    let broken = "[policy]\npresett = 'open'\n";
    let says = "toolroom.toml:2: `policy.presett` is not a known key; did you mean `policy.preset`?";
    for arguments in [
        &["call", "calculator", "expression=1"][..],
        &["tools"],
        &["switch", "off", "memory"],
        &["log"],
        &["approvals"],
        &["trust"],
    ] {
        let project = Project::new(broken);
        let ran = project.run(arguments).ended(2);
        assert!(ran.out.is_empty() && ran.err.contains(says), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains("`toolroom config check`"), "{arguments:?}: {ran:?}");
        let error = project.run(&[arguments, &["--json"]].concat()).ended(2).json()["error"].clone();
        assert_eq!((&error["kind"], &error["problems"][0]["line"]), (&json!("usage"), &json!(2)));
        assert!(!database(&project).exists(), "{arguments:?}");
        project.write_user_file("");
        assert!(project.home.journal().is_empty());
    }
    for (flag, variable) in [("policy.presett=open", "x"), ("policy.approval_expires=1h", "lax")] {
        let project = Project::new("");
        let mut command = project.home.command(&["--set", flag, "call", "calculator", "expression=1"]);
        command.env("TOOLROOM_POLICY_PRESET", variable);
        project.finish(command).ended(2);
        assert!(!database(&project).exists());
    }
}

/// Runs `call` of the tools of the example with a variable set.
fn with_variable(project: &Project, variable: (&str, &str), arguments: &[&str]) -> Ran {
    let mut command = project.home.own_tools(arguments);
    command.env(variable.0, variable.1);
    project.finish(command)
}

#[test]
fn flags_win_over_variables_over_a_trusted_project_over_the_user_over_the_default() {
    let project = Project::new("");
    let note = format!("path={}", project.folder().join("note").display());
    let call = ["call", "append_note", &note, "text=x", "--no-input"];
    let publish = ["call", "publish_note", &note, "text=x", "--no-input"];
    let none = ("TOOLROOM_POLICY_PRESET", "");
    // Small writes run by default, notable ones ask.
    with_variable(&project, none, &call).ended(0);
    with_variable(&project, none, &publish).ended(4);
    project.write_user_file("[policy]\npreset = 'careful'");
    with_variable(&project, none, &call).ended(4);
    project.write("[policy]\npreset = 'open'");
    with_variable(&project, none, &publish).ended(4);
    project.run(&["trust", "--yes"]).ended(0);
    with_variable(&project, none, &publish).ended(0);
    let careful = ("TOOLROOM_POLICY_PRESET", "careful");
    with_variable(&project, careful, &call).ended(4);
    with_variable(&project, careful, &[&["--set", "policy.preset=balanced"], &call[..]].concat()).ended(0);
    with_variable(&project, careful, &[&["--set", "policy.preset=balanced"], &publish[..]].concat()).ended(4);

    let expires = |variable: &str, flags: &[&str]| {
        let variable = ("TOOLROOM_POLICY_APPROVAL_EXPIRES", variable);
        let ask = ["call", "erase_notes", &note, "--no-input", "--json"];
        let id =
            with_variable(&project, variable, &[flags, &ask].concat()).ended(4).json()["call_id"].clone();
        let question = project.run(&["approvals", "show", id.as_str().unwrap(), "--json"]).ended(0).json();
        (question["expires_at"].as_i64().unwrap() - question["asked_at"].as_i64().unwrap()) / 60_000_000
    };
    assert_eq!(expires("", &[]), 24 * 60);
    project.write_user_file("[policy]\napproval_expires = '10m'");
    assert_eq!(expires("", &[]), 10);
    project.write("[policy]\napproval_expires = '20m'");
    assert_eq!(expires("", &[]), 10, "not trusted");
    project.write("[policy]\napproval_expires = '5m'");
    assert_eq!(expires("", &[]), 5, "narrower");
    project.write("[policy]\napproval_expires = '20m'");
    project.run(&["trust", "--yes"]).ended(0);
    assert_eq!(expires("", &[]), 20);
    assert_eq!(expires("30m", &[]), 30);
    assert_eq!(expires("30m", &["--set", "policy.approval_expires=40m"]), 40);
}

const NOTHING: &[&str] = &["config", "check"];
const TRUST: &[&str] = &["trust", "--yes"];

/// How often `lottery` can be drawn in a toolroom of its own, after a first command.
fn draws(users: &str, projects: &str, first: &[&str], flags: &[&str]) -> usize {
    let project = Project::new(users);
    project.write(projects);
    project.run(first).ended(0);
    let draw = || project.run_own(&[flags, &["call", "lottery", "--json"]].concat());
    let won = (0..6).take_while(|_| draw().code == 0).count();
    let lost = draw();
    assert_eq!(lost.code, i32::from(won < 6), "{lost:?}");
    if won < 6 {
        assert_eq!(lost.json()["error"]["kind"], "rate_limited");
    }
    won
}

#[test]
fn a_rate_holds_across_processes_from_every_layer() {
    let rate = |rate: &str| format!("[tool.lottery]\nrate = {rate}\n");
    assert_eq!(draws("", "", NOTHING, &[]), 3, "its own");
    assert_eq!(draws(&rate("'1/h'"), "", NOTHING, &[]), 1);
    assert_eq!(draws(&rate("['4/h', '2/day project']"), "", NOTHING, &[]), 2, "all of several");
    assert_eq!(draws("", &rate("'2/h'"), NOTHING, &[]), 2, "narrower, not trusted");
    assert_eq!(draws("", &rate("'5/h'"), NOTHING, &[]), 3, "wider, not trusted");
    assert_eq!(draws("", &rate("'5/h'"), TRUST, &[]), 5, "wider, trusted");
    assert_eq!(draws(&rate("'1/h'"), &rate("[]"), TRUST, &[]), 6, "none, trusted");
    assert_eq!(
        draws(&rate("'1/h'"), &rate("'2/h'"), TRUST, &["--set", "tool.lottery.rate=4/h"]),
        4,
        "by flag"
    );
}

#[test]
fn only_trusted_layers_raise_limits_of_time_and_size() {
    let check = |users: &str, projects: &str, flags: &[&str], code: i32, most: usize| {
        let project = Project::new(users);
        project.write(projects);
        let waited = project.run_own(&[flags, &["call", "countdown", "seconds=1"]].concat());
        assert_eq!(waited.code, code, "{users:?} {projects:?}: {waited:?}");
        let said = project.run_own(&[flags, &["call", "repeat", "text=x", "times=2000", "--json"]].concat());
        let length = said.ended(0).json()["result"].as_str().unwrap().chars().count();
        assert!(length <= most && length > most / 2, "{users:?} {projects:?}: {length}");
    };
    let limits = |time: &str, size: u32| format!("[tool.'app:*']\ntimeout = '{time}'\nresult_cap = {size}\n");
    check("", "", &[], 0, 2_000);
    check(&limits("50ms", 400), "", &[], 124, 400);
    check("", &limits("50ms", 400), &[], 124, 400);
    check(&limits("50ms", 400), &limits("1h", 4_000), &[], 124, 400);
    let flags = ["--set", "tool.countdown.timeout=1m", "--set", "tool.repeat.result_cap=3000"];
    check(&limits("50ms", 400), "", &flags, 0, 2_000);
}

#[test]
fn a_variable_of_ours_that_means_nothing_is_told_once() {
    let project = Project::new("");
    let variable = ("TOOLROOM_POLICY_PRESTE", "s3cret-value");
    let ran = with_variable(&project, variable, &["call", "repeat", "text=x", "times=1"]).ended(0);
    assert_eq!(ran.err.matches("did you mean `TOOLROOM_POLICY_PRESET`?").count(), 1, "{ran:?}");
    assert!(ran.out == "x\n" && !ran.err.contains("s3cret"), "{ran:?}");
}

#[test]
fn files_and_data_are_where_the_system_keeps_such_things() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env_remove("TOOLROOM_HOME").env("HOME", home.path());
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        ran(command.current_dir(home.path()).output().unwrap())
    };
    run(&["init"]).ended(0);
    run(&["call", "calculator", "expression=1"]).ended(0);
    let there = |path: &str| home.path().join(path).is_file();
    assert!(there(".config/toolroom/toolroom.toml") && there(".local/share/toolroom/toolroom.db"));
    let places: Value = run(&["config", "path", "--json"]).ended(0).json();
    assert_eq!(places["user_file"]["exists"], true);
}

/// The table of keys as `docs/configuration.md` has it.
fn table_of_keys() -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let code = |text: Option<String>| text.map(|text| format!("`{text}`")).unwrap_or_default();
    let row = |doc: toolroom_server::config::KeyDoc| {
        let (kind, default) = (cell(&doc.kind), code(doc.default));
        let variable = code(doc.variable);
        format!("| `{}` | {} | {kind} | {default} | {variable} |\n", doc.key, cell(&doc.description))
    };
    let head = "| key | what it says | value | default | variable |\n|---|---|---|---|---|\n";
    head.to_owned() + &reference().into_iter().map(row).collect::<String>()
}

#[test]
fn the_documented_keys_are_those_there_are() {
    let path: &Path = &repository().join("docs/configuration.md");
    let text = std::fs::read_to_string(path).unwrap();
    let table = table_of_keys();
    assert!(text.contains(&table), "docs/configuration.md should hold this table:\n\n{table}");
}

#[test]
fn a_key_that_others_could_listen_to_is_refused_where_it_is_written() {
    let home = Home::new();
    let file = home.path().join("toolroom.toml");
    let secret = "password = \"secret:K\"\n";
    for (text, key) in [
        (format!("[calendar]\nurl = \"http://dav.example/\"\nuser = \"ann\"\n{secret}"), "calendar.url"),
        (
            "[search.searxng]\nurl = \"http://searx.example\"\nkey = \"secret:K\"\n".to_owned(),
            "search.searxng.url",
        ),
        (
            "[vendor.lab]\nbase_url = \"http://models.example\"\nkey = \"secret:K\"\n".to_owned(),
            "vendor.lab.base_url",
        ),
        (
            "[telemetry]\notlp_endpoint = \"http://traces.example\"\notlp_key = \"secret:K\"\n".to_owned(),
            "telemetry.otlp_endpoint",
        ),
    ] {
        std::fs::write(&file, &text).unwrap();
        let refused = home.run(&["config", "check"]).ended(2);
        let said = format!("{}: `{key}` is insecure: ", file.display());
        assert!(refused.err.contains(&said), "{refused:?}");
        assert!(refused.err.contains("use `https://`"), "{refused:?}");
        for fine in [text.replace("http://", "https://"), text.replace(".example", ".lan")] {
            std::fs::write(&file, &fine).unwrap();
            home.run(&["config", "check"]).ended(0);
        }
        let keyless: String =
            text.lines().filter(|line| !line.contains("secret:K")).map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, &keyless).unwrap();
        home.run(&["config", "check"]).ended(0);
    }
}
