//! Programs that run in the background.

mod error;
mod log_page;
mod table;

pub use error::BackgroundError;
pub use log_page::LogPage;
pub use table::{Background, Log, NewProgram, ProgramStatus};
