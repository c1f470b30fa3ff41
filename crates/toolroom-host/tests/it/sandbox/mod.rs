//! Programs in the sandbox, judged by what they could do.

mod behind_landlock;
mod escapes;
mod exhaustion;
mod in_namespaces;
mod leftovers;
mod named_files;
mod profiles;
mod proxy;
mod repositories;
mod ways;
mod world;
