//! `ssh_configure_host`: makes a host known under a name and opens it to the commands of a conversation. Never touches
//! keys.

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
use super::cell::Way;
use super::engine::Engine;

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
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
struct Configured {
    success: bool,
    alias: String,
    config_changed: bool,
    known_hosts_changed: bool,
    /// Whether the commands of this conversation reach it.
    reachable: bool,
    example: String,
    /// What has to be known besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// What is asked for, checked.
struct Wish {
    entry: HostEntry,
    key: Option<KnownHost>,
    place: EgressRule,
}

pub(super) fn tool(engine: &Arc<Engine>, ssh: Option<Arc<SshHome>>) -> Result<Arc<dyn Tool>, IdError> {
    let description = "Make an ssh host known under a short name, and open it to the commands of this conversation, so \
                       that `ssh NAME` works. Call it again when that name is no longer found. Writes no keys";
    let engine = Arc::clone(engine);
    let tool = tool_fn("builtin:ssh_configure_host", description, move |context, asked: Configure| {
        let (engine, ssh) = (Arc::clone(&engine), ssh.clone());
        async move { configure(&engine, &context, ssh, &asked).await }
    })?;
    Ok(Arc::new(tool.check(problems).judge(judge).with(|spec| {
        // It decides whom later commands talk to, so a yes is for this host and no other.
        spec.title("Configure SSH Host")
            .single_answers()
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
    fn of(arguments: &Arguments) -> Option<Self> {
        serde_json::from_value(Value::Object(arguments.clone())).ok()
    }

    /// What is asked for, if ssh cannot take it for anything else, and if anybody may be asked to open it.
    fn checked(&self) -> Result<Wish, Problem> {
        let (entry, key) = self.written().map_err(|error| match error {
            SshError::Refused { field, problem } => Problem::new(field, problem),
            error => Problem::new("alias", error.to_string()),
        })?;
        let place = EgressRule::for_port(entry.hostname(), entry.port())
            .map_err(|error| Problem::new("hostname", format!("cannot be opened: {error}")))?;
        Ok(Wish { entry, key, place })
    }

    /// What ssh is told.
    fn written(&self) -> Result<(HostEntry, Option<KnownHost>), SshError> {
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

/// What does not even fit the schema has been told.
fn problems(arguments: &Arguments) -> Vec<Problem> {
    Configure::of(arguments).and_then(|asked| asked.checked().err()).into_iter().collect()
}

/// A person is asked, whatever else is allowed, and sees where to.
fn judge(arguments: &Arguments) -> Judgement {
    let wish = Configure::of(arguments).and_then(|asked| asked.checked().ok());
    Judgement::Ask(wish.map_or_else(
        || "opens a host to commands".to_owned(),
        |wish| format!("opens `{}` to the commands of this conversation", wish.place),
    ))
}

async fn configure(
    engine: &Engine,
    context: &CallContext,
    ssh: Option<Arc<SshHome>>,
    asked: &Configure,
) -> Result<Configured, ToolError> {
    let ssh = ssh.ok_or_else(|| ToolError::tool("there is no ssh configuration here"))?;
    let Wish { entry, key, place } =
        asked.checked().map_err(|error| ToolError::invalid(error.to_string()))?;
    // First: where it cannot be opened, nothing is written.
    let way = engine.open(context, place).await?;
    let alias = entry.alias().to_owned();
    let example = match way {
        // Their home is another one.
        Way::Everywhere => format!("ssh -F '{}' {alias}", ssh.config().display()),
        Way::Open(_) | Way::NoConversation | Way::NoNetwork => format!("ssh {alias}"),
    };
    let workspace = engine.folder(context, None).await?;
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
        reachable: matches!(way, Way::Open(_) | Way::Everywhere),
        example,
        note: note(way),
    })
}

fn note(way: Way) -> Option<&'static str> {
    match way {
        Way::Open(OpenedHost::First) => Some(
            "the next command gets a new shell, which reaches this host, in the state of the one before; what that one \
             left running with `&` ends",
        ),
        Way::Open(OpenedHost::Another | OpenedHost::Already) | Way::Everywhere => None,
        Way::NoConversation => Some(
            "nothing was opened, as this call belongs to no conversation that goes on; use `toolroom chat`, and make the \
             host known there",
        ),
        Way::NoNetwork => Some(
            "nothing was opened: the sandbox of this machine has no network of its own, for which bubblewrap is needed",
        ),
    }
}
