//! Every route there is.

use super::openapi;
use super::route::Route;
use super::{agui, approvals, calls, conversations, health, runs, sign_in, tools};

/// The table.
pub(super) fn all() -> Vec<Route> {
    let mut routes = Vec::new();
    routes.extend(health::routes());
    routes.extend(sign_in::routes());
    routes.extend(openapi::routes());
    routes.extend(tools::routes());
    routes.extend(calls::routes());
    routes.extend(approvals::routes());
    routes.extend(runs::routes());
    routes.extend(conversations::routes());
    routes.extend(agui::routes());
    routes
}

#[cfg(test)]
mod tests {
    use super::super::need::Need;
    use super::*;

    #[test]
    fn no_route_is_there_twice_and_each_says_what_it_does() {
        let mut seen = std::collections::HashSet::new();
        for route in all() {
            assert!(seen.insert((route.method.clone(), route.path)), "{} {}", route.method, route.path);
            assert!(route.about.ends_with('.') && !route.replies.is_empty(), "{}", route.path);
            let open = matches!(route.need, Need::Nothing | Need::Neighbour);
            assert!(!open || !route.path.starts_with("/v1"), "{} is open to everybody", route.path);
        }
    }
}
