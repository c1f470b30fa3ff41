//! The tools Toolroom ships with: one file each, and one line in [`all`].

mod calculator;
mod get_local_time;
mod result_read;

use std::sync::Arc;

use jiff::tz::TimeZone;
use toolroom::ledger::Artifacts;
use toolroom::tool::{IdError, Tool};

/// What built-in tools need from the outside.
pub struct Surroundings {
    /// Where whole results are kept.
    pub artifacts: Arc<dyn Artifacts>,
    /// The user's time zone.
    pub time_zone: TimeZone,
}

/// Every built-in tool, by name.
pub fn all(around: &Surroundings) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    Ok(vec![
        calculator::tool()?,
        get_local_time::tool(around.time_zone.clone())?,
        result_read::tool(Arc::clone(&around.artifacts))?,
    ])
}
