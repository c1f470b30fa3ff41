//! Real clients of AG-UI against a real server.

mod client;
mod reader;
mod scenarios;
mod users;
