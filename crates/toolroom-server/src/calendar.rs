//! The owner's calendar: configuration and secrets joined.

use std::sync::Arc;

use toolroom::BoxFuture;
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom::tool::{ErrorKind, ToolError};
use toolroom_host::environment;
use toolroom_tools::builtin::create_calendar_event::{CalendarAccount, Calendars};

use crate::config::{CalendarKeys, SecretRef, ServiceUrl};
use crate::vault::Vault;

/// The configured calendar, for the project `local`.
pub(crate) struct ConfiguredCalendar {
    keys: CalendarKeys,
    vault: Arc<Vault>,
}

impl ConfiguredCalendar {
    pub(crate) fn new(keys: CalendarKeys, vault: Arc<Vault>) -> Self {
        Self { keys, vault }
    }

    async fn credentials(&self, project: &ProjectId) -> Result<Option<(String, Secret)>, ToolError> {
        let CalendarKeys { user, password, .. } = &self.keys;
        let (Some(user), Some(place)) = (user, password) else {
            return match (user, password) {
                (None, None) => Ok(None),
                _ => Err(ToolError::tool("the calendar needs both `calendar.user` and `calendar.password`")),
            };
        };
        if self.keys.url.as_ref().is_some_and(ServiceUrl::is_insecure) {
            return Err(ToolError::tool(ServiceUrl::insecure_message("the password", "calendar.url")));
        }
        let key = self.vault.key(place, project).await.map_err(|error| {
            ToolError::new(ErrorKind::Tool, "the password of the calendar cannot be read").caused_by(error)
        })?;
        let missing = |why| ToolError::tool(format!("the calendar has no password: {why}"));
        Ok(Some((user.clone(), key.map_err(missing)?)))
    }
}

impl Calendars for ConfiguredCalendar {
    fn for_project<'a>(
        &'a self,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<Option<CalendarAccount>, ToolError>> {
        Box::pin(async move {
            let Some(url) = self.keys.url.as_ref().filter(|_| *project == ProjectId::default()) else {
                return Ok(None);
            };
            let credentials = self.credentials(project).await?;
            let opening = url.opening().cloned();
            Ok(Some(CalendarAccount { url: url.as_str().to_owned(), opening, credentials }))
        })
    }
}

/// The password in an environment variable, to be redacted.
pub(crate) fn password_of_variable(keys: &CalendarKeys) -> Option<Secret> {
    let place = keys.password.as_ref().filter(|place| matches!(place, SecretRef::Variable(_)))?;
    place.key(&[], environment::variable).ok()
}
