//! Questions about calls, and answers to them.

use super::route::Route;

pub(super) fn routes() -> Vec<Route> {
    Vec::new()
}
