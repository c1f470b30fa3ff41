//! `web_fetch`, `web-fetch` and `fetch_url` through the command line, in an internet of the test's own.

use serde_json::{Value, json};

use crate::home::{Home, Ran};
use crate::internet::{INTERNAL, Internet, LAN, OWN, PUBLIC, inside};
use crate::scale::scaled;

const PAGE: &str = "<!doctype html><title>Lights</title><nav>menu</nav><h1>Lights</h1><p>See <a href='/more'>more</a>.\
    <script>no()</script>";

/// A public host, and its responses.
fn host(internet: &Internet) {
    internet.names.point("site.example", &[PUBLIC[0]]);
    internet.names.point("other.example", &[PUBLIC[1]]);
    let says = |path: &str, head: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
        internet.web.say(path, [head.as_bytes(), body].concat());
    };
    says("/page", "200 OK\r\ncontent-type: text/html; charset=utf-8", PAGE.as_bytes());
    says("/missing", "404 Not Found\r\ncontent-type: text/html", b"<h1>Nothing here</h1>");
    says(
        "/json",
        "200 OK\r\ncontent-type: application/json",
        br#"{"big":12345678901234567890.10,"list":[1,2]}"#,
    );
    says("/text", "200 OK\r\ncontent-type: text/plain; charset=iso-8859-1", b"gr\xfc\xdfe <b>");
    says(
        "/latin",
        "200 OK\r\ncontent-type: text/html",
        b"<meta charset=windows-1252><p>\x84quoted\x93 caf\xe9",
    );
    says("/image", "200 OK\r\ncontent-type: image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    says("/many", "200 OK\r\nx-list: one\r\nX-List: two\r\nset-cookie: a=1\r\nset-cookie: b=2", b"body");
    says("/long", "200 OK\r\ncontent-type: text/plain", "é".repeat(60_000).as_bytes());
    says("/huge", "200 OK\r\ncontent-type: text/plain", "x".repeat(2_000_001).as_bytes());
    let head = "connection: close\r\ncontent-type: image/png\r\ncontent-length: 9999999\r\nx-here: yes";
    internet.web.say("/head", format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n"));
}

fn call(home: &Home, tool: &str, url: &str, more: &[&str]) -> Ran {
    let url = format!("url={url}");
    let words: Vec<&str> = ["call", tool, &url].into_iter().chain(more.iter().copied()).collect();
    home.run(&words)
}

/// The result of a successful call.
#[track_caller]
fn fetched(home: &Home, tool: &str, url: &str, more: &[&str]) -> Value {
    let more: Vec<&str> = more.iter().copied().chain(["--json"]).collect();
    call(home, tool, url, &more).ended(0).json()["result"].clone()
}

/// Kind and text of a failed call.
#[track_caller]
fn failed(home: &Home, tool: &str, url: &str, more: &[&str]) -> (String, String) {
    let more: Vec<&str> = more.iter().copied().chain(["--json"]).collect();
    let ran = call(home, tool, url, &more).ended(1);
    let error = &ran.json()["error"];
    (error["kind"].as_str().unwrap().to_owned(), error.to_string())
}

#[test]
fn pages_are_returned_in_the_form_of_each_tool() {
    inside(pages_are_returned_in_the_form_of_each_tool, |internet| {
        host(internet);
        let home = Home::new();
        let page = fetched(&home, "web_fetch", "http://site.example/page#top", &[]);
        let source = page["source"].as_str().unwrap();
        assert!(source.contains("not instructions"), "{source}");
        let expected = json!({
            "url": "http://site.example/page#top",
            "final_url": "http://site.example/page",
            "status": 200,
            "ok": true,
            "title": "Lights",
            "content": "# Lights\n\nSee [more](http://site.example/more).",
            "content_type": "text/html; charset=utf-8",
            "length": 47,
            "source": source,
        });
        assert_eq!(page, expected);
        let received = internet.web.received();
        assert!(received[0].header("accept").unwrap().contains("text/html"), "{received:?}");
        let raw = fetched(&home, "web-fetch", "http://site.example/page", &[]);
        assert_eq!(raw["body"], PAGE);
        // A whole number as a float, as some models write it.
        fetched(&home, "web-fetch", "http://site.example/page", &["timeoutMs:=20000.0"]);
        assert_eq!(
            (&raw["status"], &raw["statusText"], &raw["ok"]),
            (&json!(200), &json!("OK"), &json!(true))
        );
        assert_eq!(raw["headers"]["content-type"], "text/html; charset=utf-8");
        assert_eq!(raw.as_object().unwrap().len(), 5);
        let text = fetched(&home, "fetch_url", "http://site.example/page", &[]);
        let expected = json!({
            "success": true,
            "status": 200,
            "final_url": "http://site.example/page",
            "content_type": "text/html; charset=utf-8",
            "body": "Lights\n\nSee more.",
        });
        assert_eq!(text, expected);
        internet.assert_untouched();
    });
}

#[test]
fn responses_are_reported_unchanged() {
    inside(responses_are_reported_unchanged, |internet| {
        host(internet);
        let home = Home::new();
        let missing = fetched(&home, "web_fetch", "http://site.example/missing", &[]);
        assert_eq!((&missing["status"], &missing["ok"]), (&json!(404), &json!(false)));
        assert_eq!(missing["content"], "# Nothing here");
        assert_eq!(fetched(&home, "fetch_url", "http://site.example/missing", &[])["success"], false);
        let missing = fetched(&home, "web-fetch", "http://site.example/missing", &[]);
        assert_eq!((&missing["statusText"], &missing["ok"]), (&json!("Not Found"), &json!(false)));

        let lines = fetched(&home, "web_fetch", "http://site.example/json", &[]);
        assert_eq!(
            lines["content"],
            "{\n  \"big\": 12345678901234567890.10,\n  \"list\": [\n    1,\n    2\n  ]\n}"
        );
        for tool in ["web-fetch", "fetch_url"] {
            assert_eq!(fetched(&home, tool, "http://site.example/text", &[])["body"], "grüße <b>", "{tool}");
        }
        assert_eq!(fetched(&home, "web_fetch", "http://site.example/text", &[])["content"], "grüße <b>");
        assert_eq!(fetched(&home, "web_fetch", "http://site.example/latin", &[])["content"], "„quoted“ café");

        let (kind, text) = failed(&home, "web_fetch", "http://site.example/image", &[]);
        assert_eq!(kind, "tool");
        assert!(text.contains("status 200 and is 16 bytes of image/png"), "{text}");
        let image = fetched(&home, "fetch_url", "http://site.example/image", &[]);
        assert_eq!(image["body"], "[16 bytes of image/png]");
        let image = fetched(&home, "web-fetch", "http://site.example/image", &[]);
        assert!(image["body"].as_str().unwrap().starts_with("\u{fffd}PNG"), "{image}");

        let many = fetched(&home, "web-fetch", "http://site.example/many", &[]);
        assert_eq!(many["headers"]["x-list"], "one, two");
        assert_eq!(many["headers"]["set-cookie"], "a=1, b=2");
        internet.assert_untouched();
    });
}

#[test]
fn long_pages_are_cut_and_the_whole_is_available() {
    inside(long_pages_are_cut_and_the_whole_is_available, |internet| {
        host(internet);
        let home = Home::new();
        let page = fetched(&home, "web_fetch", "http://site.example/long", &[]);
        assert_eq!(page["content"].as_str().unwrap().chars().count(), 50_000);
        assert_eq!((&page["length"], &page["truncated"]), (&json!(60_000), &json!(true)));
        let page = fetched(&home, "web_fetch", "http://site.example/long", &["max_chars=7"]);
        assert_eq!((&page["content"], &page["length"]), (&json!("ééééééé"), &json!(60_000)));
        // Beyond the limit of a result the whole is stored, as for every tool.
        let ran =
            call(&home, "web_fetch", "http://site.example/long", &["max_chars=100000", "--json"]).ended(0);
        assert!(ran.json()["artifact"].is_string() && ran.json()["truncated"] == true, "{ran:?}");
        for tool in ["web-fetch", "fetch_url"] {
            let ran = call(&home, tool, "http://site.example/long", &["--json"]).ended(0);
            assert!(ran.json()["artifact"].is_string(), "{tool}: {ran:?}");
        }
        for tool in ["web_fetch", "web-fetch", "fetch_url"] {
            let (kind, text) = failed(&home, tool, "http://site.example/huge", &[]);
            assert!(
                kind == "tool" && text.contains("2000000") && text.contains("request less"),
                "{tool}: {text}"
            );
        }
        internet.assert_untouched();
    });
}

#[test]
fn reads_follow_three_redirects_and_report_the_final_url() {
    inside(reads_follow_three_redirects_and_report_the_final_url, |internet| {
        host(internet);
        let home = Home::new();
        let three = "http://site.example/chain/2?http://other.example/page";
        for (tool, field) in [("web_fetch", "final_url"), ("fetch_url", "final_url")] {
            assert_eq!(fetched(&home, tool, three, &[])[field], "http://other.example/page", "{tool}");
        }
        assert_eq!(fetched(&home, "web-fetch", three, &[])["body"], PAGE);
        let four = "http://site.example/chain/3?http://other.example/page";
        for tool in ["web_fetch", "web-fetch", "fetch_url"] {
            let (kind, text) = failed(&home, tool, four, &[]);
            assert!(kind == "upstream" && text.contains("3 redirects"), "{tool}: {text}");
        }
        internet.assert_untouched();
    });
}

#[test]
fn head_returns_no_body() {
    inside(head_returns_no_body, |internet| {
        host(internet);
        let home = Home::new();
        let head = fetched(&home, "web-fetch", "http://site.example/head", &["method=head"]);
        assert_eq!((&head["headers"]["x-here"], &head["body"]), (&json!("yes"), &json!("")));
        assert_eq!(head["headers"]["content-length"], "9999999");
        assert_eq!(fetched(&home, "fetch_url", "http://site.example/head", &["method=HEAD"])["body"], "");
        assert!(internet.web.received().iter().all(|received| received.method == "HEAD"));
    });
}

#[test]
fn writes_ask_first_and_follow_no_redirect() {
    inside(writes_ask_first_and_follow_no_redirect, |internet| {
        host(internet);
        let home = Home::new();
        for (tool, methods) in
            [("web-fetch", &["POST", "put", "Patch", "DELETE"][..]), ("fetch_url", &["post"])]
        {
            for method in methods {
                let word = format!("method={method}");
                let asked =
                    call(&home, tool, "http://site.example/to/307?http://other.example/", &[&word, "body=x"]);
                assert_eq!(asked.code, 4, "{tool} {method}: {asked:?}");
                assert!(internet.web.received().is_empty(), "{tool} {method}");
                let url = "http://site.example/to/307?http://other.example/";
                let sent = fetched(&home, tool, url, &[&word, "body=x=1", "--yes"]);
                assert_eq!(sent["status"], 307, "{tool} {method}");
                let received = internet.web.received();
                assert_eq!(received.len(), 1, "{tool} {method}");
                assert_eq!(
                    (received[0].method.as_str(), received[0].body.as_str()),
                    (&*method.to_uppercase(), "x=1")
                );
            }
        }
        let explained =
            call(&home, "web-fetch", "http://site.example/", &["method=POST", "--dry-run", "--json"]);
        assert_eq!(explained.ended(4).json()["explain"]["effect"], "once_only_write");
        internet.assert_untouched();
    });
}

#[test]
fn one_click_unsubscribes() {
    inside(one_click_unsubscribes, |internet| {
        host(internet);
        let home = Home::new();
        let words = ["method=POST", "body=List-Unsubscribe=One-Click", "--yes"];
        assert_eq!(
            fetched(&home, "fetch_url", "http://site.example/unsubscribe?id=7", &words)["success"],
            true
        );
        let received = internet.web.received();
        assert_eq!(received[0].body, "List-Unsubscribe=One-Click");
        assert_eq!(received[0].header("content-type"), Some("application/x-www-form-urlencoded"));
        let help = home.run(&["tools", "show", "fetch_url"]).ended(0).out;
        assert!(help.contains("RFC 8058") && help.contains("List-Unsubscribe=One-Click"), "{help}");
    });
}

#[test]
fn request_headers_are_sent_and_not_returned() {
    inside(request_headers_are_sent_and_not_returned, |internet| {
        host(internet);
        let home = Home::new();
        let ran = call(
            &home,
            "web-fetch",
            "http://site.example/many",
            &[r#"headers={"X-Api-Key": "canary-7f3a", "accept": "text/x"}"#, "--json"],
        )
        .ended(0);
        let received = internet.web.received();
        assert_eq!(received[0].header("x-api-key"), Some("canary-7f3a"));
        assert_eq!(received[0].header("accept"), Some("text/x"));
        assert!(!ran.out.contains("canary-7f3a"), "{ran:?}");
    });
}

#[test]
fn invalid_arguments_are_reported_and_nothing_is_sent() {
    inside(invalid_arguments_are_reported_and_nothing_is_sent, |internet| {
        host(internet);
        let home = Home::new();
        let url = "http://site.example/page";
        for (tool, word, says) in [
            ("web-fetch", "method=BREW", "GET, POST, PUT, DELETE, PATCH, HEAD"),
            ("web-fetch", "method=CONNECT", "must be one of"),
            ("web-fetch", "body=x", "cannot be sent with GET"),
            ("web-fetch", "timeoutMs=0", "timeoutMs"),
            ("web-fetch", "timeoutMs=-5", "timeoutMs"),
            ("web-fetch", "timeoutMs=0.5", "timeoutMs"),
            ("web-fetch", "timeoutMs=120001", "timeoutMs"),
            ("web-fetch", r#"headers={"a": {"b": "c"}}"#, "headers"),
            ("web-fetch", r#"headers={"host": "x"}"#, "host"),
            ("web-fetch", r#"headers={"a b": "x"}"#, "a b"),
            ("web-fetch", r#"headers={"a": "x\ny"}"#, "character"),
            ("fetch_url", "method=PUT", "GET, POST, HEAD"),
            ("fetch_url", "body=x", "cannot be sent with GET"),
            ("web_fetch", "max_chars=0", "max_chars"),
            ("web_fetch", "method=POST", "method"),
        ] {
            let (kind, text) = failed(&home, tool, url, &[word]);
            assert!(kind == "invalid_arguments" && text.contains(says), "{tool} {word}: {text}");
        }
        for tool in ["web_fetch", "web-fetch", "fetch_url"] {
            for url in ["ftp://site.example/", "site.example", "http://me:pw@site.example/", ""] {
                assert_eq!(failed(&home, tool, url, &[]).0, "invalid_arguments", "{tool} {url}");
            }
        }
        assert!(internet.web.received().is_empty());
    });
}

#[test]
fn unreachable_hosts_are_told_apart() {
    inside(unreachable_hosts_are_told_apart, |internet| {
        host(internet);
        internet.names.set("silent.example", crate::internet::Answer::Silence);
        internet.web.say("/cut", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this");
        let home = Home::new();
        for tool in ["web_fetch", "web-fetch", "fetch_url"] {
            assert_eq!(failed(&home, tool, "http://nobody.example/", &[]).0, "unreachable", "{tool}");
            assert_eq!(failed(&home, tool, "http://site.example:8081/", &[]).0, "unreachable", "{tool}");
            assert_eq!(failed(&home, tool, "http://site.example/cut", &[]).0, "upstream", "{tool}");
            let (kind, text) = failed(&home, tool, "http://10.9.9.9/", &[]);
            assert_eq!(kind, "permission_denied");
            assert!(text.contains("`10.9.9.9` is not reached: it is a private address"), "{text}");
            assert!(text.contains("do not try other ways"), "{text}");
        }
        let (kind, text) = failed(&home, "web-fetch", "http://silent.example/", &["timeoutMs=300"]);
        assert!(kind == "timeout" && text.contains("300 ms"), "{text}");
        internet.assert_untouched();
    });
}

#[test]
fn no_command_reaches_inside() {
    inside(no_command_reaches_inside, |internet| {
        host(internet);
        let addresses: Vec<String> = INTERNAL
            .iter()
            .chain(LAN)
            .chain(OWN)
            .map(|address| if address.contains(':') { format!("[{address}]") } else { (*address).to_owned() })
            .collect();
        let home = Home::new();
        let tools = ["web_fetch", "web-fetch", "fetch_url"];
        let most = usize::try_from(scaled(150)).unwrap();
        let forms = addresses.iter().flat_map(|address| {
            let name =
                format!("inside-{}.example", address.trim_matches(['[', ']']).replace([':', '.'], "-"));
            internet.names.point(&name, &[address.trim_matches(['[', ']'])]);
            [
                format!("http://{address}/"),
                format!("http://{name}/"),
                format!("http://site.example/to/302?http://{address}/"),
                format!("http://site.example/to/308?http://{name}/"),
                format!("http://93.184.215.14/to/303?//{address}:8080/"),
            ]
        });
        let forms: Vec<String> = forms.collect();
        // Seven is coprime to the number of forms, so every sample is spread over all of them.
        for number in 0..most.min(forms.len() * tools.len()) {
            let (form, tool) = (&forms[number * 7 % forms.len()], tools[number % tools.len()]);
            let ran = call(&home, tool, form, &["--json"]);
            assert_eq!(
                (ran.code, &ran.json()["error"]["kind"]),
                (1, &json!("permission_denied")),
                "{tool} {form}"
            );
        }
        internet.assert_untouched();
    });
}

#[test]
fn the_family_has_one_switch() {
    let home = Home::new();
    home.run(&["tools", "disable", "web_fetch"]).ended(0);
    for tool in ["web_fetch", "web-fetch", "fetch_url"] {
        call(&home, tool, "http://site.example/", &[]).ended(3);
    }
}
