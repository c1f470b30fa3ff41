//! Plain sentences: finds the requested tool if it is clear.

use toolroom::selector::{Selector, ToolCard};

use super::Reply;
use super::evidence::Evidence;
use super::fill;
use super::texts;
use super::tool_list::{ListedTool, ToolList};

/// Tools that are suggested if the request is unclear.
const NAMED: usize = 3;

/// Minimum score of a suggestion, relative to the best tool.
const NEAR: f32 = 0.5;

/// Calls the requested tool, or suggests some.
pub(super) fn read(text: &str, tools: &ToolList<'_>) -> Reply {
    let evidence = Evidence::read(text);
    if evidence.expression.is_some()
        && let Some(call) =
            tools.iter().filter(|tool| fill::calculates(tool)).find_map(|tool| call(tool, &evidence))
    {
        return call;
    }
    let selector = Selector::new(tools.iter().map(card));
    let ranking = selector.rank(&format!("{} {}", evidence.rest, evidence.hints()), NAMED);
    // Only the best one, because the next may do the opposite.
    let first = ranking.tools.first().and_then(|ranked| tools.by_wire_name(&ranked.id));
    if let Some(tool) = first
        && !evidence.is_too_much()
        && is_clear(&selector, tool, &evidence)
        && let Some(call) = call(tool, &evidence)
    {
        return call;
    }
    let best = ranking.tools.first().map_or(0.0, |best| best.score);
    let near = ranking.tools.iter().take_while(|ranked| ranked.score >= best * NEAR);
    let near: Vec<&ListedTool<'_>> = near.filter_map(|ranked| tools.by_wire_name(&ranked.id)).collect();
    Reply::Words(texts::unclear(&near, tools))
}

fn call(tool: &ListedTool<'_>, evidence: &Evidence) -> Option<Reply> {
    let arguments = fill::arguments(tool, evidence)?;
    Some(Reply::Call { name: tool.offered.name.clone(), arguments })
}

/// Whether the tool has most words of the sentence. A URL or a path alone is clear.
fn is_clear(selector: &Selector, tool: &ListedTool<'_>, evidence: &Evidence) -> bool {
    let coverage = selector.coverage(&tool.offered.name, &evidence.rest);
    let unmatched = coverage.unmatched.len();
    let is_alone = unmatched == 0 && !(evidence.urls.is_empty() && evidence.paths.is_empty());
    (coverage.matched > 0 || is_alone) && unmatched * 2 <= coverage.matched
}

fn card(tool: &ListedTool<'_>) -> ToolCard {
    ToolCard {
        id: tool.offered.name.clone(),
        name: tool.typed().to_owned(),
        description: tool.offered.description.clone(),
        parameters: tool.parameters().map(|(name, _)| name.to_owned()).collect(),
        ..ToolCard::default()
    }
}
