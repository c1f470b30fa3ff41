//! Untrusted project files only restrict.

use toolroom::catalog::LimitMode;
use toolroom::policy::Preset;

use super::{environment, flags, loaded, set, trusted, untrusted, user};
use crate::config::{Config, LoadedConfig, what_trust_would_allow};

fn ignored(loaded: &LoadedConfig) -> Vec<String> {
    loaded.ignored.iter().map(ToString::to_string).collect()
}

#[test]
fn an_untrusted_file_narrows() {
    let text = "[policy]\npreset = 'careful'\napproval_expires = '1h'\n[redaction]\npatterns = true\n\
                [tool.x]\ntimeout = '1s'\n[[rule]]\nid = 'no'\neffect = 'deny'\ntool = 'x'\n";
    let below = user("[redaction]\npatterns = false\n[tool.x]\ntimeout = '9s'");
    let loaded = loaded(&[below, untrusted(text)]);
    assert_eq!(
        set(&loaded),
        [
            "policy.preset = \"careful\" (project.toml (not trusted))",
            "policy.approval_expires = \"1h\" (project.toml (not trusted))",
            "redaction.patterns = true (project.toml (not trusted))",
            "tool.x.timeout = \"9s\" (user.toml)",
            "tool.x.timeout = \"1s\" (project.toml (not trusted))",
            "rule.no = { id = \"no\", effect = \"deny\", tool = \"x\" } (project.toml (not trusted))",
        ]
    );
    let modes: Vec<LimitMode> = loaded.config.tools.iter().map(|section| section.mode).collect();
    assert_eq!(modes, [LimitMode::Replace, LimitMode::Narrow]);
    assert!(!loaded.config.rules[0].origin.is_trusted());
    assert_eq!(ignored(&loaded), [""; 0]);
}

const LOOSE: &str = "[policy]\npreset = 'open'\napproval_expires = '30d'\n[redaction]\npatterns = false\n\
                     environment = true\n[tool.x]\nrate = []\nconcurrency = 9\ntimeout = '1m'\n\
                     [[rule]]\nid = 'yes'\neffect = 'allow'\ntool = 'send_*'\nwhen = \"args.to == 'me'\"\n";

#[test]
fn lenient_settings_are_ignored_and_listed() {
    let below = user("[tool.x]\nconcurrency = 2\n");
    let loaded = loaded(&[below.clone(), untrusted(LOOSE)]);
    assert_eq!(
        ignored(&loaded),
        [
            "project.toml:2: `policy.preset = \"open\"` is ignored: more lenient than \"balanced\"",
            "project.toml:3: `policy.approval_expires = \"30d\"` is ignored: more lenient than \"24h\"",
            "project.toml:5: `redaction.patterns = false` is ignored: more lenient than true",
            "project.toml:11: `rule.yes = allow send_* when args.to == 'me'` is ignored: \
             only a trusted file may allow",
            "project.toml:8: `tool.x.rate = []` is ignored: only a trusted file may remove a limit",
            "project.toml:9: `tool.x.concurrency = 9` is ignored: more lenient than 2",
        ]
    );
    let without = super::loaded(&[below]);
    assert_eq!(
        (&loaded.config.policy, &loaded.config.redaction),
        (&without.config.policy, &without.config.redaction)
    );
    assert_eq!(loaded.config.tools[1].keys.rate, None);
    assert_eq!(
        set(&loaded),
        ["tool.x.concurrency = 2 (user.toml)", "tool.x.timeout = \"1m\" (project.toml (not trusted))",],
        "what is ignored does not hold"
    );

    assert_eq!(
        what_trust_would_allow(&loaded),
        [
            "policy.preset = \"open\" (more lenient than \"balanced\")",
            "policy.approval_expires = \"30d\" (more lenient than \"24h\")",
            "redaction.patterns = false (more lenient than true)",
            "rule.yes = allow send_* when args.to == 'me' (only a trusted file may allow)",
            "tool.x.rate = [] (only a trusted file may remove a limit)",
            "tool.x.concurrency = 9 (more lenient than 2)",
            "tool.x.timeout = \"1m\" (replaces the current limit, even if that is stricter)",
        ]
    );
}

#[test]
fn a_trusted_file_may_be_more_lenient() {
    let loaded = loaded(&[user("[policy]\npreset = 'careful'"), trusted(LOOSE)]);
    assert_eq!(loaded.config.policy.preset, Preset::Open);
    assert!(!loaded.config.redaction.patterns);
    assert!(loaded.config.rules[0].origin.is_trusted());
    assert_eq!(loaded.config.tools[0].mode, LimitMode::Replace);
    assert!(loaded.config.tools[0].keys.rate.is_some());
    assert!(loaded.ignored.is_empty());
    assert!(what_trust_would_allow(&loaded).is_empty());
}

#[test]
fn only_trusted_files_open_folders_and_networks() {
    let text = "workspace = '/srv/ours'\n[files]\nread = ['/etc']\nwrite = ['~']\n[network]\n\
                open = ['localhost']\n[tool.web_fetch]\nopen = ['10.0.0.0/8']\n";
    let below = user("[files]\nread = ['/srv/data']\n");
    let loaded = loaded(&[below.clone(), untrusted(text)]);
    let why = "is ignored: only a trusted file may set this";
    assert_eq!(
        ignored(&loaded),
        [
            format!("project.toml:1: `workspace = \"/srv/ours\"` {why}"),
            format!("project.toml:3: `files.read = [\"/etc\"]` {why}"),
            format!("project.toml:4: `files.write = [\"~\"]` {why}"),
            format!("project.toml:6: `network.open = [\"localhost\"]` {why}"),
            format!("project.toml:8: `tool.web_fetch.open = [\"10.0.0.0/8\"]` {why}"),
        ]
    );
    assert_eq!(set(&loaded), ["files.read = [\"/srv/data\"] (user.toml)"]);
    assert_eq!(loaded.config.tools[0].keys.open, None);
    assert_eq!(what_trust_would_allow(&loaded).len(), 5);

    let trusted = super::loaded(&[below, trusted(text)]);
    assert_eq!(trusted.config.files.read[0].to_string(), "/etc", "the last list counts");
    assert!(trusted.ignored.is_empty());
}

#[test]
fn variables_and_flags_belong_to_the_user() {
    let careful = untrusted("[policy]\npreset = 'careful'\n");
    let by_variable = loaded(&[careful.clone(), environment(&[("TOOLROOM_POLICY_PRESET", "open")])]);
    let by_flag = loaded(&[careful, flags(&["policy.preset=open"])]);
    assert_eq!(
        (by_variable.config.policy.preset, by_flag.config.policy.preset),
        (Preset::Open, Preset::Open)
    );
    assert!(by_flag.ignored.is_empty());
}

#[test]
fn settings_without_effect_are_not_listed() {
    let same =
        loaded(&[untrusted("[policy]\npreset = 'balanced'\napproval_expires = '1440m'\n[redaction]\n")]);
    assert_eq!((&same.config, same.ignored.len()), (&Config::default(), 0));
    assert_eq!(set(&same), [""; 0]);
}

#[test]
fn an_untrusted_file_cannot_configure_the_server() {
    let text = "[server]\nlisten = '0.0.0.0:80'\nhosts = ['evil.example']\nkey_rate = 1\nat_once = 1\n";
    let loaded = loaded(&[untrusted(text)]);
    assert_eq!(loaded.config.server, crate::config::ServerKeys::default());
    assert_eq!(loaded.ignored.len(), 4);
}
