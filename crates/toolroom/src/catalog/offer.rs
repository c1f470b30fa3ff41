//! The tools offered to a model.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Catalog, Entry, WireNames};
use crate::ledger::Switches;
use crate::policy::ToolChoice;
use crate::scope::ProjectId;
use crate::tool::{ClientTools, Tool};

/// The only tools that are offered to a small model on the device.
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

/// The kind of model that is offered the tools.
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
    /// Adds client tools to an offer, for every kind of model. Tools that are switched off or denied to the agent are left out.
    pub(crate) fn with_client_tools(
        &self,
        offer: ToolOffer,
        client_tools: &ClientTools,
        switches: &Switches,
        context: &Map<String, Value>,
        choice: &ToolChoice,
    ) -> ToolOffer {
        if client_tools.is_empty() {
            return offer;
        }
        let mut tools = offer.tools;
        for tool in client_tools.iter().filter(|tool| choice.includes(tool.spec())) {
            if self.check_enabled(tool.spec(), switches, context).is_err() {
                continue;
            }
            match self.client_entry(tool) {
                Ok(entry) => tools.push(entry),
                Err(error) => tracing::warn!(tool = %tool.id(), %error, "a client tool cannot be used"),
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
