//! What ends up in the files, and what does not.
#![expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]

use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE1BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB";

struct Desk {
    home: TempDir,
    ssh: SshHome,
}

impl Desk {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let ssh = SshHome::new(home.path());
        Self { home, ssh }
    }

    fn configure(&self, entry: &HostEntry, key: Option<&KnownHost>) -> Result<ChangedFiles, SshError> {
        self.ssh.configure(entry, key, self.home.path())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.path().join(".ssh").join(name)).unwrap_or_default()
    }
}

fn entry() -> HostEntry {
    HostEntry::new("box", "box.example.com").unwrap()
}

#[test]
fn a_host_is_written_once_and_changed_in_its_place() {
    let desk = Desk::new();
    let full =
        entry().with_user("ann").unwrap().with_port(2222).unwrap().with_identity_file("id_box").unwrap();
    let key = KnownHost::parse(&format!("[box.example.com]:2222 {KEY} a comment\n"), &full).unwrap();
    let both = ChangedFiles { config: true, known_hosts: true };
    let neither = ChangedFiles { config: false, known_hosts: false };
    assert_eq!(desk.configure(&full, Some(&key)).unwrap(), both);
    assert_eq!(desk.configure(&full, Some(&key)).unwrap(), neither);
    let ssh = desk.home.path().join(".ssh").display().to_string();
    let through = "exec 3<>/dev/tcp/127.0.0.1/${HTTPS_PROXY##*:} || exit; printf \"CONNECT %%s:%%s HTTP/1.1\\r\\n\\r\\n\" \
        \"$0\" \"$1\" >&3; read -r _ code _ <&3; while read -r line <&3 && [ ${#line} -gt 1 ]; do :; done; \
        [ \"$code\" = 200 ] || { cat <&3 >&2; exit 1; }; trap : HUP; cat <&3 & exec >&3; cat; kill $!";
    let expected = format!(
        "# >>> toolroom box >>>\nHost box\n    HostName box.example.com\n    User ann\n    Port 2222\n    \
         IdentityFile \"{ssh}/id_box\"\n    IdentitiesOnly yes\n    UserKnownHostsFile \"{ssh}/known_hosts\"\n    \
         StrictHostKeyChecking accept-new\n    ServerAliveInterval 30\n    ServerAliveCountMax 3\n    \
         ControlMaster no\nMatch originalhost box exec \"test $HTTPS_PROXY\"\n    \
         ProxyCommand bash -c '{through}' \"box.example.com\" %p\nMatch all\n# <<< toolroom box <<<\n"
    );
    assert_eq!(desk.read(CONFIG), expected);
    assert_eq!(desk.read(KNOWN_HOSTS), format!("[box.example.com]:2222 {KEY}\n"));
    desk.configure(&HostEntry::new("bo", "other.example.com").unwrap(), None).unwrap();
    let changed = desk.configure(&entry(), None).unwrap();
    assert_eq!(changed, ChangedFiles { config: true, known_hosts: false });
    let config = desk.read(CONFIG);
    assert_eq!((config.matches("Host box\n").count(), config.matches("Host bo\n").count()), (1, 1));
    assert!(!config.contains("2222") && config.contains("other.example.com"), "{config}");
    for name in [CONFIG, KNOWN_HOSTS] {
        let file = desk.home.path().join(".ssh").join(name).metadata().unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_others_wrote_stays() {
    let desk = Desk::new();
    std::fs::create_dir(desk.home.path().join(".ssh")).unwrap();
    let own = "Host mine\n    User me\n# >>> toolroom box >>> not a mark";
    std::fs::write(desk.ssh.config(), own).unwrap();
    desk.configure(&entry(), None).unwrap();
    let once = desk.read(CONFIG);
    assert!(once.starts_with("# >>> toolroom box >>>\nHost box\n") && once.ends_with(own), "{once}");
    desk.configure(&entry(), None).unwrap();
    assert_eq!(desk.read(CONFIG), once);
}

#[test]
fn a_block_of_another_version_is_replaced_where_it_is() {
    let desk = Desk::new();
    std::fs::create_dir(desk.home.path().join(".ssh")).unwrap();
    let (before, after) = ("Host first\n    User me\n", "User everywhere\n");
    let old = "# >>> toolroom box >>>\nHost box\n    HostName old.example.com\n# <<< toolroom box <<<\n";
    std::fs::write(desk.ssh.config(), format!("{before}{old}{after}")).unwrap();
    assert!(desk.configure(&entry(), None).unwrap().config);
    let block = entry().block(&desk.home.path().join(".ssh"));
    // What follows is about every host.
    assert!(block.contains("\nMatch all\n# <<<"), "{block}");
    assert_eq!(desk.read(CONFIG), format!("{before}{block}{after}"));
    assert!(!desk.configure(&entry(), None).unwrap().config);
}

#[test]
fn nothing_can_be_smuggled_in() {
    let long = "x".repeat(256);
    for wrong in
        ["", "-oProxyCommand=x", "a b", "a\nb", "a\tb", "*", "!a", "a,b", "a\"", "a#", "ä", "\0", &long]
    {
        assert!(HostEntry::new(wrong, "h").is_err(), "{wrong}");
        assert!(HostEntry::new("a", wrong).is_err(), "{wrong}");
        assert!(entry().with_user(wrong).is_err(), "{wrong}");
    }
    for wrong in ["a%%b", "a%", "%h"] {
        assert!(HostEntry::new("a", wrong).is_err(), "{wrong}");
    }
    for wrong in ["", "a\nProxyCommand x", "a\"b", "$(x)", "%d/x", "../key", "a/../../b", "`x`", &long] {
        assert!(entry().with_identity_file(wrong).is_err(), "{wrong}");
    }
    assert!(entry().with_port(0).is_err());
    assert!(
        HostEntry::new("v6", "fe80::1%eth0")
            .unwrap()
            .block(Path::new("/h"))
            .contains("HostName fe80::1%%eth0\n")
    );
    let v6 = HostEntry::new("v6", "::1").unwrap().block(Path::new("/h"));
    assert!(v6.contains("HostName ::1\n") && v6.contains("' \"[::1]\" %p\n"), "{v6}");
    for wrong in [
        String::new(),
        format!("other.example.com {KEY}"),
        format!("box.example.com,* {KEY}"),
        format!("@cert-authority box.example.com {KEY}"),
        format!("|1|abc=|def= {KEY}"),
        format!("box.example.com {KEY}\nevil.example.com {KEY}"),
        "box.example.com ssh-ed25519".to_owned(),
        "box.example.com ssh-ed25519 nonsense".to_owned(),
        format!("box.example.com ssh-rsa {}", KEY.split(' ').nth(1).unwrap()),
        "box.example.com ssh-dss AAAAB3NzaC1kc3M=".to_owned(),
        "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
    ] {
        assert!(KnownHost::parse(&wrong, &entry()).is_err(), "{wrong}");
    }
    KnownHost::parse(&format!("box.example.com {KEY}"), &entry()).unwrap();
}

#[test]
fn no_link_is_followed() {
    let desk = Desk::new();
    let (elsewhere, ssh) = (desk.home.path().join("elsewhere"), desk.home.path().join(".ssh"));
    std::fs::write(&elsewhere, "mine").unwrap();
    std::fs::create_dir(&ssh).unwrap();
    std::os::unix::fs::symlink(&elsewhere, ssh.join(CONFIG)).unwrap();
    assert!(matches!(desk.configure(&entry(), None), Err(SshError::NotAFile { .. })));
    std::fs::remove_file(ssh.join(CONFIG)).unwrap();
    std::fs::remove_dir(&ssh).unwrap();
    std::fs::create_dir(desk.home.path().join("folder")).unwrap();
    std::os::unix::fs::symlink("folder", &ssh).unwrap();
    assert!(matches!(desk.configure(&entry(), None), Err(SshError::Io(_))));
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(desk.home.path().join("folder")).unwrap().count(), 0);
}
