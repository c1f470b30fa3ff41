//! The provenance of calls and its storage port.
//!
//! Provenance is stored in *tracks*: one for each conversation, each session of direct calls, and each caller without a
//! session. A call is judged by its tracks when it arrives; what it reads is added to them before the caller gets the
//! result. Entrances only give the caller and its source ([`CallSource`]). `call/history.rs` reads and updates the tracks.
//!
//! | call | tracks |
//! |---|---|
//! | of a run | the conversation's; and the caller's, where the client keeps the conversation itself |
//! | of an MCP session, or of `mcp serve` over stdio | the session's, or the process's |
//! | of a key or a command without a session | the caller's, forgotten some time after its last call |
//! | that names a conversation | the conversation's, too |

mod repeats;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use repeats::{Names, leaves, repeats};

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::LedgerError;
use crate::policy::Provenance;
use crate::scope::Scope;

/// The track of a caller without a session ends after this time without a call that read or sent anything.
pub const DIRECT_CALLS_COUNT_FOR: Duration = Duration::from_secs(30 * 60);

/// How often a track is written only to refresh its age. A track that expires is refreshed more often.
const TOUCH_EVERY: Duration = Duration::from_hours(24);
const TOUCH_AGEING_EVERY: Duration = Duration::from_secs(60);

/// Files recorded as written in one track. Older ones count as any other file.
const MAX_FILES: usize = 500;

/// Source of a call outside a conversation. The scope says who owns the call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallSource {
    /// The program that embeds the kernel: the request carries the provenance.
    #[default]
    Embedder,
    /// A session or process: its track lasts until it ends.
    Session(Arc<str>),
    /// A caller known only by its key or as the local user: its track expires.
    Caller(Arc<str>),
}

impl CallSource {
    /// Whether the program that embeds the kernel is the source.
    #[must_use]
    pub const fn is_embedder(&self) -> bool {
        matches!(self, Self::Embedder)
    }
}

/// The key of a track, and whether it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrackName {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    pub(crate) expires: bool,
    /// The origin that standing answers refer to, without the start of the track.
    origin: Arc<str>,
}

impl TrackName {
    /// The origin that standing answers refer to. A new one after the track has expired.
    pub(crate) fn origin(&self, began: Timestamp) -> Arc<str> {
        match self.expires {
            true => format!("{}@{}", self.origin, began.as_micros()).into(),
            false => Arc::clone(&self.origin),
        }
    }
}

/// The tracks of a call: first that of its conversation, then that of its source.
pub(crate) fn tracks_of(
    scope: &Scope,
    conversation: Option<&str>,
    source: &CallSource,
) -> impl Iterator<Item = TrackName> {
    // One track per conversation, for all its users; conversation ids are unique.
    let of_conversation = conversation.map(|id| TrackName {
        scope: Scope { project: scope.project.clone(), user: None },
        name: format!("conversation/{id}"),
        expires: false,
        origin: id.into(),
    });
    let (name, expires) = match source {
        CallSource::Embedder => (None, false),
        CallSource::Session(id) => (Some(format!("session/{id}")), false),
        CallSource::Caller(name) => (Some(format!("caller/{name}")), true),
    };
    let of_source =
        name.map(|name| TrackName { scope: scope.clone(), origin: name.as_str().into(), name, expires });
    of_conversation.into_iter().chain(of_source)
}

/// The provenance of one conversation, session or caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// Everything read and sent so far.
    pub provenance: Provenance,
    /// Files written here with the provenance at that time, oldest first. A file is identified by a value that changes with
    /// its content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, Provenance)>,
    /// When it began.
    pub started_at: Timestamp,
    /// When something was last added.
    pub touched_at: Timestamp,
}

/// An addition to a track.
#[derive(Debug, Clone)]
pub struct TrackChange {
    /// The owner.
    pub scope: Scope,
    /// Its name.
    pub name: String,
    /// What was read and sent.
    pub provenance: Provenance,
    /// A written file and the provenance before it.
    pub file: Option<(String, Provenance)>,
    /// After this time without a change the track starts anew.
    pub max_age: Option<Duration>,
    /// When.
    pub at: Timestamp,
}

impl Track {
    /// The track after a change. [`Tracks`] implementations call this in one transaction.
    #[must_use]
    pub fn with(track: Option<Self>, change: &TrackChange) -> Self {
        let known = track.filter(|track| !track.is_over(change.at, change.max_age));
        let mut track = known.unwrap_or_else(|| Self {
            provenance: Provenance::NONE,
            files: Vec::new(),
            started_at: change.at,
            touched_at: change.at,
        });
        if let Some((file, before)) = &change.file {
            track.files.retain(|(known, _)| known != file);
            track.files.push((file.clone(), track.provenance.and(*before)));
            let surplus = track.files.len().saturating_sub(MAX_FILES);
            track.files.drain(..surplus);
        }
        track.provenance = track.provenance.and(change.provenance);
        track.touched_at = track.touched_at.max(change.at);
        track
    }

    pub(crate) fn is_over(&self, now: Timestamp, max_age: Option<Duration>) -> bool {
        max_age.is_some_and(|age| self.touched_at < now.before(age))
    }

    /// Whether adding this changes nothing.
    pub(crate) fn has(&self, provenance: Provenance, now: Timestamp, max_age: Option<Duration>) -> bool {
        let touch_every = max_age.map_or(TOUCH_EVERY, |age| TOUCH_AGEING_EVERY.min(age / 4));
        let is_young = self.touched_at >= now.before(touch_every);
        self.provenance.includes(provenance) && is_young
    }
}

/// Stores tracks.
pub trait Tracks: Send + Sync {
    /// The track of that name, exactly of this scope.
    fn track<'a>(
        &'a self,
        scope: &'a Scope,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Track>, LedgerError>>;

    /// Adds to a track or creates it; see [`Track::with`]. Resolves once it is stored.
    fn add_to_track(&self, change: TrackChange) -> BoxFuture<'static, Result<(), LedgerError>>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn change(provenance: Provenance, at: i64, max_age: Option<Duration>) -> TrackChange {
        TrackChange {
            scope: Scope::default(),
            name: "conversation/c".to_owned(),
            provenance,
            file: None,
            max_age,
            at: Timestamp::from_micros(at),
        }
    }

    fn any_provenance() -> impl Strategy<Value = Provenance> {
        any::<[bool; 5]>().prop_map(|[private, untrusted, outward, mildly_private, from_client]| Provenance {
            private,
            untrusted,
            outward,
            mildly_private,
            from_client,
        })
    }

    proptest! {
        #[test]
        fn a_conversation_forgets_nothing_that_was_read_in_it(
            changes in prop::collection::vec((any_provenance(), 0_i64..1 << 50), 1..20)
        ) {
            let mut track = None;
            let mut all = Provenance::NONE;
            for (provenance, at) in changes {
                let next = Track::with(track, &change(provenance, at, None));
                all = all.and(provenance);
                prop_assert_eq!(next.provenance, all);
                track = Some(next);
            }
        }
    }

    #[test]
    fn a_caller_is_forgotten_only_after_its_time() {
        let age = Some(Duration::from_secs(10));
        let read = Provenance { private: true, ..Provenance::NONE };
        let track = Track::with(None, &change(read, 0, age));
        let at = |seconds: i64| seconds * 1_000_000;
        let later = Track::with(Some(track.clone()), &change(Provenance::NONE, at(10), age));
        assert_eq!((later.provenance, later.started_at), (read, track.started_at));
        let anew = Track::with(Some(later), &change(Provenance::NONE, at(21), age));
        assert_eq!((anew.provenance, anew.started_at), (Provenance::NONE, Timestamp::from_micros(at(21))));
    }

    #[test]
    fn a_file_keeps_what_was_known_when_it_was_written_last() {
        let read = Provenance { untrusted: true, ..Provenance::NONE };
        let wrote = |at| TrackChange {
            file: Some(("a".to_owned(), Provenance::NONE)),
            ..change(Provenance::NONE, at, None)
        };
        let track = Track::with(None, &wrote(0));
        let track = Track::with(Some(track), &change(read, 1, None));
        assert_eq!(track.files, [("a".to_owned(), Provenance::NONE)]);
        let track = Track::with(Some(track), &wrote(2));
        assert_eq!(track.files, [("a".to_owned(), read)]);
        let elsewhere = Provenance { private: true, ..Provenance::NONE };
        let of_two = TrackChange { file: Some(("a".to_owned(), elsewhere)), ..wrote(3) };
        assert_eq!(Track::with(Some(track), &of_two).files, [("a".to_owned(), read.and(elsewhere))]);
    }
}
