//! From the configuration to what the kernel takes: a policy and limits.

use toolroom::catalog::LimitRule;
use toolroom::policy::{Policy, Rule, RuleError, RuleText, ToolPattern};
use toolroom::tool::ToolSpec;
use toolroom_host::net::EgressRule;

use super::problem::{Problems, escaped};
use super::{ConfigError, ConfigRule, Destination, Layer, Loaded, Origin, Problem, load};

/// Every example is judged at each start, and a file that came with a project could hold any number.
const MAX_EXAMPLES: usize = 2_000;

/// A configuration that can be used, and what became of it.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// What holds, and where it comes from.
    pub loaded: Loaded,
    /// Its rules and preset.
    pub policy: Policy,
    /// Its limits.
    pub limits: Vec<LimitRule>,
    /// What it opens in private networks.
    pub openings: Openings,
}

/// Which destinations that are not public a tool may reach.
#[derive(Debug, Clone, Default)]
pub struct Openings {
    all: Vec<EgressRule>,
    /// In the order of their sections; the last one about a tool counts.
    tools: Vec<(ToolPattern, Vec<EgressRule>)>,
}

impl Openings {
    /// Those that everything may reach.
    #[must_use]
    pub fn everywhere(&self) -> &[EgressRule] {
        &self.all
    }

    /// Those of a tool.
    #[must_use]
    pub fn of(&self, spec: &ToolSpec) -> Vec<EgressRule> {
        let own = self.tools.iter().rev().find(|(pattern, _)| pattern.matches(spec));
        let own = own.map(|(_, openings)| openings.as_slice()).unwrap_or_default();
        self.all.iter().chain(own).cloned().collect()
    }
}

impl Compiled {
    /// Loads layers and compiles what they say.
    ///
    /// # Errors
    /// With everything that is wrong in any layer; rules are looked at once the files are right otherwise.
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

impl Loaded {
    /// The policy: the trusted rules, narrowed by those that may only narrow.
    ///
    /// # Errors
    /// With every rule that cannot be used, and where it stands.
    pub fn policy(&self) -> Result<Policy, ConfigError> {
        let mut problems = Problems::default();
        let (mut trusted, mut narrowing) = (Vec::new(), Vec::new());
        let mut examples = 0;
        for rule in &self.config.rules {
            examples += rule.text.matches.len() + rule.text.not_matches.len();
            if examples > MAX_EXAMPLES {
                let message =
                    format!("rules have more than {MAX_EXAMPLES} examples from here on; remove some");
                problems.push(of_rule(rule, message));
                break;
            }
            match Rule::new(rule.text.clone()) {
                Ok(compiled) if rule.origin.is_trusted() => trusted.push(compiled),
                Ok(compiled) => narrowing.push(compiled),
                Err(first) => {
                    let every = errors_of(&rule.text, first).into_iter();
                    every.for_each(|error| problems.push(of_rule(rule, in_full(&error))));
                }
            }
        }
        let policy = Policy::new(self.config.policy.preset, trusted).map_err(|error| {
            let message = in_full(&error);
            problems.push(Problem { origin: Origin::Default, line: None, key: String::new(), message });
        });
        problems.into_result()?;
        // What a file that is not trusted would allow is among `ignored` already.
        Ok(policy.unwrap_or_default().narrowed_by(None, narrowing).0)
    }

    /// What is opened in private networks. Sections whose name is no pattern are told with the limits.
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
    /// With every section whose name is no pattern.
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
                    message: format!("cannot be used: {error}"),
                }),
            }
        }
        problems.into_result()?;
        Ok(limits)
    }
}

/// Of the examples that fail all are told, not only the first.
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

/// The text names the rule, so no key stands before it.
fn of_rule(rule: &ConfigRule, message: String) -> Problem {
    Problem { origin: rule.origin.clone(), line: rule.line, key: String::new(), message }
}

fn in_full(error: &RuleError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |&source| source.source());
    escaped(&causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
}
