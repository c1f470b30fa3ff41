//! Commands that are refused in every mode: they destroy a system, a home or a log, or are attack tools.

use super::interpreters::is_shell;
use super::invocation::Invocation;
use super::paths::{is_device, is_record, is_root};
use super::report::Concern;
use super::value::Value;
use super::working_folder::WorkingFolder;

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

/// Programs for which the target of a relative path matters.
const BY_PATH: &[&str] = &[
    "rm", "srm", "shred", "unlink", "wipe", "truncate", "trash", "find", "gfind", "tee", "cp", "mv",
    "install", "ln", "pv", "dcfldd", "chmod", "chown", "chgrp", "setfacl", "chattr",
];

/// Why an invocation is refused in every mode. `folder` is where it runs.
pub(super) fn concerns(invocation: &Invocation, folder: &WorkingFolder) -> Option<Concern> {
    let elsewhere =
        || BY_PATH.contains(&invocation.name()).then(|| folder.seen_from_outside(invocation)).flatten();
    by_words(invocation).or_else(|| by_words(&elsewhere()?))
}

fn by_words(invocation: &Invocation) -> Option<Concern> {
    let name = invocation.name();
    let why = match name {
        "rm" | "srm" | "shred" | "unlink" | "wipe" | "truncate" | "trash" => removes(invocation)?,
        "find" | "gfind" => finds(invocation)?,
        "dd" if writes_device(invocation, "of=") => "writes onto a device",
        "tee" | "cp" | "mv" | "install" | "ln" | "pv" | "dcfldd" | "tar" if onto_device(invocation) => {
            "writes onto a device"
        }
        "mv" if invocation.operands().take(invocation.operands().count().saturating_sub(1)).any(is_root) => {
            "moves a folder of the system or a home away"
        }
        "mv" | "cp" | "tee" if invocation.operands().last().is_some_and(|last| is_record(&last.text)) => {
            "overwrites a record of what was done"
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" => changes_rights(invocation)?,
        "lvremove" | "vgremove" | "pvremove" | "zpool" | "mdadm"
            if name != "zpool" || invocation.verb() == "destroy" =>
        {
            "destroys a disk"
        }
        "init" if matches!(invocation.argument(0), Some("0" | "1" | "6" | "s" | "S")) => {
            "turns the machine off"
        }
        "systemctl" | "loginctl" if is_power_verb(invocation) => "turns the machine off",
        "history" if invocation.has_option("cdw", &[]) => "wipes a record of what was done",
        "journalctl" if invocation.arguments().iter().any(|value| value.text.starts_with("--vacuum")) => {
            "wipes a record of what was done"
        }
        "passwd" | "chpasswd" => "changes a password",
        "kill" | "killall5" if kills_everything(invocation) => "ends every process",
        "nc" | "ncat" | "netcat" if invocation.has_option("ec", &["exec", "sh-exec", "lua-exec"]) => {
            "gives a remote host a shell"
        }
        "socat" if invocation.arguments().iter().any(|value| is_executing(&value.text)) => {
            "gives a remote host a shell"
        }
        "source" | "." if invocation.arguments().iter().any(|value| value.is_fetched) => {
            "runs what was downloaded or decoded"
        }
        "yes" if invocation.writes_file => "fills the disk",
        "cat" if invocation.writes_file && reads_endless(invocation) => "fills the disk",
        _ if POWER.contains(&name) && !invocation.has_argument(&["--help", "--version"]) => {
            "turns the machine off"
        }
        _ if ATTACK_TOOLS.contains(&name) => "a tool for attacks",
        _ if (name == "mkfs" || name.starts_with("mkfs.") || DISK_TOOLS.contains(&name))
            && on_device(invocation) =>
        {
            "destroys a disk"
        }
        _ if is_shell(name) && invocation.is_connected => "gives a remote host a shell",
        _ => return None,
    };
    Some(Concern::danger(why))
}

fn removes(invocation: &Invocation) -> Option<&'static str> {
    let is_rm = invocation.name() == "rm";
    if invocation.operands().any(|value| is_record(&value.text)) {
        return Some("wipes a record of what was done");
    }
    if invocation.operands().any(|value| is_device(&value.text)) {
        return Some("destroys a device");
    }
    let recursive = !is_rm || invocation.has_option("rR", &["recursive"]);
    if is_rm && invocation.has_option("", &["no-preserve-root"]) {
        return Some("removes the root of the system");
    }
    (recursive && invocation.operands().any(is_root)).then_some("removes a folder of the system or a home")
}

fn finds(invocation: &Invocation) -> Option<&'static str> {
    let starts =
        invocation.arguments().iter().skip_while(|value| matches!(value.text.as_str(), "-H" | "-L" | "-P"));
    let mut starts = starts.take_while(|value| !value.text.starts_with(['-', '(', '!']));
    if !starts.any(is_root) {
        return None;
    }
    let destroying = ["rm", "shred", "unlink", "truncate", "dd", "mv", "chmod", "chown"];
    let runs = invocation.arguments().windows(2).any(|pair| match pair {
        [action, program] => {
            let program = program.text.rsplit('/').next().unwrap_or_default();
            action.text.starts_with("-exec") && destroying.contains(&program)
        }
        _ => false,
    });
    (runs || invocation.has_argument(&["-delete"]))
        .then_some("removes what it finds in a folder of the system or a home")
}

fn writes_device(invocation: &Invocation, option: &str) -> bool {
    invocation.arguments().iter().any(|value| value.text.strip_prefix(option).is_some_and(is_device))
}

fn onto_device(invocation: &Invocation) -> bool {
    let writes_all = matches!(invocation.name(), "tee");
    let last = invocation.operands().last().is_some_and(|last| is_device(&last.text));
    last || (writes_all && invocation.operands().any(|value| is_device(&value.text)))
}

fn on_device(invocation: &Invocation) -> bool {
    let lists = matches!(invocation.name(), "fdisk" | "sfdisk" | "parted")
        && matches!(invocation.argument(0), Some("-l" | "--list"));
    let only_looks = lists || invocation.has_argument(&["--help", "--version"]);
    !only_looks && invocation.arguments().iter().any(|value| is_device(&value.text))
}

fn changes_rights(invocation: &Invocation) -> Option<&'static str> {
    let recursive = invocation.has_option("R", &["recursive"]);
    let opens =
        invocation.arguments().iter().any(|value| value.text.contains("777") || value.text == "a+rwx");
    let on_root = invocation.operands().any(|value: &Value| is_root(value));
    (on_root && (recursive || opens)).then_some("changes the rights of a whole system or a home")
}

fn is_power_verb(invocation: &Invocation) -> bool {
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
    verbs.contains(&invocation.verb())
}

fn kills_everything(invocation: &Invocation) -> bool {
    if invocation.name() == "killall5" {
        return true;
    }
    // The first word with a dash is the signal.
    let words = invocation.arguments();
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

fn reads_endless(invocation: &Invocation) -> bool {
    invocation.has_argument(&["/dev/zero", "/dev/random", "/dev/urandom", "/dev/full"])
}
