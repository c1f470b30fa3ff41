//! What a model gets to see.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Catalog, Entry, WireNames};
use crate::ledger::Switches;
use crate::policy::ToolChoice;
use crate::scope::ProjectId;
use crate::tool::{ClientTools, Tool};

/// The only tools a small model that runs on the device is offered, whatever the switches say.
pub const ON_DEVICE_TOOLS: [&str; 8] = [
    "execute_shell_command",
    "get_local_time",
    "get_location_from_ip",
    "memory_forget",
    "memory_reinforce",
    "memory_store",
    "open_url",
    "web_search",
];

/// Who is offered the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Audience {
    /// A model that can handle many tools.
    #[default]
    Full,
    /// A small model on the device: [`ON_DEVICE_TOOLS`] only.
    OnDevice,
}

/// The tools of one model request, sorted by id so that prompt caches hit, with their wire names.
#[derive(Debug, Clone)]
pub struct ToolOffer {
    /// The tools.
    pub tools: Vec<Arc<Entry>>,
    /// Their names on the wire, and back.
    pub names: WireNames,
}

impl Catalog {
    /// The enabled tools of a project for this audience, among those of `choice`; of each family the preferred variant,
    /// or the first by id while that one does not exist or is not available, and those that `choice` names.
    #[must_use]
    pub fn offer(
        &self,
        project: &ProjectId,
        switches: &Switches,
        context: &Map<String, Value>,
        audience: Audience,
        choice: &ToolChoice,
    ) -> ToolOffer {
        let mut tools = self.list(project);
        tools.retain(|entry| {
            let spec = entry.spec();
            let is_small = ON_DEVICE_TOOLS.contains(&spec.id.bare()) && !spec.is_foreign();
            let known = audience == Audience::Full || is_small;
            known
                && choice.includes(entry.spec())
                && self.check_enabled(entry.spec(), switches, context).is_ok()
        });
        keep_one_per_family(&mut tools, choice);
        let names = WireNames::new(tools.iter().map(|entry| entry.spec().id.as_str()));
        ToolOffer { tools, names }
    }
}

impl Catalog {
    /// An offer with the tools a client brought beside those of the house: for every model, since whoever brings a tool
    /// to a run means the one that answers. What is switched off or denied to the agent is left out.
    pub(crate) fn offer_brought(
        &self,
        offer: ToolOffer,
        brought: &ClientTools,
        switches: &Switches,
        context: &Map<String, Value>,
        choice: &ToolChoice,
    ) -> ToolOffer {
        if brought.is_empty() {
            return offer;
        }
        let mut tools = offer.tools;
        for tool in brought.iter().filter(|tool| choice.includes(tool.spec())) {
            if self.check_enabled(tool.spec(), switches, context).is_err() {
                continue;
            }
            match self.brought(tool) {
                Ok(entry) => tools.push(entry),
                Err(error) => tracing::warn!(tool = %tool.id(), %error, "a client's tool cannot be used"),
            }
        }
        tools.sort_by(|one, other| one.spec().id.cmp(&other.spec().id));
        let names = WireNames::new(tools.iter().map(|entry| entry.spec().id.as_str()));
        ToolOffer { tools, names }
    }
}

fn keep_one_per_family(tools: &mut Vec<Arc<Entry>>, choice: &ToolChoice) {
    let mut chosen: HashMap<String, Arc<Entry>> = HashMap::new();
    for entry in tools.iter() {
        let Some(family) = &entry.spec().family else { continue };
        let holder = chosen.entry(family.name.clone()).or_insert_with(|| Arc::clone(entry));
        let holder_preferred = holder.spec().family.as_ref().is_some_and(|family| family.preferred);
        if family.preferred && !holder_preferred {
            *holder = Arc::clone(entry);
        }
    }
    tools.retain(|entry| {
        let family = entry.spec().family.as_ref().and_then(|family| chosen.get(&family.name));
        choice.names(entry.spec()) || family.is_none_or(|holder| Arc::ptr_eq(holder, entry))
    });
}
