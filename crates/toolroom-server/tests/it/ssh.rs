//! `ssh_configure_host` with a real server: which programs reach it, and which do not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::home::belongs_to_programs;
use crate::pty::{Pty, PtySession, Stdout};
use crate::scripted_model::{Line, ScriptedModel};
use crate::shop::{Shop, shell, told};

const SSHD: &str = "/usr/sbin/sshd";

/// A loopback server that counts its connections.
struct Server {
    port: u16,
    visits: Arc<AtomicUsize>,
}

impl Server {
    fn starts(serve: impl Fn(TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let visits = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&visits);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                serve(stream);
            }
        });
        Self { port, visits }
    }

    /// Serves a page.
    fn of_pages() -> Self {
        Self::starts(|mut stream| {
            drop(stream.read(&mut [0; 4_096]));
            drop(
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\npage!\n"),
            );
        })
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

/// A toolroom, and another machine, which is this one seen from outside of the sandbox.
struct Bench {
    shop: Shop,
    /// Files that exist only on the other machine.
    away: TempDir,
    server: Server,
    host: Value,
}

impl Bench {
    fn new() -> Self {
        let (shop, away) = (Shop::new(), TempDir::new().unwrap());
        let keys = shop.home.path().join("home/.ssh");
        std::fs::create_dir_all(&keys).unwrap();
        for folder in [keys.parent().unwrap(), &keys] {
            belongs_to_programs(folder);
        }
        let (login, identity) = (keys.join("id_box"), away.path().join("identity"));
        let login_key = new_key(&login);
        belongs_to_programs(&login);
        let host_key = new_key(&identity);
        std::fs::write(away.path().join("authorized"), login_key).unwrap();
        std::fs::write(away.path().join("told"), "from away\n").unwrap();
        let server = sshd(away.path(), &identity);
        let (port, user) = (server.port, printed(Command::new("id").arg("-un")));
        let host = json!({
            "alias": "box", "hostname": "127.0.0.1", "port": port, "user": user.trim(), "identity_file": "id_box",
            "known_host_line": format!("[127.0.0.1]:{port} {}", host_key.trim()),
        });
        Self { shop, away, server, host }
    }

    fn configures(&self) -> Line {
        Line::Calls("ssh_configure_host", self.host.clone())
    }

    /// A file that can only be read on the other machine.
    fn file(&self) -> String {
        self.away.path().join("told").display().to_string()
    }

    fn reads(&self) -> Line {
        shell(&format!("ssh box 'cat {}'", self.file()))
    }
}

/// A real server: one process per connection, as an ordinary user or as root.
fn sshd(folder: &Path, identity: &Path) -> Server {
    assert!(Path::new(SSHD).exists(), "{SSHD} is missing: scripts/setup installs it");
    let config = folder.join("sshd_config");
    let text = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
         KbdInteractiveAuthentication no\nPidFile none\nSubsystem sftp internal-sftp\n",
        identity.display(),
        folder.join("authorized").display()
    );
    std::fs::write(&config, text).unwrap();
    if printed(Command::new("id").arg("-u")).trim() == "0" {
        // The folder of its unprivileged part.
        std::fs::create_dir_all("/run/sshd").unwrap();
    }
    Server::starts(move |stream| {
        let mut server = Command::new(SSHD);
        server.arg("-i").arg("-e").arg("-f").arg(&config).stderr(Stdio::null());
        server.stdin(OwnedFd::from(stream.try_clone().unwrap())).stdout(OwnedFd::from(stream));
        let mut child = server.spawn().unwrap();
        std::thread::spawn(move || child.wait());
    })
}

/// Creates a key pair and returns the public key.
fn new_key(file: &Path) -> String {
    printed(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(file));
    std::fs::read_to_string(file.with_extension("pub")).unwrap()
}

fn printed(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_opened_host_is_reached_by_its_name_and_no_other_host_is() {
    let bench = Bench::new();
    let (other, port, file) = (Server::of_pages(), bench.server.port, bench.file());
    let ask = |place: &str| {
        shell(&format!(
            "exec 7<>/dev/tcp/127.0.0.1/${{HTTPS_PROXY##*:}}; printf 'CONNECT {place} HTTP/1.1\\r\\n\\r\\n' >&7; \
             head -n 1 <&7"
        ))
    };
    let (told, _model) = bench.shop.chat([
        shell("export KEPT=kept; cd sub; ssh -o ConnectTimeout=5 box true; env | grep -c PROXY"),
        bench.configures(),
        shell(&format!("ssh box 'cat {file}; exit 7'; echo $? $KEPT; pwd; cat {file}")),
        shell(&format!("scp -q box:{file} copy && cat copy")),
        Line::Calls(
            "execute_shell_command",
            json!({"command": format!("ssh box cat {file}"), "fresh": true}),
        ),
        bench.configures(),
        shell(&format!("ssh -p {} box true", other.port)),
        ask(&format!("127.0.0.1:{}", other.port)),
        ask(&format!("127.0.0.2:{port}")),
        ask(&format!("localhost:{port}")),
        shell(&format!(
            "(: >/dev/tcp/127.0.0.1/{port}) || (: >/dev/tcp/127.0.0.1/{}) || echo closed",
            other.port
        )),
        Line::Calls(
            "ssh_configure_host",
            json!({"alias": "page", "hostname": "127.0.0.1", "port": other.port}),
        ),
        ask(&format!("127.0.0.1:{}", other.port)),
    ]);
    assert_eq!((&told[0]["stdout"], bench.shop.workspace.join("sub/copy").exists()), (&json!("0\n"), true));
    let expected = json!({
        "success": true, "alias": "box", "config_changed": true, "known_hosts_changed": true, "reachable": true,
        "example": "ssh box", "note": told[1]["note"],
    });
    assert_eq!(told[1], expected);
    assert!(told[1]["note"].as_str().unwrap().contains("new shell"), "{}", told[1]);
    let sub = bench.shop.workspace.join("sub").display().to_string();
    assert_eq!(told[2]["stdout"], format!("from away\n7 kept\n{sub}\n"), "{}", told[2]);
    assert_eq!(told[3]["stdout"], "from away\n", "{}", told[3]);
    assert_eq!(told[4]["stdout"], "from away\n", "{}", told[4]);
    assert_eq!((&told[5]["config_changed"], &told[5]["reachable"]), (&json!(false), &json!(true)));
    assert_eq!(told[5].get("note"), None);
    assert!(told[6]["stderr"].as_str().unwrap().contains("not among the hosts"), "{}", told[6]);
    for refused in &told[7..10] {
        assert_eq!(refused["stdout"], "HTTP/1.1 403 Forbidden\r\n", "{refused}");
    }
    assert_eq!(told[10]["stdout"], "closed\n", "{}", told[10]);
    // The shell continues with the second one.
    assert_eq!((&told[11]["reachable"], told[11].get("note")), (&json!(true), None));
    assert_eq!(told[12]["stdout"], "HTTP/1.1 200 Connection established\r\n", "{}", told[12]);
    assert_eq!((bench.server.visits(), other.visits()), (3, 1));
}

/// Answers the question about this with a key.
#[track_caller]
fn answers(sitting: &mut PtySession, about: &str, key: &str) {
    sitting.sees(about);
    sitting.is_asked();
    sitting.types(key);
}

#[test]
fn only_an_approval_opens_a_host_and_only_for_its_conversation() {
    let bench = Bench::new();
    let model = ScriptedModel::starts([
        bench.configures(),
        bench.reads(),
        Line::says("refused"),
        bench.configures(),
        bench.reads(),
        Line::says("reached"),
        bench.reads(),
        Line::says("elsewhere"),
    ]);
    model.is_set_up_in(bench.shop.home.path(), "");
    let mut sitting = Pty::new(100).starts(&bench.shop.home.command(&["chat"]), Stdout::Terminal);
    let opens = format!("opens `127.0.0.1:{}` to the commands", bench.server.port);
    let mut turn = |says: &str, keys: &[(&str, &str)], hears: &str| {
        sitting.sees("\u{1b}[J› ");
        sitting.is_listened_to();
        sitting.types(says);
        for (about, key) in keys {
            answers(&mut sitting, about, key);
        }
        sitting.sees(hears);
        told(&model).pop()
    };
    let closed = turn("first\r", &[(&opens, "n"), ("ssh", "y")], "refused").unwrap();
    assert_eq!((&closed["stdout"], &closed["exit_code"]), (&json!(""), &json!(255)), "{closed}");
    assert!(!bench.shop.home.path().join("home/.ssh/config").exists());
    let open = turn("second\r", &[(&opens, "y"), ("ssh", "y")], "reached").unwrap();
    assert_eq!(open["stdout"], "from away\n", "{open}");
    assert_eq!(turn("/new\r", &[], "New conversation"), Some(open));
    let other = turn("third\r", &[("ssh", "y")], "elsewhere").unwrap();
    assert_eq!((&other["stdout"], &other["exit_code"]), (&json!(""), &json!(255)), "{other}");
    assert_eq!(bench.server.visits(), 1);
    sitting.sees("\u{1b}[J› ");
    sitting.is_listened_to();
    sitting.types("\u{4}");
    sitting.leaves().ended(0);
}

#[test]
fn hosts_of_the_profile_are_reached_through_the_proxy_together_with_an_opened_one() {
    let bench = Bench::new();
    let (page, other) = (Server::of_pages(), Server::of_pages());
    let profile = format!("network:127.0.0.1:{}", page.port);
    let curl =
        |port: u16| format!("curl -s -m 20 --noproxy '' -w '%{{http_code}} ' http://127.0.0.1:{port}/");
    let both = format!("{}; {} -o /dev/null", curl(page.port), curl(other.port));
    let set = format!("policy.exec_sandbox={profile}");
    let command = ["call", "run_command", &format!("command={both}"), "--yes", "--set", &set];
    assert_eq!(bench.shop.home.run(&command).ended(0).out.trim_end(), "page!\n200 403");
    assert_eq!((page.visits(), other.visits()), (1, 0));
    let config = format!("[policy]\nexec_sandbox = '{profile}'\n");
    let script = [shell(&both), bench.configures(), shell(&both), bench.reads()];
    let mut chat = bench.shop.home.command(&["chat", "go on", "--yes"]);
    let (told, _model) = bench.shop.chat_of(&mut chat, &config, script);
    for pages in [&told[0], &told[2]] {
        assert_eq!(pages["stdout"], "page!\n200 403 ", "{pages}");
    }
    assert_eq!(told[3]["stdout"], "from away\n", "{}", told[3]);
    // The configuration stays, the opened host does not.
    let mut chat = bench.shop.home.command(&["chat", "go on", "--yes"]);
    let (told, _model) = bench.shop.chat_of(&mut chat, &config, [bench.reads()]);
    assert!(told[0]["stderr"].as_str().unwrap().contains("not among the hosts"), "{}", told[0]);
    assert_eq!((page.visits(), other.visits(), bench.server.visits()), (3, 0, 1));
}

#[test]
fn a_read_only_sandbox_reaches_an_opened_host_too() {
    let bench = Bench::new();
    let mut chat = bench.shop.home.command(&["chat", "go on", "--yes"]);
    let config = "[policy]\nexec_sandbox = 'read-only'\n";
    let script = [bench.configures(), bench.reads(), shell("touch canary")];
    let (told, _model) = bench.shop.chat_of(&mut chat, config, script);
    assert_eq!((&told[1]["stdout"], &told[2]["exit_code"]), (&json!("from away\n"), &json!(1)));
}

#[test]
fn a_sandbox_without_a_network_namespace_opens_nothing() {
    let bench = Bench::new();
    let mut chat = bench.shop.home.command(&["chat", "go on", "--yes"]);
    // Without bubblewrap.
    chat.env("PATH", bench.away.path());
    let (told, _model) = bench.shop.chat_of(&mut chat, "", [bench.configures()]);
    assert_eq!((&told[0]["reachable"], &told[0]["config_changed"]), (&json!(false), &json!(true)));
    assert!(told[0]["note"].as_str().unwrap().contains("install bubblewrap"), "{}", told[0]);
    assert_eq!(bench.server.visits(), 0);
}

#[test]
fn a_host_is_configured_without_keys_and_without_injection() {
    let shop = Shop::new();
    let host = json!({"alias": "box", "hostname": "box.example.com", "user": "ann", "port": 2222});
    let first = shop.result("ssh_configure_host", &host);
    let config = shop.home.path().join("home/.ssh/config");
    assert!(first["note"].as_str().unwrap().contains("use `toolroom chat`"), "{first}");
    let expected = json!({
        "success": true, "alias": "box", "config_changed": true, "known_hosts_changed": false,
        "reachable": false, "example": "ssh box", "note": first["note"],
    });
    assert_eq!(first, expected);
    assert_eq!(shop.result("ssh_configure_host", &host)["config_changed"], false);
    let read = shop.text(&format!("ssh -G -F '{}' box", config.display()));
    for line in ["hostname box.example.com\n", "user ann\n", "port 2222\n", "controlmaster false\n"] {
        assert!(read.contains(line), "{line}: {read}");
    }
    let before = std::fs::read_to_string(&config).unwrap();
    for (name, value) in [
        ("alias", "a b"),
        ("alias", "*"),
        ("hostname", "-oProxyCommand=touch${IFS}canary"),
        ("hostname", "169.254.169.254"),
        ("hostname", "::ffff:169.254.169.254"),
        ("hostname", "0.0.0.0"),
        ("user", "a\n  ProxyCommand touch canary"),
        ("identity_file", "x\"\nProxyCommand touch canary"),
        ("known_host_line", "other.example.com ssh-ed25519 AAAA"),
    ] {
        let mut wrong = host.clone();
        wrong[name] = json!(value);
        let error = shop.error("ssh_configure_host", &wrong);
        assert_eq!(error["kind"], "invalid_arguments", "{error}");
        assert!(error["message"].as_str().unwrap().contains(&format!("`{name}`")), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&config).unwrap(), before);
    // Other calls need no approval.
    for preset in ["balanced", "open"] {
        let set = format!("policy.preset={preset}");
        let asked = shop.home.run(&["call", "ssh_configure_host", &host.to_string(), "--set", &set]).ended(4);
        assert!(asked.err.contains("opens `box.example.com:2222` to the commands"), "{asked:?}");
    }
}
