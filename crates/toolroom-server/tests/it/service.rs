//! `toolroom service`, with a systemd that writes down what it is asked for, and a server that tells how it is.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::home::{Home, Ran, binary, ran};
use crate::serve::Served;
use crate::serve::wire::Asked;

/// A machine with a home, a program and a `systemctl`.
struct Machine {
    home: Home,
}

impl Machine {
    /// `manager` says whether a systemd of the user runs.
    fn new(manager: bool) -> Self {
        let machine = Self { home: Home::new() };
        let folder = machine.home.path().join("bin");
        std::fs::create_dir(&folder).unwrap();
        let code = u8::from(!manager);
        let script = format!(
            "#!/bin/sh\nshift\necho \"$@\" >> '{}'\ncase $1 in is-enabled) echo enabled;; is-active) echo active;; \
             show-environment) exit {code};; esac\n",
            machine.asked_file().display()
        );
        std::fs::write(folder.join("systemctl"), script).unwrap();
        std::fs::set_permissions(folder.join("systemctl"), std::fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn asked_file(&self) -> PathBuf {
        self.home.path().join("asked")
    }

    /// What systemd was asked for since the last look.
    fn asked(&self) -> Vec<String> {
        let asked = std::fs::read_to_string(self.asked_file()).unwrap_or_default();
        std::fs::write(self.asked_file(), "").unwrap();
        asked.lines().filter(|line| *line != "show-environment").map(str::to_owned).collect()
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.run_as(&binary(), &self.home.path().join("bin").display().to_string(), words)
    }

    fn run_as(&self, program: &Path, path: &str, words: &[&str]) -> Ran {
        let mut command = Command::new(program);
        command.arg("service").args(words).env_clear().stdin(Stdio::null());
        command.env("PATH", format!("{path}:/bin")).env("HOME", self.home.path());
        command.env("TOOLROOM_HOME", self.home.path().join("100% \"mine\""));
        ran(command.output().unwrap())
    }

    fn unit(&self) -> PathBuf {
        self.home.path().join(".config/systemd/user/toolroom.service")
    }
}

#[test]
fn a_service_is_installed_looked_at_and_removed() {
    let machine = Machine::new(true);
    let printed = machine.run(&["install", "--user", "--print"]).ended(0);
    assert!(!machine.unit().exists() && machine.asked().is_empty(), "printing does nothing");
    machine.run(&["install", "--user"]).ended(0);
    let text = std::fs::read_to_string(machine.unit()).unwrap();
    assert_eq!(text, printed.out);
    assert!(text.contains(&format!("ExecStart=\"{}\" serve\n", binary().display())), "{text}");
    let home = machine.home.path().display();
    assert!(text.contains(&format!("Environment=\"TOOLROOM_HOME={home}/100%% \\\"mine\\\"\"\n")), "{text}");
    let started = ["daemon-reload", "enable toolroom.service", "restart toolroom.service"];
    assert_eq!(machine.asked(), started);
    machine.run(&["install", "--user"]).ended(0);
    assert_eq!(machine.asked(), started, "the same again is fine");
    let other = ["install", "--user", "--listen", "127.0.0.1:8080"];
    let refused = machine.run(&other);
    assert!(refused.code > 0 && refused.err.contains("--force"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(machine.unit()).unwrap(), text, "nothing was changed");
    assert!(machine.asked().is_empty());
    machine.run(&[&other[..], &["--force"]].concat()).ended(0);
    assert!(std::fs::read_to_string(machine.unit()).unwrap().contains("serve --listen 127.0.0.1:8080\n"));
    machine.asked();
    let status = machine.run(&["status", "--json"]).ended(0).json();
    assert_eq!((&status["installed"], &status["active"]), (&true.into(), &"active".into()), "{status}");
    machine.asked();
    machine.run(&["uninstall"]).ended(0);
    assert!(!machine.unit().exists());
    assert_eq!(machine.asked(), ["disable --now toolroom.service", "daemon-reload"]);
    assert!(machine.run(&["uninstall"]).code > 0, "there is nothing to be removed");
}

#[test]
fn without_a_systemd_it_says_what_to_type() {
    let machine = Machine::new(false);
    let report = machine.run(&["install", "--user", "--json"]).ended(0).json();
    assert_eq!(report["done"], false, "{report}");
    assert_eq!(report["commands"][0], "systemctl --user daemon-reload");
    assert!(machine.unit().exists() && machine.asked().is_empty());
    // Nor is there a program of that name.
    let ran = machine.run_as(&binary(), "/nowhere", &["install", "--user"]).ended(0);
    assert!(ran.err.contains("systemctl --user enable toolroom.service"), "{ran:?}");
}

#[test]
fn what_others_wrote_stays() {
    let machine = Machine::new(true);
    std::fs::create_dir_all(machine.unit().parent().unwrap()).unwrap();
    std::fs::write(machine.unit(), "[Service]\nExecStart=/bin/true\n").unwrap();
    for words in [&["install", "--user"][..], &["uninstall"]] {
        assert!(machine.run(words).err.contains("--force"), "{words:?}");
    }
    assert!(machine.run(&["install"]).code > 0, "only for a user");
    assert_eq!(std::fs::read_to_string(machine.unit()).unwrap(), "[Service]\nExecStart=/bin/true\n");
    assert!(machine.asked().is_empty());
}

#[test]
fn systemd_understands_the_unit() {
    let machine = Machine::new(true);
    // A path that has to be escaped in every way that systemd lets a program be called.
    let odd = machine.home.path().join("my 100% tools; ${HOME} $$");
    std::fs::create_dir(&odd).unwrap();
    let program = odd.join("toolroom");
    std::fs::hard_link(binary(), &program).or_else(|_| std::fs::copy(binary(), &program).map(drop)).unwrap();
    let path = machine.home.path().join("bin").display().to_string();
    machine.run_as(&program, &path, &["install", "--user"]).ended(0);
    let text = std::fs::read_to_string(machine.unit()).unwrap();
    let known = ["Unit", "Service", "Install"];
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let section = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        assert!(section.map_or(line.contains('='), |section| known.contains(&section)), "{line}");
    }
    // Where there is a systemd, it says whether it can read this.
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--user"]).arg(machine.unit());
    verify.env("XDG_RUNTIME_DIR", machine.home.path()).env("HOME", machine.home.path());
    if let Ok(output) = verify.output() {
        let said = ran(output);
        let about_us: Vec<&str> = said.err.lines().filter(|line| line.contains("toolroom.service")).collect();
        assert!(about_us.is_empty(), "{said:?}");
    }
}

#[test]
fn a_manager_is_told_when_the_server_is_ready_and_when_it_ends() {
    let home = Home::new();
    let path = home.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let mut told = [0; 64];
    let mut hear = || {
        let length = manager.recv(&mut told).unwrap();
        String::from_utf8(told[..length].to_vec()).unwrap()
    };
    let mut served =
        Served::started(home, &[], Stdio::inherit(), &[("NOTIFY_SOCKET", path.to_str().unwrap())]);
    assert_eq!(hear(), "READY=1");
    served.ask(&Asked::new("GET", "/readyz")).is(200);
    served.ends();
    assert_eq!(hear(), "STOPPING=1");
    // A manager that is gone is no reason not to work.
    drop(manager);
    let socket = path.to_str().unwrap().to_owned();
    let served = Served::started(Home::new(), &[], Stdio::inherit(), &[("NOTIFY_SOCKET", &socket)]);
    served.ask(&Asked::new("GET", "/readyz")).is(200);
}
