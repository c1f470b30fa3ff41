//! Options and words that make programs start other programs, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::invocation::Invocation;
use super::risky_programs;
use super::value::Value;

/// Arguments that change what a program does.
pub(super) struct OptionSet {
    /// Program names, separated by spaces.
    pub(super) names: &'static str,
    /// Letters of short options.
    pub(super) short: &'static str,
    /// Long options, which may be abbreviated.
    pub(super) long: &'static str,
    /// Prefixes of words; a trailing `$` makes it the whole word.
    pub(super) words: &'static str,
    /// Subcommands.
    pub(super) verbs: &'static str,
}

pub(super) const fn long(names: &'static str, long: &'static str) -> OptionSet {
    OptionSet { names, short: "", long, words: "", verbs: "" }
}

pub(super) const fn short(names: &'static str, short: &'static str, long: &'static str) -> OptionSet {
    OptionSet { names, short, long, words: "", verbs: "" }
}

pub(super) const fn words(names: &'static str, words: &'static str) -> OptionSet {
    OptionSet { names, short: "", long: "", words, verbs: "" }
}

const fn verbs(names: &'static str, verbs: &'static str) -> OptionSet {
    OptionSet { names, short: "", long: "", words: "", verbs }
}

const STARTING: &[OptionSet] = &[
    long("sort", "compress-program"),
    long("split", "filter"),
    long("rg", "pre hostname-bin"),
    long("cpio", "rsh-command"),
    long("install", "strip-program"),
    long("diff3 sdiff", "diff-program"),
    long("nm ar ranlib strip gcc-ar gcc-nm objcopy", "plugin"),
    long("svn", "diff-cmd diff3-cmd editor-cmd merge-cmd config-option config-dir"),
    long("hg", "config config-file"),
    long("fzf sk", "preview bind"),
    OptionSet { verbs: "cache", ..long("bat batcat", "pager config-file") },
    long("delta ag ack", "pager"),
    OptionSet { words: "+", ..short("less", "k", "lesskey-file lesskey-src lesskey-content") },
    long("code codium", "install-extension"),
    short("zip", "T", "unzip-command"),
    short("man", "PHC", "pager html config-file"),
    short("patch", "e", "ed"),
    short("pandoc", "FL", "filter lua-filter pdf-engine"),
    short("groff troff nroff", "U", ""),
    short("emacsclient", "e", "eval"),
    short("emacs", "lf", "eval load funcall script batch execute"),
    short("kak", "eE", ""),
    short("nano pico", "s", "speller"),
    short("rake", "eEp", "execute execute-print execute-continue"),
    words("more most", "+"),
    words(
        "gcc g++ cc c++ clang clang++ cpp tcc",
        "-B -fplugin -fpass-plugin -specs --specs -wrapper -load @ -run",
    ),
    words("rustc rustdoc", "linker= -Clinker= codegen-backend= -Zcodegen-backend= @"),
    words("ld ld.gold ld.lld ld.bfd gold", "-plugin --plugin @"),
    words("openssl", "-engine -provider -config -pre$ -post$"),
    words(
        "tex latex pdftex pdflatex xetex xelatex luatex lualatex etex",
        "-shell-escape --shell-escape -enable-write18 \\",
    ),
    words("latexmk", "-e -pdflatex -latex -shell-escape"),
    words("gs ghostscript", "-dNOSAFER -c"),
    words("java javac javadoc", "-XX:On -javaagent: -agentlib: -agentpath: -J- -processor @"),
    words("mvn mvnw", "exec: -Dexec. org.codehaus.mojo:exec"),
    words("go", "-exec --exec -toolexec --toolexec -vettool --vettool -w$"),
    words("cmake ctest", "-E$"),
    words("mix", "-e$ --eval"),
    OptionSet { names: "cargo", short: "", long: "config", words: "", verbs: "watch make" },
    OptionSet {
        names: "npm pnpm yarn bun",
        short: "",
        long: "script-shell node-options",
        words: "",
        verbs: "explore",
    },
    verbs("rails", "runner r console c dbconsole"),
    verbs("dotnet", "fsi script"),
    verbs("nim", "e"),
    verbs("crystal", "eval play"),
];

/// Programs that always start other programs.
const ALWAYS: &str = "gdb lldb ed expect dc m4 screen tmux at batch bwrap firejail nsenter systemd-run start-stop-daemon \
    capsh setpriv prlimit choom uclampset coresched pkexec dtach abduco xterm konsole gnome-terminal osascript \
    run-parts sg newgrp ip socat ncat trickle loginctl machinectl rpm bpftrace dtrace truss ktrace uftrace rr \
    flatpak-spawn host-spawn distrobox-host-exec msgexec msgfilter cgexec aa-exec runcon proot fakechroot schroot \
    systemd-nspawn nsjail minijail0 lxc-attach xinit startx openvt agetty scriptlive tcpserver telnetd tcpsvd udpsvd \
    inetd xinetd crond runsv runsvdir udhcpc dhclient openvpn pppd puppet chef-apply salt-invocation cmd.exe \
    powershell.exe wsl.exe wsl tsp nq sshpass chpst s6-setuidgid run-one concurrently foreman honcho qemu-x86_64 \
    qemu-aarch64 wine kcov";

/// The options by program name; `None` stands for programs that always start others.
static BY_NAME: LazyLock<HashMap<&str, Option<&OptionSet>>> = LazyLock::new(|| {
    let always = ALWAYS.split_whitespace().map(|name| (name, None));
    let some = STARTING
        .iter()
        .flat_map(|starting| starting.names.split(' ').map(move |name| (name, Some(starting))));
    always.chain(some).collect()
});

/// Whether an invocation starts a program that is in its arguments or unknown.
pub(super) fn starts(invocation: &Invocation) -> bool {
    let name = invocation.name();
    match BY_NAME.get(name) {
        Some(None) => !risky_programs::only_reads(invocation),
        Some(Some(starting)) => invocation.has_more || starting.fits(invocation),
        None => false,
    }
}

/// Whether a text is an option that makes some program start others.
pub(super) fn is_one(text: &str) -> bool {
    let Some(name) = text.strip_prefix("--").and_then(|name| name.split('=').next()) else { return false };
    let others =
        "to-command checkpoint-action use-compress-program info-script new-volume-script rsh split-string";
    name.len() > 2 && (names(others, name) || STARTING.iter().any(|starting| names(starting.long, name)))
}

impl OptionSet {
    /// Whether this applies to the program.
    pub(super) fn is_of(&self, name: &str) -> bool {
        names(self.names, name)
    }

    pub(super) fn fits(&self, invocation: &Invocation) -> bool {
        let verb = invocation.verb();
        let fits = |text: &str| match text.strip_prefix("--") {
            Some("") => false,
            Some(name) => {
                let name = name.split('=').next().unwrap_or_default();
                self.long.split(' ').any(|long| !long.is_empty() && long.starts_with(name))
            }
            None => text
                .strip_prefix('-')
                .is_some_and(|cluster| cluster.contains(|letter: char| self.short.contains(letter))),
        };
        let is_word = |text: &str| {
            self.words.split(' ').any(|word| match word.strip_suffix('$') {
                Some(whole) => text == whole,
                None => !word.is_empty() && text.starts_with(word),
            })
        };
        (!verb.is_empty() && names(self.verbs, verb))
            || invocation.arguments().iter().any(|Value { text, .. }| fits(text) || is_word(text))
    }
}

fn names(list: &str, name: &str) -> bool {
    list.split(' ').any(|each| each == name)
}
