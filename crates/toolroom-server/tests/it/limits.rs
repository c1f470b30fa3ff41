//! Limits that hold across processes.

use std::process::Child;

use crate::home::{Home, finished};

#[test]
fn a_rate_is_counted_across_one_shot_calls() {
    let home = Home::new();
    let children: Vec<Child> =
        (0..8).map(|_| home.own_tools(&["call", "lottery", "--json"]).spawn().unwrap()).collect();
    let reports: Vec<_> = children.into_iter().map(finished).collect();
    let won = reports.iter().filter(|ran| ran.code == 0).count();
    assert_eq!(won, 3, "{reports:?}");
    for lost in reports.iter().filter(|ran| ran.code != 0) {
        let error = &lost.json()["error"];
        assert_eq!((lost.code, &error["kind"]), (1, &"rate_limited".into()));
        let wait = error["retry_after"].as_f64().unwrap();
        // A little more than an hour, if the one that counts began a moment later and was written first.
        assert!((3000.0..3660.0).contains(&wait), "{wait}");
    }
    home.run_own(&["log", "prune", "--older-than", "0s"]).ended(0);
    home.run_own(&["call", "lottery"]).ended(1);
}
