//! No internal destination is reached in any way; public ones are.

use std::future::Future;

use tokio::runtime::Builder;
use toolroom_host::listen::Listener;
use toolroom_host::net::{Client, DestinationRefusal, EgressPolicy, NetError, Request};

use crate::internet::{Answer, INTERNAL, Internet, LAN, OWN, PUBLIC, inside};
use crate::scale::scaled;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn client() -> Client {
    Client::new(EgressPolicy::public())
}

fn opened(entries: &[&str]) -> Client {
    Client::new(EgressPolicy::public().open(entries.iter().map(|entry| entry.parse().unwrap())))
}

async fn get(client: &Client, url: &str) -> Result<String, NetError> {
    let response = client.send(Request::get(url)).await?;
    Ok(String::from_utf8_lossy(&response.body.bytes().await?).into_owned())
}

fn host(address: &str) -> String {
    if address.contains(':') { format!("[{address}]") } else { address.to_owned() }
}

/// Everything that must not be reached.
fn forbidden() -> impl Iterator<Item = &'static str> {
    INTERNAL.iter().chain(LAN).chain(OWN).copied()
}

/// As [`forbidden`], as names that lead there.
fn forbidden_names(internet: &Internet) -> Vec<String> {
    let named = forbidden().enumerate().map(|(number, address)| {
        let name = format!("inside-{number}.example");
        internet.names.point(&name, &[address]);
        name
    });
    named.collect()
}

#[test]
fn the_harness_sees_what_it_should() {
    inside(the_harness_sees_what_it_should, |internet| {
        // Without a guard every one of these addresses answers, and is noted.
        for address in forbidden() {
            let stream =
                std::net::TcpStream::connect((address, 80)).unwrap_or_else(|e| panic!("{address}: {e}"));
            drop(stream);
        }
        let caught = internet.caught();
        for address in forbidden() {
            assert!(
                caught.iter().any(|at| at.ip().to_string() == address),
                "{address} was not noted: {caught:?}"
            );
        }
    });
}

#[test]
fn public_hosts_answer_by_name_and_by_address() {
    inside(public_hosts_answer_by_name_and_by_address, |internet| {
        let client = client();
        block_on(async {
            for (number, address) in PUBLIC.iter().enumerate() {
                let hello = format!("hello from {address}");
                assert_eq!(get(&client, &format!("http://{}/", host(address))).await.unwrap(), hello);
                let name = format!("public-{number}.example");
                internet.names.point(&name, &[address]);
                assert_eq!(get(&client, &format!("http://{name}:8080/")).await.unwrap(), hello);
                internet.names.set("alias.example", Answer::Alias(name));
                assert_eq!(get(&client, "http://alias.example./").await.unwrap(), hello);
            }
        });
        internet.assert_untouched();
    });
}

#[test]
fn two_hundred_ordinary_hosts_are_not_refused() {
    inside(two_hundred_ordinary_hosts_are_not_refused, |internet| {
        let firsts = [
            "fda",
            "fcbarcelona",
            "fd",
            "fe80",
            "fec0",
            "ffa",
            "10",
            "127",
            "192-168",
            "169-254",
            "localhost",
            "localhost-shop",
            "internal",
            "corp",
            "homedepot",
            "plan",
            "local",
            "metadata",
            "lan",
            "intranet",
        ];
        let lasts = [
            "gov",
            "com",
            "nl",
            "co.uk",
            "home-office.uk",
            "internal.example.com",
            "local.example",
            "lan.dev",
            "corporation.org",
            "127.0.0.1.nip.io",
        ];
        let client = client();
        let mut answered = 0;
        block_on(async {
            for host in
                firsts.iter().flat_map(|first| lasts.iter().map(move |last| format!("{first}.{last}")))
            {
                internet.names.point(&host, &[PUBLIC[answered % PUBLIC.len()]]);
                let port = ["", ":80", ":8080"][answered % 3];
                get(&client, &format!("http://{host}{port}/a?b=c"))
                    .await
                    .unwrap_or_else(|e| panic!("{host}: {e}"));
                answered += 1;
            }
        });
        assert_eq!(answered, 200);
        internet.assert_untouched();
    });
}

#[test]
fn no_address_and_no_name_leads_inside() {
    inside(no_address_and_no_name_leads_inside, |internet| {
        let client = client();
        block_on(async {
            for address in forbidden() {
                for port in ["", ":8080"] {
                    let found = get(&client, &format!("http://{}{port}/", host(address))).await;
                    assert!(matches!(found, Err(NetError::Refused { .. })), "{address}: {found:?}");
                }
            }
            for name in forbidden_names(internet) {
                let found = get(&client, &format!("http://{name}/")).await;
                assert!(matches!(found, Err(NetError::Refused { .. })), "{name}: {found:?}");
                internet.names.set("alias.example", Answer::Alias(name.clone()));
                internet.names.set("far.example", Answer::Alias("alias.example".to_owned()));
                let found = get(&client, "http://far.example/").await;
                assert!(matches!(found, Err(NetError::Refused { .. })), "an alias of {name}: {found:?}");
            }
            let found = get(&client, "http://hosts-file.example/").await;
            assert!(matches!(found, Err(NetError::Refused { .. })), "{found:?}");
            for url in [
                "http://localhost/",
                "http://ip6-localhost/",
                "http://public.example:6379/",
                "http://8.8.4.4:22/",
            ] {
                let found = get(&client, url).await;
                assert!(matches!(found, Err(NetError::Refused { .. })), "{url}: {found:?}");
            }
        });
        internet.assert_untouched();
    });
}

#[test]
fn one_bad_address_among_several_is_enough() {
    inside(one_bad_address_among_several_is_enough, |internet| {
        let client = client();
        block_on(async {
            for bad in forbidden() {
                for addresses in
                    [[PUBLIC[0], bad, PUBLIC[3]], [bad, PUBLIC[0], PUBLIC[3]], [PUBLIC[3], PUBLIC[0], bad]]
                {
                    internet.names.point("mixed.example", &addresses);
                    let error = get(&client, "http://mixed.example/").await.unwrap_err();
                    assert!(error.to_string().contains(&format!("`{bad}`")), "{addresses:?}: {error}");
                }
            }
        });
        assert!(internet.web.received().is_empty());
        internet.assert_untouched();
    });
}

#[test]
fn a_name_that_changes_its_mind_gains_nothing() {
    inside(a_name_that_changes_its_mind_gains_nothing, |internet| {
        let client = client();
        let addresses = [PUBLIC[0], "127.0.0.1", PUBLIC[0], "169.254.169.254", PUBLIC[1], "10.9.9.9"];
        let turns = addresses.map(|address| address.parse().unwrap()).to_vec();
        internet.names.set("flip.example", Answer::Turns(turns));
        let flips = scaled(1_000);
        let (mut answered, mut refused) = (0, 0);
        block_on(async {
            for _ in 0..flips {
                match get(&client, "http://flip.example/").await {
                    Ok(_) => answered += 1,
                    Err(NetError::Refused { refusal: DestinationRefusal::Address { .. }, .. }) => {
                        refused += 1;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        });
        assert_eq!(answered + refused, flips);
        assert!(answered.abs_diff(refused) <= 1, "{answered} answered, {refused} refused");
        assert!(internet.names.asked("flip.example") >= flips as usize);
        internet.assert_untouched();
    });
}

#[test]
fn no_redirect_leads_inside() {
    inside(no_redirect_leads_inside, |internet| {
        internet.names.point("start.example", &[PUBLIC[0]]);
        let literals = forbidden().map(host);
        let spelled =
            ["2130706433", "0x7f.1", "[::ffff:7f00:1]", "[64:ff9b::a9fe:a9fe]", "localhost", "metadata"];
        let names = forbidden_names(internet);
        let targets: Vec<String> = literals.chain(names).chain(spelled.map(str::to_owned)).collect();
        block_on(async {
            // The first one is the case where the first address needs no look-up, so nothing may depend on one.
            for start in [PUBLIC[0], "start.example", "[2606:2800:21f::14]"] {
                for target in &targets {
                    for status in [301, 302, 303, 307, 308] {
                        let to = format!("http://{start}/to/{status}?http://{target}/x");
                        for request in [Request::get(&to), Request::post(&to, "body")] {
                            let found = client().send(request).await.map(|response| response.status);
                            assert!(
                                matches!(found, Err(NetError::Refused { .. })),
                                "{status} to {target}: {found:?}"
                            );
                        }
                    }
                }
                let target = &targets[0];
                for depth in 0..3 {
                    let found = get(&client(), &format!("http://{start}/chain/{depth}?//{target}/")).await;
                    match found {
                        Err(NetError::Refused { .. }) if depth <= 2 => {}
                        other => panic!("{depth}: {other:?}"),
                    }
                }
                for depth in 3..10 {
                    let found = get(&client(), &format!("http://{start}/chain/{depth}?//{target}/")).await;
                    assert!(
                        matches!(found, Err(NetError::TooManyRedirects { limit: 3, .. })),
                        "{depth}: {found:?}"
                    );
                }
            }
        });
        internet.assert_untouched();
    });
}

#[test]
fn a_redirect_that_leads_nowhere_is_told_and_without_following_it_is_the_response() {
    inside(a_redirect_that_leads_nowhere_is_told_and_without_following_it_is_the_response, |internet| {
        let url = format!("http://{}/page", PUBLIC[0]);
        let redirect = |location: &[u8]| {
            let mut reply = b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: ".to_vec();
            reply.extend(location);
            reply.extend(b"\r\n\r\n");
            internet.web.say("/page", reply);
        };
        for location in [
            &b"file:///etc/passwd"[..],
            b"gopher://x/",
            b"http://a@b.example/",
            b"http://",
            b"http://\xff.example/",
        ] {
            redirect(location);
            let found = block_on(get(&client(), &url));
            assert!(matches!(found, Err(NetError::BadRedirect { .. })), "{found:?}");
        }
        let webhooks = Client::new(EgressPolicy::public().max_redirects(0));
        redirect(b"http://127.0.0.1/");
        assert_eq!(block_on(webhooks.send(Request::get(&url))).unwrap().status, 302);
        internet.web.say("/page", "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(block_on(client().send(Request::get(&url))).unwrap().status, 302);
        internet.assert_untouched();
    });
}

#[test]
fn redirects_between_public_hosts_leave_credentials_behind() {
    inside(redirects_between_public_hosts_leave_credentials_behind, |internet| {
        for (name, address) in [("one.example", PUBLIC[0]), ("two.example", PUBLIC[1])] {
            internet.names.point(name, &[address]);
        }
        let send = |url: &str| {
            let request = Request::post(url, "the body").header("authorization", "Bearer x").unwrap();
            let request = request.header("cookie", "a=b").unwrap().header("accept", "text/html").unwrap();
            let request = request.secret_header("x-api-key", "k").unwrap();
            let response = block_on(client().send(request)).unwrap();
            (response.redirects, response.target.url().to_string(), internet.web.received())
        };
        for status in [301, 302, 303, 307, 308] {
            for (to, stays) in [
                ("http://one.example/end", true),
                ("/end", true),
                ("http://one.example:8080/end", false),
                ("http://two.example/end", false),
                ("http://8.8.4.4/end", false),
                ("//two.example/end", false),
                ("http://two.example/to/302?http://one.example/end", false),
            ] {
                let (redirects, url, received) = send(&format!("http://one.example/to/{status}?{to}"));
                let (first, last) = (&received[0], received.last().unwrap());
                assert_eq!(usize::try_from(redirects).unwrap() + 1, received.len());
                assert!(url.ends_with("/end"), "{url}");
                for name in ["authorization", "cookie", "x-api-key"] {
                    assert!(first.header(name).is_some());
                    assert_eq!(last.header(name).is_some(), stays, "{name} after {status} to {to}");
                }
                assert_eq!(last.header("accept"), Some("text/html"));
                let is_kept = status >= 307 && received.len() == 2;
                if received.len() == 2 {
                    assert_eq!(last.method, if is_kept { "POST" } else { "GET" }, "{status}");
                    assert_eq!(last.body, if is_kept { "the body" } else { "" }, "{status}");
                }
            }
        }
        internet.assert_untouched();
    });
}

#[test]
fn what_is_opened_is_reached_and_nothing_else() {
    inside(what_is_opened_is_reached_and_nothing_else, |internet| {
        for (name, address) in [
            ("nas.lan", "192.168.9.9"),
            ("other.lan", "192.168.9.9"),
            ("evil.example", "10.9.9.9"),
            ("meta.lan", "169.254.169.254"),
            ("me.example", OWN[0]),
        ] {
            internet.names.point(name, &[address]);
        }
        let client = opened(&["nas.lan", "meta.lan", "127.0.0.1:8080", "172.16.0.0/12", "169.254.0.0/16"]);
        block_on(async {
            for url in [
                "http://nas.lan/",
                "http://nas.lan:6379/",
                "http://127.0.0.1:8080/",
                "http://172.20.9.9/",
                "http://172.16.0.5:8080/",
                "http://169.254.9.9/",
                "http://93.184.215.14/to/302?http://172.20.9.9/",
            ] {
                get(&client, url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
                assert!(!internet.caught().is_empty(), "{url}");
            }
            for url in [
                "http://other.lan/",
                "http://evil.example/",
                "http://meta.lan/",
                "http://me.example/",
                "http://127.0.0.1/",
                "http://localhost:8080/",
                "http://192.168.9.9/",
                "http://172.20.9.9:6379/",
                "http://169.254.169.254/",
                "http://93.184.215.14/to/302?http://192.168.9.9/",
            ] {
                let found = get(&client, url).await;
                assert!(matches!(found, Err(NetError::Refused { .. })), "{url}: {found:?}");
            }
            internet.assert_untouched();
            // A client with another reach does not find the connections of this one.
            let found = get(&self::client(), "http://nas.lan/").await;
            assert!(matches!(found, Err(NetError::Refused { .. })), "{found:?}");
        });
        internet.assert_untouched();
    });
}

#[test]
fn names_that_are_not_there_or_not_answered_are_told_apart() {
    inside(names_that_are_not_there_or_not_answered_are_told_apart, |internet| {
        internet.names.set("silent.example", Answer::Silence);
        internet.names.point("empty.example", &[]);
        let mut reach = EgressPolicy::public();
        reach.limits.connect = std::time::Duration::from_millis(300);
        block_on(async {
            for name in ["nobody.example", "empty.example"] {
                let found = get(&client(), &format!("http://{name}/")).await;
                assert!(matches!(found, Err(NetError::Unresolvable { .. })), "{found:?}");
            }
            let found = get(&Client::new(reach), "http://silent.example/").await;
            assert!(matches!(found, Err(NetError::Timeout { .. })), "{found:?}");
        });
        internet.assert_untouched();
    });
}

#[test]
fn this_server_cannot_be_reached_through_itself() {
    inside(this_server_cannot_be_reached_through_itself, |internet| {
        let own = OWN.iter().find(|address| !address.contains(':')).unwrap();
        internet.names.point("ours.example", &[own]);
        let client = opened(&["127.0.0.1", "0.0.0.0", "[::1]", "ours.example", own]);
        block_on(async {
            for (listening, hosts) in [
                ("127.0.0.1:0", &["127.0.0.1", "0.0.0.0"][..]),
                ("[::1]:0", &["[::1]"]),
                ("0.0.0.0:0", &["127.0.0.1", "0.0.0.0", own, "ours.example"]),
            ] {
                let listener = Listener::bind(listening.parse().unwrap()).await.unwrap();
                let port = listener.address().port();
                for host in hosts {
                    let url = format!("http://{host}:{port}/");
                    let refused = get(&client, &url).await.unwrap_err();
                    assert!(
                        matches!(refused, NetError::Refused { refusal: DestinationRefusal::Ourselves, .. }),
                        "{url}: {refused}"
                    );
                }
                // Nothing of it lasts longer than the server.
                drop(listener);
                let url = format!("http://{}:{port}/", hosts[0]);
                let gone = get(&client, &url).await.unwrap_err();
                assert!(matches!(gone, NetError::Connect { .. }), "{url}: {gone}");
            }
        });
    });
}
