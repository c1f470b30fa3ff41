//! The vendors an operator has, and the way from a name to a model.
//!
//! Settings come as plain data: whoever joins the parts reads variables, files and secrets. A vendor that is set up wrong
//! is told when it is used, and keeps nobody from using another.

mod error;
mod settings;
mod vendor;

use std::collections::BTreeMap;
use std::sync::Arc;

use toolroom::clock::Clock;
use toolroom::model::Model;
use toolroom::nearest::nearest_one;

pub use self::error::OpenError;
pub use self::settings::{Given, KeySetting, VendorSettings, from_variables};
pub use self::vendor::Vendor;
use crate::client::Remote;
use crate::offline;
use crate::vendor::{Known, ModelName, preset, presets};

/// A model that can be asked.
#[derive(Clone)]
pub struct OpenedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// What is known about it.
    pub known: Known,
}

/// All vendors there are.
#[derive(Debug)]
pub struct Directory {
    vendors: Vec<Vendor>,
    clock: Arc<dyn Clock>,
}

impl Directory {
    /// The vendors that are known, with these settings. Opens nothing.
    #[must_use]
    pub fn new(mut settings: BTreeMap<String, VendorSettings>, clock: Arc<dyn Clock>) -> Self {
        let mut vendors: Vec<Vendor> = presets()
            .iter()
            .map(|preset| Vendor::new(&preset.name, Some(preset), settings.remove(&preset.name)))
            .collect();
        vendors.extend(settings.into_iter().map(|(name, settings)| {
            let like = preset(settings.like.as_deref().unwrap_or("custom"));
            Vendor::new(&name, like, Some(settings))
        }));
        Self { vendors, clock }
    }

    /// The same, where the operator has named these models: vendors that need no key may then be asked where they usually
    /// are, which is a port of this machine. For all others a name alone opens nothing.
    #[must_use]
    pub fn named<'n>(mut self, models: impl IntoIterator<Item = &'n ModelName>) -> Self {
        for model in models {
            let vendor = self.vendors.iter_mut().find(|vendor| vendor.name() == model.vendor());
            vendor.into_iter().for_each(Vendor::name_it);
        }
        self
    }

    /// All vendors: those that are known in the order of the presets, then those an operator has added.
    #[must_use]
    pub fn vendors(&self) -> &[Vendor] {
        &self.vendors
    }

    /// The vendors that somebody has set up.
    pub fn configured(&self) -> impl Iterator<Item = &Vendor> {
        self.vendors.iter().filter(|vendor| vendor.is_configured())
    }

    /// The model to begin with where nobody named one: that of the first vendor that is set up and in order, or the
    /// offline model if none is set up at all.
    #[must_use]
    pub fn usual(&self) -> Option<ModelName> {
        if self.configured().next().is_none() {
            return offline::NAME.parse().ok();
        }
        self.configured().filter(|vendor| vendor.problem().is_none()).find_map(Vendor::usual)
    }

    /// The model of this name. Sends nothing.
    ///
    /// # Errors
    /// When its vendor is unknown or not set up: the error says what to set.
    pub fn open(&self, name: &ModelName) -> Result<OpenedModel, OpenError> {
        let Some(vendor) = self.vendors.iter().find(|vendor| vendor.name() == name.vendor()) else {
            return offline::open(name).unwrap_or_else(|| Err(self.no_vendor(name.vendor())));
        };
        let preset = vendor.preset()?;
        let endpoint = vendor.endpoint()?;
        let known = vendor.known(preset, name.model());
        let terms = vendor.terms(preset, &endpoint, &known, name.model());
        let idle = vendor.idle(preset, &known);
        let client = Arc::new(vendor.client(preset, &endpoint));
        let model = Remote::new(name.clone(), endpoint, terms, idle, client, Arc::clone(&self.clock));
        Ok(OpenedModel { model: Arc::new(model), known })
    }

    fn no_vendor(&self, name: &str) -> OpenError {
        let names = || self.vendors.iter().map(Vendor::name).chain([offline::VENDOR]);
        let near = nearest_one(name, names()).map(|near| format!(" (did you mean `{near}`?)"));
        let known = names().collect::<Vec<_>>().join(", ");
        OpenError::NoVendor { name: name.to_owned(), near: near.unwrap_or_default(), known }
    }
}

#[cfg(test)]
mod tests;
