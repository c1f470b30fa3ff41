//! Fuzz targets of the doors.

use std::net::IpAddr;
use std::path::Path;

use toolroom_host::files::{Judge, RequestedPath, Role};
use toolroom_host::net::address::Special;
use toolroom_host::net::{Client, EgressPolicy, EgressRule, HostPort, Url};

use crate::mutation::fuzz;

#[test]
fn url() {
    let public = Client::new(EgressPolicy::public());
    let lan = Client::new(
        EgressPolicy::public().open(["printer.lan".parse().unwrap(), "10.0.0.0/8".parse().unwrap()]),
    );
    fuzz("url", |text| {
        let Ok(target) = public.judge(text) else { return };
        // For any text, the result states its destination unambiguously.
        let url = target.url();
        assert!(matches!(url.scheme(), "http" | "https"), "{url}");
        assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none(), "{url}");
        assert!(url.as_str().is_ascii() && !url.as_str().contains(|c: char| c.is_control()), "{url:?}");
        assert_eq!(Url::parse(url.as_str()).unwrap(), *url);
        assert_eq!(public.judge(url.as_str()).unwrap(), target, "what was written is judged alike");
        assert_public(target.place());
        assert!(lan.judge(text).is_ok(), "opening something closes nothing: {url}");
    });
}

fn assert_public(place: &HostPort) {
    match place.address() {
        Some(address) => assert_eq!(Special::from_address(address), None, "{place}"),
        None => {
            // A resolver would read such a name as an address.
            assert!(place.name().parse::<IpAddr>().is_err(), "{place}");
            let last = place.name().rsplit('.').next().unwrap();
            assert!(!last.bytes().all(|byte| byte.is_ascii_digit()), "{place}");
            assert!(!matches!(last, "localhost" | "local" | "internal" | "lan" | "corp" | "home"), "{place}");
        }
    }
}

#[test]
fn opening() {
    fuzz("opening", |text| {
        let Ok(opening) = text.parse::<EgressRule>() else { return };
        assert_eq!(opening.to_string().parse::<EgressRule>(), Ok(opening.clone()), "{text}");
        let reach = EgressPolicy::public().open([opening.clone()]);
        let client = Client::new(reach);
        for never in ["http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://0.0.0.0/"] {
            let host = never.trim_start_matches("http://").trim_end_matches('/').trim_matches(['[', ']']);
            let is_opened = opening.to_string().contains(host);
            assert!(is_opened || client.judge(never).is_err(), "`{opening}` opens {never}");
        }
    });
}

#[test]
fn path() {
    let judge = Judge::new(Some("/srv/ann".into()));
    fuzz("path", |text| {
        let Ok(asked) = RequestedPath::parse(text) else { return };
        assert!(!text.contains(char::is_control) && text.len() <= 4_096);
        assert!(asked.names().iter().all(|name| !name.contains('/') && !matches!(*name, "" | ".")));
        let path = format!("/{}", asked.names().join("/"));
        let root = Path::new("/w");
        for role in [Role::File, Role::Folder] {
            let verdict = judge.place(Path::new(&path), root, role);
            let upper = judge.credentials(Path::new(&path.to_ascii_uppercase()), role);
            let lower = judge.credentials(Path::new(&path.to_ascii_lowercase()), role);
            // Homes are told by the exact names of folders above them.
            if !["home", "root", "users", "srv"].iter().any(|name| path.to_ascii_lowercase().contains(name)) {
                assert_eq!(upper, lower, "case makes no difference: {path}");
            }
            // What lies in a refused folder is refused too.
            if role == Role::Folder && verdict.is_err() {
                assert!(judge.place(&Path::new(&path).join("x"), root, Role::File).is_err(), "{path}");
            }
        }
    });
}
