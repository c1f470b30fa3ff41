//! Compiles a configuration for the kernel: policy, limits and network openings.

use toolroom::catalog::LimitRule;
use toolroom::policy::{Policy, Rule, RuleError, RuleText, ToolPattern};
use toolroom::tool::ToolSpec;
use toolroom_host::net::EgressRule;

use crate::config::check::problem::{Problems, escaped};
use crate::config::{ConfigError, ConfigRule, Destination, Layer, LoadedConfig, Origin, Problem, load};

/// Limit of examples: all are judged at every start, and a project file could contain any number.
const MAX_EXAMPLES: usize = 2_000;

/// A valid configuration, compiled for the kernel.
#[derive(Debug, Clone)]
pub struct CompiledConfig {
    /// The values with their origins.
    pub loaded: LoadedConfig,
    /// Rules and preset.
    pub policy: Policy,
    /// Limits of tools.
    pub limits: Vec<LimitRule>,
    /// Private network destinations.
    pub openings: Openings,
}

/// Private network destinations that tools may reach.
#[derive(Debug, Clone, Default)]
pub struct Openings {
    all: Vec<EgressRule>,
    /// In the order of their sections; the last match decides.
    tools: Vec<(ToolPattern, Vec<EgressRule>)>,
}

impl Openings {
    /// Destinations for all tools.
    #[must_use]
    pub fn everywhere(&self) -> &[EgressRule] {
        &self.all
    }

    /// Destinations for a tool.
    #[must_use]
    pub fn of(&self, spec: &ToolSpec) -> Vec<EgressRule> {
        let own = self.tools.iter().rev().find(|(pattern, _)| pattern.matches(spec));
        let own = own.map(|(_, openings)| openings.as_slice()).unwrap_or_default();
        self.all.iter().chain(own).cloned().collect()
    }
}

impl CompiledConfig {
    /// Loads and compiles layers.
    ///
    /// # Errors
    /// Lists all problems of all layers. Rules are checked once the files are valid.
    pub fn of(layers: &[Layer]) -> Result<Self, ConfigError> {
        let loaded = load(layers)?;
        match (loaded.policy(), loaded.limits()) {
            (Ok(policy), Ok(limits)) => Ok(Self { policy, limits, openings: loaded.openings(), loaded }),
            (Err(mut rules), Err(limits)) => {
                rules.problems.extend(limits.problems);
                Err(ConfigError { cut: rules.cut || limits.cut, ..rules })
            }
            (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        }
    }
}

impl LoadedConfig {
    /// The policy: trusted rules, restricted by untrusted ones.
    ///
    /// # Errors
    /// Lists every invalid rule with its position.
    pub fn policy(&self) -> Result<Policy, ConfigError> {
        let mut problems = Problems::default();
        let (mut trusted, mut narrowing) = (Vec::new(), Vec::new());
        let mut examples = 0;
        for rule in &self.config.rules {
            examples += rule.text.matches.len() + rule.text.not_matches.len();
            if examples > MAX_EXAMPLES {
                let message =
                    format!("rules have more than {MAX_EXAMPLES} examples from here on; remove some");
                problems.push(rule_problem(rule, message));
                break;
            }
            match Rule::new(rule.text.clone()) {
                Ok(compiled) if rule.origin.is_trusted() => trusted.push(compiled),
                Ok(compiled) => narrowing.push(compiled),
                Err(first) => {
                    let every = errors_of(&rule.text, first).into_iter();
                    every.for_each(|error| problems.push(rule_problem(rule, with_causes(&error))));
                }
            }
        }
        let policy = Policy::new(self.config.policy.preset, trusted).map_err(|error| {
            let message = with_causes(&error);
            problems.push(Problem { origin: Origin::Default, line: None, key: String::new(), message });
        });
        problems.into_result()?;
        // Untrusted rules that allow are already in `ignored`.
        Ok(policy.unwrap_or_default().narrowed_by(None, narrowing).0)
    }

    /// Private network destinations. Sections with an invalid pattern are reported with the limits.
    fn openings(&self) -> Openings {
        let opened = |list: &[Destination]| list.iter().map(|destination| destination.0.clone()).collect();
        let tools = self.config.tools.iter().filter_map(|section| {
            Some((ToolPattern::parse(&section.tool).ok()?, opened(section.keys.open.as_ref()?)))
        });
        Openings { all: opened(&self.config.network.open), tools: tools.collect() }
    }

    /// Limits for the catalog, in the order in which they apply.
    ///
    /// # Errors
    /// Lists every section with an invalid pattern.
    pub fn limits(&self) -> Result<Vec<LimitRule>, ConfigError> {
        let mut problems = Problems::default();
        let mut limits = Vec::new();
        for section in &self.config.tools {
            match ToolPattern::parse(&section.tool) {
                Ok(tools) => {
                    limits.push(LimitRule { tools, limits: section.keys.limits(), mode: section.mode });
                }
                Err(error) => problems.push(Problem {
                    origin: section.origin.clone(),
                    line: section.line,
                    key: format!("tool.{}", section.tool),
                    message: format!("is invalid: {error}"),
                }),
            }
        }
        problems.into_result()?;
        Ok(limits)
    }
}

/// All failed examples, not only the first.
fn errors_of(text: &RuleText, first: RuleError) -> Vec<RuleError> {
    match first {
        RuleError::Example { .. } => {
            let tried = Rule::try_examples(text.clone()).unwrap_or_default().into_iter();
            let failed = tried.filter_map(|example| {
                let (list, number, source) = (example.list, example.number, example.result.err()?);
                Some(RuleError::Example { rule: text.id.clone(), list, number, source })
            });
            failed.collect()
        }
        other => vec![other],
    }
}

/// The message names the rule, so the key is empty.
fn rule_problem(rule: &ConfigRule, message: String) -> Problem {
    Problem { origin: rule.origin.clone(), line: rule.line, key: String::new(), message }
}

fn with_causes(error: &RuleError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |&source| source.source());
    escaped(&causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
}
