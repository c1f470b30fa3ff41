//! What may be refused at a route: whatever it does, by what it needs, and by what it takes.

use crate::http::access::Need;
use crate::http::route::Route;

/// The statuses of refusals that a route brings with it, and what they say.
pub(super) fn refusals(route: &Route) -> Vec<(u16, &'static str)> {
    let mut refusals = vec![
        (403, "Whoever asks may not do this, or not from this page."),
        (421, "The server has no such name."),
        (429, "Too many requests; come again after `Retry-After` seconds."),
        (500, "It is the server's fault; its log says why."),
    ];
    let takes_body = route.body.is_some() || route.repeatable;
    let takes_any = takes_body || route.query.is_some() || !route.headers.is_empty();
    let conditions: [(bool, &[(u16, &'static str)]); 6] = [
        (route.need != Need::Nothing, &[(401, "No key was shown, or it does not hold.")]),
        (route.path.contains('{'), &[(404, "There is no such thing, or it is somebody else's.")]),
        (takes_any, &[(400, "What was sent makes no sense; `detail` says why.")]),
        (takes_body, &[(408, "The body took too long."), (413, "The body is larger than what is taken.")]),
        (route.body.is_some(), &[(415, "The body is no JSON.")]),
        (
            route.repeatable,
            &[
                (409, "A request of this `Idempotency-Key` is being worked on."),
                (422, "Another request was sent under this `Idempotency-Key`."),
            ],
        ),
    ];
    refusals.extend(
        conditions.iter().filter(|(holds, _)| *holds).flat_map(|(_, brought)| brought.iter().copied()),
    );
    refusals
}
