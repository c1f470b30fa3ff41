//! Whether a command line may run.
