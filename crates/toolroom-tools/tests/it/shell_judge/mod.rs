//! The command judge against people's commands, harmful variants and what really runs.

mod attacks;
mod by_meaning;
mod developer;
mod random_scripts;
mod same_meaning;
mod traced;
mod variants;
