//! The top-level commands.

use clap::Subcommand;

use super::{
    agents, approvals, artifacts, backup, call, chat, completions, config, conversations, doctor, export,
    import, init, keys, log, man, mcp, memory, migrate, models, policy, projects, prune, runs, sandbox,
    secrets, select, self_check, serve, service, switch, tools, trust,
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Chat with an agent: one message, or an interactive session
    Chat(Box<chat::ChatArgs>),
    /// List, show, export or delete conversations
    Conversations(conversations::ConversationsArgs),
    /// List, show, resume or cancel runs
    Runs(runs::RunsArgs),
    /// Call a tool
    Call(call::CallArgs),
    /// List tools, show one, or switch it on or off
    Tools(tools::ToolsArgs),
    /// Rank the tools that fit a message
    Select(select::SelectArgs),
    /// List and set feature switches
    Switch(switch::SwitchArgs),
    /// Show past calls and their results
    Log(log::LogArgs),
    /// List and save stored results and files of calls
    Artifacts(artifacts::ArtifactsArgs),
    /// List and answer calls that wait for approval
    Approvals(approvals::ApprovalsArgs),
    /// List and check policy rules, and explain how a call is judged
    Policy(policy::PolicyArgs),
    /// List, show, forget and export memories
    Memory(memory::MemoryArgs),
    /// List, show, create and change agents
    Agents(agents::AgentsArgs),
    /// Store secrets for tools; values are never shown
    Secrets(secrets::SecretsArgs),
    /// List models, and test one
    Models(models::ModelsArgs),
    /// Show and check the configuration
    Config(config::ConfigArgs),
    /// Write a first configuration file
    Init(init::InitArgs),
    /// Trust a project's configuration file
    Trust(trust::TrustArgs),
    /// Create, verify and restore backups
    Backup(backup::BackupArgs),
    /// Export settings to a file, without secret values
    Export(export::ExportArgs),
    /// Import settings from a file
    Import(import::ImportArgs),
    /// Delete old calls, results and conversations
    Prune(prune::PruneArgs),
    /// Migrate the database, preview a migration, or roll back
    Migrate(migrate::MigrateArgs),
    /// Check configuration, storage and machine for problems
    Doctor(doctor::DoctorArgs),
    /// Show how programs are sandboxed, and run one in the sandbox
    Sandbox(sandbox::SandboxArgs),
    /// List, create and revoke API keys
    Keys(keys::KeysArgs),
    /// List, create and change projects, which share a server but no data
    Projects(projects::ProjectsArgs),
    /// Serve tools to MCP clients, and use tools of other MCP servers
    Mcp(mcp::McpArgs),
    /// Serve tools and agents over HTTP
    Serve(serve::ServeArgs),
    /// Run the server as a systemd user service
    Service(service::ServiceArgs),
    /// Test this installation in a temporary folder
    SelfCheck(self_check::SelfCheckArgs),
    /// Print a shell completion script
    Completions(completions::CompletionsArgs),
    /// Print the manual, or write all man pages to a folder
    Man(man::ManArgs),
}
