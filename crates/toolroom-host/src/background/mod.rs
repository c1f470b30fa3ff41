//! Programs that run while nobody waits for them.

mod error;
mod page;
mod table;

pub use error::BackgroundError;
pub use page::Page;
pub use table::{Background, Commission, Log, Standing};
