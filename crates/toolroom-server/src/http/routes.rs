//! Every route there is.

use crate::http::mcp;
use crate::http::openapi;
use crate::http::resources::agents;
use crate::http::resources::agui;
use crate::http::resources::approvals;
use crate::http::resources::artifacts;
use crate::http::resources::calls;
use crate::http::resources::chat_completions;
use crate::http::resources::conversations;
use crate::http::resources::doctor;
use crate::http::resources::health;
use crate::http::resources::keys;
use crate::http::resources::memories;
use crate::http::resources::policy;
use crate::http::resources::projects;
use crate::http::resources::runs;
use crate::http::resources::sign_in;
use crate::http::resources::switches;
use crate::http::resources::tools;
use crate::http::resources::vendors;
use crate::http::route::Route;

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
    use super::*;
    use crate::http::access::Need;
    use crate::http::route::RouteHandler;

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
