//! A configuration that changes while the server runs, and proxies in front of it.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::served::Served;
use super::wire::Asked;
use crate::home::Home;
use crate::processes::until;

fn configured(config: &str) -> Home {
    let home = Home::new();
    std::fs::write(home.path().join("toolroom.toml"), config).unwrap();
    home
}

/// Lines of the log that hold this.
fn told(served: &Served, text: &str) -> Vec<Value> {
    served.log_lines().into_iter().filter(|line| line.to_string().contains(text)).collect()
}

#[test]
fn a_hangup_makes_it_read_its_configuration_again() {
    let served = Served::logged(configured("[server]\nkey_rate = 2\n"), &[]);
    let key = served.key("local", "read");
    let config = "[server]\nkey_rate = 100000\nat_once = 7\n[log]\nlevel = \"debug\"\n[policy]\npreset = \"careful\"\n";
    std::fs::write(served.home.path().join("toolroom.toml"), config).unwrap();
    served.signal(Signal::HUP);
    until(|| told(&served, "take effect after a restart").len() == 1);
    let read = told(&served, "was reloaded");
    assert_eq!(read[0]["changed"], "log.level, server.key_rate", "{read:?}");
    let later = told(&served, "take effect after a restart");
    assert_eq!(later[0]["changed"], "policy.preset, server.at_once", "{later:?}");
    for _ in 0..10 {
        assert_eq!(served.get("/v1/tools", &key).is(200).header("x-ratelimit-limit"), Some("100000"));
    }
    // A mistake changes nothing.
    std::fs::write(served.home.path().join("toolroom.toml"), "[server]\nkey_rate = 0\n").unwrap();
    served.signal(Signal::HUP);
    until(|| told(&served, "the configuration was not reloaded").len() == 1);
    assert_eq!(served.get("/v1/tools", &key).is(200).header("x-ratelimit-limit"), Some("100000"));
    // Silence is among what can be asked for. The rate says when it holds.
    for (level, rate) in [("error", "900000"), ("info", "800000")] {
        let config = format!("[log]\nlevel = \"{level}\"\n[server]\nkey_rate = {rate}\n");
        std::fs::write(served.home.path().join("toolroom.toml"), config).unwrap();
        served.signal(Signal::HUP);
        let limit = || served.get("/v1/tools", &key).header("x-ratelimit-limit").map(str::to_owned);
        until(|| limit().as_deref() == Some(rate));
        served.ask(&Asked::new("GET", "/healthz").header("X-Request-Id", level)).is(200);
    }
    until(|| !told(&served, "\"request_id\":\"info\"").is_empty());
    assert!(told(&served, "\"request_id\":\"error\"").is_empty(), "{}", served.log());
}

#[test]
fn only_a_trusted_proxy_names_the_client() {
    let config = "[server]\nip_rate = 3\ntrusted_proxies = [\"127.0.0.0/8\"]\n";
    let served = Served::logged(configured(config), &[]);
    let from = |list: &str| served.ask(&Asked::new("GET", "/nowhere").header("X-Forwarded-For", list));
    for _ in 0..3 {
        from("6.6.6.6, 192.0.2.1").is(404);
    }
    from("7.7.7.7, 192.0.2.1").refused(429, "rate_limited");
    from("6.6.6.6, 192.0.2.2").is(404);
    until(|| told(&served, "\"from\":\"192.0.2.2\"").len() == 1);
    // Forwarded, without the address of the client.
    let metrics = Asked::new("GET", "/metrics");
    for (name, value) in [
        ("X-Forwarded-For", "192.0.2.3"),
        ("X-Forwarded-For", "192.0.2.4, unix:"),
        ("Forwarded", "for=unknown"),
    ] {
        served.ask(&metrics.clone().header(name, value)).refused(401, "unauthorized");
    }
    let near = served.ask(&Asked::new("GET", "/metrics"));
    assert_eq!(near.status, 200, "{near:?}");
    let served = Served::logged(configured("[server]\nip_rate = 3\n"), &[]);
    for number in 0..3 {
        let list = format!("192.0.2.{number}");
        served
            .ask(&Asked::new("GET", "/metrics").header("X-Forwarded-For", &list))
            .refused(401, "unauthorized");
    }
    let again = Asked::new("GET", "/metrics").header("X-Forwarded-For", "192.0.2.9");
    let refused = served.ask(&again).refused(429, "rate_limited").json();
    assert_eq!(refused["status"], json!(429));
    until(|| told(&served, "\"from\":\"127.0.0.1\"").len() == 4);
}
