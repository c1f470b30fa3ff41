//! Everything the supervisor promises, of programs in namespaces.

#[path = "../process/ending.rs"]
mod ending;
#[path = "../process/limits.rs"]
mod limits;
#[path = "../process/orphans.rs"]
mod orphans;
#[path = "../process/starting.rs"]
mod starting;

use crate::process::bench;
use crate::process::{BOUND, descriptors, helper, rounds, until, zombies};

type Bench = bench::Bench<{ bench::NAMESPACES }>;
