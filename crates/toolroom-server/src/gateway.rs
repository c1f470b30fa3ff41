//! Other servers' tools: the gateway of `toolroom-tools`, joined to the vault and to where programs run here.

use std::sync::Arc;

use toolroom::BoxFuture;
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom::scope::ProjectId;
use toolroom_tools::mcp::Safe;

use crate::vault::Vault;

/// The vault, as servers may use it.
pub(crate) struct Safekeeping(pub(crate) Arc<Vault>);

impl Safe for Safekeeping {
    fn secret<'a>(&'a self, project: &'a ProjectId, name: &'a str) -> BoxFuture<'a, Result<Secret, String>> {
        Box::pin(async move {
            let seen = self.0.seen(project).await.map_err(|error| error.to_string())?;
            let found = seen.into_iter().find(|seen| seen.name == name);
            let missing =
                || format!("its secret `{name}` is not kept; set it with `toolroom secrets set {name}`");
            found.ok_or_else(missing)?.opened.map_err(|error| error.to_string())
        })
    }

    fn without_secrets<'a>(&'a self, project: &'a ProjectId, text: String) -> BoxFuture<'a, String> {
        Box::pin(async move {
            if text.is_empty() {
                return text;
            }
            match self.0.secrets(project).await {
                Ok(mut secrets) => {
                    secrets.extend(self.0.hidden_values());
                    Redactor::new(secrets, Patterns::Keys).redact_text(&text).into_owned()
                }
                // What cannot be hidden is not kept.
                Err(error) => {
                    tracing::warn!(%error, "what a server printed is not kept");
                    String::new()
                }
            }
        })
    }
}
