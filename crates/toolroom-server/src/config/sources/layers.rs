//! The layers of a configuration, and their conversion to TOML documents.

use std::ffi::OsString;
use std::path::PathBuf;

use toml::de::{DeTable, DeValue};
use toolroom::nearest::nearest_one;
use toolroom_host::folders::HOME_VARIABLE;
use toolroom_host::text_file::{SkipReason, SkippedFile};

use crate::config::Origin;
use crate::config::check::problem::{Problem, Problems, escaped, shown};
use crate::config::check::shape::Key;
use crate::config::text::document::Document;

/// Prefix of our environment variables.
const PREFIX: &str = "TOOLROOM_";

/// Our environment variables that are not configuration keys.
const OTHER_VARIABLES: [&str; 6] = [
    HOME_VARIABLE,
    "TOOLROOM_MASTER_KEY",
    "TOOLROOM_NEW_MASTER_KEY",
    "TOOLROOM_COMPLETE",
    "TOOLROOM_SCALE",
    "TOOLROOM_BENCH_AS_CLI",
];

/// A source of settings. Stronger layers win; the order is user, project, environment, flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// The user file.
    User {
        /// Its path.
        path: PathBuf,
        /// Its content.
        text: String,
    },
    /// The project file.
    Project {
        /// Its path.
        path: PathBuf,
        /// Whether it may be more lenient than the user file.
        trusted: bool,
        /// Its content.
        text: String,
    },
    /// A skipped project file. Sets nothing; yields a warning.
    PassedOver(SkippedFile),
    /// Environment variables by name and value. Other variables are ignored; an empty one counts as unset.
    Environment(Vec<(String, OsString)>),
    /// `key.path=value` from `--set`. The value is TOML, or else a string.
    Flags(Vec<String>),
}

impl Layer {
    /// Strength: larger is stronger.
    pub(in crate::config) const fn rank(&self) -> u8 {
        match self {
            Self::User { .. } => 0,
            Self::Project { .. } | Self::PassedOver(_) => 1,
            Self::Environment(_) => 2,
            Self::Flags(_) => 3,
        }
    }

    /// Parses the layer into documents. Adds errors and warnings.
    pub(in crate::config) fn documents(
        &self,
        problems: &mut Problems,
        warnings: &mut Vec<Problem>,
    ) -> Vec<Document<'_>> {
        let documents: Vec<Result<Document<'_>, Problem>> = match self {
            Self::User { path, text } => vec![Document::parse(&Origin::User(path.clone()), text)],
            Self::Project { path, trusted, text } => {
                let origin = Origin::Project { path: path.clone(), trusted: *trusted };
                vec![Document::parse(&origin, text)]
            }
            Self::PassedOver(passed) => {
                warnings.push(skipped_file_problem(passed));
                Vec::new()
            }
            Self::Environment(variables) => {
                let ours =
                    |(name, value): &&(String, OsString)| name.starts_with(PREFIX) && !value.is_empty();
                let ours = variables.iter().filter(ours);
                ours.filter_map(|(name, value)| match value.to_str() {
                    Some(value) => variable_document(name, value, warnings).map(Ok),
                    // A path may be non-UTF-8.
                    None if name == HOME_VARIABLE => None,
                    None => Some(Err(not_text(name))),
                })
                .collect()
            }
            Self::Flags(flags) => flags.iter().map(|flag| flag_document(flag)).collect(),
        };
        let keep_valid =
            |document: Result<_, Problem>| document.map_err(|problem| problems.push(problem)).ok();
        documents.into_iter().filter_map(keep_valid).collect()
    }
}

/// The environment variable of a key.
pub(in crate::config) fn variable(path: &[&str]) -> String {
    format!("{PREFIX}{}", path.join("_").to_uppercase())
}

/// The warning about a skipped file.
pub(crate) fn skipped_file_problem(SkippedFile { path, why }: &SkippedFile) -> Problem {
    let message = match why {
        SkipReason::Stranger(owner) => {
            format!(
                "is ignored: it or its folder belongs to another user ({owner}); change the owner, or move it"
            )
        }
        SkipReason::LeadsNowhere => "is ignored: it is a broken link; fix or remove it".to_owned(),
        SkipReason::NotRegular => "is ignored: it is not a regular file; move it away".to_owned(),
    };
    let origin = Origin::Project { path: path.clone(), trusted: false };
    Problem { origin, line: None, key: String::new(), message }
}

/// A variable that is not UTF-8 is an error, not unset.
fn not_text(name: &str) -> Problem {
    let message = format!("is not UTF-8; set it again, or `unset {}`", escaped(name));
    Problem { origin: Origin::Environment(name.to_owned()), line: None, key: String::new(), message }
}

fn without_prefix(variable: &str) -> &str {
    variable.strip_prefix(PREFIX).unwrap_or(variable)
}

fn variable_document<'t>(name: &str, value: &'t str, warnings: &mut Vec<Problem>) -> Option<Document<'t>> {
    let origin = Origin::Environment(name.to_owned());
    let settings = Key::root().settings();
    if let Some((path, key)) = settings.iter().find(|(path, _)| variable(path) == name) {
        let path: Vec<String> = path.iter().map(|step| (*step).to_owned()).collect();
        return Some(Document::from_value(origin, &path, value_for(Some(key), value)));
    }
    if !OTHER_VARIABLES.contains(&name) {
        let known = settings.iter().map(|(path, _)| variable(path)).chain(OTHER_VARIABLES.map(str::to_owned));
        // Compared without the common prefix, which would make all names look similar.
        let names: Vec<String> = known.map(|name| without_prefix(&name).to_owned()).collect();
        let near = nearest_one(without_prefix(name), names.iter().map(String::as_str));
        let hint = near.map(|near| format!("; did you mean `{PREFIX}{near}`?")).unwrap_or_default();
        let message = format!("unknown Toolroom variable{hint}");
        warnings.push(Problem { origin, line: None, key: String::new(), message });
    }
    None
}

fn flag_document(flag: &str) -> Result<Document<'_>, Problem> {
    let bad =
        |key: &str, message: String| Problem { origin: Origin::Flag, line: None, key: escaped(key), message };
    let Some((key, value)) = flag.split_once('=') else {
        return Err(bad("", format!("`{}` is not `key=value`", shown(flag))));
    };
    let Some(path) = path_of(key.trim()) else {
        return Err(bad("", format!("`{}` is not a key; write it as in the file, with dots", shown(key))));
    };
    let known_key = Key::root().find(path.iter().map(String::as_str));
    Ok(Document::from_value(Origin::Flag, &path, value_for(known_key, value.trim())))
}

/// Whether this is a known key, written as in the file.
#[must_use]
pub fn is_key(key: &str) -> bool {
    path_of(key).is_some_and(|path| Key::root().find(path.iter().map(String::as_str)).is_some())
}

/// The parts of a dotted TOML key.
fn path_of(key: &str) -> Option<Vec<String>> {
    let text = format!("{key} = 0");
    let document = Document::parse(&Origin::Flag, &text).ok()?;
    let mut path = Vec::new();
    let mut table: &DeTable<'_> = &document.root;
    loop {
        let mut entries = table.iter();
        // A second entry would be another setting, injected with a line break.
        let (Some((name, value)), None) = (entries.next(), entries.next()) else { return None };
        path.push(name.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(path),
        }
    }
}

/// The value as TOML if the key accepts it, else as a string, so that a span `30` or a name `true` needs no quotes.
fn value_for<'t>(key: Option<&Key>, text: &'t str) -> DeValue<'t> {
    let admits = |value: &DeValue<'_>| key.is_none_or(|key| key.shape.admits(value));
    let plain = DeValue::String(text.into());
    match Document::value(text) {
        Some(value) if admits(&value) || !admits(&plain) => value,
        _ => plain,
    }
}
