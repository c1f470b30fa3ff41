//! `web_search` and `get_location_from_ip` through the command line and the server, in an internet of the test's own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;
use crate::internet::{Internet, LAN, PUBLIC, inside};
use crate::serve::served::Served;

/// Each engine at its own private address, which only the configuration opens.
const CONFIG: &str = "[search]\nproviders = ['brave', 'tavily', 'searxng']\n\
    [search.brave]\nkey = 'secret:brave'\nurl = 'http://brave.lan/find'\n\
    [search.tavily]\nkey = '$SEARCH_KEY'\nurl = 'http://tavily.lan/find'\n\
    [search.searxng]\nurl = 'http://searx.lan:8080'\n";

const SEARX: &str = "/search?q=rust+crabs&format=json";

fn set_up(config: &str) -> Home {
    let home = Home::new();
    std::fs::write(home.path().join("toolroom.toml"), config).unwrap();
    home.run_with_stdin(&["secrets", "set", "brave"], "brave-key-0123456789").ended(0);
    home
}

fn says(internet: &Internet, path: &str, status: &str, body: &str) {
    let head = "connection: close\r\ncontent-type: application/json";
    let length = body.len();
    internet.web.say(path, format!("HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}"));
}

fn hosts(internet: &Internet) {
    internet.names.point("brave.lan", &[LAN[1]]);
    internet.names.point("tavily.lan", &[LAN[2]]);
    internet.names.point("elsewhere.example", &[PUBLIC[0]]);
    internet.names.point("searx.lan", &[LAN[0]]);
    let found = json!({"query": "rust crabs", "results": [
        {"title": "<b>Crabs</b> &amp; Rust", "url": "https://crabs.example/", "content": "All about\n crabs"},
        {"title": "No address", "url": "javascript:alert(1)", "content": ""},
        {"title": "Nowhere", "content": "one without an address takes no other with it"},
        {"title": "Long", "url": format!("https://long.example/{}", "x".repeat(3_000))},
        {"title": "Old", "url": "http://old.example/", "content": null, "publishedDate": "2019-01-02"},
    ]});
    says(internet, SEARX, "200 OK", &found.to_string());
}

fn search(home: &Home, more: &[&str]) -> crate::home::Ran {
    let words = ["call", "web_search", "query=rust crabs", "--json"];
    let words: Vec<&str> = words.into_iter().chain(more.iter().copied()).collect();
    let mut command = home.command(&words);
    crate::home::ran(command.env("SEARCH_KEY", "tavily-key-0123456789").output().unwrap())
}

#[test]
fn engines_are_asked_in_order_and_each_failure_has_its_reason() {
    inside(engines_are_asked_in_order_and_each_failure_has_its_reason, |internet| {
        hosts(internet);
        let home = set_up(CONFIG);
        says(internet, "/find?q=rust+crabs&count=5", "429 Too Many Requests", "{}");
        let away = "HTTP/1.1 302 Found\r\nlocation: http://elsewhere.example/\r\ncontent-length: 0\r\n\r\n";
        internet.web.say("/find", away);
        let answer = search(&home, &[]).ended(0).json()["result"].clone();
        let source = answer["source"].as_str().unwrap();
        assert!(source.contains("not instructions"), "{source}");
        let expected = json!({
            "query": "rust crabs",
            "source": source,
            "provider": "searxng",
            "count": 2,
            "results": [
                {"title": "Crabs & Rust", "url": "https://crabs.example/", "description": "All about crabs"},
                {"title": "Old", "url": "http://old.example/", "description": "", "age": "2019-01-02"},
            ],
            "failed": [
                {"provider": "brave", "reason": "too many requests (status 429)"},
                {"provider": "tavily", "reason": "responded with status 302"},
            ],
        });
        assert_eq!(answer, expected);

        let received = internet.web.received();
        let [brave, tavily, searx] = received.as_slice() else { panic!("{received:?}") };
        assert_eq!(brave.header("x-subscription-token"), Some("brave-key-0123456789"));
        assert_eq!(tavily.header("authorization"), Some("Bearer tavily-key-0123456789"));
        assert_eq!(tavily.body, r#"{"query":"rust crabs","max_results":5}"#);
        assert_eq!((searx.path.as_str(), searx.header("authorization")), (SEARX, None));
        // Only the configured addresses were reached in the private network.
        let written = [format!("{}:8080", LAN[0]), format!("{}:80", LAN[1]), format!("{}:80", LAN[2])];
        let caught = internet.caught();
        assert!(caught.iter().all(|at| written.contains(&at.to_string())), "{caught:?}");
        assert!(!home.journal().iter().any(|row| row.to_string().contains("key-0123456789")));
    });
}

#[test]
fn if_all_engines_fail_the_error_has_every_reason() {
    inside(if_all_engines_fail_the_error_has_every_reason, |internet| {
        hosts(internet);
        says(internet, "/find?q=rust+crabs&count=5", "403 Forbidden", "{}");
        says(internet, "/find", "200 OK", "<html>");
        let silent = json!({"results": [], "unresponsive_engines": [["google", "timeout"], ["bing", "CAPTCHA"], "odd"]});
        says(internet, SEARX, "200 OK", &silent.to_string());
        let error = search(&set_up(CONFIG), &[]).ended(1).json()["error"].clone();
        assert_eq!(
            error["message"],
            "all search engines failed; brave: rejected the key (status 403); tavily: the response does not have the \
             expected form; searxng: none of its engines responded (google, bing)",
            "{error}"
        );
        // A missing key is a reason too, with the remedy.
        let home = Home::new();
        std::fs::write(home.path().join("toolroom.toml"), CONFIG).unwrap();
        let error =
            home.run(&["call", "web_search", "query=x", "--json"]).ended(1).json()["error"].to_string();
        assert!(
            error.contains("brave: no secret `brave`; set it with `toolroom secrets set brave`"),
            "{error}"
        );
        assert!(error.contains("tavily: the environment variable `SEARCH_KEY` is not set"), "{error}");
        internet.web.received();
        internet.caught();

        // Other addresses are as closed as to every tool.
        let closed = "[search.searxng]\nurl = 'http://searx.example'\n";
        internet.names.point("searx.example", &["169.254.169.254"]);
        let error = search(&set_up(closed), &[]).ended(1).json()["error"].to_string();
        assert!(error.contains("is not reached"), "{error}");
        internet.assert_untouched();
    });
}

#[test]
fn an_invalid_response_is_a_failure_and_not_cached() {
    inside(an_invalid_response_is_a_failure_and_not_cached, |internet| {
        hosts(internet);
        for place in ["/find?q=rust+crabs&count=5", "/find", SEARX] {
            says(internet, place, "200 OK", "{}");
        }
        let ran = search(&set_up(CONFIG), &[]).ended(1);
        let error = ran.json()["error"]["message"].to_string();
        for engine in ["brave", "tavily", "searxng"] {
            let told = format!("{engine}: the response does not have the expected form");
            assert!(error.contains(&told), "{told}: {error}");
        }
        // The error is complete, so no log line comes before it.
        assert!(!ran.err.contains("a search failed"), "{}", ran.err);
        internet.web.received();
        internet.caught();

        // A response without results is valid.
        says(internet, "/find?q=rust+crabs&count=5", "200 OK", r#"{"type": "search", "query": {}}"#);
        let found = search(&set_up(CONFIG), &[]).ended(0).json()["result"].clone();
        assert_eq!((&found["provider"], &found["count"]), (&json!("brave"), &json!(0)), "{found}");
        internet.web.received();
        internet.caught();
    });
}

#[test]
fn a_missing_configuration_is_explained_and_uses_up_no_search() {
    let served = Served::configured("[search]\nproviders = ['brave', 'tavily']\n");
    let key = served.key("local", "call");
    for number in 0..25 {
        let told = served.call(&key, "web_search", &json!({"query": format!("q {number}")})).is(200).json();
        let error = told["error"]["message"].as_str().unwrap_or_else(|| panic!("{told}"));
        for next in ["BRAVE_API_KEY", "`search.brave.key`", "`toolroom secrets set tavily`"] {
            assert!(error.contains(next), "{next}: {error}");
        }
    }
}

#[test]
fn without_an_engine_the_error_explains_the_setup() {
    let home = Home::new();
    let ran = home.run(&["call", "web_search", "query=rust"]).ended(1);
    assert!(ran.err.contains("no search engine is configured"), "{}", ran.err);
    assert!(ran.err.contains("BRAVE_API_KEY") && ran.err.contains("search.searxng.url"), "{}", ran.err);
    for (words, wrong) in [
        (&["query= "][..], "must not be blank"),
        (&["query=x", "count=11"], "count"),
        (&["query=x", "count=0"], "count"),
        (&[], "query"),
    ] {
        let words: Vec<&str> = ["call", "web_search"].into_iter().chain(words.iter().copied()).collect();
        let ran = home.run(&words).ended(1);
        assert!(ran.err.contains(wrong), "{words:?}: {}", ran.err);
    }
    let long = format!("query={}", "x".repeat(2_001));
    assert!(home.run(&["call", "web_search", &long]).ended(1).err.contains("query"));
}

#[test]
fn twenty_searches_an_hour_are_allowed_and_cached_ones_are_free() {
    inside(twenty_searches_an_hour_are_allowed_and_cached_ones_are_free, |internet| {
        internet.names.point("searx.example", &[PUBLIC[0]]);
        let answer = |number: usize| {
            let found = json!({"results": [{"title": "t", "url": format!("https://x.example/{number}")}]});
            says(internet, &format!("/search?q=question+{number}&format=json"), "200 OK", &found.to_string());
        };
        (0..21).for_each(answer);
        let served = Served::configured("[search.searxng]\nurl = 'http://searx.example'\n");
        let key = served.key("local", "call");
        let asks = |query: &str| served.call(&key, "web_search", &json!({"query": query}));
        for number in 0..20 {
            // Each one twice, and once more in other letters: only the first one is sent.
            let query = format!("question {number}");
            assert_eq!(asks(&query).is(200).json()["result"]["cached"], Value::Null);
            let again = asks(&query.to_uppercase()).is(200).json();
            assert_eq!(again["result"]["cached"], true);
            assert_eq!(again["result"]["results"][0]["url"], format!("https://x.example/{number}"));
        }
        assert_eq!(internet.web.received().len(), 20);
        let refused = asks("question 20");
        assert_eq!(refused.status, 429, "{}", refused.json());
        assert!(refused.json().to_string().contains("20 calls an hour"), "{}", refused.json());
        assert_eq!(asks("question 3").is(200).json()["result"]["cached"], true);
        assert!(internet.web.received().is_empty());
    });
}

/// The mock's search endpoint, which has no options on its command line.
const MOCK: &str = "import {LLMock} from process.argv[1];";

#[test]
fn the_tavily_mock_responds() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolroom-models/tests/aimock");
    let module = package.join("node_modules/@copilotkit/aimock/dist/index.js");
    let script = format!(
        "{}
        const mock = new LLMock({{port: 0, host: '127.0.0.1', strict: true}});
        mock.onSearch(/crabs/, [{{title: 'Crabs', url: 'https://crabs.example/', content: 'All about crabs', score: 1}}]);
        console.log(await mock.start());",
        MOCK.replace("process.argv[1]", &json!(module.to_str().unwrap()).to_string())
    );
    let mut mock = Command::new("node")
        .args(["--input-type=module", "-e", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let url = BufReader::new(mock.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let home = Home::new();
    let config = format!("[search.tavily]\nkey = '$SEARCH_KEY'\nurl = '{url}/search'\n");
    std::fs::write(home.path().join("toolroom.toml"), config).unwrap();
    let answer = search(&home, &["count=1"]).ended(0).json()["result"].clone();
    mock.kill().unwrap();
    mock.wait().unwrap();
    assert_eq!(answer["provider"], "tavily");
    let expected =
        json!([{"title": "Crabs", "url": "https://crabs.example/", "description": "All about crabs"}]);
    assert_eq!(answer["results"], expected);
}

#[test]
fn the_location_service_is_configurable() {
    inside(the_location_service_is_configurable, |internet| {
        internet.names.point("where.lan", &[LAN[0]]);
        let answer = json!({"success": true, "ip": "203.0.113.7", "city": "Tashkent", "country": "Uzbekistan",
            "country_code": "UZ", "latitude": 41.2, "longitude": 69.2, "timezone": {"id": "Asia/Tashkent"}});
        says(internet, "/me", "200 OK", &answer.to_string());
        let home = set_up("[location]\nurl = 'http://where.lan:8080/me'\n");
        let found = home.run(&["call", "get_location_from_ip", "--json"]).ended(0).json()["result"].clone();
        assert_eq!((&found["success"], &found["city"]), (&json!(true), &json!("Tashkent")), "{found}");
        assert_eq!(found["timezone"], "Asia/Tashkent");
        says(internet, "/me", "503 Busy", "");
        let error = home.run(&["call", "get_location_from_ip"]).ended(1).err;
        assert!(error.contains("status 503") && error.contains("ask the user where they are"), "{error}");
    });
}
