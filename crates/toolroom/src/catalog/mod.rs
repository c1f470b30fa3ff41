//! Which tools exist, and who sees them.
//!
//! [`Catalog`] holds the registered tools and finds one by id, alias or unique bare name. Whether a tool is
//! switched on is decided from its definition and the project's [`Switches`](crate::ledger::Switches) alone;
//! an [`Offer`] is what a model gets to see, in a stable order, with [`WireNames`]. The catalog does not run
//! tools, and it stores nothing: tools are registered anew at each start.

mod display;
mod enable;
mod entry;
mod feature;
mod index;
mod limits;
mod offer;
mod places;
mod wire_names;

pub use display::Display;
pub use enable::{Off, ToggleError};
pub(crate) use entry::hash_of;
pub use entry::{Entry, RegisterError};
pub use feature::{FEATURES, Feature};
pub use index::{Catalog, NotFound};
pub use limits::{LimitMode, LimitRule, Limits, ToolLimits};
pub use offer::{Audience, ON_DEVICE_TOOLS, Offer};
pub(crate) use places::Places;
pub use wire_names::WireNames;
