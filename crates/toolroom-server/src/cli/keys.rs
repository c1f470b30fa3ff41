//! `toolroom keys`: API keys and tokens.

use std::time::Duration;

use clap::{Args, Subcommand};
use toolroom::scope::{LOCAL_PROJECT, ProjectId, Scope};
use toolroom_host::environment;
use toolroom_store::KeyRecord;

use super::console::exit::{Exit, Missing, Refused, Usage};
use super::console::output::{BOLD, DIM, Output, one_line, short_id, table, visible};
use super::console::time::{local_time, parse_limit, parse_span};
use crate::agents::{self, OpenAgentError};
use crate::app::App;
use crate::documents::{KeyDocument, MadeKey, MadeToken};
use crate::identity::{
    Environment, IssueError, Issued, NewKey, Permission, Rotation, TokenOrder, WebOrigin, find_key, holds,
    make_key, make_token, rotate_key,
};

const EXAMPLES: &str = "\
Examples:
  toolroom keys create --name backend                             scopes read, call and chat
  toolroom keys create --name desk --scope read,approve --expires 90d
  toolroom keys create --name shop --project shop --scope chat,mint --origin https://shop.example
  toolroom keys rotate backend --overlap 24h                      both keys work for a day
  toolroom keys rotate backend --scope answer                     add a scope
  toolroom keys token shop --project shop --user ann              a token for one user's browser";

/// Column width of a name.
const NAME_CHARS: usize = 30;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    command: Option<KeysCommand>,
    /// Project of the keys
    #[arg(long, global = true, value_name = "PROJECT", default_value = LOCAL_PROJECT)]
    project: String,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// List keys
    List {
        /// Include expired and revoked keys
        #[arg(long)]
        all: bool,
    },
    /// Create a key; it is shown only once
    Create(Box<CreateArgs>),
    /// Replace a key with a new one, which is shown only once
    Rotate {
        /// Key id, its ending, or the key name
        key: String,
        /// How long the old key stays valid
        #[arg(long, value_name = "SPAN", value_parser = parse_span, default_value = "24h")]
        overlap: Duration,
        /// Lifetime of the new key, e.g. 90d [default: no expiry]
        #[arg(long, value_name = "SPAN", value_parser = parse_limit)]
        expires: Option<Duration>,
        /// Scopes to add to those of the old key (repeatable, or comma-separated)
        #[arg(long, value_name = "SCOPE", value_delimiter = ',')]
        scope: Vec<Permission>,
    },
    /// Revoke a key and every token it issued
    Revoke {
        /// Key id, its ending, or the key name
        key: String,
    },
    /// Issue a token for one user of an app
    Token {
        /// Key id, its ending, or the key name
        key: String,
        /// User id in the app
        #[arg(long)]
        user: String,
        /// Agent the user may chat with
        #[arg(long, default_value = toolroom::agent::DEFAULT_AGENT)]
        agent: String,
        /// Web origin that may use the token [default: those of the key]
        #[arg(long, value_name = "ORIGIN")]
        origin: Option<WebOrigin>,
        /// Lifetime, up to a day
        #[arg(long, value_name = "SPAN", value_parser = parse_limit, default_value = "15m")]
        expires: Duration,
    },
}

#[derive(Args)]
struct CreateArgs {
    /// Name of the key
    #[arg(long)]
    name: String,
    /// Scopes: read, call, chat, answer, mint, manage, approve (repeatable, or comma-separated)
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', default_value = "read,call,chat")]
    scope: Vec<Permission>,
    /// Environment the key is for
    #[arg(long, value_name = "ENVIRONMENT", value_enum, default_value_t)]
    env: Environment,
    /// Web origin that may use the key, e.g. https://shop.example (repeatable)
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<WebOrigin>,
    /// Lifetime, e.g. 90d [default: no expiry]
    #[arg(long, value_name = "SPAN", value_parser = parse_limit)]
    expires: Option<Duration>,
}

pub(super) async fn run(app: &App, _owner: Scope, args: KeysArgs, output: &Output) -> anyhow::Result<Exit> {
    let keys = Keys { app, project: ProjectId::new(&args.project), output: *output };
    match args.command {
        None => keys.list(false).await,
        Some(KeysCommand::List { all }) => keys.list(all).await,
        Some(KeysCommand::Create(new)) => keys.create(*new).await,
        Some(KeysCommand::Rotate { key, overlap, expires, scope }) => {
            keys.rotate(&key, overlap, expires, scope).await
        }
        Some(KeysCommand::Revoke { key }) => keys.revoke(&key).await,
        Some(KeysCommand::Token { key, user, agent, origin, expires }) => {
            keys.token(&key, TokenOrder { user, agent, origin, expires_in: Some(expires.as_secs()) }).await
        }
    }
}

/// The keys of one project, and where results are printed.
struct Keys<'a> {
    app: &'a App,
    project: ProjectId,
    output: Output,
}

impl Keys<'_> {
    async fn list(&self, all: bool) -> anyhow::Result<Exit> {
        let now = self.app.room.clock().now();
        let mut keys = self.app.store.keys(&self.project).await?;
        keys.retain(|key| all || holds(key, now));
        if self.output.is_json() {
            let documents: Vec<KeyDocument> = keys.iter().map(|key| KeyDocument::of(key, now)).collect();
            self.output.document(&documents)?;
        } else if keys.is_empty() {
            self.output.talk("No API keys yet; create one with `toolroom keys create --name NAME`");
        } else {
            let rows: Vec<Vec<String>> = keys.iter().map(|key| row(key, holds(key, now))).collect();
            self.output.data(&table(&rows))?;
        }
        Ok(Exit::Done)
    }

    async fn create(&self, new: CreateArgs) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let new = NewKey {
            project: self.project.clone(),
            name: new.name,
            environment: new.env,
            permissions: new.scope,
            origins: new.origin,
            expires_at: new.expires.map(|span| clock.now().after(span)),
        };
        // The owner of the data folder may grant every scope.
        let granted_by = Permission::ALL.into_iter().collect();
        let issued = make_key(&self.app.store, clock, new, granted_by).await.map_err(issue_error)?;
        self.print_issued(issued, None)
    }

    async fn rotate(
        &self,
        name: &str,
        overlap: Duration,
        expires: Option<Duration>,
        added: Vec<Permission>,
    ) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let old = find_key(&self.app.store, clock, &self.project, name).await.map_err(issue_error)?;
        let expires_at = expires.map(|span| clock.now().after(span));
        let rotation = Rotation { overlap, expires_at, added };
        let granted_by = Permission::ALL.into_iter().collect();
        let issued =
            rotate_key(&self.app.store, clock, &old, rotation, granted_by).await.map_err(issue_error)?;
        self.print_issued(issued, Some(&old))
    }

    fn print_issued(&self, issued: Issued, old: Option<&KeyRecord>) -> anyhow::Result<Exit> {
        let Issued { key, record } = issued;
        if self.output.is_json() {
            let kept = KeyDocument::of(&record, self.app.room.clock().now());
            let replaces = old.map(|old| old.id.clone());
            self.output.document(&MadeKey { key, kept, replaces })?;
            return Ok(Exit::Done);
        }
        self.output.data(&key)?;
        let (name, scopes) = (visible(&record.name), record.permissions.join(", "));
        self.output
            .talk(format_args!("Key `{name}` with scopes {scopes}; store it now, it is not shown again"));
        Ok(Exit::Done)
    }

    async fn revoke(&self, name: &str) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let key = find_key(&self.app.store, clock, &self.project, name).await.map_err(issue_error)?;
        let revoked = self.app.store.expire_key(&self.project, &key.id, clock.now()).await?;
        if self.output.is_json() {
            self.output.document(&serde_json::json!({"id": key.id, "revoked": revoked}))?;
        } else {
            self.output.talk(match revoked {
                true => format!("Revoked `{}`", visible(&key.name)),
                false => format!("`{}` was not valid any more", visible(&key.name)),
            });
        }
        Ok(Exit::Done)
    }

    async fn token(&self, name: &str, order: TokenOrder) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let key = find_key(&self.app.store, clock, &self.project, name).await.map_err(issue_error)?;
        let scope = Scope { project: self.project.clone(), user: None };
        agents::record(self.app, &scope, &order.agent).await.map_err(|error| match error {
            OpenAgentError::NotFound { .. } => Missing(error.to_string()).into(),
            error => anyhow::Error::from(error),
        })?;
        let (token, expires_at) = make_token(&*self.app.vault, clock, &key, order).map_err(issue_error)?;
        match self.output.is_json() {
            true => self.output.document(&MadeToken { token, expires_at })?,
            false => self.output.data(&token)?,
        }
        Ok(Exit::Done)
    }
}

fn row(key: &KeyRecord, holds: bool) -> Vec<String> {
    let until = match key.expires_at {
        None => String::new(),
        Some(until) => {
            let verb = if holds { "valid until" } else { "expired" };
            format!("{verb} {}", local_time(until, &environment::time_zone(), "%Y-%m-%d %H:%M"))
        }
    };
    vec![
        short_id(&key.id),
        format!("{BOLD}{}{BOLD:#}", one_line(&key.name, NAME_CHARS)),
        visible(&key.hint),
        key.permissions.join(","),
        key.origins.join(" "),
        format!("{DIM}{until}{DIM:#}"),
    ]
}

fn issue_error(error: IssueError) -> anyhow::Error {
    match error {
        IssueError::Order(text) | IssueError::Conflict(text) => Usage(text).into(),
        IssueError::Missing(text) => Missing(text).into(),
        IssueError::Forbidden(text) => Refused(text).into(),
        error @ (IssueError::Store(_) | IssueError::Seal(_)) => error.into(),
    }
}
