//! Users of an app: each has threads of their own, with the one agent they may talk to.

use serde_json::{Value, json};

use crate::scripted_model::Line;
use crate::serve::Served;

#[test]
fn a_thread_of_the_same_name_is_another_one_for_another_user() {
    let (served, model) = Served::over([Line::says("Hello Ann."), Line::says("Hello Bob.")], "");
    let minting = served.key("local", "mint");
    let (ann, bob) = (served.token(&minting, "ann"), served.token(&minting, "bob"));
    let post = |agent: &str, token: &str, messages: Value| {
        let input = json!({"threadId": "t", "runId": "r", "messages": messages});
        served.send("POST", &format!("/agui/{agent}"), token, &input)
    };
    let said = || json!([{"id": "u", "role": "user", "content": "Who am I?"}]);
    assert!(post("default", &ann, said()).is(200).body.contains("Ann."));
    assert!(post("default", &bob, said()).is(200).body.contains("Bob."));
    let again = post("default", &ann, said()).is(200).body;
    assert!(again.contains("Hello Ann.") && !again.contains("Bob"), "{again}");
    assert!(again.contains("RUN_FINISHED"), "{again}");
    let nothing = post("default", &minting, said());
    assert_eq!(nothing.status, 403, "a key that may not talk: {nothing:?}");
    let other = post("other", &ann, said()).is(403).json();
    assert!(other["detail"].as_str().unwrap().contains("`default`"), "{other}");
    assert_eq!(model.asked().len(), 2);
}
