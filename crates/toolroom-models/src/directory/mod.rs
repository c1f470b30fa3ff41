//! The configured vendors; opens models by name.
//!
//! Settings are plain data: the server reads variables, files and secrets. A misconfigured vendor fails when it is used and
//! does not affect others.

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

/// An open model.
#[derive(Clone)]
pub struct OpenedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its profile.
    pub known: Known,
}

/// All vendors.
#[derive(Debug)]
pub struct Directory {
    vendors: Vec<Vendor>,
    clock: Arc<dyn Clock>,
}

impl Directory {
    /// The known vendors with these settings. Opens nothing.
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

    /// Marks models that the operator has named. Local vendors without a key may then be reached at their default port on
    /// this machine. For other vendors a name alone opens nothing.
    #[must_use]
    pub fn named<'n>(mut self, models: impl IntoIterator<Item = &'n ModelName>) -> Self {
        for model in models {
            let vendor = self.vendors.iter_mut().find(|vendor| vendor.name() == model.vendor());
            vendor.into_iter().for_each(Vendor::mark_named);
        }
        self
    }

    /// All vendors: presets in their order, then those the operator added.
    #[must_use]
    pub fn vendors(&self) -> &[Vendor] {
        &self.vendors
    }

    /// The vendors with settings.
    pub fn configured(&self) -> impl Iterator<Item = &Vendor> {
        self.vendors.iter().filter(|vendor| vendor.is_configured())
    }

    /// The default model: that of the first vendor that is configured without problems, or the offline model if none is
    /// configured.
    #[must_use]
    pub fn default_model(&self) -> Option<ModelName> {
        if self.configured().next().is_none() {
            return offline::NAME.parse().ok();
        }
        self.configured().filter(|vendor| vendor.problem().is_none()).find_map(Vendor::default_model)
    }

    /// Opens the model of this name. Sends nothing.
    ///
    /// # Errors
    /// When its vendor is unknown or not configured; the error says what to set.
    pub fn open(&self, name: &ModelName) -> Result<OpenedModel, OpenError> {
        let Some(vendor) = self.vendors.iter().find(|vendor| vendor.name() == name.vendor()) else {
            return offline::open(name).unwrap_or_else(|| Err(self.no_vendor(name.vendor())));
        };
        let preset = vendor.preset()?;
        let endpoint = vendor.endpoint()?;
        let known = vendor.known(preset, name.model());
        let options = vendor.options(preset, &endpoint, &known, name.model());
        let idle = vendor.idle(preset, &known);
        let client = Arc::new(vendor.client(preset, &endpoint));
        let model = Remote::new(name.clone(), endpoint, options, idle, client, Arc::clone(&self.clock));
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
