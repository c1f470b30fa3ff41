//! The tools of one run.

use std::sync::Arc;

use crate::catalog::{Entry, Offer};
use crate::model::Offered;

/// What may be called in a run, and what of it the model is shown.
pub(super) struct Tools {
    /// All that the agent may use now.
    offer: Offer,
    /// What the model is shown, in the order of their ids so that caches hit.
    pub(super) shown: Arc<[Offered]>,
}

impl Tools {
    pub(super) fn new(offer: Offer) -> Self {
        let shown = offer.tools.iter().filter_map(|entry| offered(&offer, entry)).collect();
        Self { offer, shown }
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

    /// All that the agent may use.
    pub(super) fn entries(&self) -> &[Arc<Entry>] {
        &self.offer.tools
    }
}

fn offered(offer: &Offer, entry: &Entry) -> Option<Offered> {
    let spec = entry.spec();
    let name = offer.names.wire(spec.id.as_str())?.to_owned();
    Some(Offered { name, description: spec.description.clone(), parameters: Arc::clone(&spec.parameters) })
}
