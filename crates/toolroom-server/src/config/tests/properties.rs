//! Properties of every configuration text.

use std::sync::LazyLock;

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::{collection, option, sample};
use toolroom::agent::{AgentRecord, OnDisconnect};
use toolroom::catalog::LimitMode;
use toolroom::schema::{PatternRule, Schema};

use super::{environment, flags, loaded, trusted, untrusted, user};
use crate::config::{
    AgentKeys, CompiledConfig, Config, ConfigLimits, Layer, ToolKeys, load, what_trust_would_allow,
};
use crate::scale::cases;

static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::new(Config::schema(), PatternRule::Refuse).unwrap());

fn word() -> impl Strategy<Value = &'static str> {
    sample::select(vec![
        "policy",
        "preset",
        "redaction",
        "patterns",
        "tool",
        "rule",
        "rate",
        "agent",
        "limits",
        "match",
        "args",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ".",
        ",",
        "\n",
        " ",
        "\"",
        "'",
        "'''",
        "\"\"\"",
        "#",
        "true",
        "1",
        "-",
        "0x",
        "1e9",
        "inf",
        "1979-05-27",
        "\\",
        "\\u00",
        "3/h",
        "24h",
        "open",
        "\u{0}",
        "\r",
        "ä",
    ])
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        collection::vec(word(), 0..40).prop_map(|words| words.concat()),
        any::<String>(),
        collection::vec(any::<u8>(), 0..60).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        nearly_right(),
    ]
}

fn one_of(values: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    sample::select(values.to_vec()).prop_map(str::to_owned)
}

/// `name = value`, or nothing.
fn line(name: &'static str, value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    option::of(value)
        .prop_map(move |value| value.map(|value| format!("{name} = {value}\n")).unwrap_or_default())
}

/// A valid file.
fn file(ids: &'static str) -> impl Strategy<Value = String> {
    let policy = (
        line("preset", one_of(&["'open'", "'balanced'", "'careful'"])),
        line("approval_expires", one_of(&["'1s'", "'90m'", "'24h'", "'1d'", "'30d'"])),
        line("exec_security", one_of(&["'open'", "'cautious'", "'strict'"])),
        line("exec_allowlist", one_of(&["[]", "['ls *']", "['ls *', 'git status']", "['git status']"])),
    );
    let redaction =
        (line("patterns", one_of(&["true", "false"])), line("environment", one_of(&["true", "false"])));
    let section = (
        line("rate", one_of(&["'3/h'", "[]", "['1/s', '9/day project']"])),
        line("concurrency", one_of(&["1", "2", "10_000"])),
        line("timeout", one_of(&["'1ms'", "'30s'", "'24h'"])),
        line("result_cap", one_of(&["200", "20000"])),
    );
    let sections = collection::btree_map(sample::select(vec!["x", "y", "'app:*'"]), section, 0..3);
    let rules = collection::btree_map(0..9_u8, one_of(&["allow", "ask", "deny"]), 0..4);
    let agents = collection::btree_map(sample::select(vec!["cook", "default", "'a.b'"]), agent(), 0..3);
    (policy, redaction, sections, agents, rules).prop_map(
        move |(policy, redaction, sections, agents, rules)| {
            let mut text = format!("[policy]\n{}{}{}{}", policy.0, policy.1, policy.2, policy.3);
            text += &format!("[redaction]\n{}{}", redaction.0, redaction.1);
            for (tool, (rate, concurrency, timeout, cap)) in sections {
                text += &format!("[tool.{tool}]\n{rate}{concurrency}{timeout}{cap}");
            }
            for (id, keys) in agents {
                text += &format!("[agent.{id}]\n{keys}");
            }
            for (id, effect) in rules {
                text += &format!("[[rule]]\nid = '{ids}{id}'\neffect = '{effect}'\ntool = 'x'\n");
            }
            text
        },
    )
}

/// An agent section.
fn agent() -> impl Strategy<Value = String> {
    let who = (
        line("prompt", one_of(&["'You cook.'", "''"])),
        line("ranker", one_of(&["'openai/gpt-5'", "'unknown/b'"])),
        line("models", one_of(&["'openai/gpt-5'", "['ollama/a', 'unknown/b']", "[]"])),
    );
    let tools = (
        line("allow", one_of(&["['web_*']", "[]"])),
        line("deny", one_of(&["['shell_exec', 'x']", "['y']", "[]"])),
        line("on_disconnect", one_of(&["'continue'", "'cancel'"])),
    );
    let limits = (
        line("limits.iterations", one_of(&["1", "15", "1000"])),
        line("limits.parallel", one_of(&["1", "64"])),
        line("limits.daily_budget_usd", one_of(&["0", "2", "0.5", "1e9"])),
        line("limits.max_tokens", one_of(&["1", "900"])),
        line("limits.tool_tokens", one_of(&["0", "12000", "99999"])),
    );
    (who, tools, limits).prop_map(|(who, tools, limits)| {
        let limits = [limits.0, limits.1, limits.2, limits.3, limits.4].concat();
        [who.0, who.1, who.2, tools.0, tools.1, tools.2, limits].concat()
    })
}

/// The configured agents, and a stored agent with the configuration applied.
fn agents(config: &Config) -> Vec<AgentRecord> {
    let mut made = AgentRecord { deny: vec!["z".to_owned()], ..AgentRecord::default() };
    made.limits.daily_budget_usd = Some(1.0);
    config.apply_to(&mut made);
    let written = config.agent_records().into_iter().map(|(record, _)| record);
    std::iter::once(made).chain(written).collect()
}

/// Whether an agent may do no more than another one.
fn is_within(narrow: &AgentRecord, wide: &AgentRecord) -> bool {
    let (ours, theirs) = (&narrow.limits, &wide.limits);
    let least = |ours: Option<f64>, theirs: Option<f64>| {
        theirs.is_none_or(|theirs| ours.is_some_and(|ours| ours <= theirs))
    };
    let who = |agent: &AgentRecord| {
        (
            agent.id.clone(),
            agent.name.clone(),
            agent.prompt.clone(),
            agent.models.clone(),
            agent.ranker.clone(),
            agent.allow.clone(),
        )
    };
    who(narrow) == who(wide)
        && wide.deny.iter().all(|pattern| narrow.deny.contains(pattern))
        && ours.iterations <= theirs.iterations
        && ours.parallel <= theirs.parallel
        && ours.tool_tokens <= theirs.tool_tokens
        && least(ours.daily_budget_usd, theirs.daily_budget_usd)
        && least(ours.max_tokens.map(f64::from), theirs.max_tokens.map(f64::from))
        && (narrow.on_disconnect == wide.on_disconnect || narrow.on_disconnect == OnDisconnect::Cancel)
}

/// A file that is nearly right: one piece of it is cut out or replaced.
fn nearly_right() -> impl Strategy<Value = String> {
    let piece = collection::vec(word(), 0..4).prop_map(|words| words.concat());
    (file("u"), any::<sample::Index>(), 0..9_usize, piece).prop_map(|(text, from, length, piece)| {
        let from = from.index(text.len() + 1);
        format!("{}{piece}{}", text.split_at(from).0, text.get(from + length..).unwrap_or_default())
    })
}

fn outside() -> impl Strategy<Value = Vec<Layer>> {
    prop_oneof![
        Just(vec![]),
        one_of(&["open", "careful"])
            .prop_map(|preset| vec![environment(&[("TOOLROOM_POLICY_PRESET", &preset)])]),
        one_of(&["true", "false"]).prop_map(|on| vec![flags(&[&format!("redaction.patterns={on}")])]),
    ]
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_text_makes_loading_panic_and_the_same_text_loads_the_same(text in any_text(), more in any_text()) {
        for layer in [user(&text), untrusted(&text), trusted(&text), flags(&[&text, &more])] {
            let layers = [layer, environment(&[("TOOLROOM_POLICY_PRESET", &more), (&more, &text)])];
            let first = load(&layers);
            prop_assert_eq!(&first, &load(&layers));
            match first {
                Ok(loaded) => prop_assert!(loaded.effective().len() >= 4),
                Err(error) => {
                    prop_assert!(!error.problems.is_empty());
                    prop_assert!(!error.to_string().contains(|c: char| c.is_control() && c != '\n'));
                }
            }
        }
    }

    #[test]
    fn an_untrusted_file_never_makes_anything_more_lenient(
        below in file("u"), text in file("p"), outside in outside(),
    ) {
        let layers: Vec<Layer> = [vec![user(&below)], outside].concat();
        let without = loaded(&layers);
        let with = loaded(&[layers, vec![untrusted(&text)]].concat());

        prop_assert!(with.config.policy.preset >= without.config.policy.preset);
        prop_assert!(with.config.policy.approval_expires <= without.config.policy.approval_expires);
        prop_assert!(with.config.policy.exec_security >= without.config.policy.exec_security);
        let listed = &without.config.policy.exec_allowlist;
        prop_assert!(with.config.policy.exec_allowlist.iter().all(|command| listed.contains(command)));
        prop_assert!(with.config.redaction.patterns >= without.config.redaction.patterns);
        prop_assert!(with.config.redaction.environment >= without.config.redaction.environment);

        let (ours, theirs): (Vec<_>, Vec<_>) =
            with.config.rules.iter().cloned().partition(|rule| rule.origin.is_trusted());
        prop_assert_eq!(&ours, &without.config.rules);
        prop_assert_eq!(theirs.len(), text.matches("[[rule]]").count());
        let (ours, theirs): (Vec<_>, Vec<_>) =
            with.config.tools.iter().cloned().partition(|section| section.origin.is_trusted());
        prop_assert_eq!(&ours, &without.config.tools);
        prop_assert!(theirs.iter().all(|section| section.mode == LimitMode::Narrow));
        prop_assert!(theirs.iter().all(|section| section.keys.limits().rates != Some(vec![])));

        let (narrow, wide) = (agents(&with.config), agents(&without.config));
        prop_assert_eq!(narrow.len(), wide.len());
        for (narrow, wide) in narrow.iter().zip(&wide) {
            prop_assert!(is_within(narrow, wide), "{narrow:?} in place of {wide:?}");
        }
    }

    #[test]
    fn settings_not_listed_as_ignored_are_those_trust_would_give(below in file("u"), text in file("p")) {
        let narrow = loaded(&[user(&below), untrusted(&text)]);
        let wide = loaded(&[user(&below), trusted(&text)]);
        if what_trust_would_allow(&narrow).is_empty() {
            prop_assert_eq!(&narrow.config.policy, &wide.config.policy);
            prop_assert_eq!(&narrow.config.redaction, &wide.config.redaction);
            let modes = |section: &ConfigLimits| (section.tool.clone(), section.keys.clone());
            let sections = |config: &Config| config.tools.iter().map(modes).collect::<Vec<_>>();
            prop_assert_eq!(sections(&narrow.config), sections(&wide.config));
            let narrowed = narrow.config.tools.iter().filter(|section| section.mode == LimitMode::Narrow);
            prop_assert!(narrowed.into_iter().all(|section| section.keys == ToolKeys::default()));
            prop_assert!(!text.contains("'allow'"));
            let narrowed = narrow.config.agents.iter().filter(|said| said.mode == LimitMode::Narrow);
            prop_assert!(narrowed.into_iter().all(|said| said.keys == AgentKeys::default()));
        }
        prop_assert!(wide.ignored.is_empty());
    }

    /// So an invalid configuration is refused before asking for trust.
    #[test]
    fn problems_do_not_depend_on_trust(below in nearly_right(), text in any_text()) {
        let told = |layer| CompiledConfig::of(&[user(&below), layer]).err().map(|error| error.to_string());
        prop_assert_eq!(told(untrusted(&text)), told(trusted(&text)));
    }

    /// Editors check files by the schema, which agrees with loading except for spans, rates, dates and numbers.
    #[test]
    fn the_schema_accepts_what_loading_accepts(right in file("u"), text in nearly_right()) {
        let fits = |text: &str| toml::from_str(text).map(|value| SCHEMA.check(&value).unwrap().is_empty());
        prop_assert_eq!(fits(&right), Ok(true), "{}", right);
        if load(&[user(&text)]).is_ok() {
            prop_assert_eq!(fits(&text), Ok(true), "{}", text);
        }
    }

    #[test]
    fn shown_settings_can_be_loaded_again(text in file("u")) {
        let first = loaded(&[user(&text)]);
        let single = |key: &str| !key.starts_with("rule.");
        let settings = first.effective().into_iter().filter(|setting| single(&setting.key));
        let pairs: Vec<String> = settings.map(|setting| format!("{}={}", setting.key, setting.toml())).collect();
        let again = loaded(&[Layer::Flags(pairs)]);
        prop_assert_eq!(&again.config.policy, &first.config.policy);
        prop_assert_eq!(&again.config.redaction, &first.config.redaction);
        for (agent, _) in again.config.agent_records() {
            let same = first.config.agent_records().into_iter().find(|(first, _)| first.id == agent.id);
            prop_assert_eq!(same.map(|(first, _)| first), Some(agent));
        }
    }

    #[test]
    fn a_file_of_defaults_equals_no_file(policy in any::<bool>(), redaction in any::<bool>()) {
        let policy = if policy { "[policy]\npreset = 'balanced'\napproval_expires = '24h'\n" } else { "" };
        let redaction = if redaction { "[redaction]\npatterns = true\nenvironment = true\n" } else { "[tool]\n" };
        for layer in [user(&format!("{policy}{redaction}")), untrusted(&format!("{redaction}{policy}"))] {
            prop_assert_eq!(loaded(&[layer]).config, Config::default());
        }
    }
}
