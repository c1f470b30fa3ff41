//! `ssh_configure_host`: configures an ssh host under an alias and opens it to the commands of a conversation. Never
//! touches keys.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::spawn_blocking;
use toolroom::call::CallContext;
use toolroom::policy::Judgement;
use toolroom::schema::Problem;
use toolroom::tool::{Arguments, Capability, Effect, ErrorKind, IdError, Risk, Tool, ToolError, tool_fn};
use toolroom_host::net::{EgressRule, OpenedHost};
use toolroom_host::ssh::{HostEntry, KnownHost, SshError, SshHome};

use super::FAMILY;
use super::runner::CommandRunner;
use super::sandbox::HostAccess;

#[derive(Deserialize, JsonSchema)]
struct SshConfigureHostArguments {
    /// Short name for the host, without spaces
    #[schemars(length(min = 1))]
    alias: String,
    /// Host name or address
    #[schemars(length(min = 1))]
    hostname: String,
    /// User to log in as
    user: Option<String>,
    /// Port, if not 22
    #[schemars(range(min = 1, max = 65_535))]
    port: Option<u16>,
    /// Private key file, which must exist; a relative name is next to the configuration
    identity_file: Option<String>,
    /// The host's public key as `ssh-keyscan` prints it
    known_host_line: Option<String>,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
struct Configured {
    success: bool,
    alias: String,
    config_changed: bool,
    known_hosts_changed: bool,
    /// Whether the commands of this conversation reach the host.
    reachable: bool,
    example: String,
    /// What else the caller has to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// The arguments, checked.
struct CheckedHost {
    entry: HostEntry,
    key: Option<KnownHost>,
    destination: EgressRule,
}

pub(super) fn tool(runner: &Arc<CommandRunner>, ssh: Option<Arc<SshHome>>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Configure an ssh host under a short name, and open it to the commands of this conversation, so that \
                       `ssh NAME` works. Call it again when that name is no longer found. Does not create keys";
    let runner = Arc::clone(runner);
    let tool = tool_fn(
        "builtin:ssh_configure_host",
        description,
        move |context, asked: SshConfigureHostArguments| {
            let (runner, ssh) = (Arc::clone(&runner), ssh.clone());
            async move { configure(&runner, &context, ssh, &asked).await }
        },
    )?;
    Ok(Arc::new(tool.check(problems).judge(judge).with(|spec| {
        // The host decides whom later commands talk to, so an approval is for this host only.
        spec.title("Configure SSH Host")
            .single_answers()
            .effect(Effect::IdempotentWrite)
            .capabilities(&[Capability::Writes, Capability::Egress])
            .risk(Risk::Medium)
            .follows(FAMILY)
            .off_by_default()
            .when_to_use("commands have to run on another machine")
            .category("shell", &["ssh", "host", "remote", "server", "login"])
            .usage_example("log in to my server at 203.0.113.7")
    })))
}

impl SshConfigureHostArguments {
    fn from_arguments(arguments: &Arguments) -> Option<Self> {
        serde_json::from_value(Value::Object(arguments.clone())).ok()
    }

    /// Checks that ssh cannot misread the values and that the host may be opened at all.
    fn checked(&self) -> Result<CheckedHost, Problem> {
        let (entry, key) = self.ssh_entries().map_err(|error| match error {
            SshError::Refused { field, problem } => Problem::new(field, problem),
            error => Problem::new("alias", error.to_string()),
        })?;
        let destination = EgressRule::for_port(entry.hostname(), entry.port())
            .map_err(|error| Problem::new("hostname", format!("cannot be opened: {error}")))?;
        Ok(CheckedHost { entry, key, destination })
    }

    /// The entries for ssh's configuration and known hosts.
    fn ssh_entries(&self) -> Result<(HostEntry, Option<KnownHost>), SshError> {
        let mut entry = HostEntry::new(&self.alias, &self.hostname)?;
        if let Some(user) = &self.user {
            entry = entry.with_user(user)?;
        }
        if let Some(port) = self.port {
            entry = entry.with_port(port)?;
        }
        if let Some(file) = &self.identity_file {
            entry = entry.with_identity_file(file)?;
        }
        let line = self.known_host_line.as_deref();
        let key = line.map(|line| KnownHost::parse(line, &entry)).transpose()?;
        Ok((entry, key))
    }
}

/// Arguments that do not fit the schema are reported by the schema check.
fn problems(arguments: &Arguments) -> Vec<Problem> {
    SshConfigureHostArguments::from_arguments(arguments)
        .and_then(|asked| asked.checked().err())
        .into_iter()
        .collect()
}

/// Always asks, and shows the host.
fn judge(arguments: &Arguments) -> Judgement {
    let host = SshConfigureHostArguments::from_arguments(arguments).and_then(|asked| asked.checked().ok());
    Judgement::Ask(host.map_or_else(
        || "opens a host to commands".to_owned(),
        |host| format!("opens `{}` to the commands of this conversation", host.destination),
    ))
}

async fn configure(
    runner: &CommandRunner,
    context: &CallContext,
    ssh: Option<Arc<SshHome>>,
    asked: &SshConfigureHostArguments,
) -> Result<Configured, ToolError> {
    let ssh = ssh.ok_or_else(|| ToolError::tool("there is no ssh configuration here"))?;
    let CheckedHost { entry, key, destination } =
        asked.checked().map_err(|error| ToolError::invalid(error.to_string()))?;
    // First, so that nothing is written if the host cannot be opened.
    let way = runner.open(context, destination).await?;
    let alias = entry.alias().to_owned();
    let example = match way {
        // Unconfined commands have the user's own home folder.
        HostAccess::Unconfined => format!("ssh -F '{}' {alias}", ssh.config().display()),
        HostAccess::Opened(_) | HostAccess::NoConversation | HostAccess::NoNetwork => format!("ssh {alias}"),
    };
    let workspace = runner.folder(context, None).await?;
    let changed = spawn_blocking(move || ssh.configure(&entry, key.as_ref(), &workspace)).await;
    let failed =
        |error| ToolError::new(ErrorKind::Crashed, "the ssh configuration was not written").caused_by(error);
    let changed = match changed {
        Ok(Ok(changed)) => changed,
        Ok(Err(SshError::Io(error))) => return Err(failed(error)),
        Ok(Err(error)) => return Err(ToolError::tool(error.to_string())),
        Err(error) => return Err(failed(std::io::Error::other(error))),
    };
    Ok(Configured {
        success: true,
        alias,
        config_changed: changed.config,
        known_hosts_changed: changed.known_hosts,
        reachable: matches!(way, HostAccess::Opened(_) | HostAccess::Unconfined),
        example,
        note: note(way),
    })
}

fn note(way: HostAccess) -> Option<&'static str> {
    match way {
        HostAccess::Opened(OpenedHost::First) => Some(
            "the next command gets a new shell that reaches this host, in the state of the previous one; programs left \
             running there with `&` end",
        ),
        HostAccess::Opened(OpenedHost::Another | OpenedHost::Already) | HostAccess::Unconfined => None,
        HostAccess::NoConversation => Some(
            "the host was not opened, because this call belongs to no lasting conversation; use `toolroom chat` and configure \
             the host there",
        ),
        HostAccess::NoNetwork => Some(
            "the host was not opened: the sandbox of this machine has no network of its own; install bubblewrap",
        ),
    }
}
