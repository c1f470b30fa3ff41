//! The product over HTTP: one table of routes, one kind of door before all of them,
//! a file for each thing there is.
//!
//! [`routes::all`] is the table. The router, the OpenAPI document and the tests of who may do what are made of it, so a
//! route that is not in it does not exist.

mod access;
mod adaptive_yield;
mod connections;
mod docs;
mod door;
mod extract;
mod mcp;
mod middleware;
mod openapi;
mod problem;
mod reception;
mod refusals;
mod resources;
mod route;
mod routes;
mod server;
mod streams;
mod timeout_after_poll;

pub(crate) use connections::runtime::Front;
pub(crate) use server::{Server, ServerSettings};
