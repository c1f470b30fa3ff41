//! Servers that hang, and what becomes of all the others meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolroom::BoxFuture;
use toolroom::catalog::Catalog;
use toolroom::clock::{Clock, SystemClock};
use toolroom::foreign::{AddressEntry, ForeignServers, ServerRecord, ServerTraits, Transport};
use toolroom::redact::Secret;
use toolroom::scope::ProjectId;
use toolroom_host::net::Http;
use toolroom_host::process::Supervisor;
use toolroom_store::{ProcessIdentity, Store, StoreOptions};
use toolroom_tools::mcp::{
    Credentials, Gateway, GatewayServices, LaunchEnvironment, McpError, ServerSecrets,
};

use super::{Listening, folder, found, python};
use crate::home::{Home, binary, ran};
use crate::serve::Served;

/// Longer than it takes until a process has looked at what another one has set.
const BOUND: Duration = Duration::from_secs(60);

/// No token.
struct NoCredentials;

impl Credentials for NoCredentials {}

struct NoSecrets;

impl ServerSecrets for NoSecrets {
    fn secret<'a>(&'a self, _: &'a ProjectId, _: &'a str) -> BoxFuture<'a, Result<Secret, String>> {
        Box::pin(async { Err("there is none".to_owned()) })
    }

    fn redact<'a>(&'a self, _: &'a ProjectId, text: String) -> BoxFuture<'a, String> {
        Box::pin(async { text })
    }

    fn credentials<'a>(
        &'a self,
        _: &'a ProjectId,
        _: &'a ServerRecord,
        _: Arc<dyn Http>,
    ) -> BoxFuture<'a, Result<Arc<dyn Credentials>, McpError>> {
        Box::pin(async { Ok(Arc::new(NoCredentials) as Arc<dyn Credentials>) })
    }
}

fn add(home: &Home, name: &str, mode: &str, more: &[&str]) {
    let script = found(&folder().join("hostile.py"));
    let (python, words) = (python(), ["mcp", "add", name]);
    home.run(&[&words[..], more, &["--", &python, &script, mode]].concat()).ended(0);
}

fn starts(home: &Home, mode: &str) -> String {
    std::fs::read_to_string(home.path().join("workspace").join(format!("starts-{mode}"))).unwrap()
}

/// However a server spreads its silence, the handshake and the list have one time together.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_comes_too_slowly_is_not_waited_for() {
    let script = found(&folder().join("hostile_http.py"));
    let server = Listening::with_port(&python(), |port| {
        [script.as_str(), "slow_pages", port].map(str::to_owned).to_vec()
    });
    let folder = tempfile::tempdir().unwrap();
    let identity = ProcessIdentity {
        machine: "here".to_owned(),
        process: "me".to_owned(),
        probe: Arc::new(|_| Some(true)),
    };
    let clock = Arc::new(SystemClock);
    let store = Store::open(&folder.path().join("toolroom.db"), StoreOptions::new(identity), clock.clone())
        .await
        .unwrap();
    let project = ProjectId::default();
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let record = ServerRecord {
        name: "slow".to_owned(),
        transport: Transport::Http(AddressEntry { url, headers: BTreeMap::new(), is_internal: false }),
        is_enabled: true,
        timeout_seconds: None,
        imported_from: None,
        imported_as: None,
        traits: ServerTraits::default(),
        changed_at: clock.now(),
    };
    store.set_server(&project, &record).await.unwrap();
    let place = folder.path().to_owned();
    let catalog = Arc::new(Catalog::default());
    let services = GatewayServices {
        store: Arc::new(store.clone()),
        secrets: Arc::new(NoSecrets),
        supervisor: Supervisor::new(binary()),
        launch_environment: LaunchEnvironment {
            workspace: place.clone(),
            hidden: Vec::new(),
            programs_read: Vec::new(),
            homes: place,
            disk_bytes: 1_000_000,
            openings: Vec::new(),
        },
        clock,
        catalog: Arc::downgrade(&catalog),
    };
    let gateway = Gateway::new(project.clone(), services).with_start_limit(Duration::from_secs(1));
    let failed = gateway.inspect(&record).await.unwrap_err().to_string();
    assert!(failed.contains("within 1 s"), "{failed}");
    let seen = store.condition(&project, "slow").await.unwrap();
    assert_eq!((seen.failure, seen.failures.len()), (Some(failed), 1));
    // What is gone, or another one by now, leaves nothing behind.
    store.remove_server(&project, "slow").await.unwrap();
    gateway.inspect(&record).await.unwrap_err();
    store.set_server(&project, &record).await.unwrap();
    assert_eq!(store.condition(&project, "slow").await.unwrap(), Default::default());
    gateway.close().await;
    store.shutdown().await.unwrap();
    // A closed gateway does not query the closed database.
    gateway.reconcile().await.unwrap();
}

#[test]
fn a_server_with_an_endless_list_delays_no_other() {
    let home = Home::new();
    add(&home, "evil", "slow_list", &[]);
    add(&home, "calm", "calm", &[]);
    let served = Served::at(home);
    let key = served.key("local", "approve,call,read");
    let tools = || served.get("/v1/tools", &key).is(200).json().to_string();
    assert!(tools().contains("mcp:calm:work"));
    let asked = served.call(&key, "mcp:evil:work", &json!({})).json();
    let id = asked["call_id"].as_str().unwrap();
    served.send("POST", &format!("/v1/approvals/{id}"), &key, &json!({"answer": "once"})).is(200);
    let done = served.send("POST", &format!("/v1/calls/{id}/resume"), &key, &json!({})).json();
    assert_eq!(done["result"], "ok", "from now on it tells of progress without end: {done}");
    served.home.run(&["mcp", "disable", "calm"]).ended(0);
    let began = Instant::now();
    while tools().contains("mcp:calm:work") {
        assert!(began.elapsed() < BOUND, "maintenance of the others is delayed");
    }
}

#[test]
fn calls_that_give_up_waiting_do_not_start_a_server_anew() {
    let home = Home::new();
    add(&home, "evil", "hangs", &["--timeout", "1"]);
    let served = Served::at(home);
    let key = served.key("local", "approve,call");
    for _ in 0..3 {
        let asked = served.call(&key, "mcp:evil:work", &json!({})).json();
        let id = asked["call_id"].as_str().unwrap();
        served.send("POST", &format!("/v1/approvals/{id}"), &key, &json!({"answer": "once"})).is(200);
        let ended = served.send("POST", &format!("/v1/calls/{id}/resume"), &key, &json!({})).json();
        assert_eq!(ended["error"]["kind"], "timeout", "{ended}");
    }
    assert_eq!(starts(&served.home, "hangs"), "2", "once to be looked at, and once for all who wait");
}

#[test]
fn a_server_that_hangs_is_given_up_by_all_processes_together() {
    let home = Home::new();
    add(&home, "evil", "hangs", &[]);
    let call = || home.run(&["call", "mcp:evil:work", "--yes", "--json", "--timeout", "1s"]).json();
    let is_given_up = |ended: &serde_json::Value| ended["error"]["kind"] == "unreachable";
    // Some of them wait for its turn until they give up, and start nothing.
    let given_up = (0..20).map(|_| call()).find(is_given_up).unwrap();
    assert!(given_up["error"]["message"].as_str().unwrap().contains("does not start"), "{given_up}");
    assert_eq!(home.journal()[0]["status"], "failed", "the tool was never called");
    let before = starts(&home, "hangs");
    assert!(is_given_up(&call()), "all processes know");
    assert_eq!(starts(&home, "hangs"), before, "it is not started again");
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json()[0]["state"], "given_up");
    home.run(&["mcp", "enable", "evil"]).ended(0);
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json()[0]["state"], "failing");
    assert_eq!(call()["error"]["kind"], "timeout", "a person wants it");
}

#[test]
fn a_call_that_was_never_sent_is_in_no_doubt_and_what_was_printed_is_kept() {
    let home = Home::new();
    add(&home, "evil", "starts_once", &[]);
    let failed = home.run(&["call", "mcp:evil:work", "--yes", "--json"]).ended(1).json();
    assert_eq!(failed["error"]["kind"], "unreachable", "{failed}");
    assert_eq!(home.journal()[0]["status"], "failed", "the tool was never called");
    let log = home.run(&["mcp", "logs", "evil"]).ended(0);
    for word in ["line 0 of many", "line 99 of many"] {
        assert!(log.out.contains(word), "{word}: {log:?}");
    }

    add(&home, "mortal", "dies", &[]);
    home.run(&["call", "mcp:mortal:work", "--yes", "--json"]).ended(1);
    let log = home.run(&["mcp", "logs", "mortal"]).ended(0);
    assert!(log.out.contains("the key is"), "what it printed while it died: {log:?}");
}

#[test]
fn an_entry_that_cannot_be_read_is_shown_and_can_be_removed() {
    let home = Home::new();
    add(&home, "evil", "calm", &[]);
    add(&home, "other", "calm", &[]);
    let database = home.path().join("toolroom.db");
    let spoil = "UPDATE foreign_servers SET record = '{\"name\": 7}' WHERE name = 'evil'";
    let spoiled = std::process::Command::new(python())
        .args([
            "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()",
        ])
        .arg(&database)
        .arg(spoil)
        .status();
    assert!(spoiled.unwrap().success());
    let listed = home.run(&["mcp", "list", "--json"]).ended(0).json();
    let states: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|server| (server["name"].as_str().unwrap(), server["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("other", "ready"), ("evil", "unreadable")], "{listed}");
    assert!(home.run(&["mcp", "show", "evil"]).ended(5).err.contains("mcp remove evil"));
    let examined = ran(home.command(&["doctor", "--json"]).output().unwrap()).out;
    for said in ["servers.entry_unreadable", "toolroom mcp remove evil"] {
        assert!(examined.contains(said), "{said}: {examined}");
    }
    assert_eq!(home.run(&["call", "mcp:other:work", "--yes", "--json"]).ended(0).json()["result"], "ok");
    home.run(&["mcp", "remove", "evil"]).ended(0);
    assert_eq!(home.run(&["mcp", "list", "--json"]).ended(0).json().as_array().unwrap().len(), 1);
}
