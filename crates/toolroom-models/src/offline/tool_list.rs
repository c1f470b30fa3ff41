//! The offered tools and their names.

use serde_json::Value;
use toolroom::catalog::WireNames;
use toolroom::model::OfferedTool;
use toolroom::nearest::nearest;
use toolroom::schema::{choices, parameter_allows};

/// Parameters in a usage line.
const SHOWN_PARAMETERS: usize = 4;

/// The tools of a request.
pub(super) struct ToolList<'r> {
    tools: Vec<ListedTool<'r>>,
}

/// An offered tool.
pub(super) struct ListedTool<'r> {
    pub(super) offered: &'r OfferedTool,
    /// Its id, derived from its name on the wire.
    id: String,
    /// The name users type: its bare name, or its id if that is ambiguous.
    typed: String,
}

/// The result of looking up a name.
pub(super) enum Lookup<'t, 'r> {
    Tool(&'t ListedTool<'r>),
    /// No unique tool; similar ones.
    Similar(Vec<&'t ListedTool<'r>>),
}

impl<'r> ToolList<'r> {
    pub(super) fn new(offered: &'r [OfferedTool]) -> Self {
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
        Self { tools: tools.map(|((offered, id), typed)| ListedTool { offered, id, typed }).collect() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ListedTool<'r>> {
        self.tools.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tool with this name on the wire.
    pub(super) fn by_wire_name(&self, name: &str) -> Option<&ListedTool<'r>> {
        self.tools.iter().find(|tool| tool.offered.name == name)
    }

    /// The tool with this wire name, id or bare name, or the only one with a similar name.
    pub(super) fn look_up(&self, name: &str) -> Lookup<'_, 'r> {
        let exact =
            |tool: &&ListedTool<'r>| tool.offered.name == name || tool.id == name || tool.typed == name;
        if let Some(tool) = self.tools.iter().find(exact) {
            return Lookup::Tool(tool);
        }
        let near = nearest(name, self.tools.iter().map(|tool| tool.id.as_str()));
        let near: Vec<&ListedTool<'r>> =
            near.iter().filter_map(|id| self.tools.iter().find(|tool| tool.id == **id)).collect();
        match near.as_slice() {
            [only] => Lookup::Tool(only),
            _ => Lookup::Similar(near),
        }
    }
}

fn bare(id: &str) -> &str {
    id.rsplit(':').next().filter(|bare| !bare.is_empty()).unwrap_or(id)
}

impl ListedTool<'_> {
    /// The name users type after the slash.
    pub(super) fn typed(&self) -> &str {
        &self.typed
    }

    /// Its display name: `Get local time`.
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

    /// The required parameters.
    pub(super) fn required(&self) -> Vec<&str> {
        let required = self.schema().get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// All parameters with their schemas.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.schema().get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, property)| (name.as_str(), property))
    }

    /// The parameter for free text: the only required one, or the only one, if it is a string.
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

    /// Its usage: `/calculator expression=…`.
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

    /// The first sentence of its description.
    pub(super) fn summary(&self) -> String {
        const MAX_CHARS: usize = 90;
        let line = self.offered.description.lines().next().unwrap_or_default().trim();
        let ends = [". ", ": ", "; "].into_iter().filter_map(|end| line.split_once(end));
        let whole = ends.map(|(first, _)| first).filter(|first| !first.contains('('));
        let sentence = whole.min_by_key(|first| first.len()).unwrap_or(line).trim_end_matches('.');
        match sentence.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or_default().trim_end()),
            None => sentence.to_owned(),
        }
    }
}
