//! Figures for Prometheus: counted while serving, read at `/metrics`.
//!
//! Labels are ids of tools and patterns of routes, of which there are only so many; never users, projects or what
//! somebody sent.

mod figures;

pub(crate) use figures::Figures;
