//! The layers of a configuration, weakest first, as the documents they amount to.

use std::ffi::OsString;
use std::path::PathBuf;

use toml::de::{DeTable, DeValue};
use toolroom::nearest::nearest_one;
use toolroom_host::folders::HOME_VARIABLE;
use toolroom_host::text_file::{SkipReason, SkippedFile};

use super::Origin;
use super::document::Document;
use super::problem::{Problem, Problems, escaped, shown};
use super::shape::Key;

/// Variables of ours begin with it.
const PREFIX: &str = "TOOLROOM_";

/// Variables of ours that set no key.
const OTHER_VARIABLES: [&str; 6] = [
    HOME_VARIABLE,
    "TOOLROOM_MASTER_KEY",
    "TOOLROOM_NEW_MASTER_KEY",
    "TOOLROOM_COMPLETE",
    "TOOLROOM_SCALE",
    "TOOLROOM_BENCH_AS_CLI",
];

/// Something that sets keys. A stronger layer wins over a weaker one: the order is user, project, environment, flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// The user's file.
    User {
        /// Where it is.
        path: PathBuf,
        /// What is in it.
        text: String,
    },
    /// The project's file.
    Project {
        /// Where it is.
        path: PathBuf,
        /// Whether it may loosen what the user's file says.
        trusted: bool,
        /// What is in it.
        text: String,
    },
    /// What stands in the place of a project's file and does not count as one. It sets nothing, and is told.
    PassedOver(SkippedFile),
    /// Variables by name and value. Those of others are passed over, and an empty one counts as unset.
    Environment(Vec<(String, OsString)>),
    /// `key.path=value`, each from one `--set`. The value is TOML, or else text.
    Flags(Vec<String>),
}

impl Layer {
    /// The larger the stronger.
    pub(super) const fn rank(&self) -> u8 {
        match self {
            Self::User { .. } => 0,
            Self::Project { .. } | Self::PassedOver(_) => 1,
            Self::Environment(_) => 2,
            Self::Flags(_) => 3,
        }
    }

    /// Its documents, and what is odd about it without being wrong.
    pub(super) fn documents(
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
                warnings.push(told(passed));
                Vec::new()
            }
            Self::Environment(variables) => {
                let ours =
                    |(name, value): &&(String, OsString)| name.starts_with(PREFIX) && !value.is_empty();
                let ours = variables.iter().filter(ours);
                ours.filter_map(|(name, value)| match value.to_str() {
                    Some(value) => of_variable(name, value, warnings).map(Ok),
                    // A path need not be text.
                    None if name == HOME_VARIABLE => None,
                    None => Some(Err(not_text(name))),
                })
                .collect()
            }
            Self::Flags(flags) => flags.iter().map(|flag| of_flag(flag)).collect(),
        };
        let told = |document: Result<_, Problem>| document.map_err(|problem| problems.push(problem)).ok();
        documents.into_iter().filter_map(told).collect()
    }
}

/// The variable that sets the key of that path.
pub(super) fn variable(path: &[&str]) -> String {
    format!("{PREFIX}{}", path.join("_").to_uppercase())
}

/// What is said of something that does not count.
pub(crate) fn told(SkippedFile { path, why }: &SkippedFile) -> Problem {
    let message = match why {
        SkipReason::Stranger(owner) => {
            format!(
                "is passed over: it or its folder belongs to another user ({owner}); make it yours, or move it"
            )
        }
        SkipReason::LeadsNowhere => {
            "is passed over: it is a link that leads nowhere; mend it, or remove it".to_owned()
        }
        SkipReason::NotRegular => "is passed over: it is no regular file; move it away".to_owned(),
    };
    let origin = Origin::Project { path: path.clone(), trusted: false };
    Problem { origin, line: None, key: String::new(), message }
}

/// A value nobody can read must not pass for none.
fn not_text(name: &str) -> Problem {
    let message = format!("is not UTF-8; set it anew, or `unset {}`", escaped(name));
    Problem { origin: Origin::Environment(name.to_owned()), line: None, key: String::new(), message }
}

fn bare(variable: &str) -> &str {
    variable.strip_prefix(PREFIX).unwrap_or(variable)
}

fn of_variable<'t>(name: &str, value: &'t str, warnings: &mut Vec<Problem>) -> Option<Document<'t>> {
    let origin = Origin::Environment(name.to_owned());
    let settings = Key::root().settings();
    if let Some((path, key)) = settings.iter().find(|(path, _)| variable(path) == name) {
        let path: Vec<String> = path.iter().map(|step| (*step).to_owned()).collect();
        return Some(Document::of(origin, &path, value_for(Some(key), value)));
    }
    if !OTHER_VARIABLES.contains(&name) {
        let known = settings.iter().map(|(path, _)| variable(path)).chain(OTHER_VARIABLES.map(str::to_owned));
        // The prefix is common to all of them, and would make any two look alike.
        let names: Vec<String> = known.map(|name| bare(&name).to_owned()).collect();
        let near = nearest_one(bare(name), names.iter().map(String::as_str));
        let hint = near.map(|near| format!("; did you mean `{PREFIX}{near}`?")).unwrap_or_default();
        let message = format!("no variable of Toolroom has this name{hint}");
        warnings.push(Problem { origin, line: None, key: String::new(), message });
    }
    None
}

fn of_flag(flag: &str) -> Result<Document<'_>, Problem> {
    let bad =
        |key: &str, message: String| Problem { origin: Origin::Flag, line: None, key: escaped(key), message };
    let Some((key, value)) = flag.split_once('=') else {
        return Err(bad("", format!("`{}` sets nothing; write `key=value`", shown(flag))));
    };
    let Some(path) = path_of(key.trim()) else {
        return Err(bad("", format!("`{}` is no key; write it as in the file, with dots", shown(key))));
    };
    let wanted = Key::root().find(path.iter().map(String::as_str));
    Ok(Document::of(Origin::Flag, &path, value_for(wanted, value.trim())))
}

/// Whether a key of that path, written as in the file, could be set.
#[must_use]
pub fn is_key(key: &str) -> bool {
    path_of(key).is_some_and(|path| Key::root().find(path.iter().map(String::as_str)).is_some())
}

/// The steps of a dotted key, read as TOML reads them.
fn path_of(key: &str) -> Option<Vec<String>> {
    let text = format!("{key} = 0");
    let document = Document::parse(&Origin::Flag, &text).ok()?;
    let mut path = Vec::new();
    let mut table: &DeTable<'_> = &document.root;
    loop {
        let mut entries = table.iter();
        // A second entry would be a second setting, smuggled in with a line break.
        let (Some((name, value)), None) = (entries.next(), entries.next()) else { return None };
        path.push(name.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(path),
        }
    }
}

/// The value as TOML if that is what the key takes, else as text: a span of `30` and a name of `true` need no quotes.
fn value_for<'t>(key: Option<&Key>, text: &'t str) -> DeValue<'t> {
    let admits = |value: &DeValue<'_>| key.is_none_or(|key| key.shape.admits(value));
    let plain = DeValue::String(text.into());
    match Document::value(text) {
        Some(value) if admits(&value) || !admits(&plain) => value,
        _ => plain,
    }
}
