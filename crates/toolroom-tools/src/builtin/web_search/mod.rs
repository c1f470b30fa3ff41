//! `web_search`: searches the web with the configured engines.
//!
//! ```text
//! tool      arguments -> the first engine that responds, and why earlier ones failed
//! engine    a search engine, and one exchange with it
//! brave, tavily, searxng   request and response format, a file each
//! cache     responses of the last minutes
//! ```
//!
//! A new engine is one file and one line in `engine.rs`. Which engines are used, in which order, is configured; a key is
//! sent only to its own engine, because no redirect is followed.

mod brave;
mod cache;
mod engine;
mod searxng;
mod tavily;
mod tool;

pub use self::engine::{EngineKind, SearchEngine};
pub(super) use self::tool::tool;
pub use self::tool::{NoSearchEngines, SearchEngines};
