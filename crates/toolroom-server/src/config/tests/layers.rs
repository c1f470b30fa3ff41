//! Precedence of layers.

use std::time::Duration;

use toolroom::catalog::{LimitMode, Limits};
use toolroom::ledger::{RateKey, RateLimit};
use toolroom::policy::{Preset, Ruling};

use super::{environment, flags, loaded, set, trusted, user, wrong};
use crate::config::{Config, Origin};

#[test]
fn the_strongest_layer_wins_in_any_order() {
    let preset = |name: &str| format!("[policy]\npreset = '{name}'");
    let layers = [
        flags(&["policy.preset=balanced"]),
        environment(&[("TOOLROOM_POLICY_PRESET", "open"), ("TOOLROOM_REDACTION_PATTERNS", "false")]),
        trusted(&preset("careful")),
        user(&preset("open")),
    ];
    let check = |from: usize, expected: Preset, origin: &Origin| {
        let loaded = loaded(&layers[from..]);
        assert_eq!(loaded.config.policy.preset, expected);
        assert_eq!(loaded.origin("policy.preset"), origin);
        assert!(loaded.ignored.is_empty() && loaded.warnings.is_empty());
    };
    check(0, Preset::Balanced, &Origin::Flag);
    check(1, Preset::Open, &Origin::Environment("TOOLROOM_POLICY_PRESET".to_owned()));
    check(2, Preset::Careful, &Origin::Project { path: "project.toml".into(), trusted: true });
    check(3, Preset::Open, &Origin::User("user.toml".into()));
    check(4, Preset::Balanced, &Origin::Default);
    assert_eq!(loaded(&[]).config, Config::default());
}

#[test]
fn rules_and_limits_of_all_layers_apply_in_order() {
    let loaded = loaded(&[
        trusted("[[rule]]\nid = 'two'\neffect = 'allow'\ntool = 'x'\n[tool.z]\ntimeout = '1s'\n[tool.a]\n"),
        user(
            "[tool.z]\nrate = ['3/h', '20/day project']\nconcurrency = 2\ntimeout = '30s'\nresult_cap = 20_000\n\
             [[rule]]\nid = 'one'\neffect = 'deny'\ntool = 'send_*'\nwhen = \"args.to contains '@prod'\"\n\
             match = [{ tool = 'app:send_mail', args = { to = 'x@prod' } }]\n[tool.'app:*']\n",
        ),
        flags(&[
            "tool.\"app:*\".rate=5/min",
            "tool.z.rate=[]",
            "rule=[{id='three', effect='ask', tool='y'}]",
        ]),
    ]);
    let rules: Vec<_> = loaded.config.rules.iter().map(|rule| (rule.text.id.as_str(), rule.line)).collect();
    assert_eq!(rules, [("one", Some(6)), ("two", Some(1)), ("three", None)]);
    assert_eq!(loaded.config.rules[0].text.effect, Ruling::Deny);
    assert_eq!(loaded.config.rules[0].text.matches[0].args["to"], "x@prod");

    let tools: Vec<_> =
        loaded.config.tools.iter().map(|section| (section.tool.as_str(), section.line)).collect();
    let expected =
        [("z", Some(1)), ("app:*", Some(12)), ("z", Some(5)), ("a", Some(7)), ("app:*", None), ("z", None)];
    assert_eq!(tools, expected);
    assert!(loaded.config.tools.iter().all(|section| section.mode == LimitMode::Replace));
    let rate = |max, seconds, key| RateLimit { max, per: Duration::from_secs(seconds), key };
    assert_eq!(
        loaded.config.tools[0].keys.limits(),
        Limits {
            rates: Some(vec![rate(3, 3_600, RateKey::User), rate(20, 86_400, RateKey::Project)]),
            concurrency: Some(2),
            timeout: Some(Duration::from_secs(30)),
            result_cap: Some(20_000),
        }
    );
    assert_eq!(loaded.config.tools[5].keys.limits().rates, Some(vec![]), "no rate at all");

    assert_eq!(
        set(&loaded),
        [
            "tool.z.concurrency = 2 (user.toml)",
            "tool.z.result_cap = 20000 (user.toml)",
            "tool.z.timeout = \"1s\" (project.toml)",
            "tool.\"app:*\".rate = \"5/min\" (--set)",
            "tool.z.rate = [] (--set)",
            "rule.one = { id = \"one\", effect = \"deny\", tool = \"send_*\", when = \"args.to contains '@prod'\", \
             match = [{ tool = \"app:send_mail\", args = { to = \"x@prod\" } }] } (user.toml)",
            "rule.two = { id = \"two\", effect = \"allow\", tool = \"x\" } (project.toml)",
            "rule.three = { id = \"three\", effect = \"ask\", tool = \"y\" } (--set)",
        ]
    );
}

#[test]
fn every_effective_value_has_its_origin() {
    let loaded = loaded(&[user("[policy]\npreset = 'open'"), flags(&["policy.approval_expires=90"])]);
    let shown: Vec<String> = loaded
        .effective()
        .iter()
        .map(|setting| format!("{} = {} ({})", setting.key, setting.toml(), setting.origin))
        .collect();
    assert_eq!(
        shown,
        [
            "policy.preset = \"open\" (user.toml)",
            "policy.approval_expires = \"90s\" (--set)",
            "policy.exec_security = \"cautious\" (default)",
            "policy.exec_allowlist = [] (default)",
            "policy.exec_sandbox = \"workspace\" (default)",
            "policy.exec_disk_mib = 2048 (default)",
            "policy.provenance.files = [\"private\", \"untrusted\"] (default)",
            "policy.provenance.direct_calls = \"30m\" (default)",
            "files.read = [] (default)",
            "files.write = [] (default)",
            "files.programs_read = [] (default)",
            "network.open = [] (default)",
            "search.providers = [] (default)",
            "location.provider = \"ipwhois\" (default)",
            "redaction.patterns = true (default)",
            "redaction.environment = true (default)",
            "server.listen = \"127.0.0.1:7300\" (default)",
            "server.hosts = [] (default)",
            "server.trusted_proxies = [] (default)",
            "server.key_rate = 6000 (default)",
            "server.ip_rate = 6000 (default)",
            "server.session_rate = 600 (default)",
            "server.at_once = 2048 (default)",
            "log.format = \"auto\" (default)",
            "log.level = \"info\" (default)",
            "telemetry.otlp_key_header = \"authorization\" (default)",
            "telemetry.service_name = \"toolroom\" (default)",
        ]
    );
}

#[test]
fn flag_values_are_toml_if_the_key_accepts_it_and_strings_otherwise() {
    let check =
        |flag: &str, expected: &str| assert_eq!(set(&loaded(&[flags(&[flag])])), [expected], "{flag}");
    check("policy.preset=careful", "policy.preset = \"careful\" (--set)");
    check("policy.preset = 'careful'", "policy.preset = \"careful\" (--set)");
    check("policy.approval_expires=30", "policy.approval_expires = \"30s\" (--set)");
    check("policy.approval_expires=\"2h\"", "policy.approval_expires = \"2h\" (--set)");
    check("redaction.patterns=false", "redaction.patterns = false (--set)");
    check("tool.x.rate=['1/s','2/min']", "tool.x.rate = [\"1/s\", \"2/min\"] (--set)");
    check("tool.'a b*'.concurrency=7", "tool.\"a b*\".concurrency = 7 (--set)");
    for (flag, got) in [
        ("policy.preset=careful\nredaction.patterns=false", "careful\\nredaction.patterns=false"),
        ("redaction.patterns=true\nenvironment=false", "true\\nenvironment=false"),
    ] {
        assert!(
            wrong(&[flags(&[flag])])[0].ends_with(&format!("got \"{got}\"")),
            "a second setting in {flag}"
        );
    }
}

#[test]
fn unknown_variables_are_warned_about_without_their_value() {
    let loaded = loaded(&[environment(&[
        ("TOOLROOM_POLICY_PRESTE", "s3cret"),
        ("TOOLROOM_ZZZ", "s3cret"),
        ("TOOLROOM_MASTER_KEYS", "s3cret"),
        ("TOOLROOM_MASTER_KEY", "s3cret"),
        ("TOOLROOM_HOME", "/t"),
        ("TOOLROOM_POLICY_PRESET", ""),
        ("PATH", "/bin"),
    ])]);
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let text = "unknown Toolroom variable";
    assert_eq!(
        warnings,
        [
            format!("TOOLROOM_POLICY_PRESTE: {text}; did you mean `TOOLROOM_POLICY_PRESET`?"),
            format!("TOOLROOM_ZZZ: {text}"),
            format!("TOOLROOM_MASTER_KEYS: {text}; did you mean `TOOLROOM_MASTER_KEY`?"),
        ]
    );
    assert_eq!(loaded.config, Config::default());
}
