//! The product through its real door: the `toolroom` command.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests start processes and read files, and a wrong guess should stop them"
)]

mod agent_crash;
mod agent_wires;
mod agents;
mod agui;
#[path = "../../../toolroom-models/tests/it/aimock.rs"]
mod aimock;
mod approvals;
mod attacks;
mod backup;
mod call;
mod canaries;
mod canary;
mod chat;
mod chat_talk;
mod complete;
mod config;
mod conversations;
mod crash;
mod crash_approvals;
mod desktop;
mod docs;
mod doctor;
mod everyday;
mod examples;
mod fault_proxy;
mod fetch;
mod files;
mod home;
mod hostile;
mod house;
mod init;
#[expect(dead_code, reason = "the harness is the client's, whose tests use the rest of it")]
#[path = "../../../toolroom-host/tests/it/internet/mod.rs"]
mod internet;
mod judged_commands;
mod lasting;
mod limits;
mod log;
mod loopback_service;
mod mcp;
mod mcp_client;
mod memory;
mod models;
mod named_files;
mod openai;
mod packaging;
mod policy;
mod processes;
mod project;
mod prompt;
mod provenance;
mod provoked;
mod pty;
mod reference;
mod restore;
mod results;
mod retention;
mod rotation;
mod sandbox;
#[expect(dead_code, reason = "the properties are tested beside the code")]
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
mod scenes;
mod scripted_model;
mod secrets;
mod select;
mod serve;
mod service;
mod settings;
mod shell;
mod shell_exec;
mod shop;
mod ssh;
mod standing_answers;
mod tools;
mod trouble;
mod trust;
mod unseen;
mod upgrade;
mod waiting;
mod web_search;
mod wires;
