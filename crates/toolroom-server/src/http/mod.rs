//! The HTTP server: one table of routes, one pipeline of middleware, one file per resource.
//!
//! [`routes::all`] is the table; router, OpenAPI document and access tests are made of it. [`pipeline`] lists what a
//! request passes before its handler.

mod access;
mod adaptive_yield;
mod connections;
mod docs;
mod extract;
mod mcp;
mod middleware;
mod openapi;
mod pipeline;
mod problem;
mod resources;
mod route;
mod routes;
mod server;
mod streams;

pub(crate) use connections::runtime::ConnectionRuntime;
pub(crate) use server::{Server, ServerSettings};
