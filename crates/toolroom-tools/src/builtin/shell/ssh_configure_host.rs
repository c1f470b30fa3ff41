//! `ssh_configure_host`: makes a host known under a name, so that commands can use it. Never touches keys.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::spawn_blocking;
use toolroom::schema::Problem;
use toolroom::tool::{Arguments, Capability, Effect, ErrorKind, IdError, Risk, Tool, ToolError, tool_fn};
use toolroom_host::ssh::{HostEntry, KnownHost, SshError, SshHome};

use super::FAMILY;

#[derive(Deserialize, JsonSchema)]
struct Configure {
    /// Short name for the host, without spaces
    #[schemars(length(min = 1))]
    alias: String,
    /// Its name or address
    #[schemars(length(min = 1))]
    hostname: String,
    /// Who logs in
    user: Option<String>,
    /// Port, if it is not 22
    #[schemars(range(min = 1, max = 65_535))]
    port: Option<u16>,
    /// File of the private key, which has to be there already; a relative name is one beside the configuration
    identity_file: Option<String>,
    /// The host's public key as `ssh-keyscan` prints it
    known_host_line: Option<String>,
}

#[derive(Debug, Serialize)]
struct Configured {
    success: bool,
    alias: String,
    config_changed: bool,
    known_hosts_changed: bool,
    example: String,
}

pub(super) fn tool(ssh: Option<Arc<SshHome>>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Make an ssh host known under a short name, for later shell commands. Writes no keys";
    let tool = tool_fn("builtin:ssh_configure_host", description, move |_context, asked: Configure| {
        let ssh = ssh.clone();
        async move { configure(ssh, asked).await }
    })?;
    Ok(Arc::new(tool.check(problems).with(|spec| {
        // It decides whom later commands talk to.
        spec.title("Configure SSH Host")
            .effect(Effect::IdempotentWrite)
            .capabilities(&[Capability::Writes, Capability::Egress])
            .risk(Risk::Medium)
            .follows(FAMILY)
            .off_by_default()
            .when_to_use("commands have to be run on another machine")
            .category("shell", &["ssh", "host", "remote", "server", "login"])
            .usage_example("log in to my server at 203.0.113.7")
    })))
}

impl Configure {
    /// What is asked for, if ssh cannot take it for anything else.
    fn checked(&self) -> Result<(HostEntry, Option<KnownHost>), SshError> {
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

fn problems(arguments: &Arguments) -> Vec<Problem> {
    // What does not even fit the schema has been told.
    let Ok(asked) = serde_json::from_value::<Configure>(Value::Object(arguments.clone())) else {
        return Vec::new();
    };
    match asked.checked() {
        Err(SshError::Refused { field, problem }) => vec![Problem::new(field, problem)],
        _ => Vec::new(),
    }
}

async fn configure(ssh: Option<Arc<SshHome>>, asked: Configure) -> Result<Configured, ToolError> {
    let ssh = ssh.ok_or_else(|| ToolError::tool("there is no ssh configuration here"))?;
    let (entry, key) = asked.checked().map_err(|error| ToolError::invalid(error.to_string()))?;
    let example = format!("ssh -F '{}' {}", ssh.config().display(), entry.alias());
    let changed = spawn_blocking(move || ssh.configure(&entry, key.as_ref())).await;
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
        alias: asked.alias,
        config_changed: changed.config,
        known_hosts_changed: changed.known_hosts,
        example,
    })
}
