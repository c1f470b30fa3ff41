//! How long the owner's links and browsers hold.

use std::time::Duration;

/// A link that signs in one browser.
pub(crate) const LINK_LASTS: Duration = Duration::from_mins(15);

/// A browser that is signed in.
pub(crate) const BROWSER_LASTS: Duration = Duration::from_hours(12);
