//! What may be kept and told of a call: nothing secret, and no more than a page. Always in this order, since a part of a
//! secret is not recognised as one.

use std::borrow::Cow;

use serde_json::Value;

use super::progress;
use super::record::OpenCall;
use super::request::ProgressSink;
use super::shorten::shorten_text;
use crate::redact::Redactor;

/// What is kept and told of an error, and of argument text that is no JSON.
const ERROR_CHARS: usize = 4_000;

/// No tool has a longer name; what is longer is no name, and kept in part.
const NAME_CHARS: usize = 300;

/// What stands for a text when nobody can say whether it holds a secret.
const UNTOLD: &str = "[not kept: the secrets to hide could not be read]";

impl OpenCall {
    /// A text without secrets; `None` if that is the text itself. Without a redactor no tool runs, so the text is ours or
    /// what the caller sent; known formats of keys are hidden all the same.
    pub(super) fn hidden(&self, text: &str) -> Option<String> {
        let redacted = match &self.redactor {
            Some(redactor) => redactor.redact_text(text),
            None => Cow::Owned(Redactor::default().redact_text(text).into_owned()),
        };
        match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(redacted),
        }
    }

    /// A text as it may be told, if that is another one: without secrets, and no longer than a page.
    pub(super) fn tellable(&self, text: &str) -> Option<String> {
        let hidden = self.hidden(text);
        let short = shorten_text(hidden.as_deref().unwrap_or(text), ERROR_CHARS, None);
        short.or(hidden)
    }

    /// A text of the caller as it may be kept.
    pub(super) fn keepable(&self, text: &str) -> String {
        match &self.redactor {
            Some(_) => self.tellable(text).unwrap_or_else(|| text.to_owned()),
            None => UNTOLD.to_owned(),
        }
    }

    /// Hides secrets in a value that is kept.
    pub(super) fn hide(&self, value: &mut Value) {
        match &self.redactor {
            Some(redactor) => redactor.redact_value(value),
            None => *value = Value::String(UNTOLD.to_owned()),
        }
    }

    /// The name of a tool that was not found may be anything.
    pub(super) fn hide_name(&mut self) {
        if self.record.definition.is_none() {
            let name: String = self.keepable(&self.request.tool).chars().take(NAME_CHARS).collect();
            self.record.tool = name.into();
        }
    }

    /// Where signs of life go, without secrets.
    pub(super) fn quiet_progress(&mut self) -> Option<ProgressSink> {
        let sink = self.request.progress.take()?;
        let redactor = self.redactor.clone()?;
        Some(progress::without_secrets(sink, redactor))
    }
}
