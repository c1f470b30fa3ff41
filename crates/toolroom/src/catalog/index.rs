//! The registered tools and how one is found.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::entry::{Entry, RegisterError};
use super::feature::{FEATURES, Feature};
use crate::nearest::nearest;
use crate::scope::ProjectId;
use crate::tool::{Tool, ToolSpec};

/// The tools of one process. Shared; registration and look-up may happen at the same time.
#[derive(Debug)]
pub struct Catalog {
    index: RwLock<Index>,
}

#[derive(Debug, Default)]
struct Index {
    /// By id, so that listings and offers come out sorted; per id one entry for everybody, or one per project.
    tools: BTreeMap<String, Vec<Arc<Entry>>>,
    /// Aliases and bare names, to the ids that answer to them.
    names: HashMap<String, Vec<String>>,
    features: BTreeMap<&'static str, Feature>,
}

/// No tool answers to that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// Ids that all answer to the bare name; empty when none does.
    pub candidates: Vec<String>,
    /// Names that look alike.
    pub nearest: Vec<String>,
}

impl Default for Catalog {
    fn default() -> Self {
        let features = FEATURES.iter().map(|feature| (feature.name, *feature)).collect();
        Self { index: RwLock::new(Index { features, ..Index::default() }) }
    }
}

impl Catalog {
    /// Declares a feature of the embedder's own, before the tools that hang on it.
    pub fn declare(&self, feature: Feature) {
        self.write(|index| index.features.insert(feature.name, feature));
    }

    /// Takes a tool for every project.
    pub fn register(&self, tool: impl Tool + 'static) -> Result<(), RegisterError> {
        self.register_all(None, vec![Arc::new(tool)])
    }

    /// Takes several tools, all or none: for every project, or for one.
    pub fn register_all(
        &self,
        project: Option<&ProjectId>,
        tools: Vec<Arc<dyn Tool>>,
    ) -> Result<(), RegisterError> {
        let entries: Vec<Entry> =
            tools.into_iter().map(|tool| Entry::new(tool, project.cloned())).collect::<Result<_, _>>()?;
        self.write(|index| index.insert_all(entries))
    }

    /// Takes out every tool whose id starts with `source:`, for every project or for one. Running calls keep
    /// the definition they started with.
    pub fn unregister(&self, project: Option<&ProjectId>, source: &str) {
        let prefix = format!("{source}:");
        self.write(|index| {
            index.remove(|entry| entry.project() == project && entry.spec().id.as_str().starts_with(&prefix));
        });
    }

    /// Finds a tool a caller of `project` may name: by id, by alias, or by a bare name that only one tool has.
    pub fn find(&self, project: &ProjectId, name: &str) -> Result<Arc<Entry>, NotFound> {
        let index = self.read();
        if let Some(entry) = index.visible(project, name) {
            return Ok(entry);
        }
        let ids = index.names.get(name).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<Arc<Entry>> = ids.iter().filter_map(|id| index.visible(project, id)).collect();
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                found.push(last);
                let candidates = found.iter().map(|entry| entry.spec().id.to_string()).collect();
                Err(NotFound { candidates, nearest: Vec::new() })
            }
            (None, _) => {
                let visible = index.tools.keys().filter(|id| index.visible(project, id).is_some());
                let nearest =
                    nearest(name, visible.map(String::as_str)).into_iter().map(str::to_owned).collect();
                Err(NotFound { candidates: Vec::new(), nearest })
            }
        }
    }

    /// Every tool of a project, by id.
    #[must_use]
    pub fn list(&self, project: &ProjectId) -> Vec<Arc<Entry>> {
        let index = self.read();
        index.tools.keys().filter_map(|id| index.visible(project, id)).collect()
    }

    /// Every declared feature, by name.
    #[must_use]
    pub fn features(&self) -> Vec<Feature> {
        self.read().features.values().copied().collect()
    }

    /// The feature of that name.
    #[must_use]
    pub fn feature(&self, name: &str) -> Option<Feature> {
        self.read().features.get(name).copied()
    }

    fn read(&self) -> RwLockReadGuard<'_, Index> {
        // No code panics while it holds the lock, and a half-made change is never visible: see `insert_all`.
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(&self, change: impl FnOnce(&mut Index) -> T) -> T {
        change(&mut self.index.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Index {
    /// The entry of that exact id which a project sees: its own before the one for everybody.
    fn visible(&self, project: &ProjectId, id: &str) -> Option<Arc<Entry>> {
        let entries = self.tools.get(id)?;
        let own = entries.iter().find(|entry| entry.project() == Some(project));
        own.or_else(|| entries.iter().find(|entry| entry.project().is_none())).cloned()
    }

    fn insert_all(&mut self, entries: Vec<Entry>) -> Result<(), RegisterError> {
        let mut batch = HashSet::with_capacity(entries.len());
        for entry in &entries {
            let id = entry.spec().id.as_str();
            let holders = self.tools.get(id).map_or(&[][..], Vec::as_slice);
            if holders.iter().any(|holder| holder.project == entry.project) || !batch.insert(id) {
                return Err(RegisterError::Duplicate { id: id.to_owned() });
            }
            self.check(entry.spec())?;
        }
        for entry in entries {
            let entry = Arc::new(entry);
            let id = entry.spec().id.to_string();
            let names = entry.spec().aliases.iter().map(String::as_str).chain([entry.spec().id.bare()]);
            for name in names {
                let ids = self.names.entry(name.to_owned()).or_default();
                if !ids.contains(&id) {
                    ids.push(id.clone());
                }
            }
            self.tools.entry(id).or_default().push(entry);
        }
        Ok(())
    }

    fn check(&self, spec: &ToolSpec) -> Result<(), RegisterError> {
        for alias in &spec.aliases {
            if self.names.contains_key(alias) || self.tools.contains_key(alias) {
                return Err(RegisterError::Duplicate { id: alias.clone() });
            }
        }
        match &spec.enablement.feature {
            Some(feature) if !self.features.contains_key(feature.as_str()) => {
                Err(RegisterError::UnknownFeature { id: spec.id.clone(), feature: feature.clone() })
            }
            _ => Ok(()),
        }
    }

    fn remove(&mut self, gone: impl Fn(&Entry) -> bool) {
        self.tools.retain(|_, entries| {
            entries.retain(|entry| !gone(entry));
            !entries.is_empty()
        });
        let tools = &self.tools;
        self.names.retain(|_, ids| {
            ids.retain(|id| tools.contains_key(id));
            !ids.is_empty()
        });
    }
}
