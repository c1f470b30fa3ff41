//! A plain sentence: which tool it asks for, if that is clear.

use toolroom::selector::{Selector, ToolCard};

use super::Reply;
use super::evidence::Evidence;
use super::fill;
use super::on_offer::{OnOffer, Tool};
use super::speech;

/// Tools that are named where nothing is clear.
const NAMED: usize = 3;

/// A tool is near if it fits at least so well, measured by the best one.
const NEAR: f32 = 0.5;

/// Calls the tool a sentence asks for, or says what could be called.
pub(super) fn read(text: &str, tools: &OnOffer<'_>) -> Reply {
    let evidence = Evidence::of(text);
    if evidence.expression.is_some()
        && let Some(call) =
            tools.iter().filter(|tool| fill::calculates(tool)).find_map(|tool| call(tool, &evidence))
    {
        return call;
    }
    let selector = Selector::new(tools.iter().map(card));
    let ranking = selector.rank(&format!("{} {}", evidence.rest, evidence.hints()), NAMED);
    // Only the best one: the next may do the opposite of what is wanted, and have what it requires.
    let first = ranking.tools.first().and_then(|ranked| tools.on_wire(&ranked.id));
    if let Some(tool) = first
        && !evidence.is_too_much()
        && is_clear(&selector, tool, &evidence)
        && let Some(call) = call(tool, &evidence)
    {
        return call;
    }
    let best = ranking.tools.first().map_or(0.0, |best| best.score);
    let near = ranking.tools.iter().take_while(|ranked| ranked.score >= best * NEAR);
    let near: Vec<&Tool<'_>> = near.filter_map(|ranked| tools.on_wire(&ranked.id)).collect();
    Reply::Words(speech::unclear(&near, tools))
}

fn call(tool: &Tool<'_>, evidence: &Evidence) -> Option<Reply> {
    let arguments = fill::arguments(tool, evidence)?;
    Some(Reply::Call { name: tool.offered.name.clone(), arguments })
}

/// Whether the sentence says little that the tool has nothing to do with. A page or a file alone says nothing else.
fn is_clear(selector: &Selector, tool: &Tool<'_>, evidence: &Evidence) -> bool {
    let fit = selector.fit(&tool.offered.name, &evidence.rest);
    let strange = fit.strange.len();
    let is_alone = strange == 0 && !(evidence.urls.is_empty() && evidence.paths.is_empty());
    (fit.met > 0 || is_alone) && strange * 2 <= fit.met
}

fn card(tool: &Tool<'_>) -> ToolCard {
    ToolCard {
        id: tool.offered.name.clone(),
        name: tool.typed().to_owned(),
        description: tool.offered.description.clone(),
        parameters: tool.parameters().map(|(name, _)| name.to_owned()).collect(),
        ..ToolCard::default()
    }
}
