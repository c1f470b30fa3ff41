//! Programs that take everything, while we go on answering.
