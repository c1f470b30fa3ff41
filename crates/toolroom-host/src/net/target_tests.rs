use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::*;
use crate::net::egress_rule::EgressRule;
use crate::net::error::DestinationRefusal;

fn judge(text: &str) -> Result<Target, NetError> {
    Target::judge(text, &EgressPolicy::public())
}

fn opened(entries: &[&str]) -> EgressPolicy {
    EgressPolicy::public().open(entries.iter().map(|entry| entry.parse::<EgressRule>().unwrap()))
}

/// The ways to write one part of an address.
fn numbers(part: u32) -> Vec<String> {
    vec![
        part.to_string(),
        format!("0{part:o}"),
        format!("0x{part:x}"),
        format!("0X{part:X}"),
        format!("0000{part:o}"),
    ]
}

/// The ways to write an IPv4 address, as parsers from 1983 to today take them.
fn spellings(address: Ipv4Addr) -> BTreeSet<String> {
    let bits = u32::from(address);
    let [a, b, c, d] = address.octets().map(u32::from);
    let mut found = BTreeSet::new();
    found.extend(numbers(bits));
    for first in numbers(a) {
        for last in numbers(bits & 0xff_ffff) {
            found.insert(format!("{first}.{last}"));
        }
        for last in numbers(bits & 0xffff) {
            found.insert(format!("{first}.{b}.{last}"));
            found.insert(format!("{first}.0x{b:x}.{last}"));
        }
        for last in numbers(d) {
            found.insert(format!("{first}.{b}.{c}.{last}"));
            found.insert(format!("{first}.0{b:o}.0x{c:x}.{last}"));
        }
    }
    let plain = address.to_string();
    let wide: String = plain.chars().map(|c| char::from_u32(u32::from(c) - 0x2e + 0xff0e).unwrap()).collect();
    found.insert(wide);
    found.insert(plain.replace('.', "。"));
    found.insert(plain.replace('.', "%2e"));
    found.insert(plain.bytes().map(|byte| format!("%{byte:02x}")).collect());
    found.insert(format!("{plain}."));
    found.insert(plain.replace('1', "①"));
    let (high, low) = (bits >> 16, bits & 0xffff);
    for prefix in
        ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "0:0:0:0:0:ffff:", "2a00:1450::5efe:"]
    {
        found.insert(format!("[{prefix}{plain}]"));
        found.insert(format!("[{prefix}{high:x}:{low:x}]"));
        found.insert(format!("[{prefix}{high:04X}:{low:04X}]"));
    }
    found.insert(format!("[2002:{high:x}:{low:x}::1]"));
    found
}

#[test]
fn no_spelling_of_an_internal_address_passes() {
    let mut tried = 0;
    for address in
        ["127.0.0.1", "10.1.2.3", "172.16.9.1", "192.168.1.1", "169.254.169.254", "100.64.1.1", "0.0.0.0"]
    {
        let all = spellings(address.parse().unwrap());
        assert!(all.len() > 100, "{}", all.len());
        for host in all {
            for text in [
                format!("http://{host}/"),
                format!("https://{host}:8443/a?b"),
                format!("HTTP://{host}"),
                format!("http://example.com@{host}/"),
                format!("http://{host}\\@example.com/"),
                format!("http://{host}#@example.com/"),
                format!(" http://{host}/ "),
                format!("http:/{host}/"),
                format!("http:///{host}/"),
                format!("http:\\\\{host}/"),
            ] {
                tried += 1;
                let found = judge(&text);
                assert!(
                    found.is_err(),
                    "{text} passed as {:?}",
                    found.map(|target| target.url().to_string())
                );
            }
        }
    }
    assert!(tried > 7_000, "{tried}");
}

#[test]
fn the_plain_ones_say_what_they_are() {
    for (url, word) in [
        ("http://2130706433/", "loopback"),
        ("http://0x7f.1/", "loopback"),
        ("http://0177.0.0.1/", "loopback"),
        ("http://127.1/", "loopback"),
        ("http://127.0.0.1./", "loopback"),
        ("http://１２７.0.0.1/", "loopback"),
        ("http://[::1]/", "loopback"),
        ("http://[0:0:0:0:0:0:0:1]/", "loopback"),
        ("http://[::]/", "unspecified"),
        ("http://0/", "unspecified"),
        ("http://[::ffff:a9fe:a9fe]/", "metadata"),
        ("http://[fd00:ec2::254]/", "metadata"),
        ("http://[fe80::1]/", "link-local"),
        ("http://[fec0::1]/", "site-local"),
        ("http://[fd12::1]/", "unique local"),
        ("http://localhost/", "internal"),
        ("http://LOCALHOST./", "internal"),
        ("http://ⓛocalhost/", "internal"),
        ("http://a.localhost/", ".localhost"),
        ("http://localhost.localdomain/", ".localdomain"),
        ("http://metadata/", "internal"),
        ("http://metadata.google.internal/computeMetadata/v1/", ".internal"),
        ("http://Metadata.Google.Internal./", ".internal"),
        ("http://printer.local/", ".local"),
        ("http://nas.lan:8080/", ".lan"),
        ("http://lan/", ".lan"),
        ("http://wiki.corp/", ".corp"),
        ("http://tv.home/", ".home"),
        ("http://tv.home.arpa/", ".home.arpa"),
        ("http://hr.intranet/", ".intranet"),
        ("http://example.com:22/", "SSH"),
        ("http://example.com:6379/", "Redis"),
        ("https://example.com:2375/", "Docker"),
        ("http://example.com:9200/", "Elasticsearch"),
        ("http://8.8.8.8:25/", "SMTP"),
    ] {
        let error = judge(url).unwrap_err();
        assert!(matches!(error, NetError::Refused { .. }), "{url}: {error}");
        let text = error.to_string();
        assert!(text.contains(word), "{url}: {text}");
        assert!(text.contains("open it in the configuration: `"), "{url}: {text}");
    }
}

#[test]
fn what_is_no_plain_url_is_refused() {
    for (url, word) in [
        ("", "begin"),
        ("example.com", "begin"),
        ("//example.com/", "begin"),
        ("http://", "begin"),
        ("http:///", "begin"),
        ("http:example.com", "begin"),
        ("http:/example.com/", "begin"),
        ("http:////example.com/", "begin"),
        ("ftp://example.com/", "`ftp`"),
        ("file:///etc/passwd", "`file`"),
        ("gopher://example.com/", "`gopher`"),
        ("data:text/plain,x", "`data`"),
        ("ws://example.com/", "`ws`"),
        ("jar:http://example.com!/", "`jar`"),
        ("http://me@example.com/", "user name"),
        ("http://me:pw@example.com/", "user name"),
        ("http://:pw@example.com/", "user name"),
        ("http://@example.com/", "user name"),
        ("http://:@example.com/", "user name"),
        ("http://example.com\\@example.net/", "backslash"),
        ("http:\\\\example.com/", "backslash"),
        ("http://example.com/a\\b", "backslash"),
        ("http://exa\tmple.com/", "control"),
        ("http://example.com/\n", "control"),
        ("http://example.com/\r\nHost: x", "control"),
        ("http://example.com/\0", "control"),
        ("\u{1}http://example.com/", "control"),
        ("http://example.com/\u{85}", "control"),
        ("http://example%00.com/", "read"),
        ("http://example.com%00.evil.net/", "read"),
        ("http://exa mple.com/", "read"),
        ("http://[::1%25eth0]/", "read"),
        ("http://[fe80::1%eth0]/", "read"),
        ("http://[::1/", "read"),
        ("http://1.2.3.4.5/", "read"),
        ("http://256.256.256.256/", "read"),
        ("http://0x100000000/", "read"),
        ("http://example.com:0/", "port is 0"),
        ("http://example.com:65536/", "read"),
        ("http://example.com:-1/", "read"),
        ("http://example..com/", "host"),
        ("http://example.com../", "host"),
        ("http://.example.com/", "host"),
        ("http://exam*ple.com/", "host"),
        ("http://a,b.com/", "host"),
        ("http://xn--a.com/", "read"),
    ] {
        let error = judge(url).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, NetError::BadUrl(_)), "{url:?}: {text}");
        assert!(text.contains(word), "{url:?}: {text}");
    }
    assert!(judge(&format!("http://example.com/{}", "a".repeat(MAX_LENGTH))).is_err());
    assert!(judge(&format!("http://{}.com/", "a".repeat(64))).is_err());
    assert!(judge(&format!("http://{}com/", "a.".repeat(126))).is_err());
}

#[test]
fn ordinary_urls_pass_and_are_written_anew() {
    for (text, written) in [
        ("https://www.fda.gov/", "https://www.fda.gov/"),
        ("https://fcbarcelona.com", "https://fcbarcelona.com/"),
        ("https://fd.nl/a", "https://fd.nl/a"),
        ("https://fe80.com/", "https://fe80.com/"),
        ("https://10.example.com/", "https://10.example.com/"),
        ("https://127.0.0.1.nip.io/", "https://127.0.0.1.nip.io/"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
        ("https://notlocalhost/", "https://notlocalhost/"),
        ("https://homedepot.com/", "https://homedepot.com/"),
        ("https://plan.com/", "https://plan.com/"),
        ("https://internal.example.com/", "https://internal.example.com/"),
        ("HTTPS://Example.COM:443/A", "https://example.com/A"),
        ("http://example.com:80", "http://example.com/"),
        ("http://example.com:8080/", "http://example.com:8080/"),
        ("http://example.com:3000/", "http://example.com:3000/"),
        ("http://example.com:5000/", "http://example.com:5000/"),
        ("http://example.com:8000/", "http://example.com:8000/"),
        ("http://example.com:8888/", "http://example.com:8888/"),
        ("http://example.com:9000/", "http://example.com:9000/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://example.com:9443/", "https://example.com:9443/"),
        ("https://example.com:6443/", "https://example.com:6443/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://[2606:4700:4700:0::1111]/", "http://[2606:4700:4700::1111]/"),
        ("https://münchen.de/straße?q=ä", "https://xn--mnchen-3ya.de/stra%C3%9Fe?q=%C3%A4"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        (
            "https://example.com/?next=http://me@127.0.0.1\\x",
            "https://example.com/?next=http://me@127.0.0.1\\x",
        ),
        ("https://example.com/@me", "https://example.com/@me"),
        ("https://example.com/#part", "https://example.com/"),
        (" https://example.com/ ", "https://example.com/"),
        ("https://my_host.example.com/", "https://my_host.example.com/"),
        ("https://example.com./", "https://example.com./"),
        ("https://example.com/|{}^`\"'", "https://example.com/|%7B%7D^%60%22'"),
    ] {
        let target = judge(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(target.url().as_str(), written, "{text}");
        assert_eq!(target.uri().to_string(), written, "{text}: both forms say the same");
    }
}

#[test]
fn errors_hold_neither_credentials_nor_paths() {
    for url in [
        "http://me:hunter2@example.com/",
        "http://127.0.0.1/hunter2?key=hunter2",
        "http://example.com:22/hunter2",
        "http://hunter2:80:80/",
        "ftp://example.com/hunter2",
        "http://[hunter2]/",
    ] {
        let error = judge(url).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}

#[test]
fn what_is_opened_passes_and_nothing_beside_it() {
    let reach = opened(&[
        "printer.lan",
        "localhost:11434",
        "10.1.2.3",
        "[::1]:8080",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "fd00::/8",
        "100.100.100.200",
        "64:ff9b::/96",
    ]);
    for url in [
        "http://printer.lan/",
        "http://PRINTER.LAN.:631/",
        "http://printer.lan:22/",
        "http://localhost:11434/v1",
        "http://10.1.2.3/",
        "http://0xa010203:6379/",
        "http://[::1]:8080/",
        "http://192.168.255.255/",
        "http://169.254.1.1/",
        "http://[fd12::1]/",
        "http://100.100.100.200/latest",
        "http://[64:ff9b::8.8.8.8]/",
        "http://[64:ff9b::192.168.0.1]/",
    ] {
        assert!(Target::judge(url, &reach).is_ok(), "{url}: {:?}", Target::judge(url, &reach));
    }
    for url in [
        "http://scanner.lan/",
        "http://a.printer.lan/",
        "http://localhost/",
        "http://localhost:8080/",
        "http://127.0.0.1:11434/",
        "http://10.1.2.4/",
        "http://[::ffff:10.1.2.3]/",
        "http://[::1]/",
        "http://192.168.1.1:22/",
        "http://169.254.169.254/",
        "http://[fd00:ec2::254]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[64:ff9b::169.254.169.254]/",
        "http://0.0.0.0/",
    ] {
        let found = Target::judge(url, &reach);
        assert!(matches!(found, Err(NetError::Refused { .. })), "{url}: {found:?}");
    }
}

#[test]
fn where_a_name_leads_is_judged_with_what_is_opened() {
    let place = |url: &str, reach: &EgressPolicy| Target::judge(url, reach).unwrap().place().clone();
    let never = |_| false;
    let public = EgressPolicy::public();
    let example = place("http://example.com/", &public);
    assert!(public.admit(&example, "8.8.8.8".parse().unwrap(), never).is_ok());
    for address in ["10.0.0.1", "::1", "169.254.169.254", "64:ff9b::8.8.8.8"] {
        let refusal = public.admit(&example, address.parse().unwrap(), never).unwrap_err();
        assert!(
            matches!(&refusal, DestinationRefusal::Address { name: Some(name), .. } if name == "example.com")
        );
    }
    let own = public.admit(&example, "8.8.8.8".parse().unwrap(), |_| true).unwrap_err();
    assert!(own.to_string().contains("an address of this machine"), "{own}");

    let reach = opened(&["printer.lan:80", "10.0.0.0/8"]);
    let printer = place("http://printer.lan/", &reach);
    for address in ["192.168.1.9", "::1", "127.0.0.1", "fd12::1", "8.8.8.8"] {
        assert!(reach.admit(&printer, address.parse().unwrap(), |_| true).is_ok(), "{address}");
    }
    for address in ["169.254.169.254", "fd00:ec2::1", "::ffff:169.254.169.254", "0.0.0.0", "224.0.0.1"] {
        let refusal = reach.admit(&printer, address.parse().unwrap(), never).unwrap_err();
        assert!(
            refusal.to_string().ends_with(&format!("`{}`", address.parse::<std::net::IpAddr>().unwrap()))
        );
    }
    assert!(reach.admit(&example, "10.1.1.1".parse().unwrap(), |_| true).is_ok());
    // Behind a translator this machine is still this machine.
    let translating = opened(&["64:ff9b::/96"]);
    let [public, ours] = ["64:ff9b::8.8.4.4", "64:ff9b::8.8.8.8"].map(|text| text.parse().unwrap());
    let is_ours = |address: std::net::IpAddr| address.to_string() == "8.8.8.8";
    assert!(translating.admit(&example, public, is_ours).is_ok());
    let own = translating.admit(&example, ours, is_ours).unwrap_err();
    assert!(matches!(own, DestinationRefusal::Own { .. }), "{own}");
    assert!(reach.admit(&example, "192.168.1.1".parse().unwrap(), never).is_err());
}
