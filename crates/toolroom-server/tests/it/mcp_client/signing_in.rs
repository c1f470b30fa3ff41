//! Signing in at servers: the token is sealed, shown to its own server alone, and renewed by one process at a time;
//! an unsafe authorization server is rejected.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use serde_json::json;
use toolroom_host::net::Url;

use super::guarded::{Asked, Fault, Guarded};
use crate::home::{Home, Ran};
use crate::serve::Served;

/// Signs in as a person does whose browser comes back at once. Another process connects first.
fn signed_in(home: &Home, more: &[&str]) -> Ran {
    let mut command = home.command(&[&["mcp", "login", "guarded"][..], more].concat());
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    loop {
        let mut line = String::new();
        if err.read_line(&mut line).unwrap() == 0 {
            break;
        }
        told.push_str(&line);
        if let Some(url) =
            line.trim().strip_prefix("http").and_then(|rest| Url::parse(&format!("http{rest}")).ok())
        {
            let get = |name: &str| url.query_pairs().find(|(known, _)| known == name).unwrap().1.into_owned();
            assert_eq!(get("code_challenge_method"), "S256");
            let back = Url::parse(&get("redirect_uri")).unwrap();
            come_back(&back, "code=stolen&state=guessed");
            come_back(&back, &format!("code=the-code&state={}", get("state")));
        }
    }
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    Ran { code: child.wait().unwrap().code().unwrap(), out, err: told }
}

fn come_back(redirect: &Url, query: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", redirect.port().unwrap())).unwrap();
    write!(stream, "GET /callback?{query} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    drop(stream.read_to_string(&mut answer));
}

fn entered(guarded: &Guarded) -> Home {
    let home = Home::new();
    home.run(&["mcp", "add", "guarded", "--no-start", "--url", &guarded.url()]).ended(0);
    home
}

fn called(home: &Home) -> Ran {
    home.run(&["call", "mcp:guarded:work", "--yes", "--json"])
}

#[test]
fn a_token_is_sealed_renewed_and_seen_by_its_own_server_alone() {
    let guarded = Guarded::start(Fault::Nothing);
    let home = entered(&guarded);
    let refused = home.run(&["mcp", "test", "guarded"]).ended(1);
    assert!(refused.err.contains("toolroom mcp login"), "{refused:?}");
    let signed_in = signed_in(&home, &[]).ended(0);
    assert!(signed_in.err.contains("signed in"), "{signed_in:?}");
    home.run(&["mcp", "test", "guarded"]).ended(0);
    assert_eq!(called(&home).ended(0).json()["result"], "ok");
    guarded.expire();
    assert_eq!(called(&home).ended(0).json()["result"], "ok", "it is renewed");
    let secrets = home.run(&["secrets", "--json"]).ended(0).out;
    assert!(secrets.contains("mcp.guarded.oauth.grant"), "{secrets}");
    for file in ["toolroom.db", "toolroom.db-wal"] {
        let bytes = std::fs::read(home.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(6).any(|bytes| bytes == b"canary"), "{file} holds a token");
    }

    // Another server behind the same name is not shown what the first one's is.
    let other = Guarded::start(Fault::Nothing);
    home.run(&["mcp", "add", "guarded", "--replace", "--url", &other.url()]).ended(1);
    let asked = other.asked();
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.authorization.is_none()), "{asked:?}");
    assert!(!format!("{asked:?}").contains("canary"), "{asked:?}");
    assert!(!home.run(&["secrets", "--json"]).ended(0).out.contains("oauth"), "it went with the address");
}

#[test]
fn signing_out_or_another_client_id_ends_the_grant() {
    let guarded = Guarded::start(Fault::Nothing);
    let home = entered(&guarded);
    signed_in(&home, &[]).ended(0);
    signed_in(&home, &["--client-id", "given-by-hand"]).ended(0);
    let tokens: Vec<_> = guarded.asked().into_iter().filter(|asked| asked.path == "/token").collect();
    assert!(tokens[0].body.contains("client_id=registered"), "{tokens:?}");
    assert!(tokens[1].body.contains("client_id=given-by-hand"), "{tokens:?}");
    // The client id is stored.
    guarded.revoke();
    signed_in(&home, &[]).ended(0);
    let last = guarded.asked().into_iter().rfind(|asked| asked.path == "/token").unwrap();
    assert!(last.body.contains("client_id=given-by-hand"), "{last:?}");

    let gone = home.run(&["mcp", "logout", "guarded", "--json"]).ended(0).json();
    assert_eq!(gone, json!({"server": "guarded", "signed_out": true}));
    home.run(&["mcp", "test", "guarded"]).ended(1);
    assert_eq!(home.run(&["mcp", "logout", "guarded", "--json"]).ended(0).json()["signed_out"], false);
}

#[test]
fn an_unsafe_authorization_server_is_rejected() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let place = format!("http://{}/secret", inside.local_addr().unwrap());
    for (fault, why) in [
        (Fault::OtherIssuer, "another issuer"),
        (Fault::Overheard, "without encryption"),
        (Fault::OverheardIssuer, "without encryption"),
        (Fault::NoPkce, "PKCE"),
        (Fault::PlainPkce, "PKCE"),
        (Fault::Huge, "more than"),
        (Fault::OtherResource, "another server"),
        (Fault::NoIssuer, "authorization server"),
        (Fault::Inside(place.clone()), "refused"),
        (Fault::Moves(place), "the token request failed"),
    ] {
        let guarded = Guarded::start(fault.clone());
        let home = entered(&guarded);
        let refused = signed_in(&home, &[]).ended(1);
        assert!(refused.err.contains(why), "{fault:?}: {refused:?}");
        assert!(
            !home.run(&["secrets", "--json"]).ended(0).out.contains("oauth"),
            "{fault:?}: nothing is kept"
        );
        assert!(inside.accept().is_err(), "{fault:?}: no internal connection");
    }
}

#[test]
fn a_process_that_stays_learns_of_a_sign_in_and_renews_no_token_twice() {
    let guarded = Guarded::start(Fault::Nothing);
    let home = entered(&guarded);
    signed_in(&home, &[]).ended(0);
    home.run(&["mcp", "test", "guarded"]).ended(0);
    guarded.revoke();
    let served = Served::at(home);
    let key = served.key("local", "approve,call");
    let through = || {
        let asked = served.call(&key, "mcp:guarded:work", &json!({})).json();
        let id = asked["call_id"].as_str().unwrap().to_owned();
        served.send("POST", &format!("/v1/approvals/{id}"), &key, &json!({"answer": "once"})).is(200);
        served.send("POST", &format!("/v1/calls/{id}/resume"), &key, &json!({})).json()
    };
    let refused = through();
    assert!(refused.to_string().contains("mcp login"), "{refused}");
    signed_in(&served.home, &[]).ended(0);
    assert_eq!(through()["result"], "ok", "it notices by itself");
    for _ in 0..3 {
        guarded.expire();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| called(&served.home).ended(0).json()["result"].clone());
            assert_eq!(through()["result"], "ok");
            assert_eq!(other.join().unwrap(), "ok");
        });
    }
    assert!(!guarded.was_reused(), "no token renews twice");
    served.home.run(&["mcp", "logout", "guarded"]).ended(0);
    let shown = guarded.asked().len();
    // The first who comes only learns that something has changed.
    let refused = (0..100).map(|_| through().to_string()).find(|told| !told.contains("has just changed"));
    assert!(refused.as_ref().is_some_and(|told| told.contains("mcp login")), "{refused:?}");
    let shows = |asked: &Asked| asked.authorization.is_some();
    assert!(!guarded.asked()[shown..].iter().any(shows), "a token is not sent after sign-out");
}
