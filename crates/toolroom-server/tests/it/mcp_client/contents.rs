//! What foreign tools give back, at every door: pictures as pictures, data as data, files beside the result.

use serde_json::{Value, json};

use super::{folder, found, node, python};
use crate::home::Home;
use crate::mcp::place::{modern, result};
use crate::serve::Served;

/// A toolroom with the reference server, whose tools run unasked.
fn with_everything() -> Home {
    let home = Home::new();
    let packages = found(&folder().join("node_modules"));
    let server = found(&folder().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js"));
    let add = ["mcp", "add", "every", "--effect", "read", "--can", "nothing", "--read", &packages, "--"];
    home.run(&[&add[..], &[&node(), &server, "stdio"]].concat()).ended(0);
    home
}

/// A toolroom with a server of our own that says what others do not.
fn with_odd() -> Home {
    let home = Home::new();
    let script = found(&folder().join("odd_server.py"));
    let add = ["mcp", "add", "odd", "--effect", "read", "--can", "nothing", "--"];
    home.run(&[&add[..], &[&python(), &script]].concat()).ended(0);
    home
}

#[test]
fn the_official_client_gets_the_servers_content_through_toolroom() {
    let served = Served::at(with_everything());
    let key = served.key("local", "call,read");
    for era in ["legacy", "modern"] {
        let mut client = std::process::Command::new(node());
        client.arg(folder().join("talk_through.mjs")).args([era, &served.origin(), &key]);
        let ended = client.current_dir(folder()).output().unwrap();
        assert!(ended.status.success(), "{era}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

#[test]
fn a_picture_is_an_artifact_for_other_clients() {
    let served = Served::at(with_everything());
    let key = served.key("local", "call,read");
    let done = served.call(&key, "mcp:every:get-tiny-image", &json!({})).json();
    let picture = &done["result"]["content"][1];
    assert_eq!((&picture["type"], &picture["mimeType"]), (&json!("image"), &json!("image/png")), "{done}");
    let id = picture["artifact"].as_str().unwrap();
    let about = served.get(&format!("/v1/artifacts/{id}"), &key).is(200).json();
    assert_eq!((&about["media_type"], &about["bytes"]), (&json!("image/png"), &picture["bytes"]), "{about}");
    assert_eq!(about["call_id"], done["call_id"]);
    // Others do not see it, and no browser takes it for a page.
    served.project("other");
    let stranger = served.key("other", "call,read");
    served.get(&format!("/v1/artifacts/{id}"), &stranger).is(404);

    let told = served.home.run(&["call", "mcp:every:get-tiny-image", "--json"]).ended(0);
    assert!(told.out.len() < 2_000 && told.out.contains("art_"), "{told:?}");
    let id = format!("artifact={id}");
    let read = served.home.run(&["call", "result_read", &id, "--json"]).ended(1).json();
    assert!(read["error"]["message"].as_str().unwrap().contains("image/png"), "{read}");
}

#[test]
fn linked_resources_can_be_listed_and_read() {
    let home = with_everything();
    let links = home.run(&["call", "mcp:every:get-resource-links", "count=4", "--json"]).ended(0).json();
    let links = links["result"]["content"].as_array().unwrap();
    let linked =
        |kind: &str| links.iter().filter_map(|link| link["uri"].as_str()).find(|uri| uri.contains(kind));
    let read = |uri: &str| {
        ["call".to_owned(), "read_resource".to_owned(), "server=every".to_owned(), format!("uri={uri}")]
    };
    let text = read(linked("text").unwrap());
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    // What it asks for goes out, and what comes is a stranger's.
    home.run(&text).ended(4);
    let told = home.run(&[&text[..], &["--yes"]].concat()).ended(0);
    assert!(told.out.contains("Resource") && !told.out.contains("contents"), "{told:?}");

    let blob = read(linked("blob").unwrap());
    let blob: Vec<&str> = blob.iter().map(String::as_str).collect();
    let told = home.run(&[&blob[..], &["--yes", "--json"]].concat()).ended(0).json();
    let resource = &told["result"]["content"][0]["resource"];
    assert!(resource["artifact"].is_string() && resource["blob"].is_null(), "{told}");
    assert!(home.run(&["artifacts", "list"]).ended(0).out.contains("gateway:read_resource"));

    let listed = home.run(&["call", "list_resources", "server=every", "--yes", "--json"]).ended(0).json();
    let listed = listed["result"]["resources"].as_array().unwrap();
    assert!(!listed.is_empty() && listed.iter().all(|resource| resource["uri"].is_string()), "{listed:?}");

    let strange = ["call", "read_resource", "server=other", "uri=a://1", "--yes"];
    assert!(home.run(&strange).ended(1).err.contains("unknown server `other`; known servers: `every`"));
    let strange = ["call", "read_resource", "server=every", "uri=demo://nothing", "--yes"];
    assert!(home.run(&strange).ended(1).err.contains("the server `every` rejected the arguments"));
    home.run(&["mcp", "disable", "every"]).ended(0);
    home.run(&text).ended(5);
}

#[test]
fn data_that_violates_its_schema_is_passed_on_as_text() {
    let served = Served::at(with_odd());
    let key = served.key("local", "call,read");
    let done = served.call(&key, "mcp:odd:promises", &json!({})).json();
    assert!(done["result"].to_string().contains("many"), "{done}");
    assert!(done["message"].as_str().unwrap().contains("does not match"), "{done}");
    let ask =
        |tool: &str| result(&served.ask(&modern(&key, "tools/call", json!({"name": tool, "arguments": {}}))));
    let told = ask("mcp__odd__promises");
    assert_eq!((&told["isError"], told.get("structuredContent")), (&json!(true), None), "{told}");
    assert!(told["content"].to_string().contains("many"), "{told}");
}

#[test]
fn a_long_result_with_a_picture_keeps_the_picture_whole_and_says_where_the_rest_is() {
    let served = Served::at(with_odd());
    let key = served.key("local", "call,read");
    let asked = modern(&key, "tools/call", json!({"name": "mcp__odd__long", "arguments": {}}));
    let told = result(&served.ask(&asked));
    let content = told["content"].as_array().unwrap();
    let kinds: Vec<&str> = content.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[1], kinds.last()), ("text", "image", Some(&"resource_link")), "{told}");
    let long = content[0]["text"].as_str().unwrap();
    assert!(long.len() < 30_000 && long.contains("left out"), "{}", long.len());
    assert_eq!(content[1]["data"].as_str().unwrap().len(), 40_000, "all of it");
    let link = content.last().unwrap()["uri"].as_str().unwrap();
    let read = result(&served.ask(&modern(&key, "resources/read", json!({"uri": link}))));
    let whole: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(whole["content"][0]["text"].as_str().unwrap().len(), 50_000);
}

#[test]
fn a_file_of_another_call_is_not_shown() {
    let served = Served::at(with_odd());
    let key = served.key("local", "call,read");
    let long = served.call(&key, "mcp:odd:long", &json!({})).json();
    let whole = long["artifact"].as_str().unwrap();
    let asked =
        modern(&key, "tools/call", json!({"name": "mcp__odd__names", "arguments": {"artifact": whole}}));
    let told = result(&served.ask(&asked));
    assert!(!told.to_string().contains("\"data\""), "{told}");
}

#[test]
fn a_file_that_is_a_text_is_kept_without_secrets() {
    let home = with_odd();
    let secret = "correct-horse-battery-staple";
    home.run_with_stdin(&["secrets", "set", "HORSE"], secret).ended(0);
    let arguments = json!({"key": secret}).to_string();
    let done = home.run(&["call", "mcp:odd:quiet", &arguments, "--json"]).ended(0).json();
    let id = format!("artifact={}", done["result"]["content"][0]["resource"]["artifact"].as_str().unwrap());
    let read = home.run(&["call", "result_read", &id, "--json"]).ended(0).out;
    assert!(read.contains("the key is") && !read.contains(secret), "{read}");
}
