//! `[calendar]`: where events are put.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KeyPlace, ServiceUrl};

/// `[calendar]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalendarKeys {
    /// The calendar that `create_calendar_event` puts events into: the address of a `CalDAV` collection. Without one they
    /// are files in the workspace. The address may be a private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ServiceUrl>,
    /// Who signs in there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Where the password is: `secret:NAME` for what `toolroom secrets` keeps, or `$VARIABLE`. Never the password itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<KeyPlace>,
}
