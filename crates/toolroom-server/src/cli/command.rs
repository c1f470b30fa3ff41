//! Every command there is.

use clap::Subcommand;

use super::{
    agents, approvals, artifacts, backup, call, chat, completions, config, conversations, doctor, export,
    import, init, keys, log, man, mcp, memory, migrate, models, policy, projects, prune, runs, sandbox,
    secrets, select, self_check, serve, service, switch, tools, trust,
};

/// What is to be done.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Talk: one message, or a conversation at the terminal
    Chat(Box<chat::ChatArgs>),
    /// List conversations, read one, take one out or away
    Conversations(conversations::ConversationsArgs),
    /// List runs, look at one, go on with it or end it
    Runs(runs::RunsArgs),
    /// Call a tool
    Call(call::CallArgs),
    /// List tools, look at one, switch it on or off
    Tools(tools::ToolsArgs),
    /// See which tools fit a message
    Select(select::SelectArgs),
    /// List and set feature switches
    Switch(switch::SwitchArgs),
    /// See what was called and what came of it
    Log(log::LogArgs),
    /// List what is kept of calls beside the log, and save it as a file
    Artifacts(artifacts::ArtifactsArgs),
    /// See what waits for an answer, and answer it
    Approvals(approvals::ApprovalsArgs),
    /// See which rules hold, and how a call would be judged
    Policy(policy::PolicyArgs),
    /// See, forget and export what is remembered of you
    Memory(memory::MemoryArgs),
    /// See who answers, and with which models and tools
    Agents(agents::AgentsArgs),
    /// Keep secrets that tools use and nobody sees
    Secrets(secrets::SecretsArgs),
    /// See which models can be asked, and try one
    Models(models::ModelsArgs),
    /// See what is configured, and check it
    Config(config::ConfigArgs),
    /// Write a first configuration file
    Init(init::InitArgs),
    /// Let a project's file allow what it says
    Trust(trust::TrustArgs),
    /// Copy everything into one file, check such a file, bring it back
    Backup(backup::BackupArgs),
    /// Take what was set along, without secrets
    Export(export::ExportArgs),
    /// Set what was set elsewhere
    Import(import::ImportArgs),
    /// Delete what is older than you want to keep it
    Prune(prune::PruneArgs),
    /// See what a new version does to the database, do it, or go back
    Migrate(migrate::MigrateArgs),
    /// See whether everything is in order, and what to do where it is not
    Doctor(doctor::DoctorArgs),
    /// See how well programs are confined here, and run one that way
    Sandbox(sandbox::SandboxArgs),
    /// See, make and take back keys for programs
    Keys(keys::KeysArgs),
    /// See, make and change projects, which share a server and see nothing of each other
    Projects(projects::ProjectsArgs),
    /// Give these tools to clients of MCP, and use those of other servers
    Mcp(mcp::McpArgs),
    /// Serve tools and agents over HTTP
    Serve(serve::ServeArgs),
    /// Let systemd run the server for you
    Service(service::ServiceArgs),
    /// See whether this program works, in a folder of its own
    SelfCheck(self_check::SelfCheckArgs),
    /// Print the completion script of a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual, or write all its pages into a folder
    Man(man::ManArgs),
}
