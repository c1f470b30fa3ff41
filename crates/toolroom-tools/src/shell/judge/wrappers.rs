//! Programs that run another program, as data.

/// A program whose last arguments are a command.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Short options without a value.
    pub(super) flags: &'static str,
    /// Short options with a value.
    pub(super) valued: &'static str,
    /// Long options without a value.
    pub(super) long: &'static [&'static str],
    /// Long options with a value.
    pub(super) long_valued: &'static [&'static str],
    /// Short options whose value, if any, is joined.
    pub(super) joined: &'static str,
    /// Arguments before the command.
    pub(super) skipped: usize,
    /// `NAME=value` may precede the command.
    pub(super) assigns: bool,
}

pub(super) const PLAIN: Wrapper = Wrapper {
    name: "",
    flags: "",
    valued: "",
    long: &[],
    long_valued: &[],
    joined: "",
    skipped: 0,
    assigns: false,
};

const fn plain(name: &'static str) -> Wrapper {
    Wrapper { name, ..PLAIN }
}

const fn short(name: &'static str, flags: &'static str, valued: &'static str, skipped: usize) -> Wrapper {
    Wrapper { name, flags, valued, skipped, ..PLAIN }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        flags: "i0v",
        valued: "uC",
        long: &[
            "ignore-environment",
            "null",
            "debug",
            "list-signal-handling",
            "ignore-signal",
            "default-signal",
            "block-signal",
        ],
        long_valued: &["unset", "chdir"],
        assigns: true,
        ..plain("env")
    },
    Wrapper {
        flags: "AbEHknPSVsi",
        valued: "ugpCDhrtTUR",
        long: &["preserve-env", "non-interactive", "set-home", "login", "shell", "stdin", "background"],
        long_valued: &["user", "group", "prompt", "chdir", "host", "role", "type", "close-from", "chroot"],
        assigns: true,
        ..plain("sudo")
    },
    Wrapper { assigns: true, ..short("doas", "nLs", "uC", 0) },
    plain("nohup"),
    Wrapper { long: &["ctty", "fork", "wait"], ..short("setsid", "cfw", "", 0) },
    Wrapper {
        long: &["preserve-status", "foreground", "verbose"],
        long_valued: &["kill-after", "signal"],
        ..short("timeout", "fpv", "ks", 1)
    },
    Wrapper { long_valued: &["adjustment"], ..short("nice", "0123456789", "n", 0) },
    Wrapper { long: &["ignore"], long_valued: &["class", "classdata"], ..short("ionice", "t", "cn", 0) },
    Wrapper { long_valued: &["input", "output", "error"], ..short("stdbuf", "", "ioe", 0) },
    Wrapper {
        long: &["portability", "verbose", "append", "quiet"],
        long_valued: &["format", "output"],
        ..short("time", "pvaq", "fo", 0)
    },
    short("command", "p", "", 0),
    plain("builtin"),
    short("exec", "cl", "a", 0),
    plain("busybox"),
    plain("toybox"),
    Wrapper { long: &["arch"], ..short("setarch", "RvBFILSTXZ3", "", 1) },
    short("linux32", "RvBFILSTXZ3", "", 0),
    short("linux64", "RvBFILSTXZ3", "", 0),
    short("chroot", "", "", 1),
    short("taskset", "ac", "", 1),
    short("chrt", "abfiormRv", "TPD", 1),
    short("cpulimit", "zqv", "lpe", 0),
    Wrapper {
        long: &["user", "pid", "net", "mount", "ipc", "uts", "cgroup", "fork", "map-root-user", "mount-proc"],
        ..short("unshare", "UpnmiuCfrcT", "SGRw", 0)
    },
    Wrapper {
        long: &["exclusive", "shared", "nonblock", "close", "no-fork", "verbose"],
        ..short("flock", "sexnuoFv", "wE", 1)
    },
    short("strace", "cCdfFhiknqrtTvVwxyYZD", "abeEIoOpPsSuUX", 0),
    short("ltrace", "cCfhiLrStTV", "aAeDlnopsuxX", 0),
    plain("valgrind"),
    plain("unbuffer"),
    plain("fakeroot"),
    plain("eatmydata"),
    plain("dbus-run-session"),
    short("rlwrap", "acirR", "fHPSp", 0),
    short("proxychains", "q", "f", 0),
    short("proxychains4", "q", "f", 0),
    plain("torsocks"),
    plain("torify"),
    plain("catchsegv"),
    short("faketime", "mf", "", 1),
    short("numactl", "is", "NmClp", 0),
    short("xvfb-run", "al", "efnpsw", 0),
    short("caffeinate", "disum", "tw", 0),
    short("gosu", "", "", 1),
    short("su-exec", "", "", 1),
    short("setuidgid", "", "", 1),
    plain("softlimit"),
    plain("dumb-init"),
    plain("tini"),
    plain("catatonit"),
    plain("sem"),
    short("daemonize", "av", "ceoplEu", 0),
    plain("ccache"),
    plain("sccache"),
    plain("distcc"),
    plain("noglob"),
    plain("nocorrect"),
    short("i386", "RvBFILSTXZ3", "", 0),
    short("i686", "RvBFILSTXZ3", "", 0),
    short("x86_64", "RvBFILSTXZ3", "", 0),
    short("uname26", "RvBFILSTXZ3", "", 0),
    short("chronic", "ve", "", 0),
    short("ifne", "n", "", 0),
    short("logsave", "asv", "", 1),
    short("setlock", "nNxX", "", 1),
    short("envdir", "", "", 1),
    plain("lckdo"),
    plain("run0"),
    plain("dzdo"),
    plain("dbus-launch"),
    Wrapper { assigns: true, ..plain("cross-env") },
    // zsh only.
    short("repeat", "", "", 1),
    plain("-"),
    LOADER,
];

/// The dynamic loader, under any of its names.
const LOADER: Wrapper = plain("ld.so");

/// The wrapper of that name.
pub(super) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    if name.starts_with("ld") && name.contains(".so") {
        return Some(&LOADER);
    }
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Programs that run a program after a verb, such as `poetry run`.
pub(super) const BEHIND_A_VERB: &[(&str, &[&str])] = &[
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("uv", &["run"]),
    ("pdm", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("conda", &["run"]),
    ("mamba", &["run"]),
    ("bundle", &["exec"]),
    ("bundler", &["exec"]),
    ("rbenv", &["exec"]),
    ("pyenv", &["exec"]),
    ("nodenv", &["exec"]),
    ("asdf", &["exec"]),
    ("mise", &["exec", "x"]),
    ("perf", &["stat", "record", "trace"]),
    ("systemd-inhibit", &[""]),
    ("rustup", &["run"]),
    ("direnv", &["exec"]),
    ("dotenv", &["run"]),
    ("npm", &["exec"]),
    ("heaptrack", &[""]),
    ("stack", &["exec"]),
    ("cabal", &["exec"]),
    ("opam", &["exec"]),
    ("volta", &["run"]),
    ("pixi", &["run"]),
    ("nvm", &["exec", "run"]),
    ("fnm", &["exec"]),
    ("lerna", &["exec"]),
    ("micromamba", &["run"]),
    ("pnpm", &["exec"]),
    ("yarn", &["exec"]),
    ("doppler", &["run"]),
    ("dotenvx", &["run"]),
    ("aws-vault", &["exec"]),
];
