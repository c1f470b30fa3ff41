//! The table of all routes.

use crate::http::resources::{
    agents, agui, approvals, artifacts, calls, chat_completions, conversations, doctor, health, keys,
    memories, policy, projects, runs, sign_in, switches, tools, vendors,
};
use crate::http::route::Route;
use crate::http::{mcp, openapi};

/// All routes.
pub(super) fn all() -> Vec<Route> {
    let resources = [
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
    resources.iter().flat_map(|routes| routes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::access::Access;

    #[test]
    fn routes_are_unique_and_described() {
        let mut seen = std::collections::HashSet::new();
        for route in all() {
            assert!(seen.insert((route.method.clone(), route.path)), "{} {}", route.method, route.path);
            assert!(route.about.ends_with('.') && !route.responses.is_empty(), "{}", route.path);
            let open = matches!(route.access, Access::Public | Access::Local);
            assert!(!open || !route.path.starts_with("/v1"), "{} is open without a key", route.path);
        }
    }
}
