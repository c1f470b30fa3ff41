//! T7 through the door: a long result, and the pages of it.

use serde_json::json;

use crate::home::Home;

#[test]
fn a_long_result_is_shortened_and_can_be_paged() {
    let home = Home::new();
    let report = home.run_own(&["call", "repeat", "text=0123456789", "times=5000", "--json"]).ended(0).json();
    assert_eq!(report["truncated"], true);
    let artifact = report["artifact"].as_str().unwrap();
    let short = report["result"].as_str().unwrap();
    assert!(
        short.chars().count() <= 20_000 && short.contains("50000 characters") && short.contains(artifact)
    );

    let read = |extra: &[&str]| {
        let id = format!("artifact={artifact}");
        let words: Vec<&str> =
            ["call", "result_read", &id, "--json"].into_iter().chain(extra.iter().copied()).collect();
        home.run_own(&words)
    };
    let page = read(&["offset=12", "limit=5"]).ended(0).json()["result"].clone();
    assert_eq!(page, json!({"content": "23456", "offset": 12, "next_offset": 17, "total_chars": 50_000}));
    let last = read(&["offset=49990"]).ended(0).json()["result"].clone();
    assert_eq!(last, json!({"content": "0123456789", "offset": 49_990, "total_chars": 50_000}));
    let (mut whole, mut next) = (String::new(), json!(0));
    while let Some(offset) = next.as_u64() {
        let page = read(&[&format!("offset={offset}"), "limit=18000"]).ended(0).json()["result"].clone();
        whole.push_str(page["content"].as_str().unwrap());
        next = page["next_offset"].clone();
    }
    assert_eq!(whole, "0123456789".repeat(5000));

    assert_eq!(read(&["limit=0"]).ended(1).json()["error"]["kind"], "invalid_arguments");
    assert_eq!(read(&["pointer=/0"]).ended(1).json()["error"]["kind"], "invalid_arguments");
    let missing = home.run(&["call", "result_read", "artifact=art_none", "--json"]).ended(1).json();
    assert_eq!(
        missing["error"]["kind"], "not_found",
        "a tool's own not_found is a failure, not an unknown tool"
    );
}

#[test]
fn a_pointer_leads_into_a_long_list() {
    let home = Home::new();
    let report =
        home.run_own(&["call", "repeat", "text=abc", "times=9000", "shape=list", "--json"]).ended(0).json();
    assert!(report["result"].is_array() && report["result"].to_string().chars().count() <= 20_000);
    let id = format!("artifact={}", report["artifact"].as_str().unwrap());
    let read =
        |pointer: &str| home.run(&["call", "result_read", &id, &format!("pointer={pointer}"), "--json"]);
    assert_eq!(read("/8999").ended(0).json()["result"]["content"], "abc");
    assert_eq!(read("/9000").ended(1).json()["error"]["kind"], "not_found");
    assert_eq!(read("nonsense").ended(1).json()["error"]["kind"], "not_found");
}
