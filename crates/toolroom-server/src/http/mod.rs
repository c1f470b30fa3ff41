//! The product over HTTP: one table of routes, one entrance that knows who comes in, a file for each thing there is.
//!
//! [`routes::all`] is the table. The router, the OpenAPI document and the tests of who may do what are made of it, so a
//! route that is not in it does not exist.

mod agui;
mod approvals;
mod calls;
mod conversations;
mod docs;
mod entrance;
mod events;
mod health;
mod listen;
mod need;
mod openapi;
mod problem;
mod reading;
mod route;
mod routes;
mod runs;
mod server;
mod sign_in;
mod tools;

pub(crate) use server::{Server, ServerSettings};
