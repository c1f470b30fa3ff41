//! Provenance of calls: looks up what was read and sent before a call, and stores what the call adds.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::fence::catch_panic;
use super::open_call::OpenCall;
use super::permit::described;
use super::report::{Denial, Exit};
use crate::BoxFuture;
use crate::approval::Lift;
use crate::catalog::Entry;
use crate::ledger::{CallRecord, LedgerError};
use crate::policy::Provenance;
use crate::provenance::{CallSource, Names, Track, TrackChange, TrackName, leaves, repeats, tracks_of};
use crate::scope::Scope;
use crate::tool::{Arguments, ClientTool, Destination, FileTrace, Source, ToolOutput, ToolSpec, Yields};
use crate::toolroom::Toolroom;

/// The rule of a call that is denied because its provenance cannot be read.
pub(super) const UNREADABLE_RULE: &str = "provenance.unreadable";

/// Provenance that a call is judged by.
#[derive(Debug, Default)]
pub(super) struct History {
    tracks: Vec<LoadedTrack>,
    /// What was read and sent before the call.
    pub(super) before: Provenance,
    /// The same for the provenance guard, which may count mildly private data as private for this call.
    pub(super) judged: Provenance,
    /// The conversation, session or caller whose question an answer lifts.
    pub(super) origin: Option<Arc<str>>,
    /// Where the call sends something.
    pub(super) destination: Option<Arc<str>>,
    /// What the call adds, if it runs.
    adds: Provenance,
    /// What it has added.
    pub(super) added: Provenance,
}

/// A track and what it held when the call arrived.
#[derive(Debug)]
struct LoadedTrack {
    name: TrackName,
    track: Option<Track>,
}

/// What calls of a tool with these arguments add: what its results hold, where that is known before.
pub(crate) fn adds(room: &Toolroom, spec: &ToolSpec) -> Provenance {
    let by_capabilities = Provenance::from_capabilities(spec.effective_capabilities());
    let outward = Provenance { outward: by_capabilities.outward, ..Provenance::NONE };
    if matches!(spec.id.source(), Source::Client) {
        return outward.and(Provenance::FROM_CLIENT);
    }
    match spec.yields {
        Yields::AsCapable => by_capabilities,
        Yields::Files => outward.and(room.file_provenance),
        Yields::Memories => outward.and(Provenance::MILDLY_PRIVATE),
        Yields::Stated => outward,
    }
}

/// What a call of the named tool adds. A tool that is gone may have done anything.
pub(crate) fn adds_of_call(room: &Toolroom, scope: &Scope, tool: &str, arguments: &Arguments) -> Provenance {
    if ClientTool::has_id(tool) {
        return Provenance::from_capabilities(ClientTool::capabilities()).and(Provenance::FROM_CLIENT);
    }
    let entry = room.catalog.find(&scope.project, tool).ok();
    let spec = entry.as_ref().and_then(|entry| described(entry, arguments).ok());
    spec.map_or(Provenance::from_capabilities(crate::tool::Capabilities::ALL), |spec| adds(room, spec))
}

/// Loads the provenance the call is judged by. Denies if it cannot be read.
pub(super) async fn look_back(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    call: &mut OpenCall,
) -> Result<(), Denial> {
    let Ok(spec) = described(entry, arguments) else { return Ok(()) };
    let adds = adds(room, spec);
    let is_asked_for = room.policy.looks_at_provenance()
        || call.standing().is_ok_and(|standing| standing.answers.look_at_provenance());
    // Tools that read and send nothing rarely need their tracks.
    if adds.is_none() && spec.yields == Yields::AsCapable && !is_asked_for {
        return Ok(());
    }
    let read = Box::pin(read(room, entry, spec, arguments, adds, call)).await;
    let history = read.map_err(|error| {
        let reason = "what was read before is unknown, so nothing is run";
        Denial::by_rule(UNREADABLE_RULE, reason).caused_by(error)
    })?;
    call.request.provenance = history.before;
    call.history = Some(history);
    Ok(())
}

async fn read(
    room: &Toolroom,
    entry: &Entry,
    spec: &ToolSpec,
    arguments: &Arguments,
    adds: Provenance,
    call: &OpenCall,
) -> Result<Box<History>, LedgerError> {
    let request = &call.request;
    let mut history = History { before: request.provenance, adds, ..History::default() };
    let mut origins = Vec::with_capacity(2);
    for name in tracks_of(&request.scope, request.thread.as_deref(), &request.source) {
        let track = room.track(&name).await?;
        // A run passes the provenance of each call itself.
        if let Some(track) = track.as_ref().filter(|_| request.run.is_none()) {
            history.before = history.before.and(track.provenance);
        }
        origins.push(track.as_ref().map(|track| name.origin(track.started_at)));
        history.tracks.push(LoadedTrack { name, track });
    }
    history.origin = if request.run.is_some() {
        // If the client keeps the conversation, each of its messages is a new conversation here.
        origins.pop().flatten()
    } else {
        // A direct call that names a conversation may send data of both: an approval is for both together.
        origins.into_iter().flatten().reduce(|conversation, source| format!("{conversation} {source}").into())
    };
    history.judged = match spec.id.source() {
        Source::Client => history.before,
        _ => history.before.with_client_results(),
    };
    if adds.outward {
        let to = destination(entry, spec, arguments);
        let sends_message = !to.only_address && spec.effective_effect().writes();
        history.destination = to.name.map(Into::into);
        if history.judged.untrusted && !history.judged.private {
            history.judged.private = tells_of_user(room, arguments, sends_message, &history, call).await?;
        }
    }
    Ok(Box::new(history))
}

/// Where a call sends something: the tool's own destination, else its MCP server, else the tool's id.
fn destination(entry: &Entry, spec: &ToolSpec, arguments: &Arguments) -> Destination {
    let named = catch_panic(|| entry.tool.destination(arguments));
    named.ok().flatten().unwrap_or_else(|| match spec.id.source() {
        Source::Mcp(server) => Destination::new(format!("mcp:{server}")),
        _ => Destination::new(spec.id.as_str()),
    })
}

/// Whether the call would carry away what is mildly private: it sends a message and such things were read, or its
/// arguments repeat them.
async fn tells_of_user(
    room: &Toolroom,
    arguments: &Arguments,
    sends_message: bool,
    history: &History,
    call: &OpenCall,
) -> Result<bool, LedgerError> {
    let request = &call.request;
    if sends_message && (history.before.mildly_private || !request.context.is_empty()) {
        return Ok(true);
    }
    let mut values = Vec::new();
    request
        .context
        .values()
        .for_each(|value| leaves(value, Names::Ignore, &mut |text| values.push(text.to_owned())));
    if let Some(memories) = &room.memories {
        values.extend(memories.memories(&request.scope).await?.into_iter().map(|memory| memory.content));
    }
    Ok(!values.is_empty() && repeats(&Value::Object(arguments.clone()), values.iter().map(String::as_str)))
}

/// Stores the provenance that the call adds, before its caller gets the result. `output` is `None` if the tool failed or did
/// not run here.
pub(super) async fn add(
    room: &Toolroom,
    output: Option<&ToolOutput>,
    call: &mut OpenCall,
) -> Result<(), Exit> {
    let Some(mut history) = call.history.take() else { return Ok(()) };
    let added = history.add(room, output, call).await;
    call.history = Some(history);
    added.map_err(|error| call.not_journaled(error))
}

impl History {
    async fn add(
        &mut self,
        room: &Toolroom,
        output: Option<&ToolOutput>,
        call: &OpenCall,
    ) -> Result<(), LedgerError> {
        let mut adds = self.adds;
        let file = output.and_then(|output| output.file.as_ref());
        if let Some(FileTrace::Read(read)) = file {
            let known = self.tracks.iter().filter_map(|loaded| loaded.track.as_ref());
            let written = known.flat_map(|track| &track.files).filter(|(file, _)| file == read);
            adds = written.map(|(_, then)| *then).reduce(Provenance::and).unwrap_or(adds);
        }
        adds = adds.and(output.map_or(Provenance::NONE, |output| output.provenance));
        let is_new = !self.added.includes(adds);
        self.added = self.added.and(adds);
        let wrote = match file {
            Some(FileTrace::Wrote(file)) => Some((file.clone(), self.before)),
            Some(FileTrace::Read(_)) | None => None,
        };
        if !is_new && wrote.is_none() {
            return Ok(());
        }
        let now = call.now();
        for LoadedTrack { name, track } in &self.tracks {
            let has_all = |track: &Track| track.has(adds, now, room.max_age(name));
            if wrote.is_some() || !track.as_ref().is_some_and(has_all) {
                room.add_to_track(name.clone(), adds, wrote.clone()).await?;
            }
        }
        Ok(())
    }

    /// What an approval of the provenance question covers.
    pub(super) fn lifts(&self) -> Option<Lift> {
        let (origin, destination) = self.origin.clone().zip(self.destination.clone())?;
        Some(Lift { origin, destination })
    }
}

impl Toolroom {
    /// The provenance of a conversation, and of the caller if the client keeps the conversation itself.
    pub(crate) async fn provenance_of(
        &self,
        scope: &Scope,
        conversation: &str,
        source: &CallSource,
    ) -> Result<Provenance, LedgerError> {
        let mut all = Provenance::NONE;
        for name in tracks_of(scope, Some(conversation), source) {
            all = all.and(self.track(&name).await?.map_or(Provenance::NONE, |track| track.provenance));
        }
        Ok(all)
    }

    /// Adds provenance to a conversation without a call, such as that of memories in the prompt.
    pub(crate) async fn add_provenance(
        &self,
        scope: &Scope,
        conversation: &str,
        source: &CallSource,
        provenance: Provenance,
    ) -> Result<(), LedgerError> {
        for name in tracks_of(scope, Some(conversation), source) {
            self.add_to_track(name, provenance, None).await?;
        }
        Ok(())
    }

    /// Adds the provenance of a stored call to a source that reads its row, as if the source had made the call now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn add_reading(
        &self,
        scope: &Scope,
        source: &CallSource,
        call: &CallRecord,
    ) -> Result<(), LedgerError> {
        let no_arguments = Arguments::new();
        let arguments = call.arguments.as_object().unwrap_or(&no_arguments);
        let mut reads = adds_of_call(self, scope, &call.tool, arguments);
        reads.outward = false;
        // Memories have their own provenance, which the record does not show.
        if reads.mildly_private {
            reads = reads.and(Provenance::UNKNOWN_RESULTS);
        }
        for name in tracks_of(scope, None, source).filter(|_| !reads.is_none()) {
            self.add_to_track(name, reads, None).await?;
        }
        Ok(())
    }

    async fn track(&self, name: &TrackName) -> Result<Option<Track>, LedgerError> {
        let track = self.tracks.track(&name.scope, &name.name).await?;
        Ok(track.filter(|track| !track.is_over(self.clock.now(), self.max_age(name))))
    }

    fn add_to_track(
        &self,
        name: TrackName,
        provenance: Provenance,
        file: Option<(String, Provenance)>,
    ) -> BoxFuture<'static, Result<(), LedgerError>> {
        let (max_age, at) = (self.max_age(&name), self.clock.now());
        let TrackName { scope, name, .. } = name;
        self.tracks.add_to_track(TrackChange { scope, name, provenance, file, max_age, at })
    }

    fn max_age(&self, name: &TrackName) -> Option<Duration> {
        name.expires.then_some(self.direct_calls_count_for)
    }
}
