//! Programs in the sandbox, judged by what they could do.

mod behind_landlock;
mod in_namespaces;
