//! `[location]`: who says where an address is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_tools::builtin::get_location_from_ip::Locator;

use super::ServiceUrl;

/// `[location]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocationKeys {
    /// Who is asked where this machine is; it learns the address we come from and nothing else.
    pub provider: Locator,
    /// Where it is asked, if not at its usual address. The address may be a private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ServiceUrl>,
}
