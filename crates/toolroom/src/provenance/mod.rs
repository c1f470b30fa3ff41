//! Where the provenance of a call comes from, and how it is kept.
//!
//! What was read and sent is kept in *tracks*: one for each conversation, each session of direct calls, and each caller
//! without a session. A call is judged by what its tracks hold when it arrives; what it read is added to them before its
//! caller gets the result. Entrances only say who calls and from where ([`CallSource`]); nothing else in the program decides
//! what a call is judged by. The room `call` does the reading and adding, in `call/history.rs`.
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

/// After this time without a call that read or sent anything, what a caller without a session did is forgotten.
pub const DIRECT_CALLS_COUNT_FOR: Duration = Duration::from_secs(30 * 60);

/// A track that was touched this recently is not written again only to keep it young. One that is forgotten by its age is
/// touched more often.
const TOUCH_EVERY: Duration = Duration::from_hours(24);
const TOUCH_AGEING_EVERY: Duration = Duration::from_secs(60);

/// Files of one track that are remembered as written in it. An older one counts as any other file.
const MAX_FILES: usize = 500;

/// Source of a call outside a conversation. The scope says who owns the call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallSource {
    /// From the program that embeds the kernel: what was read before is what the request says.
    #[default]
    Embedder,
    /// From this session, or this process: what was read counts until it ends.
    Session(Arc<str>),
    /// From a caller that is known only by its key, or by sitting at the machine: what was read counts for a time.
    Caller(Arc<str>),
}

impl CallSource {
    /// Whether the program that embeds the kernel is the source.
    #[must_use]
    pub const fn is_embedder(&self) -> bool {
        matches!(self, Self::Embedder)
    }
}

/// Which track, and whether it is forgotten after a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrackName {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    pub(crate) ages: bool,
    /// What answers say they hold for, if that does not depend on when the track began.
    origin: Arc<str>,
}

impl TrackName {
    /// What answers say they hold for: another one once the track was forgotten.
    pub(crate) fn origin(&self, began: Timestamp) -> Arc<str> {
        match self.ages {
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
        ages: false,
        origin: id.into(),
    });
    let (name, ages) = match source {
        CallSource::Embedder => (None, false),
        CallSource::Session(id) => (Some(format!("session/{id}")), false),
        CallSource::Caller(name) => (Some(format!("caller/{name}")), true),
    };
    let of_source =
        name.map(|name| TrackName { scope: scope.clone(), origin: name.as_str().into(), name, ages });
    of_conversation.into_iter().chain(of_source)
}

/// What was read and sent in one conversation, session, or by one caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// All of it.
    pub provenance: Provenance,
    /// Files that were written here and what was known then, the oldest first. A file is named by what changes with its
    /// content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, Provenance)>,
    /// When it began.
    pub started_at: Timestamp,
    /// When something was last added.
    pub touched_at: Timestamp,
}

/// Something to add to a track.
#[derive(Debug, Clone)]
pub struct TrackChange {
    /// Whose it is.
    pub scope: Scope,
    /// Its name.
    pub name: String,
    /// What was read and sent.
    pub provenance: Provenance,
    /// A file that was written, and what was known before.
    pub file: Option<(String, Provenance)>,
    /// After this time without a change the track begins anew.
    pub max_age: Option<Duration>,
    /// When.
    pub at: Timestamp,
}

impl Track {
    /// The track with a change. For [`Tracks`], which has to do this in one transaction.
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

/// Keeps tracks.
pub trait Tracks: Send + Sync {
    /// The track of that name, exactly of this scope.
    fn track<'a>(
        &'a self,
        scope: &'a Scope,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Track>, LedgerError>>;

    /// Adds to a track, which is made if there is none; see [`Track::with`]. Resolves once it is kept.
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
