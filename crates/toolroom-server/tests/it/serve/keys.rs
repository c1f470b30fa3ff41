//! Keys and projects, on the command line and over HTTP.

use serde_json::{Value, json};

use super::served::{SCOPES, Served};
use super::wire::Asked;
use crate::home::Home;

#[test]
fn the_command_line_makes_shows_and_takes_back_keys() {
    let home = Home::new();
    let made = home.run(&["keys", "create", "--name", "backend"]).ended(0);
    assert!(made.out.starts_with("trk_prod_") && made.out.trim().len() == 59, "{made:?}");
    assert!(made.err.contains("scopes read, call, chat; store it now, it is not shown again"), "{made:?}");
    let scopes =
        ["keys", "create", "--name", "desk", "--scope", "read,approve", "--scope", "mint", "--env", "test"];
    assert!(home.run(&scopes).ended(0).out.starts_with("trk_test_"));
    let list = home.run(&["keys", "--json"]).ended(0).json();
    let scopes: Vec<&Value> = list.as_array().unwrap().iter().map(|key| &key["scopes"]).collect();
    assert_eq!(scopes, [&json!(["read", "call", "chat"]), &json!(["read", "mint", "approve"])]);
    assert!(!list.to_string().contains(made.out.trim()));
    for odd in [
        vec!["--name", "a", "--scope", "root"],
        vec!["--name", ""],
        vec!["--name", "a", "--origin", "shop.example"],
        vec!["--name", "a", "--expires", "0s"],
        vec!["--name", "a", "--env", "dev"],
    ] {
        home.run(&[vec!["keys", "create"], odd].concat()).ended(2);
    }
    home.run(&["keys", "create", "--name", "a", "--project", "shop"]).ended(5);
    home.run(&["keys", "revoke", "nobody"]).ended(5);
    home.run(&["keys", "revoke", "backend"]).ended(0);
    assert_eq!(home.run(&["keys", "--json"]).ended(0).json().as_array().unwrap().len(), 1);
    assert_eq!(home.run(&["keys", "list", "--all", "--json"]).ended(0).json()[0]["holds"], false);
    let token = home.run(&["keys", "token", "desk", "--user", "ann"]).ended(0);
    assert!(token.out.starts_with("tru_"), "{token:?}");
}

#[test]
fn the_command_line_makes_and_removes_projects() {
    let home = Home::new();
    home.run(&["projects", "create", "shop", "--name", "The shop"]).ended(0);
    home.run(&["projects", "create", "shop"]).ended(2);
    home.run(&["projects", "create", "The shop"]).ended(2);
    home.run(&["projects", "show", "nobody"]).ended(5);
    let shown = home.run(&["projects", "show", "shop", "--json"]).ended(0).json();
    assert_eq!((&shown["name"], &shown["host_tools"]), (&json!("The shop"), &json!(false)));
    home.run(&["projects", "set", "shop", "--host-tools", "on"]).ended(0);
    let shown = home.run(&["projects", "show", "shop", "--json"]).ended(0).json();
    assert_eq!((&shown["name"], &shown["host_tools"]), (&json!("The shop"), &json!(true)));
    home.run(&["projects", "set", "local", "--host-tools", "off"]).ended(3);
    home.run(&["projects", "remove", "local"]).ended(3);
    home.run(&["keys", "create", "--project", "shop", "--name", "till"]).ended(0);
    home.run(&["projects", "remove", "shop"]).ended(0);
    home.run(&["keys", "create", "--project", "shop", "--name", "till"]).ended(5);
    assert_eq!(
        home.run(&["keys", "--project", "shop", "--all", "--json"]).code,
        2,
        "--all belongs to `list`"
    );
    assert_eq!(
        home.run(&["keys", "list", "--project", "shop", "--all", "--json"]).ended(0).json(),
        json!([])
    );
}

#[test]
fn a_key_gives_no_more_than_it_has() {
    let served = Served::new();
    let manager = served.key("local", "read,manage");
    let make =
        |scopes: Value| served.send("POST", "/v1/keys", &manager, &json!({"name": "new", "scopes": scopes}));
    make(json!(["read", "approve"])).refused(403, "forbidden");
    make(json!(["mint"])).refused(403, "forbidden");
    make(json!([])).refused(400, "bad_request");
    make(json!(["root"])).refused(400, "bad_request");
    let made = make(json!(["read"])).is(201).json();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    served.get("/v1/tools", key).is(200);
    let strong = served.make_key("local", &SCOPES.join(","));
    let rotate =
        |id: &str, body: Value| served.send("POST", &format!("/v1/keys/{id}/rotate"), &manager, &body);
    rotate(strong["id"].as_str().unwrap(), json!({})).refused(403, "forbidden");
    rotate("nobody", json!({})).refused(404, "not_found");
    rotate(id, json!({"overlap": 315_360_001})).refused(400, "bad_request");
    let new = rotate(id, json!({"overlap": 0})).is(201).json();
    assert_eq!(new["replaces"], id);
    served.get("/v1/tools", key).refused(401, "unauthorized");
    served.get("/v1/tools", new["key"].as_str().unwrap()).is(200);
    let list = served.get("/v1/keys?limit=2", &manager).is(200).json();
    assert_eq!(list["keys"].as_array().unwrap().len(), 2);
    assert!(list["next_cursor"].is_string() && !list.to_string().contains(new["key"].as_str().unwrap()));
    let gone =
        served.ask(&Asked::new("DELETE", &format!("/v1/keys/{}", new["id"].as_str().unwrap())).key(&manager));
    assert_eq!(gone.is(200).json()["revoked"], true);
    served.get("/v1/tools", new["key"].as_str().unwrap()).refused(401, "unauthorized");
}

#[test]
fn the_owner_makes_projects_and_their_first_keys() {
    let served = Served::new();
    let cookie = served.cookie();
    let ask = |method: &str, path: &str, body: Value| {
        let asked = Asked::new(method, path).header("Cookie", &cookie).header("Origin", &served.origin());
        served.ask(&asked.json(&body))
    };
    ask("POST", "/v1/projects", json!({"id": "The shop"})).refused(400, "bad_request");
    let made = ask("POST", "/v1/projects", json!({"id": "shop", "name": "The shop"})).is(201).json();
    assert_eq!((&made["host_tools"], made["created_at"].is_i64()), (&json!(false), true), "{made}");
    ask("POST", "/v1/projects", json!({"id": "shop"})).refused(409, "conflict");
    ask("PUT", "/v1/projects/local", json!({"host_tools": false})).refused(409, "conflict");
    ask("DELETE", "/v1/projects/local", json!({})).refused(409, "conflict");
    ask("POST", "/v1/projects/nobody/keys", json!({"name": "a"})).refused(404, "not_found");
    let key = ask("POST", "/v1/projects/shop/keys", json!({"name": "till"})).is(201).json();
    let key = key["key"].as_str().unwrap();
    served.get("/v1/tools", key).is(200);
    assert_eq!(ask("GET", "/v1/projects/shop/keys", json!({})).is(200).json()["keys"][0]["name"], "till");
    let projects = ask("GET", "/v1/projects", json!({})).is(200).json();
    assert_eq!(projects["projects"].as_array().unwrap().len(), 2);
    ask("DELETE", "/v1/projects/shop", json!({})).is(200);
    served.get("/v1/tools", key).refused(401, "unauthorized");
    ask("GET", "/v1/projects/shop", json!({})).refused(404, "not_found");
}
