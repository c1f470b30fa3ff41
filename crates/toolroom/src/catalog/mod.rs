//! Which tools exist, and who sees them.
//!
//! [`Catalog`] holds the registered tools and finds one by id, alias or unique bare name. Whether a tool is
//! switched on is decided from its definition and the project's [`Switches`](crate::ledger::Switches) alone;
//! a [`ToolOffer`] is what a model gets to see, in a stable order, with [`WireNames`]. The catalog does not run
//! tools, and it stores nothing: tools are registered at each start.

mod enable;
mod entry;
mod index;
mod limits;
mod offer;
mod wire_names;

pub use enable::{FEATURES, Feature, ToggleError, ToolLine, Unavailable};
pub(crate) use entry::hash_of;
pub use entry::{Entry, RegisterError};
pub use index::{Catalog, NotFound};
pub(crate) use limits::ConcurrencyLimit;
pub use limits::{LimitMode, LimitRule, Limits, ToolLimits};
pub use offer::{Audience, ON_DEVICE_TOOLS, ToolOffer};
pub use wire_names::WireNames;
