use std::sync::Arc;
use std::time::Duration;

use toolroom::ledger::CallId;
use toolroom::tool::{OfferedFile, Origin};

use super::*;
use crate::mcp::protocol::Version;

fn done(value: Value) -> Done {
    Done {
        value: Arc::new(value),
        message: None,
        chars: 0,
        artifact: None,
        truncated: false,
        origin: Origin::Trusted,
        offers: Vec::new(),
    }
}

fn told(done: &Done, era: Era, contract: OutputContract) -> Value {
    told_of("mcp:a:b", done, era, contract, &ResultArtifacts::default())
}

fn told_of(tool: &str, done: &Done, era: Era, contract: OutputContract, kept: &ResultArtifacts) -> Value {
    let report = CallReport {
        call_id: CallId::new("call_1"),
        tool: tool.to_owned(),
        outcome: Outcome::Done(done.clone()),
        rule: None,
        provenance: toolroom::policy::Provenance::NONE,
        duration: Duration::ZERO,
    };
    serde_json::from_str(&outcome_text(&report, era, contract, kept)).unwrap()
}

#[test]
fn data_is_told_as_text_and_as_data() {
    let old = Era::Legacy(Version::agreed(""));
    for era in [old, Era::Modern] {
        let object = told(&done(json!({"a": 1})), era, OutputContract::None);
        assert_eq!(object["structuredContent"], json!({"a": 1}));
        assert_eq!(object["content"], json!([{"type": "text", "text": "{\"a\":1}"}]));
        assert_eq!(
            told(&done(json!("hi")), era, OutputContract::None),
            json!({"content": [{"type": "text", "text": "hi"}]})
        );
    }
    assert_eq!(told(&done(json!([1])), Era::Modern, OutputContract::Schema)["structuredContent"], json!([1]));
    assert!(told(&done(json!([1])), old, OutputContract::Schema).get("structuredContent").is_none());
}

#[test]
fn content_of_the_protocol_is_passed_on_and_lookalikes_are_data() {
    let picture = json!({"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]});
    assert_eq!(told(&done(picture.clone()), Era::Modern, OutputContract::None), picture);
    for odd in [
        json!({"content": "text"}),
        json!({"content": []}),
        json!({"content": [{"type": "text"}]}),
        json!({"content": [{"type": "strange", "text": "x"}]}),
        json!({"content": [{"type": "text", "text": "x"}], "status": 200}),
    ] {
        assert_eq!(told(&done(odd.clone()), Era::Modern, OutputContract::None)["structuredContent"], odd);
    }
}

#[test]
fn a_shortened_result_links_to_the_whole() {
    let mut short = done(json!("a…z"));
    short.artifact = Some(ArtifactId::new("art_1"));
    let now = told(&short, Era::Modern, OutputContract::None);
    assert_eq!(now["content"][1]["type"], "resource_link");
    let first = told(&short, Era::Legacy(Version::agreed("2024-11-05")), OutputContract::None);
    assert_eq!(first["content"][1]["type"], "text");
}

#[test]
fn data_of_our_own_tools_is_data_even_if_it_looks_like_content() {
    let data = json!({"content": [{"type": "text", "text": "x"}]});
    let kept = ResultArtifacts::default();
    let own = told_of("builtin:a", &done(data.clone()), Era::Modern, OutputContract::Schema, &kept);
    assert_eq!(own["structuredContent"], data);
    let foreign = told_of("mcp:a:b", &done(data), Era::Modern, OutputContract::Schema, &kept);
    assert_eq!(
        foreign["isError"], true,
        "it lacks the promised data, and clients would reject it: {foreign}"
    );
}

#[test]
fn blocks_that_refer_to_a_file_get_its_bytes() {
    let picture = json!({"type": "image", "mimeType": "image/png", "bytes": 2, "artifact": "art_1"});
    let file = json!({"uri": "x://y", "mimeType": "a/b", "bytes": 2, "artifact": "art_1"});
    let value =
        json!({"content": [picture, {"type": "resource", "resource": file}], "structuredContent": {"n": 1}});
    let kept = ResultArtifacts::for_test(None, &[("art_1", b"hi")]);
    let whole = told_of("mcp:a:b", &done(value.clone()), Era::Modern, OutputContract::Schema, &kept);
    let picture = json!({"type": "image", "mimeType": "image/png", "data": "aGk="});
    let file = json!({"uri": "x://y", "mimeType": "a/b", "blob": "aGk="});
    assert_eq!(whole["content"], json!([picture, {"type": "resource", "resource": file}]));
    assert_eq!(whole["structuredContent"], json!({"n": 1}));
    let gone = told(&done(value), Era::Modern, OutputContract::None);
    assert!(gone["content"][0]["text"].as_str().unwrap().contains("cannot be shown"), "{gone}");
}

#[test]
fn a_shortened_protocol_result_keeps_complete_blocks_and_links_to_the_rest() {
    let picture = json!({"type": "image", "mimeType": "image/png", "bytes": 2, "artifact": "art_1"});
    let inline = |data: &str| json!({"type": "image", "mimeType": "image/png", "data": data});
    let text = |text: &str| json!({"type": "text", "text": text});
    let whole = json!({
        "content": [text("a long text"), picture, inline("AAAAAAAA"), text("b")], "structuredContent": {"n": "long"},
    });
    let mut short = done(json!({
        "content": [text("a […] t"), picture, inline("AA[…]AA"), "[1 of 4 items left out]"],
        "structuredContent": {"n": "l[…]g"},
    }));
    short.truncated = true;
    short.message = Some("take care".to_owned());
    short.artifact = Some(ArtifactId::new("art_2"));
    let kept = ResultArtifacts::for_test(Some(whole), &[("art_1", b"hi")]);
    for (contract, structured) in
        [(OutputContract::None, None), (OutputContract::Schema, Some(json!({"n": "long"})))]
    {
        let told = told_of("mcp:a:b", &short, Era::Modern, contract, &kept);
        assert_eq!(told.get("structuredContent"), structured.as_ref());
        let content = told["content"].as_array().unwrap();
        let kinds: Vec<&str> = content.iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image", "text", "text", "text", "resource_link"]);
        assert_eq!(content[1]["data"], "aGk=");
        assert_eq!((&content[3], &content[4]), (&text("[1 of 4 items left out]"), &text("take care")));
    }
}

#[test]
fn unsupported_content_becomes_text_for_clients_of_early_versions() {
    let blocks = json!({"content": [
        {"type": "resource_link", "uri": "x://y", "name": "y"},
        {"type": "audio", "mimeType": "audio/wav", "data": "AA=="},
    ], "structuredContent": [1]});
    let first = told(&done(blocks), Era::Legacy(Version::agreed("2024-11-05")), OutputContract::None);
    let content = first["content"].as_array().unwrap();
    assert!(content.len() == 3 && content.iter().all(|block| block["type"] == "text"), "{first}");
    assert!(
        first.get("structuredContent").is_none(),
        "and structured data that is no object is left out: {first}"
    );
}

#[test]
fn offers_are_links_where_clients_support_them_and_text_elsewhere() {
    let file = OfferedFile {
        name: "a.bin".to_owned(),
        media_type: "application/octet-stream".to_owned(),
        bytes: 3,
        artifact: ArtifactId::new("art_1"),
        caption: Some("the figures".to_owned()),
    };
    let url = "https://example.com/".to_owned();
    let offers = vec![Offer::OpenUrl { url }, Offer::SaveFile(file)];
    let offering = Done { offers, ..done(json!({"a": 1})) };
    let link = json!({
        "type": "resource_link", "uri": "toolroom://artifacts/art_1", "name": "a.bin",
        "description": "the figures", "mimeType": "application/octet-stream", "size": 3,
    });
    let address = json!({"type": "text", "text": "offers to open https://example.com/"});
    for era in [Era::Legacy(Version::agreed("2025-11-25")), Era::Modern] {
        for contract in [OutputContract::None, OutputContract::Schema] {
            let told = told(&offering, era, contract);
            assert_eq!(told["structuredContent"], json!({"a": 1}));
            assert_eq!(told["content"].as_array().unwrap()[1..], [address.clone(), link.clone()]);
        }
    }
    let old = told(&offering, Era::Legacy(Version::agreed("2024-11-05")), OutputContract::None);
    let words = old["content"][2]["text"].as_str().unwrap();
    assert!(words.contains("`a.bin`") && words.contains("toolroom://artifacts/art_1"), "{words}");
}
