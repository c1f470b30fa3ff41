//! The product over HTTP: one table of routes, one kind of door before all of them,
//! a file for each thing there is.
//!
//! [`routes::all`] is the table. The router, the OpenAPI document and the tests of who may do what are made of it, so a
//! route that is not in it does not exist.

mod agents;
mod agui;
mod approvals;
mod artifacts;
mod attended;
mod calls;
mod chat_completions;
mod company;
mod conversations;
mod docs;
mod doctor;
mod door;
mod entrance;
mod events;
mod forwarded;
mod front;
mod gate;
mod health;
mod held;
mod kept_content;
mod keys;
mod listen;
mod mcp;
mod memories;
mod need;
mod openapi;
mod outgoing;
mod pace;
mod pacing;
mod paging;
mod patience;
mod places;
mod policy;
mod problem;
mod projects;
mod range;
mod reading;
mod reception;
mod record;
mod refusals;
mod repeat;
mod request_id;
mod route;
mod routes;
mod runs;
mod server;
mod sign_in;
mod switches;
mod tools;
mod vendors;

pub(crate) use front::Front;
pub(crate) use server::{Server, ServerSettings};
