//! The tools of one run.

use std::collections::HashSet;
use std::sync::Arc;

use super::prompt::PromptTool;
use super::tokens;
use crate::catalog::{Entry, ToolOffer, WireNames};
use crate::model::OfferedTool;
use crate::selector::SizedTool;
use crate::tool::Risk;

/// The tools of a run, and those the model is shown.
pub(super) struct Tools {
    /// The tools the agent may use.
    offer: ToolOffer,
    /// The tools the model is shown, sorted by id so that caches hit.
    pub(super) shown: Arc<[OfferedTool]>,
    tokens: u64,
}

impl Tools {
    pub(super) fn new(offer: ToolOffer) -> Self {
        let shown: Arc<[OfferedTool]> =
            offer.tools.iter().filter_map(|entry| offered(&offer, entry)).collect();
        let tokens = shown.iter().map(tokens::offered).sum();
        Self { offer, shown, tokens }
    }

    /// The tool behind a name that a model wrote: its name on the wire, or a bare name that only one tool has.
    pub(super) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        let by_id = |id: &str| {
            let found = self.offer.tools.binary_search_by(|entry| entry.spec().id.as_str().cmp(id));
            found.ok().and_then(|place| self.offer.tools.get(place))
        };
        if let Some(entry) = self.offer.names.id(name).and_then(by_id) {
            return Some(entry);
        }
        let mut named = self.offer.tools.iter().filter(|entry| {
            let spec = entry.spec();
            spec.id.as_str() == name || spec.id.bare() == name
        });
        named.next().filter(|_| named.next().is_none())
    }

    /// Shows only these tools, by id. Hidden tools can still be called.
    pub(super) fn narrow(&mut self, chosen: &HashSet<String>) {
        let is_chosen =
            |tool: &&OfferedTool| self.offer.names.id(&tool.name).is_some_and(|id| chosen.contains(id));
        self.shown = self.shown.iter().filter(is_chosen).cloned().collect();
        self.tokens = self.shown.iter().map(tokens::offered).sum();
    }

    /// The shown tools with their token estimates.
    pub(super) fn weighed(&self) -> impl Iterator<Item = SizedTool<'_>> {
        let id = |tool: &OfferedTool| self.offer.names.id(&tool.name);
        self.shown
            .iter()
            .filter_map(move |tool| Some(SizedTool { id: id(tool)?, tokens: tokens::offered(tool) }))
    }

    /// The tools the agent may use.
    pub(super) fn entries(&self) -> &[Arc<Entry>] {
        &self.offer.tools
    }

    /// The token estimate of the shown tools.
    pub(super) const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The names on the wire, and back.
    pub(super) const fn names(&self) -> &WireNames {
        &self.offer.names
    }

    /// The shown tools for the prompt.
    pub(super) fn for_prompt(&self) -> Vec<PromptTool<'_>> {
        let tools = self.shown.iter().filter_map(|tool| {
            let spec = self.find(&tool.name)?.spec();
            Some(PromptTool {
                name: &tool.name,
                bare: spec.id.bare(),
                high_risk: spec.risk == Risk::High,
                asks: spec.requires_confirmation,
            })
        });
        tools.collect()
    }
}

fn offered(offer: &ToolOffer, entry: &Entry) -> Option<OfferedTool> {
    let spec = entry.spec();
    let name = offer.names.wire(spec.id.as_str())?.to_owned();
    Some(OfferedTool {
        name,
        description: spec.description.clone(),
        parameters: Arc::clone(&spec.parameters),
    })
}
