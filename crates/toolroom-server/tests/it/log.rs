//! `toolroom log`: listing, one call, filters, pruning.

use serde_json::Value;

use crate::home::Home;

#[test]
fn an_empty_log_says_what_to_try() {
    let home = Home::new();
    let ran = home.run(&["log"]).ended(0);
    assert!(ran.out.is_empty() && ran.err.contains("toolroom call calculator"), "{ran:?}");
    assert_eq!(home.run(&["log", "--json"]).ended(0).out, "[]\n");
}

#[test]
fn calls_are_found_again() {
    let home = Home::new();
    for n in 0..3 {
        home.run(&["call", "calculator", &format!("expression={n}")]).ended(0);
    }
    home.run(&["call", "calculator", "expression=1/0"]).ended(1);
    home.run(&["call", "get_local_time"]).ended(0);

    let count = |arguments: &[&str]| {
        let words: Vec<&str> = ["log", "--json"].into_iter().chain(arguments.iter().copied()).collect();
        let rows: Vec<Value> = serde_json::from_str(&home.run(&words).ended(0).out).unwrap();
        rows.len()
    };
    assert_eq!(count(&[]), 5);
    assert_eq!(count(&["--tool", "calculator"]), 4);
    assert_eq!(count(&["--status", "failed"]), 1);
    assert_eq!(count(&["--since", "1h"]), 5);
    assert_eq!(count(&["--since", "2999-01-01"]), 0);
    assert_eq!(count(&["--limit", "2"]), 2);
    assert!(home.run(&["log", "--status", "denied"]).ended(0).err.contains("No matching calls"));

    let listing = home.run(&["log"]).ended(0).out;
    assert_eq!(listing.lines().count(), 5);
    assert!(listing.lines().next().unwrap().contains("get_local_time"), "newest first: {listing}");

    let id = home.journal()[1]["id"].as_str().unwrap().to_owned();
    for name in [id.as_str(), &id[id.len() - 8..]] {
        let shown = home.run(&["log", name]).ended(0).out;
        for part in [id.as_str(), "failed (tool)", "division by zero", "1/0"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
    assert_eq!(home.run(&["log", &id, "--json"]).ended(0).json()["id"], id.as_str());
    assert!(home.run(&["log", "last"]).ended(0).out.contains("get_local_time"));
    assert!(home.run(&["log", "last", "--status", "failed"]).ended(0).out.contains("division by zero"));
    assert!(home.run(&["log", "--limit", "0"]).ended(0).err.contains("No matching calls"));
    assert!(home.run(&["log", "call_nothing"]).ended(5).err.contains("no call `call_nothing`"));
    home.run(&["log", "call_'; DROP TABLE calls; --"]).ended(5);
    assert_eq!(home.journal().len(), 5);
}

#[test]
fn pruning_says_first_what_it_would_delete() {
    let home = Home::new();
    home.run_own(&["call", "repeat", "text=long", "times=10000"]).ended(0);
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    assert!(home.run(&["log", "prune", "--older-than", "1d"]).ended(0).err.contains("Deleted 0 calls"));
    let preview = home.run(&["log", "prune", "--older-than", "0s", "--dry-run", "--json"]).ended(0).json();
    assert_eq!((&preview["calls"], &preview["artifacts"]), (&2.into(), &1.into()));
    assert_eq!(home.journal().len(), 2);
    let pruned = home.run(&["log", "prune", "--older-than", "0s", "--json"]).ended(0).json();
    assert_eq!((&pruned["calls"], &pruned["artifacts"]), (&2.into(), &1.into()));
    assert!(home.journal().is_empty());
}

#[test]
fn what_a_rate_still_counts_is_not_pruned() {
    let home = Home::new();
    home.run_own(&["call", "lottery"]).ended(0);
    home.run(&["call", "calculator", "expression=1"]).ended(0);
    let pruned = home.run_own(&["log", "prune", "--older-than", "0s", "--json"]).ended(0).json();
    assert_eq!(pruned["calls"], 1, "a call of the lottery would be forgiven");
    let left: Vec<Value> = home.journal().iter().map(|row| row["tool"].clone()).collect();
    assert_eq!(left, ["app:lottery"]);
}
