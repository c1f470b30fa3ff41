//! Real clients of AG-UI against a real server.

mod client;
mod killed;
mod reader;
mod scenarios;
mod users;
