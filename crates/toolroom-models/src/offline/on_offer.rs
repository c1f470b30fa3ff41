//! The tools on offer, as people name them.

use serde_json::Value;
use toolroom::catalog::WireNames;
use toolroom::model::Offered;
use toolroom::nearest::nearest;
use toolroom::schema::{choices, parameter_allows};

/// Parameters that a usage line shows.
const SHOWN_PARAMETERS: usize = 4;

/// The tools of a request.
pub(super) struct OnOffer<'r> {
    tools: Vec<Tool<'r>>,
}

/// A tool on offer.
pub(super) struct Tool<'r> {
    pub(super) offered: &'r Offered,
    /// Its id, as far as its name on the wire tells it.
    id: String,
    /// What people type: its bare name, or its id where another tool has the same.
    typed: String,
}

/// What a name stands for.
pub(super) enum Named<'t, 'r> {
    Tool(&'t Tool<'r>),
    /// None, or several that are written alike.
    Near(Vec<&'t Tool<'r>>),
}

impl<'r> OnOffer<'r> {
    pub(super) fn new(offered: &'r [Offered]) -> Self {
        let ids: Vec<String> = offered.iter().map(|tool| WireNames::read(&tool.name)).collect();
        let mut bares: Vec<&str> = ids.iter().map(|id| bare(id)).collect();
        bares.sort_unstable();
        let is_shared = |name: &str| {
            let first = bares.partition_point(|known| *known < name);
            bares.get(first + 1).is_some_and(|next| *next == name)
        };
        let typed: Vec<String> =
            ids.iter().map(|id| if is_shared(bare(id)) { id.clone() } else { bare(id).to_owned() }).collect();
        let tools = offered.iter().zip(ids).zip(typed);
        Self { tools: tools.map(|((offered, id), typed)| Tool { offered, id, typed }).collect() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Tool<'r>> {
        self.tools.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool of this name on the wire.
    pub(super) fn on_wire(&self, name: &str) -> Option<&Tool<'r>> {
        self.tools.iter().find(|tool| tool.offered.name == name)
    }

    /// The tool that is called so: on the wire, by its id or its bare name, or by a name so like one that no other
    /// tool can be meant.
    pub(super) fn named(&self, name: &str) -> Named<'_, 'r> {
        let exact = |tool: &&Tool<'r>| tool.offered.name == name || tool.id == name || tool.typed == name;
        if let Some(tool) = self.tools.iter().find(exact) {
            return Named::Tool(tool);
        }
        let near = nearest(name, self.tools.iter().map(|tool| tool.id.as_str()));
        let near: Vec<&Tool<'r>> =
            near.iter().filter_map(|id| self.tools.iter().find(|tool| tool.id == **id)).collect();
        match near.as_slice() {
            [only] => Named::Tool(only),
            _ => Named::Near(near),
        }
    }
}

fn bare(id: &str) -> &str {
    id.rsplit(':').next().filter(|bare| !bare.is_empty()).unwrap_or(id)
}

impl Tool<'_> {
    /// What people type behind the slash.
    pub(super) fn typed(&self) -> &str {
        &self.typed
    }

    /// Its name without separators, for people: `Get local time`.
    pub(super) fn title(&self) -> String {
        let words = bare(&self.id).replace(['_', '-', '.'], " ");
        let mut letters = words.trim().chars();
        letters
            .next()
            .map_or_else(|| self.typed.clone(), |first| first.to_uppercase().chain(letters).collect())
    }

    pub(super) fn schema(&self) -> &Value {
        &self.offered.parameters
    }

    /// The parameters a call must have.
    pub(super) fn required(&self) -> Vec<&str> {
        let required = self.schema().get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// All parameters, with what the schema says of each.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.schema().get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, property)| (name.as_str(), property))
    }

    /// The parameter that free text belongs to: the only required one, or the only one at all, if it is a text.
    pub(super) fn only_text(&self) -> Option<&str> {
        let key = match self.required().as_slice() {
            [only] => *only,
            [] => {
                let mut all = self.parameters();
                all.next().filter(|_| all.next().is_none())?.0
            }
            _ => return None,
        };
        parameter_allows(self.schema(), key, "string").then_some(key)
    }

    /// How it is called: `/calculator expression=…`.
    pub(super) fn usage(&self) -> String {
        let required = self.required();
        let shown =
            if required.is_empty() { self.parameters().map(|(name, _)| name).collect() } else { required };
        let mut usage = format!("/{}", self.typed);
        for key in shown.into_iter().take(SHOWN_PARAMETERS) {
            let choices = choices(self.schema(), key);
            let value = if (1..=4).contains(&choices.len()) { choices.join("|") } else { "…".to_owned() };
            let pair = format!("{key}={value}");
            match self.required().is_empty() {
                true => usage.push_str(&format!(" [{pair}]")),
                false => usage.push_str(&format!(" {pair}")),
            }
        }
        usage
    }

    /// What it does, in a line.
    pub(super) fn gist(&self) -> String {
        const MOST: usize = 90;
        let line = self.offered.description.lines().next().unwrap_or_default().trim();
        let ends = [". ", ": ", "; "].into_iter().filter_map(|end| line.split_once(end));
        // What stands in brackets belongs to what is before them.
        let whole = ends.map(|(first, _)| first).filter(|first| !first.contains('('));
        let sentence = whole.min_by_key(|first| first.len()).unwrap_or(line).trim_end_matches('.');
        match sentence.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or_default().trim_end()),
            None => sentence.to_owned(),
        }
    }
}
