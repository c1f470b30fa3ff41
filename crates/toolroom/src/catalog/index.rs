//! The registered tools and how one is found.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::enable::{FEATURES, Feature};
use super::entry::{Entry, RegisterError};
use super::limits::LimitRule;
use crate::nearest::{nearest, quoted};
use crate::scope::ProjectId;
use crate::tool::{ClientTool, Source, Tool};

/// The tools of one process. Shared; registration and look-up may happen at the same time.
#[derive(Debug)]
pub struct Catalog {
    index: RwLock<Index>,
    limits: Vec<LimitRule>,
}

#[derive(Debug, Default, Clone)]
struct Index {
    /// Sorted by id, for listings and offers; per id one entry for all projects, or one per project.
    tools: BTreeMap<String, Vec<Arc<Entry>>>,
    /// Tools by alias: at most one for all projects and one per project.
    aliases: HashMap<String, Vec<Arc<Entry>>>,
    /// Ids by bare name.
    bare: HashMap<String, Vec<String>>,
    features: BTreeMap<&'static str, Feature>,
    /// By project and source, why tools of the source may be missing.
    absences: BTreeMap<ProjectId, BTreeMap<String, String>>,
    /// Counts changes.
    generation: u64,
}

/// No tool has that name, or several have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// Ids with that bare name; empty when there is none.
    pub candidates: Vec<String>,
    /// Similar names.
    pub nearest: Vec<String>,
    /// Why it may be missing, where its source is known: see [`Catalog::explain_absences`].
    pub why: Option<String>,
}

impl NotFound {
    /// A suggestion what to try instead.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let alike = match (self.candidates.is_empty(), self.nearest.is_empty()) {
            (false, _) => {
                Some(format!("several tools have that name, use the full id: {}", quoted(&self.candidates)))
            }
            (true, false) => Some(format!("did you mean {}?", quoted(&self.nearest))),
            (true, true) => None,
        };
        match (&self.why, alike) {
            (Some(why), Some(alike)) => Some(format!("{alike} {why}")),
            (why, alike) => alike.or_else(|| why.clone()),
        }
    }
}

impl Default for Catalog {
    fn default() -> Self {
        let features = FEATURES.iter().map(|feature| (feature.name, *feature)).collect();
        Self { index: RwLock::new(Index { features, ..Index::default() }), limits: Vec::new() }
    }
}

impl Catalog {
    /// An empty catalog whose tools get these limits beside their own.
    #[must_use]
    pub fn with_limits(limits: Vec<LimitRule>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Declares a feature of the embedder, before the tools that need it.
    pub fn declare(&self, feature: Feature) {
        self.write(|index| index.features.insert(feature.name, feature));
    }

    /// Registers a tool for every project.
    pub fn register(&self, tool: impl Tool + 'static) -> Result<(), RegisterError> {
        self.register_all(None, vec![Arc::new(tool)])
    }

    /// Registers several tools, all or none: for every project, or for one.
    pub fn register_all(
        &self,
        project: Option<&ProjectId>,
        tools: Vec<Arc<dyn Tool>>,
    ) -> Result<(), RegisterError> {
        let entries = self.entries(project, tools)?;
        self.write(|index| index.insert_all(entries))
    }

    /// Replaces every tool whose id starts with `source:` by these, all or none: what a server or an extension does
    /// when its list of tools has changed.
    pub fn replace(
        &self,
        project: Option<&ProjectId>,
        source: &str,
        tools: Vec<Arc<dyn Tool>>,
    ) -> Result<(), RegisterError> {
        let mut entries = self.entries(project, tools)?;
        self.write(|index| {
            let before = index.clone();
            entries.iter_mut().for_each(|entry| index.carry_over(entry));
            index.remove_source(project, source);
            index.insert_all(entries).inspect_err(|_| *index = before)
        })
    }

    fn entries(
        &self,
        project: Option<&ProjectId>,
        tools: Vec<Arc<dyn Tool>>,
    ) -> Result<Vec<Entry>, RegisterError> {
        let entry = |tool: Arc<dyn Tool>| match tool.spec().id.source() {
            Source::Client => Err(RegisterError::OfClient(tool.spec().id.clone())),
            _ => Entry::new(tool, project.cloned(), &self.limits),
        };
        tools.into_iter().map(entry).collect()
    }

    /// The entry of a client tool, with the operator's limits. It is not registered: it belongs to one run.
    ///
    /// # Errors
    /// When its parameters are no usable schema.
    pub(crate) fn client_entry(&self, tool: &Arc<ClientTool>) -> Result<Arc<Entry>, RegisterError> {
        Entry::new(Arc::clone(tool) as Arc<dyn Tool>, None, &self.limits).map(Arc::new)
    }

    /// Removes every tool whose id starts with `source:`, for every project or for one. Running calls keep
    /// the definition they started with.
    pub fn unregister(&self, project: Option<&ProjectId>, source: &str) {
        self.write(|index| index.remove_source(project, source));
    }

    /// Sets the explanations for missing tools of a project, by source: that of `mcp:files:read` is `mcp:files`. Replaces
    /// all earlier ones.
    pub fn explain_absences(&self, project: &ProjectId, reasons: BTreeMap<String, String>) {
        if self.read().absences.get(project) == Some(&reasons) {
            return;
        }
        // Does not change the generation: the tools are the same.
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        index.absences.insert(project.clone(), reasons);
    }

    /// Why a tool of that id is missing, if its source has an explanation.
    #[must_use]
    pub fn why_absent(&self, project: &ProjectId, id: &str) -> Option<String> {
        self.read().why_absent(project, id)
    }

    /// Finds a tool a caller of `project` may name: by id, by alias, or by a bare name that only one tool has.
    pub fn find(&self, project: &ProjectId, name: &str) -> Result<Arc<Entry>, NotFound> {
        let index = self.read();
        if let Some(entry) = index.visible(project, name) {
            return Ok(entry);
        }
        // Aliases and bare names have the same rank: neither may take over another tool's name.
        let ids = index.bare.get(name).map_or(&[][..], Vec::as_slice);
        let aliased = index.aliases.get(name).and_then(|entries| visible_to(project, entries));
        let mut found: Vec<Arc<Entry>> = ids.iter().filter_map(|id| index.visible(project, id)).collect();
        found.extend(aliased.filter(|alias| !found.iter().any(|entry| Arc::ptr_eq(entry, alias))));
        // Nor may a foreign tool take over the name of one of ours.
        if found.iter().any(|entry| !entry.spec().is_foreign()) {
            found.retain(|entry| !entry.spec().is_foreign());
        }
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                found.push(last);
                let candidates = found.iter().map(|entry| entry.spec().id.to_string()).collect();
                Err(NotFound { candidates, nearest: Vec::new(), why: None })
            }
            (None, _) => {
                let visible = index.tools.keys().filter(|id| index.visible(project, id).is_some());
                let nearest =
                    nearest(name, visible.map(String::as_str)).into_iter().map(str::to_owned).collect();
                Err(NotFound { candidates: Vec::new(), nearest, why: index.why_absent(project, name) })
            }
        }
    }

    /// Every tool of a project, by id.
    #[must_use]
    pub fn list(&self, project: &ProjectId) -> Vec<Arc<Entry>> {
        let index = self.read();
        index.tools.keys().filter_map(|id| index.visible(project, id)).collect()
    }

    /// Grows with every change of the tools. A listing stays valid while it is the same.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.read().generation
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
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let generation = index.generation;
        let changed = change(&mut index);
        index.generation = generation + 1;
        changed
    }
}

impl Index {
    /// The entry of that exact id which a project sees.
    fn visible(&self, project: &ProjectId, id: &str) -> Option<Arc<Entry>> {
        visible_to(project, self.tools.get(id)?)
    }

    fn why_absent(&self, project: &ProjectId, name: &str) -> Option<String> {
        let (source, _) = name.rsplit_once(':')?;
        self.absences.get(project)?.get(source).cloned()
    }

    fn insert_all(&mut self, entries: Vec<Entry>) -> Result<(), RegisterError> {
        let mut batch = HashSet::with_capacity(entries.len());
        for entry in &entries {
            self.check(entry, &mut batch)?;
        }
        for entry in entries {
            let entry = Arc::new(entry);
            let spec = entry.spec();
            for alias in &spec.aliases {
                self.aliases.entry(alias.clone()).or_default().push(Arc::clone(&entry));
            }
            let ids = self.bare.entry(spec.id.bare().to_owned()).or_default();
            if !ids.iter().any(|id| id == spec.id.as_str()) {
                ids.push(spec.id.to_string());
            }
            self.tools.entry(spec.id.to_string()).or_default().push(entry);
        }
        Ok(())
    }

    /// Ids and aliases are unique among the tools for all projects, and among those of each project.
    fn check<'e>(&self, entry: &'e Entry, batch: &mut HashSet<&'e str>) -> Result<(), RegisterError> {
        let spec = entry.spec();
        let taken = |holders: Option<&Vec<Arc<Entry>>>| {
            holders.is_some_and(|holders| holders.iter().any(|holder| holder.project == entry.project))
        };
        let id = spec.id.as_str();
        if taken(self.tools.get(id)) || !batch.insert(id) {
            return Err(RegisterError::Duplicate { id: id.to_owned() });
        }
        for alias in &spec.aliases {
            if taken(self.aliases.get(alias)) || !batch.insert(alias) {
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

    /// Calls that still run on the old definition hold permits; the new definition shares its concurrency limit.
    fn carry_over(&self, entry: &mut Entry) {
        let holders = self.tools.get(entry.spec().id.as_str()).into_iter().flatten();
        let old = holders.filter(|old| {
            old.project == entry.project && old.limits().concurrency == entry.limits().concurrency
        });
        if let Some(concurrency) = old.last().and_then(|old| old.concurrency.clone()) {
            entry.concurrency = Some(concurrency);
        }
    }

    fn remove_source(&mut self, project: Option<&ProjectId>, source: &str) {
        let gone = |entry: &Arc<Entry>| {
            let rest = entry.spec().id.as_str().strip_prefix(source);
            entry.project() == project && rest.is_some_and(|rest| rest.starts_with(':'))
        };
        for entries in self.aliases.values_mut().chain(self.tools.values_mut()) {
            entries.retain(|entry| !gone(entry));
        }
        self.tools.retain(|_, entries| !entries.is_empty());
        self.aliases.retain(|_, entries| !entries.is_empty());
        let tools = &self.tools;
        self.bare.retain(|_, ids| {
            ids.retain(|id| tools.contains_key(id));
            !ids.is_empty()
        });
    }
}

/// A project's own tool hides the one for all projects.
fn visible_to(project: &ProjectId, entries: &[Arc<Entry>]) -> Option<Arc<Entry>> {
    let own = entries.iter().find(|entry| entry.project() == Some(project));
    own.or_else(|| entries.iter().find(|entry| entry.project().is_none())).cloned()
}
