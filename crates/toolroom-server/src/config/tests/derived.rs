//! Schema, reference, variables and starter files are derived from the keys.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolroom::policy::Preset;

use super::{environment, loaded, set, trusted, untrusted, user};
use crate::config::check::shape::{Key, Shape};
use crate::config::{Config, project_starter, reference, starter};

#[test]
fn the_schema_describes_every_key_and_knows_no_null() {
    let schema = Config::schema();
    assert_eq!(schema["title"], "toolroom.toml");
    assert_eq!(schema["additionalProperties"], false);
    let preset = &schema["properties"]["policy"]["properties"]["preset"];
    assert_eq!(preset["description"], "What runs without approval where no rule decides.");
    assert_eq!(preset["default"], "balanced");
    let concurrency = &schema["properties"]["tool"]["additionalProperties"]["properties"]["concurrency"];
    assert_eq!((&concurrency["type"], &concurrency["maximum"]), (&json!("integer"), &json!(10_000)));
    let text = schema.to_string();
    assert!(!text.contains("null") && !text.contains("$ref"), "{text}");
}

/// Values without a shape would not be checked.
#[test]
fn every_part_of_the_schema_has_a_shape() {
    fn walk(key: &Key, path: &str, free: &mut Vec<String>) {
        assert!(!key.description.is_empty() || path.is_empty() || path.ends_with('*'), "{path} says nothing");
        match &key.shape {
            Shape::Table { keys, .. } => {
                keys.iter().for_each(|(name, key)| walk(key, &format!("{path}.{name}"), free));
            }
            Shape::Names { each, .. } | Shape::List { each, .. } => walk(each, &format!("{path}.*"), free),
            Shape::Anything => free.push(path.to_owned()),
            _ => {}
        }
    }
    let mut free = Vec::new();
    walk(Key::root(), "", &mut free);
    assert_eq!(free, [".rule.*.match.*.args.*", ".rule.*.not_match.*.args.*"]);
}

#[test]
fn every_direction_of_strictness_is_known() {
    fn named(schema: &Value) -> usize {
        match schema {
            Value::Object(node) => {
                usize::from(node.contains_key("x-stricter")) + node.values().map(named).sum::<usize>()
            }
            Value::Array(items) => items.iter().map(named).sum(),
            _ => 0,
        }
    }
    fn read(key: &Key) -> usize {
        let below = match &key.shape {
            Shape::Table { keys, .. } => keys.iter().map(|(_, key)| read(key)).sum(),
            Shape::Names { each, .. } | Shape::List { each, .. } => read(each),
            _ => 0,
        };
        below + usize::from(key.stricter.is_some())
    }
    assert_eq!(named(&Config::schema()), read(Key::root()));
    assert!(read(Key::root()) >= 8);
}

#[test]
fn every_single_value_has_a_variable_of_its_own() {
    let documented = reference();
    let variables: Vec<&str> = documented.iter().filter_map(|doc| doc.variable.as_deref()).collect();
    assert_eq!(
        variables,
        [
            "TOOLROOM_WORKSPACE",
            "TOOLROOM_POLICY_PRESET",
            "TOOLROOM_POLICY_APPROVAL_EXPIRES",
            "TOOLROOM_POLICY_EXEC_SECURITY",
            "TOOLROOM_POLICY_EXEC_ALLOWLIST",
            "TOOLROOM_POLICY_EXEC_SANDBOX",
            "TOOLROOM_POLICY_EXEC_DISK_MIB",
            "TOOLROOM_POLICY_PROVENANCE_FILES",
            "TOOLROOM_POLICY_PROVENANCE_DIRECT_CALLS",
            "TOOLROOM_FILES_READ",
            "TOOLROOM_FILES_WRITE",
            "TOOLROOM_FILES_PROGRAMS_READ",
            "TOOLROOM_NETWORK_OPEN",
            "TOOLROOM_SEARCH_PROVIDERS",
            "TOOLROOM_SEARCH_BRAVE_KEY",
            "TOOLROOM_SEARCH_BRAVE_URL",
            "TOOLROOM_SEARCH_TAVILY_KEY",
            "TOOLROOM_SEARCH_TAVILY_URL",
            "TOOLROOM_SEARCH_SEARXNG_KEY",
            "TOOLROOM_SEARCH_SEARXNG_URL",
            "TOOLROOM_LOCATION_PROVIDER",
            "TOOLROOM_LOCATION_URL",
            "TOOLROOM_CALENDAR_URL",
            "TOOLROOM_CALENDAR_USER",
            "TOOLROOM_CALENDAR_PASSWORD",
            "TOOLROOM_REDACTION_PATTERNS",
            "TOOLROOM_REDACTION_ENVIRONMENT",
            "TOOLROOM_RETENTION_JOURNAL",
            "TOOLROOM_RETENTION_ARTIFACTS",
            "TOOLROOM_RETENTION_CONVERSATIONS",
            "TOOLROOM_SERVER_LISTEN",
            "TOOLROOM_SERVER_HOSTS",
            "TOOLROOM_SERVER_TRUSTED_PROXIES",
            "TOOLROOM_SERVER_KEY_RATE",
            "TOOLROOM_SERVER_IP_RATE",
            "TOOLROOM_SERVER_SESSION_RATE",
            "TOOLROOM_SERVER_AT_ONCE",
            "TOOLROOM_LOG_FORMAT",
            "TOOLROOM_LOG_LEVEL",
            "TOOLROOM_TELEMETRY_OTLP_ENDPOINT",
            "TOOLROOM_TELEMETRY_OTLP_KEY",
            "TOOLROOM_TELEMETRY_OTLP_KEY_HEADER",
            "TOOLROOM_TELEMETRY_SERVICE_NAME",
            "TOOLROOM_MODEL",
        ]
    );
    assert_eq!(variables.iter().collect::<BTreeSet<_>>().len(), variables.len());
    for doc in documented.iter().filter(|doc| doc.variable.is_some()) {
        let example = match doc.key.as_str() {
            "model" => "\"openai/gpt-5\"",
            key if key.ends_with("url") || key.ends_with("endpoint") => "\"http://127.0.0.1:4318\"",
            key if key.ends_with("key") || key.ends_with("password") => "\"secret:collector\"",
            key if key.starts_with("retention.") => "\"90d\"",
            _ => "\"/srv/agent\"",
        };
        let default = doc.default.clone().unwrap_or_else(|| example.to_owned());
        let loaded = loaded(&[environment(&[(doc.variable.as_deref().unwrap(), &default)])]);
        assert_eq!(set(&loaded), [format!("{} = {default} ({})", doc.key, doc.variable.clone().unwrap())]);
    }
}

#[test]
fn the_reference_has_every_key_with_kind_and_default() {
    let rows: Vec<String> = reference()
        .into_iter()
        .map(|doc| {
            assert!(!doc.description.is_empty() && !doc.description.contains('\n'), "{}", doc.key);
            format!("{}: {} [{}]", doc.key, doc.kind, doc.default.unwrap_or_default())
        })
        .collect();
    assert_eq!(
        rows,
        [
            "workspace: a folder such as \"/srv/data\" or \"~/notes\" []",
            "policy: a table []",
            "policy.preset: one of \"open\", \"balanced\", \"careful\" [\"balanced\"]",
            "policy.approval_expires: a span such as \"30s\", from 1s to 30d [\"24h\"]",
            "policy.exec_security: one of \"open\", \"cautious\", \"strict\" [\"cautious\"]",
            "policy.exec_allowlist: a list of commands [[]]",
            "policy.exec_sandbox: a profile such as \"workspace\" or \"network:example.com\" [\"workspace\"]",
            "policy.exec_disk_mib: a whole number from 1 to 1000000 [2048]",
            "policy.provenance: a table []",
            "policy.provenance.files: a list of \"private\", \"untrusted\" [[\"private\", \"untrusted\"]]",
            "policy.provenance.direct_calls: a span such as \"30s\", from 1s to 30d [\"30m\"]",
            "files: a table []",
            "files.read: a list of folders [[]]",
            "files.write: a list of folders [[]]",
            "files.programs_read: a list of texts [[]]",
            "network: a table []",
            "network.open: a list of destinations [[]]",
            "search: a table []",
            "search.providers: a list of \"brave\", \"tavily\", \"searxng\" [[]]",
            "search.brave: a table []",
            "search.brave.key: `secret:NAME` or `$VARIABLE` []",
            "search.brave.url: a URL such as \"http://127.0.0.1:4318\" []",
            "search.tavily: a table []",
            "search.tavily.key: `secret:NAME` or `$VARIABLE` []",
            "search.tavily.url: a URL such as \"http://127.0.0.1:4318\" []",
            "search.searxng: a table []",
            "search.searxng.key: `secret:NAME` or `$VARIABLE` []",
            "search.searxng.url: a URL such as \"http://127.0.0.1:4318\" []",
            "location: a table []",
            "location.provider: one of \"ipwhois\", \"ipapi\", \"ipinfo\" [\"ipwhois\"]",
            "location.url: a URL such as \"http://127.0.0.1:4318\" []",
            "calendar: a table []",
            "calendar.url: a URL such as \"http://127.0.0.1:4318\" []",
            "calendar.user: text []",
            "calendar.password: `secret:NAME` or `$VARIABLE` []",
            "redaction: a table []",
            "redaction.patterns: true or false [true]",
            "redaction.environment: true or false [true]",
            "retention: a table []",
            "retention.journal: a span such as \"30s\", from 30d to 36500d []",
            "retention.artifacts: a span such as \"30s\", from 1h to 36500d []",
            "retention.conversations: a span such as \"30s\", from 24h to 36500d []",
            "server: a table []",
            "server.listen: an address and a port such as \"127.0.0.1:7300\" [\"127.0.0.1:7300\"]",
            "server.hosts: a list of host names [[]]",
            "server.trusted_proxies: a list of addresses and ranges [[]]",
            "server.key_rate: a whole number from 1 to 100000000 [6000]",
            "server.ip_rate: a whole number from 1 to 100000000 [6000]",
            "server.session_rate: a whole number from 1 to 100000000 [600]",
            "server.at_once: a whole number from 1 to 100000 [2048]",
            "log: a table []",
            "log.format: one of \"auto\", \"text\", \"json\" [\"auto\"]",
            "log.level: one of \"error\", \"warn\", \"info\", \"debug\", \"trace\" [\"info\"]",
            "telemetry: a table []",
            "telemetry.otlp_endpoint: a URL such as \"http://127.0.0.1:4318\" []",
            "telemetry.otlp_key: `secret:NAME` or `$VARIABLE` []",
            "telemetry.otlp_key_header: text [\"authorization\"]",
            "telemetry.service_name: text [\"toolroom\"]",
            "model: a model such as \"openai/gpt-5.6-terra\", or a list of models []",
            "vendor: a table []",
            "vendor.<name>.like: text []",
            "vendor.<name>.base_url: text []",
            "vendor.<name>.key: `secret:NAME` or `$VARIABLE` []",
            "vendor.<name>.model: text []",
            "vendor.<name>.wire: one of \"openai_chat\", \"openai_responses\", \"anthropic\", \"gemini\" []",
            "vendor.<name>.api_version: text []",
            "vendor.<name>.silence: a span such as \"30s\", from 1s to 1h []",
            "vendor.<name>.window: a whole number from 1000 to 100000000 []",
            "agent: a table []",
            "agent.<name>.name: text []",
            "agent.<name>.prompt: text []",
            "agent.<name>.models: a model such as \"openai/gpt-5.6-terra\", or a list of models []",
            "agent.<name>.ranker: text []",
            "agent.<name>.allow: a list of texts []",
            "agent.<name>.deny: a list of texts []",
            "agent.<name>.limits: a table []",
            "agent.<name>.limits.iterations: a whole number from 1 to 1000 []",
            "agent.<name>.limits.parallel: a whole number from 1 to 64 []",
            "agent.<name>.limits.daily_budget_usd: a number, 0 or more []",
            "agent.<name>.limits.max_tokens: a whole number from 1 to 1000000 []",
            "agent.<name>.limits.tool_tokens: a whole number from 0 to 1000000 []",
            "agent.<name>.on_disconnect: one of \"continue\", \"cancel\" []",
            "tool: a table []",
            "tool.<name>.rate: a rate such as \"3/h\" or \"20/day project\", or a list of rates []",
            "tool.<name>.concurrency: a whole number from 1 to 10000 []",
            "tool.<name>.timeout: a span such as \"30s\", from 1ms to 24h []",
            "tool.<name>.result_cap: a whole number from 200 to 10000000 []",
            "tool.<name>.open: a list of destinations []",
            "rule: a list of tables with id, effect, tool, when, by, reason, match, not_match []",
            "rule.id: text []",
            "rule.effect: one of \"allow\", \"ask\", \"deny\" []",
            "rule.tool: text []",
            "rule.when: text []",
            "rule.by: one of \"caller\", \"operator\" []",
            "rule.reason: text []",
            "rule.match: a list of tables with tool, args, caller, provenance, effect, capabilities, risk []",
            "rule.not_match: a list of tables with tool, args, caller, provenance, effect, capabilities, risk []",
        ]
    );
}

/// Comments start with `# `, commented-out settings with `#`.
fn switched_on(text: &str) -> String {
    text.lines()
        .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line))
        .fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_starters_load_and_change_nothing() {
    for preset in Preset::ALL {
        let text = starter(preset);
        assert!(text.lines().count() < 40, "it fits on a screen");
        let mut expected = Config::default();
        expected.policy.preset = preset;
        assert_eq!(loaded(&[user(&text)]).config, expected);
        let all = loaded(&[user(&switched_on(&text))]);
        assert_eq!((all.config.rules.len(), all.config.tools.len()), (1, 1));
    }
    for preset in Preset::ALL {
        let loaded = loaded(&[trusted(&project_starter(Some(preset)))]);
        assert_eq!((loaded.config.policy.preset, loaded.config.tools.len()), (preset, 0));
    }
    let text = project_starter(None);
    assert!(text.lines().count() < 25);
    assert_eq!(loaded(&[trusted(&text)]).config, Config::default());
    let all = loaded(&[untrusted(&switched_on(&text))]);
    assert_eq!(
        (all.config.policy.preset, all.config.rules.len(), all.ignored.len()),
        (Preset::Careful, 1, 0)
    );
}
