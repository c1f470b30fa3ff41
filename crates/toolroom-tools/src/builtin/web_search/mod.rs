//! `web_search`: what search engines know about a question.
//!
//! ```text
//! tool      arguments -> the first engine that answers, and why those before it did not
//! engine    what an engine is, and one exchange with it
//! brave, tavily, searxng   a request and the reading of its answer, a file each
//! shelf     answers of the last minutes, which cost nobody anything
//! ```
//!
//! One more engine is one file and one line in `engine.rs`. Which ones there are, and in which order they are asked, is
//! configured; a key is sent to its own engine and nowhere else, because no redirect is followed.

mod brave;
mod engine;
mod searxng;
mod shelf;
mod tavily;
mod tool;

pub use self::engine::{Engine, EngineKind};
pub(super) use self::tool::tool;
pub use self::tool::{Engines, NoEngines};
