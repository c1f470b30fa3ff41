//! Every route there is.

use super::route::Route;
use super::{
    agents, agui, approvals, artifacts, calls, chat_completions, conversations, doctor, health, keys, mcp,
    memories, openapi, policy, projects, runs, sign_in, switches, tools, vendors,
};

/// The table.
pub(super) fn all() -> Vec<Route> {
    let rooms = [
        health::routes,
        sign_in::routes,
        openapi::routes,
        tools::routes,
        switches::routes,
        calls::routes,
        approvals::routes,
        agents::routes,
        artifacts::routes,
        memories::routes,
        vendors::routes,
        keys::routes,
        projects::routes,
        policy::routes,
        doctor::routes,
        runs::routes,
        conversations::routes,
        agui::routes,
        chat_completions::routes,
        mcp::routes,
    ];
    rooms.iter().flat_map(|routes| routes()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::need::Need;
    use super::super::route::RouteHandler;
    use super::*;

    #[test]
    fn no_route_is_there_twice_and_each_says_what_it_does() {
        let mut seen = std::collections::HashSet::new();
        for route in all() {
            assert!(seen.insert((route.method.clone(), route.path)), "{} {}", route.method, route.path);
            assert!(route.about.ends_with('.') && !route.replies.is_empty(), "{}", route.path);
            let is_direct = matches!(route.handler, RouteHandler::Direct(_));
            assert!(!is_direct || !route.path.contains('{'), "{} is found by its path alone", route.path);
            let open = matches!(route.need, Need::Nothing | Need::Neighbour);
            assert!(!open || !route.path.starts_with("/v1"), "{} is open to everybody", route.path);
        }
    }
}
