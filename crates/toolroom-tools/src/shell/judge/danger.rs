//! What is refused in every mode: the end of a system, a home or a record, and tools for attacks.

use super::call::Call;
use super::finding::Finding;
use super::folder::Folder;
use super::interpreters::is_shell;
use super::paths::{is_device, is_record, is_root};
use super::value::Value;

const ATTACK_TOOLS: &[&str] = &[
    "nmap",
    "masscan",
    "zmap",
    "nikto",
    "sqlmap",
    "hydra",
    "medusa",
    "ncrack",
    "patator",
    "john",
    "hashcat",
    "msfconsole",
    "msfvenom",
    "msfcli",
    "msfd",
    "metasploit",
    "aircrack-ng",
    "airodump-ng",
    "aireplay-ng",
    "airmon-ng",
    "ettercap",
    "bettercap",
    "responder",
    "mimikatz",
    "crackmapexec",
    "netexec",
    "nxc",
    "wpscan",
    "dirb",
    "gobuster",
    "slowloris",
    "hping3",
    "arpspoof",
    "dsniff",
    "evil-winrm",
    "setoolkit",
    "xmrig",
    "minerd",
    "cpuminer",
    "commix",
    "yersinia",
    "reaver",
    "wifite",
    "linpeas",
    "linpeas.sh",
    "pspy",
    "beef-xss",
    "empire",
    "covenant",
    "sliver",
    "weevely",
    "thc-hydra",
    "fcrackzip",
    "ophcrack",
    "hcxdumptool",
    "mdk4",
    "impacket-secretsdump",
    "secretsdump.py",
];

const POWER: [&str; 6] = ["shutdown", "reboot", "poweroff", "halt", "telinit", "kexec"];

const DISK_TOOLS: [&str; 14] = [
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "sgdisk",
    "parted",
    "wipefs",
    "blkdiscard",
    "mkswap",
    "mke2fs",
    "cryptsetup",
    "hdparm",
    "badblocks",
    "pvcreate",
];

/// Programs for which it matters what a relative path leads to.
const BY_PATH: &[&str] = &[
    "rm", "srm", "shred", "unlink", "wipe", "truncate", "trash", "find", "gfind", "tee", "cp", "mv",
    "install", "ln", "pv", "dcfldd", "chmod", "chown", "chgrp", "setfacl", "chattr",
];

/// What speaks against a call in every mode. `folder` is where it runs.
pub(super) fn findings(call: &Call, folder: &Folder) -> Option<Finding> {
    let elsewhere = || BY_PATH.contains(&call.name()).then(|| folder.seen_from_outside(call)).flatten();
    by_words(call).or_else(|| by_words(&elsewhere()?))
}

fn by_words(call: &Call) -> Option<Finding> {
    let name = call.name();
    let why = match name {
        "rm" | "srm" | "shred" | "unlink" | "wipe" | "truncate" | "trash" => removes(call)?,
        "find" | "gfind" => finds(call)?,
        "dd" if writes_device(call, "of=") => "writes onto a device",
        "tee" | "cp" | "mv" | "install" | "ln" | "pv" | "dcfldd" | "tar" if onto_device(call) => {
            "writes onto a device"
        }
        "mv" if call.operands().take(call.operands().count().saturating_sub(1)).any(is_root) => {
            "moves a folder of the system or a home away"
        }
        "mv" | "cp" | "tee" if call.operands().last().is_some_and(|last| is_record(&last.text)) => {
            "overwrites a record of what was done"
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" => changes_rights(call)?,
        "lvremove" | "vgremove" | "pvremove" | "zpool" | "mdadm"
            if name != "zpool" || call.verb() == "destroy" =>
        {
            "destroys a disk"
        }
        "init" if matches!(call.argument(0), Some("0" | "1" | "6" | "s" | "S")) => "turns the machine off",
        "systemctl" | "loginctl" if is_power_verb(call) => "turns the machine off",
        "history" if call.has_option("cdw", &[]) => "wipes a record of what was done",
        "journalctl" if call.arguments().iter().any(|value| value.text.starts_with("--vacuum")) => {
            "wipes a record of what was done"
        }
        "passwd" | "chpasswd" => "changes a password",
        "kill" | "killall5" if kills_everything(call) => "ends every process",
        "nc" | "ncat" | "netcat" if call.has_option("ec", &["exec", "sh-exec", "lua-exec"]) => {
            "hands a shell to somebody on the network"
        }
        "socat" if call.arguments().iter().any(|value| is_executing(&value.text)) => {
            "hands a shell to somebody on the network"
        }
        "source" | "." if call.arguments().iter().any(|value| value.is_fetched) => {
            "runs what was downloaded or decoded"
        }
        "yes" if call.writes_file => "fills the disk",
        "cat" if call.writes_file && reads_endless(call) => "fills the disk",
        _ if POWER.contains(&name) && !call.has_argument(&["--help", "--version"]) => "turns the machine off",
        _ if ATTACK_TOOLS.contains(&name) => "a tool for attacks",
        _ if (name == "mkfs" || name.starts_with("mkfs.") || DISK_TOOLS.contains(&name))
            && on_device(call) =>
        {
            "destroys a disk"
        }
        _ if is_shell(name) && call.is_connected => "hands a shell to somebody on the network",
        _ => return None,
    };
    Some(Finding::danger(why))
}

fn removes(call: &Call) -> Option<&'static str> {
    let is_rm = call.name() == "rm";
    if call.operands().any(|value| is_record(&value.text)) {
        return Some("wipes a record of what was done");
    }
    if call.operands().any(|value| is_device(&value.text)) {
        return Some("destroys a device");
    }
    let recursive = !is_rm || call.has_option("rR", &["recursive"]);
    if is_rm && call.has_option("", &["no-preserve-root"]) {
        return Some("removes the root of the system");
    }
    (recursive && call.operands().any(is_root)).then_some("removes a folder of the system or a home")
}

fn finds(call: &Call) -> Option<&'static str> {
    let starts =
        call.arguments().iter().skip_while(|value| matches!(value.text.as_str(), "-H" | "-L" | "-P"));
    let mut starts = starts.take_while(|value| !value.text.starts_with(['-', '(', '!']));
    if !starts.any(is_root) {
        return None;
    }
    let destroying = ["rm", "shred", "unlink", "truncate", "dd", "mv", "chmod", "chown"];
    let runs = call.arguments().windows(2).any(|pair| match pair {
        [action, program] => {
            let program = program.text.rsplit('/').next().unwrap_or_default();
            action.text.starts_with("-exec") && destroying.contains(&program)
        }
        _ => false,
    });
    (runs || call.has_argument(&["-delete"]))
        .then_some("removes what it finds in a folder of the system or a home")
}

fn writes_device(call: &Call, option: &str) -> bool {
    call.arguments().iter().any(|value| value.text.strip_prefix(option).is_some_and(is_device))
}

fn onto_device(call: &Call) -> bool {
    let writes_all = matches!(call.name(), "tee");
    let last = call.operands().last().is_some_and(|last| is_device(&last.text));
    last || (writes_all && call.operands().any(|value| is_device(&value.text)))
}

fn on_device(call: &Call) -> bool {
    let lists = matches!(call.name(), "fdisk" | "sfdisk" | "parted")
        && matches!(call.argument(0), Some("-l" | "--list"));
    let only_looks = lists || call.has_argument(&["--help", "--version"]);
    !only_looks && call.arguments().iter().any(|value| is_device(&value.text))
}

fn changes_rights(call: &Call) -> Option<&'static str> {
    let recursive = call.has_option("R", &["recursive"]);
    let opens = call.arguments().iter().any(|value| value.text.contains("777") || value.text == "a+rwx");
    let on_root = call.operands().any(|value: &Value| is_root(value));
    (on_root && (recursive || opens)).then_some("changes the rights of a whole system or a home")
}

fn is_power_verb(call: &Call) -> bool {
    let verbs = [
        "poweroff",
        "reboot",
        "halt",
        "kexec",
        "suspend",
        "hibernate",
        "hybrid-sleep",
        "emergency",
        "rescue",
        "isolate",
        "soft-reboot",
        "suspend-then-hibernate",
    ];
    verbs.contains(&call.verb())
}

fn kills_everything(call: &Call) -> bool {
    if call.name() == "killall5" {
        return true;
    }
    // The first word with a dash is a signal.
    let words = call.arguments();
    let is_all = |value: &Value| value.text == "-1";
    match words {
        [first, rest @ ..] if first.text.starts_with('-') && first.text != "--" => rest.iter().any(is_all),
        words => words.iter().any(is_all),
    }
}

fn is_executing(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.starts_with("exec:") || text.starts_with("system:")
}

fn reads_endless(call: &Call) -> bool {
    call.has_argument(&["/dev/zero", "/dev/random", "/dev/urandom", "/dev/full"])
}
