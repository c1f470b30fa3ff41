use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, COOKIE};

use super::*;

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

fn hop(url: &str, method: Method) -> Hop {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (AUTHORIZATION, "Bearer x"),
        (COOKIE, "a=b"),
        (ACCEPT, "text/html"),
        (CONTENT_TYPE, "text/plain"),
        (http::HeaderName::from_static("x-api-key"), "k"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Hop {
        target: Target::judge(url, &EgressPolicy::public()).unwrap(),
        method,
        headers,
        body: Bytes::from("body"),
    }
}

fn follow(hop: Hop, status: u16, location: &str) -> Result<Hop, NetError> {
    hop.follow(StatusCode::from_u16(status).unwrap(), location, &EgressPolicy::public())
}

#[test]
fn methods_change_as_in_browsers() {
    for (method, becomes) in [
        (Method::GET, ["GET"; 5]),
        (Method::HEAD, ["HEAD"; 5]),
        (Method::POST, ["GET", "GET", "GET", "POST", "POST"]),
        (Method::PUT, ["PUT", "PUT", "GET", "PUT", "PUT"]),
        (Method::DELETE, ["DELETE", "DELETE", "GET", "DELETE", "DELETE"]),
    ] {
        for (status, becomes) in STATUSES.into_iter().zip(becomes) {
            let next = follow(hop("http://example.com/", method.clone()), status, "/next").unwrap();
            assert_eq!(next.method, becomes, "{method} {status}");
            let is_dropped =
                method != Method::GET && becomes == "GET" || method == Method::GET && status == 303;
            assert_eq!(next.body.is_empty(), is_dropped, "{method} {status}");
            assert_eq!(next.headers.contains_key(CONTENT_TYPE), !is_dropped, "{method} {status}");
            assert_eq!(next.target.url().as_str(), "http://example.com/next");
        }
    }
}

#[test]
fn what_may_be_a_credential_stays_with_its_origin() {
    for (from, to, stays) in [
        ("https://example.com/", "/other", true),
        ("https://example.com/", "https://EXAMPLE.com:443/other", true),
        ("https://example.com/", "https://example.com:8443/", false),
        ("https://example.com/", "https://www.example.com/", false),
        ("https://example.com/", "https://example.com./", false),
        ("http://example.com/", "https://example.com/", false),
        ("https://example.com/", "//example.net/", false),
    ] {
        let next = follow(hop(from, Method::GET), 302, to).unwrap();
        for name in ["authorization", "cookie", "x-api-key"] {
            assert_eq!(next.headers.contains_key(name), stays, "{name} from {from} to {to}");
        }
        assert!(next.headers.contains_key(ACCEPT));
    }
}

#[test]
fn a_header_marked_as_secret_stays_even_if_it_is_harmless() {
    let mut hop = hop("https://example.com/", Method::GET);
    hop.headers.get_mut(ACCEPT).unwrap().set_sensitive(true);
    assert!(!follow(hop, 302, "https://example.net/").unwrap().headers.contains_key(ACCEPT));
}

#[test]
fn from_https_to_http_no_body_goes_along() {
    let post = || hop("https://example.com/", Method::POST);
    let error = follow(post(), 307, "http://example.com/").unwrap_err();
    assert!(matches!(error, NetError::Refused { refusal: DestinationRefusal::Downgrade, .. }), "{error}");
    assert!(follow(post(), 302, "http://example.com/").is_ok());
    assert!(follow(post(), 307, "https://example.net/").is_ok());
}

#[test]
fn a_client_of_one_origin_does_not_leave_it() {
    let reach = EgressPolicy::public().within_origin();
    let go = |to: &str| {
        hop("https://example.com/a", Method::POST).follow(StatusCode::TEMPORARY_REDIRECT, to, &reach)
    };
    assert!(go("/b").is_ok() && go("https://example.com/c").is_ok());
    for to in ["https://example.net/", "https://example.com:8443/", "http://example.com/", "//x.example.com/"]
    {
        let error = go(to).unwrap_err();
        assert!(
            matches!(error, NetError::Refused { refusal: DestinationRefusal::OtherOrigin, .. }),
            "{to}: {error}"
        );
    }
}

#[test]
fn a_redirect_is_judged_like_the_first_address() {
    for (to, word) in [
        ("http://127.0.0.1/", "loopback"),
        ("//2130706433/", "loopback"),
        ("http://[::ffff:a9fe:a9fe]/", "metadata"),
        ("http://printer.lan/", ".lan"),
        ("http://example.com:22/", "SSH"),
        ("ftp://example.com/", "ftp"),
        ("file:///etc/passwd", "file"),
        ("javascript:alert(1)", "javascript"),
        ("http://user@example.com/", "user name"),
        ("http://example.com\u{1}/", "control"),
        ("http://[", "read"),
    ] {
        let error = follow(hop("https://example.com/", Method::GET), 302, to).unwrap_err();
        assert!(error.to_string().contains(word), "{to}: {error}");
    }
}

#[test]
fn only_redirects_with_an_address_lead_anywhere() {
    let mut headers = HeaderMap::new();
    assert_eq!(location(StatusCode::FOUND, &headers), None);
    headers.insert(LOCATION, HeaderValue::from_static("/next"));
    for status in [200, 201, 300, 304, 305, 306, 404] {
        assert_eq!(location(StatusCode::from_u16(status).unwrap(), &headers), None, "{status}");
    }
    for status in STATUSES {
        assert_eq!(location(StatusCode::from_u16(status).unwrap(), &headers).as_deref(), Some("/next"));
    }
}
