//! `toolroom keys`: what programs show to come in over the network.

use std::time::Duration;

use clap::{Args, Subcommand};
use toolroom::scope::{LOCAL_PROJECT, ProjectId, Scope};
use toolroom_host::environment;
use toolroom_store::KeyRecord;

use super::console::exit::{Exit, Missing, Refused, Usage};
use super::console::output::short_id;
use super::console::output::{BOLD, DIM, Output, one_line, table, visible};
use super::console::time::local_time;
use super::console::time::{parse_limit, parse_span};
use crate::agents::{self, OpenAgentError};
use crate::app::App;
use crate::documents::{KeyDocument, MadeKey, MadeToken};
use crate::identity::{
    Environment, IssueError, Issued, NewKey, Permission, Rotation, TokenOrder, WebOrigin, find_key, holds,
    make_key, make_token, rotate_key,
};

const EXAMPLES: &str = "\
Examples:
  toolroom keys create --name backend                             may read, call and chat
  toolroom keys create --name desk --scope read,approve --expires 90d
  toolroom keys create --name shop --project shop --scope chat,mint --origin https://shop.example
  toolroom keys rotate backend --overlap 24h                      both hold for a day
  toolroom keys rotate backend --scope answer                     for its own calls, too
  toolroom keys token shop --project shop --user ann              for one user's browser";

/// Room for a name beside the other columns.
const NAME_CHARS: usize = 30;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct KeysArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Whose keys
    #[arg(long, global = true, value_name = "PROJECT", default_value = LOCAL_PROJECT)]
    project: String,
}

#[derive(Subcommand)]
enum Action {
    /// List keys
    List {
        /// Also those that no longer hold
        #[arg(long)]
        all: bool,
    },
    /// Make a key; it is shown this once
    Create(Box<New>),
    /// Put a new key in the place of another, and show it this once
    Rotate {
        /// Its id, the end of it, or its name
        key: String,
        /// How long the old one holds beside the new one
        #[arg(long, value_name = "SPAN", value_parser = parse_span, default_value = "24h")]
        overlap: Duration,
        /// How long the new one holds, e.g. 90d; for good when left out
        #[arg(long, value_name = "SPAN", value_parser = parse_limit)]
        expires: Option<Duration>,
        /// What the new one may do beside what the old one may (repeatable, or with commas)
        #[arg(long, value_name = "SCOPE", value_delimiter = ',')]
        scope: Vec<Permission>,
    },
    /// Take a key back at once, and with it every token it made
    Revoke {
        /// Its id, the end of it, or its name
        key: String,
    },
    /// Make a token for one user of an app, as the key would
    Token {
        /// The key: its id, the end of it, or its name
        key: String,
        /// The user, as the app knows them
        #[arg(long)]
        user: String,
        /// The agent they may talk to
        #[arg(long, default_value = toolroom::agent::DEFAULT_AGENT)]
        agent: String,
        /// The web page that may use it; those of the key when left out
        #[arg(long, value_name = "ORIGIN")]
        origin: Option<WebOrigin>,
        /// How long it holds, up to a day
        #[arg(long, value_name = "SPAN", value_parser = parse_limit, default_value = "15m")]
        expires: Duration,
    },
}

#[derive(Args)]
struct New {
    /// What people call it
    #[arg(long)]
    name: String,
    /// What it may do: read, call, chat, answer, mint, manage, approve (repeatable, or with commas)
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', default_value = "read,call,chat")]
    scope: Vec<Permission>,
    /// What it is for
    #[arg(long, value_name = "ENVIRONMENT", value_enum, default_value_t)]
    env: Environment,
    /// A web page that may use it, as in https://shop.example (repeatable)
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<WebOrigin>,
    /// How long it holds, e.g. 90d; for good when left out
    #[arg(long, value_name = "SPAN", value_parser = parse_limit)]
    expires: Option<Duration>,
}

pub(super) async fn run(app: &App, _owner: Scope, args: KeysArgs, output: &Output) -> anyhow::Result<Exit> {
    let keys = Keys { app, project: ProjectId::new(&args.project), output: *output };
    match args.action {
        None => keys.list(false).await,
        Some(Action::List { all }) => keys.list(all).await,
        Some(Action::Create(new)) => keys.create(*new).await,
        Some(Action::Rotate { key, overlap, expires, scope }) => {
            keys.rotate(&key, overlap, expires, scope).await
        }
        Some(Action::Revoke { key }) => keys.revoke(&key).await,
        Some(Action::Token { key, user, agent, origin, expires }) => {
            keys.token(&key, TokenOrder { user, agent, origin, expires_in: Some(expires.as_secs()) }).await
        }
    }
}

/// The keys of one project.
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
            self.output.talk("there is no key; make one with `toolroom keys create --name NAME`");
        } else {
            let rows: Vec<Vec<String>> = keys.iter().map(|key| row(key, holds(key, now))).collect();
            self.output.data(&table(&rows))?;
        }
        Ok(Exit::Done)
    }

    async fn create(&self, new: New) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let new = NewKey {
            project: self.project.clone(),
            name: new.name,
            environment: new.env,
            permissions: new.scope,
            origins: new.origin,
            expires_at: new.expires.map(|span| clock.now().after(span)),
        };
        // Whoever owns the data folder may do everything.
        let giver = Permission::ALL.into_iter().collect();
        let issued = make_key(&self.app.store, clock, new, giver).await.map_err(told)?;
        self.tell(issued, None)
    }

    async fn rotate(
        &self,
        name: &str,
        overlap: Duration,
        expires: Option<Duration>,
        added: Vec<Permission>,
    ) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let old = find_key(&self.app.store, clock, &self.project, name).await.map_err(told)?;
        let expires_at = expires.map(|span| clock.now().after(span));
        let rotation = Rotation { overlap, expires_at, added };
        let giver = Permission::ALL.into_iter().collect();
        let issued = rotate_key(&self.app.store, clock, &old, rotation, giver).await.map_err(told)?;
        self.tell(issued, Some(&old))
    }

    fn tell(&self, issued: Issued, old: Option<&KeyRecord>) -> anyhow::Result<Exit> {
        let Issued { key, record } = issued;
        if self.output.is_json() {
            let kept = KeyDocument::of(&record, self.app.room.clock().now());
            let replaces = old.map(|old| old.id.clone());
            self.output.document(&MadeKey { key, kept, replaces })?;
            return Ok(Exit::Done);
        }
        self.output.data(&key)?;
        let (name, scopes) = (visible(&record.name), record.permissions.join(", "));
        self.output.talk(format_args!("`{name}` may {scopes}; this is the only time the key is shown"));
        Ok(Exit::Done)
    }

    async fn revoke(&self, name: &str) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let key = find_key(&self.app.store, clock, &self.project, name).await.map_err(told)?;
        let revoked = self.app.store.expire_key(&self.project, &key.id, clock.now()).await?;
        if self.output.is_json() {
            self.output.document(&serde_json::json!({"id": key.id, "revoked": revoked}))?;
        } else {
            self.output.talk(match revoked {
                true => format!("`{}` no longer holds", visible(&key.name)),
                false => format!("`{}` did not hold any more", visible(&key.name)),
            });
        }
        Ok(Exit::Done)
    }

    async fn token(&self, name: &str, order: TokenOrder) -> anyhow::Result<Exit> {
        let clock = self.app.room.clock();
        let key = find_key(&self.app.store, clock, &self.project, name).await.map_err(told)?;
        let scope = Scope { project: self.project.clone(), user: None };
        agents::record(self.app, &scope, &order.agent).await.map_err(|error| match error {
            OpenAgentError::NotFound { .. } => Missing(error.to_string()).into(),
            error => anyhow::Error::from(error),
        })?;
        let (token, expires_at) = make_token(&*self.app.vault, clock, &key, order).map_err(told)?;
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
            let verb = if holds { "until" } else { "ended" };
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

fn told(error: IssueError) -> anyhow::Error {
    match error {
        IssueError::Order(text) | IssueError::Conflict(text) => Usage(text).into(),
        IssueError::Missing(text) => Missing(text).into(),
        IssueError::Forbidden(text) => Refused(text).into(),
        error @ (IssueError::Store(_) | IssueError::Seal(_)) => error.into(),
    }
}
