//! No tool that fetches is a way inside, however the address is written and wherever a redirect leads.

use std::collections::BTreeMap;
use std::net::IpAddr;

use tokio::runtime::Builder;
use toolroom::Toolroom;
use toolroom::call::{CallReport, CallRequest, Outcome};
use toolroom::foreign::AddressEntry;
use toolroom::tool::{ErrorKind, Origin};
use toolroom_host::net::{Client, Request, Url};
use toolroom_tools::builtin::web::Web;
use toolroom_tools::mcp::egress_policy;

use crate::internet::{Answer, INTERNAL, Internet, LAN, OWN, PUBLIC, inside};
use crate::room::room;

/// Each tool with each method it has.
const EXITS: [(&str, &str); 6] = [
    ("builtin:web_fetch", ""),
    ("builtin:web-fetch", "GET"),
    ("builtin:web-fetch", "HEAD"),
    ("builtin:web-fetch", "PUT"),
    ("builtin:fetch_url", "GET"),
    ("builtin:fetch_url", "POST"),
];

/// Runs `calls` over a toolroom, all in one runtime.
fn with_room(web: Web, calls: impl AsyncFnOnce(&Toolroom)) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { calls(&room(web, None)).await });
}

async fn fetch(room: &Toolroom, (tool, method): (&str, &str), url: &str) -> CallReport {
    let request = CallRequest::new(tool).argument("url", url);
    room.call(if method.is_empty() { request } else { request.argument("method", method) }).await
}

#[track_caller]
fn assert_stopped(report: &CallReport, what: &str) {
    let Outcome::Failed(error) = &report.outcome else { panic!("{what}: {:?}", report.outcome) };
    let fits = matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::InvalidArguments
            | ErrorKind::Unreachable
            | ErrorKind::Upstream
    );
    assert!(fits, "{what}: {error:?}");
}

fn forbidden() -> Vec<IpAddr> {
    INTERNAL.iter().chain(LAN).chain(OWN).map(|address| address.parse().unwrap()).collect()
}

/// Ways to write a URL that leads to an address, or that a lenient parser might take for one.
fn written(address: IpAddr) -> Vec<String> {
    let IpAddr::V4(four) = address else {
        return [
            format!("http://[{address}]/"),
            format!("http://[{address}]:8080/x?y#z"),
            format!("HTTP://[{}]/", address.to_string().to_uppercase()),
            format!("http://x@[{address}]/"),
            format!("http://[{address}%25lo]/"),
            format!("http://[{address}%lo]/"),
        ]
        .into();
    };
    let [a, b, c, d] = four.octets();
    let number = u32::from(four);
    let (high, low) = (number >> 16, number & 0xffff);
    let hosts = [
        format!("{four}"),
        format!("{four}."),
        format!("{four}:8080"),
        format!("{number}"),
        format!("{number:#x}"),
        format!("0{number:o}"),
        format!("{a}.{}", number & 0x00ff_ffff),
        format!("{a}.{b}.{low}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a:#x}.{b}.0{c:o}.{d}"),
        format!("000{a:o}.{b}.{c}.{d}"),
        format!("[::ffff:{four}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:ffff:{high:x}:{low:x}]"),
        format!("[::{four}]"),
        format!("[::ffff:0:{high:x}:{low:x}]"),
        format!("[64:ff9b::{four}]"),
        format!("[64:ff9b:1::{high:x}:{low:x}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:db8::5efe:{four}]"),
        format!("[2606:2800:21f::5efe:{four}]"),
        format!("{four}").replace('.', "。"),
        format!("{four}").replace('1', "①"),
        format!("{four}").replace('1', "１"),
        format!("{four}").replace('.', "%2e"),
        format!("public.example@{four}"),
        format!("public.example:80@{four}"),
        format!("public.example#@{four}"),
        format!("{four}#.public.example"),
        format!("{four}?.public.example"),
        format!("{four}\\.public.example"),
        format!("public.example\\@{four}"),
        format!("{four}\t"),
        format!(" {four}"),
        format!("{four}%00.public.example"),
        format!("{four}%0d%0aHost:x"),
    ];
    let mut urls: Vec<String> = hosts.iter().map(|host| format!("http://{host}/")).collect();
    urls.extend([
        format!("http:{four}/"),
        format!("http:/{four}/"),
        format!("http:///{four}/"),
        format!("http:\\\\{four}\\"),
        format!("//{four}/"),
        format!("\nhttp://{four}/"),
        format!("ht\ntp://{four}/"),
        format!("HtTp://{four}/"),
        format!("https://{four}/"),
        format!("https://{four}:80/"),
        format!("gopher://{four}:6379/_PING"),
        format!("file://{four}/etc/passwd"),
        format!("http://{four}:6379/"),
        format!("http://{four}:2375/containers/json"),
    ]);
    urls
}

fn names(internet: &Internet) -> Vec<String> {
    internet.names.point("public.example", &[PUBLIC[0]]);
    let mut names: Vec<String> =
        ["localhost", "LOCALHOST.", "x.localhost", "ip6-localhost", "metadata.google.internal"]
            .iter()
            .chain(["printer.local", "nas.lan", "hosts-file.example", "foo.internal", "intranet.corp"].iter())
            .map(|name| (*name).to_owned())
            .collect();
    for (number, address) in forbidden().iter().enumerate() {
        let name = format!("inside-{number}.example");
        let address = address.to_string();
        internet.names.point(&name, &[&address]);
        internet.names.point(&format!("mixed-{number}.example"), &[PUBLIC[1], &address]);
        internet.names.set(&format!("alias-{number}.example"), Answer::Alias(name.clone()));
        names.extend([name, format!("mixed-{number}.example"), format!("alias-{number}.example")]);
    }
    names
}

/// Whether the text is a URL of the stand-in for a public host, so that fetching it is right.
fn is_public(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.host_str() == Some("public.example"))
}

#[test]
fn no_spelling_of_an_internal_address_is_reached_by_any_tool() {
    inside(no_spelling_of_an_internal_address_is_reached_by_any_tool, |internet| {
        let names = names(internet);
        let mut urls: Vec<String> = forbidden().into_iter().flat_map(written).collect();
        urls.extend(names.iter().map(|name| format!("http://{name}/")));
        assert!(urls.len() > 1_000, "{}", urls.len());
        with_room(Web::public(), async |room| {
            for url in &urls {
                for exit in EXITS {
                    let report = fetch(room, exit, url).await;
                    if !is_public(url) {
                        assert_stopped(&report, &format!("{exit:?} {url}"));
                    }
                }
            }
        });
        internet.assert_untouched();
    });
}

#[test]
fn no_redirect_leads_a_tool_inside() {
    inside(no_redirect_leads_a_tool_inside, |internet| {
        let names = names(internet);
        let addresses = forbidden().into_iter().map(|address| match address {
            IpAddr::V4(four) => format!("http://{four}/"),
            IpAddr::V6(six) => format!("//[{six}]/"),
        });
        let spelled =
            ["http://2130706433/", "http://0x7f.1/", "http://[::ffff:a9fe:a9fe]/", "http:\\\\127.0.0.1/"];
        let named = names.iter().step_by(4).map(|name| format!("http://{name}/x"));
        let targets: Vec<String> = addresses.chain(spelled.map(str::to_owned)).chain(named).collect();
        with_room(Web::public(), async |room| {
            for target in &targets {
                for (turn, status) in [301, 302, 303, 307, 308].iter().enumerate() {
                    // By name, and by an address that needs no look-up.
                    let start = if turn % 2 == 0 { "public.example" } else { PUBLIC[0] };
                    let url = format!("http://{start}/to/{status}?{target}");
                    for exit in EXITS {
                        let report = fetch(room, exit, &url).await;
                        match &report.outcome {
                            // What sends follows nothing, and so gets the redirect itself.
                            Outcome::Done(done) => {
                                assert!(matches!(exit.1, "PUT" | "POST"), "{exit:?} {url}: {done:?}");
                                assert_eq!(done.value["status"], *status, "{url}");
                            }
                            _ => assert_stopped(&report, &format!("{exit:?} {url}")),
                        }
                    }
                }
            }
            let sent = internet.web.received();
            assert!(sent.iter().all(|received| received.path.starts_with("/to/")));
        });
        internet.assert_untouched();
    });
}

#[test]
fn what_is_opened_to_a_tool_is_opened_to_that_tool_alone() {
    inside(what_is_opened_to_a_tool_is_opened_to_that_tool_alone, |internet| {
        internet.names.point("nas.lan", &["192.168.9.9"]);
        let web = Web::new(|project, tool| {
            let is_opened = project.as_str() == "local" && tool.as_str() == "builtin:web-fetch";
            if is_opened { vec!["nas.lan".parse().unwrap()] } else { Vec::new() }
        });
        with_room(web, async |room| {
            for exit in EXITS {
                let report = fetch(room, exit, "http://nas.lan/").await;
                match &report.outcome {
                    Outcome::Done(done) => {
                        assert_eq!(exit.0, "builtin:web-fetch");
                        assert_eq!(done.origin, Origin::Untrusted);
                        assert_eq!(internet.caught().len(), 1);
                    }
                    _ => {
                        assert_ne!(exit.0, "builtin:web-fetch", "{report:?}");
                        assert_stopped(&report, exit.0);
                    }
                }
            }
            let elsewhere = CallRequest::new("web-fetch").argument("url", "http://nas.lan/");
            let elsewhere = room.call(elsewhere.scope(toolroom::scope::Scope::project("other"))).await;
            assert_stopped(&elsewhere, "another project");
        });
        internet.assert_untouched();
    });
}

#[test]
fn what_a_model_is_told_names_nothing_that_it_did_not_name() {
    inside(what_a_model_is_told_names_nothing_that_it_did_not_name, |internet| {
        internet.names.point("public.example", &[PUBLIC[0]]);
        internet.names.point("inside.example", &["10.9.9.9"]);
        with_room(Web::public(), async |room| {
            for url in ["http://inside.example/", "http://public.example/to/302?http://10.9.9.9/secret"] {
                for exit in EXITS.iter().filter(|exit| !matches!(exit.1, "PUT" | "POST")) {
                    let report = fetch(room, *exit, url).await;
                    let Outcome::Failed(error) = &report.outcome else { panic!("{report:?}") };
                    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
                    let told = format!("{} {}", error.for_model(), error.hint().unwrap());
                    assert!(!told.contains("10.9.9.9") && !told.contains("secret"), "{told}");
                    assert!(told.contains("a private address") && told.contains("an operator"), "{told}");
                    assert!(error.for_operator().unwrap().contains("10.9.9.9"));
                }
            }
        });
        internet.assert_untouched();
    });
}

fn entry(url: &str) -> AddressEntry {
    AddressEntry { url: url.to_owned(), headers: BTreeMap::new(), is_internal: false }
}

#[test]
fn no_server_leads_its_client_inside_by_its_name_or_by_a_redirect() {
    inside(no_server_leads_its_client_inside_by_its_name_or_by_a_redirect, |internet| {
        let names = names(internet);
        let turning = |inside: &str| Answer::Turns(vec![PUBLIC[0].parse().unwrap(), inside.parse().unwrap()]);
        internet.names.set("turning.example", turning("10.9.9.9"));
        let is_public = |name: &&String| name.ends_with(".example");
        let mut urls: Vec<String> =
            names.iter().filter(is_public).map(|name| format!("http://{name}/mcp")).collect();
        let addresses = forbidden().into_iter().map(|address| {
            format!(
                "http://public.example/to/307?http://{}/",
                match address {
                    IpAddr::V4(four) => four.to_string(),
                    IpAddr::V6(six) => format!("[{six}]"),
                }
            )
        });
        urls.extend(addresses);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for url in &urls {
                let client = Client::new(egress_policy(&entry(url), &[]));
                for request in [Request::get(url.as_str()), Request::post(url.as_str(), "{}")] {
                    assert!(client.send(request).await.is_err(), "{url}");
                }
            }
            for _ in 0..8 {
                // What answered once as a public host has led inside the next time.
                let client = Client::new(egress_policy(&entry("http://turning.example/mcp"), &[]));
                drop(client.send(Request::post("http://turning.example/mcp", "{}")).await);
            }
            let there = Client::new(egress_policy(&entry("http://public.example/mcp"), &[]));
            assert!(there.send(Request::post("http://public.example/mcp", "{}")).await.is_ok());
        });
        internet.assert_untouched();
    });
}
