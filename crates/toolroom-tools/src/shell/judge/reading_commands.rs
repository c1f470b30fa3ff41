//! Programs with commands of their own, of which only some read: the reading ones are listed, every other one asks.

use super::call::Call;
use super::value::Value;

/// A program whose listed commands change nothing.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) names: &'static str,
    /// Options that take a value, and whose value is therefore no command.
    valued: &'static str,
    /// Options without a value that may stand before the command.
    flags: &'static str,
    /// The reading commands. `a/b` is the command `b` of the command `a`, `*` any word, and `!` the end of the line.
    commands: &'static str,
    /// What makes a reading command another one: options, and texts anywhere in a word.
    never: &'static str,
    pub(super) why: &'static str,
}

const CLUSTER: &str = "rules over containers or machines elsewhere";
const SYSTEM: &str = "changes the system";
const KEYS: &str = "uses keys or accounts";
const PACKAGES: &str = "installs, publishes or runs packages";
const REPOSITORY: &str = "reaches another repository, or throws changes away";
const SYSTEMD: &str = "-H -M --ho --mac --ro --im";

const fn reading(
    names: &'static str,
    flags: &'static str,
    commands: &'static str,
    never: &'static str,
    why: &'static str,
) -> Reading {
    Reading { names, valued: "", flags, commands, never, why }
}

pub(super) const READING: &[Reading] = &[
    Reading {
        valued: "-f --file -p --project-name --profile --env-file",
        ..reading(
            "docker podman nerdctl",
            "",
            "ps logs images inspect version info stats top port diff history image/ls image/inspect \
             image/history container/ls container/inspect container/logs container/top container/stats \
             volume/ls volume/inspect network/ls network/inspect system/df system/info context/ls context/show \
             compose/ps compose/logs compose/ls compose/top compose/images compose/version compose/port",
            "",
            CLUSTER,
        )
    },
    Reading {
        valued: "-f --file -p --project-name --profile --env-file",
        ..reading("docker-compose", "", "ps logs ls top images version port", "", CLUSTER)
    },
    Reading {
        valued: "-n --namespace --context --cluster -o -l -c",
        ..reading(
            "kubectl oc",
            "",
            "get describe logs top explain version api-resources api-versions cluster-info events \
             config/get-contexts config/get-clusters config/current-context auth/can-i auth/whoami \
             rollout/status rollout/history",
            "secret --raw --kubeconfig --token --server -s --as --user --client- --cert --pass",
            CLUSTER,
        )
    },
    Reading {
        valued: "-n --namespace --kube-context",
        ..reading(
            "helm",
            "",
            "list ls status history version lint show get/notes repo/list plugin/list env",
            "--kubec --kube-a --kube-t --post",
            CLUSTER,
        )
    },
    Reading {
        valued: "-chdir",
        ..reading(
            "terraform tofu",
            "",
            "version fmt validate providers graph state/list workspace/list workspace/show",
            "",
            CLUSTER,
        )
    },
    Reading {
        valued: "-t --type --state -p --property -n --lines -o --output",
        ..reading(
            "systemctl",
            "--user --system --no-pager -q --quiet -a --all -l --full --no-legend --plain",
            "! status is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers \
             list-sockets list-dependencies list-jobs cat show help get-default --failed!",
            SYSTEMD,
            SYSTEM,
        )
    },
    reading(
        "loginctl",
        "--no-pager",
        "! list-sessions list-users list-seats session-status user-status",
        SYSTEMD,
        SYSTEM,
    ),
    reading("hostnamectl", "", "! status!", "", SYSTEM),
    reading("timedatectl", "", "! status! show list-timezones", SYSTEMD, SYSTEM),
    reading("service", "", "--status-all! */status!", "", SYSTEM),
    reading("launchctl diskutil csrutil", "", "list info status", "", SYSTEM),
    reading("crontab", "", "-l!", "", SYSTEM),
    reading("sysctl", "-n -e -N -q", "-a -A *", "= -w --w -p --l --sy -f", SYSTEM),
    reading("mount", "", "! -l!", "", SYSTEM),
    reading("losetup", "", "! -l! -a! --list!", "", SYSTEM),
    reading("swapon", "", "-s! --show", "-a -e", SYSTEM),
    reading("ifconfig", "", "! -a! *!", "", SYSTEM),
    reading("route", "", "! -n!", "", SYSTEM),
    Reading {
        valued: "-t --table",
        ..reading(
            "iptables ip6tables",
            "-n -v -w",
            "-L -S -nL -nvL -vnL -Ln --list --list-rules",
            "-Z --z",
            SYSTEM,
        )
    },
    reading("nft", "", "list", ";", SYSTEM),
    reading("ufw", "", "status version", "", SYSTEM),
    reading(
        "ip",
        "-4 -6 -br -brief -c -color -o -oneline -s -j -json -p -d",
        "-V! a! addr! address! a/s a/show addr/show address/show r! route! r/show route/show route/get l! link! \
         l/show link/show neigh! n! neigh/show rule! rule/show",
        "",
        "changes the network",
    ),
    reading(
        "update-alternatives alternatives",
        "",
        "--list --display --query --get-selections",
        "-- -",
        SYSTEM,
    ),
    reading("ldconfig", "", "-p! --print-cache!", "", SYSTEM),
    reading("dmsetup", "", "ls! info status", "", SYSTEM),
    reading(
        "nmcli",
        "",
        "general/status device/status dev/status d/status connection/show c/show",
        "-s",
        SYSTEM,
    ),
    reading(
        "gsettings dconf xdg-mime xdg-settings",
        "",
        "get query list-schemas list-keys list-recursively read list check",
        "",
        SYSTEM,
    ),
    reading("kill", "", "-l -L --list -0", "", "ends or slows other processes"),
    reading("tmux", "", "ls list-sessions list-windows list-panes", "; -", "reaches beyond this command"),
    reading("screen", "", "-ls! -list! -v!", "", "reaches beyond this command"),
    reading("expect", "", "-v!", "", "reaches beyond this command"),
    reading(
        "gpg gpg2",
        "",
        "--list-keys -k --list-public-keys --list-sigs --fingerprint --verify",
        "-- -",
        KEYS,
    ),
    reading("ssh-keygen", "", "-l -lf -lvf", "-D -y -p -R -s -Y", KEYS),
    reading("ssh-add", "", "-l! -L!", "", KEYS),
    reading(
        "dpkg",
        "",
        "-l --list -L --listfiles -s --status -S --search -c --contents -I --info --print-architecture -V -C",
        "--pre- --post- --status-l --ro --instd",
        PACKAGES,
    ),
    reading("rpm", "", "-q -qa -qi -ql -qf -qc -qd -qR -qp -qpi -qpl -V -Va", "-- -E -D -r", PACKAGES),
    reading("pacman", "", "-Q -Qi -Ql -Qs -Qo -Qe -Qm -Qu", "--", PACKAGES),
    reading("snap", "", "list version", "", PACKAGES),
    reading("flatpak", "", "list", "", PACKAGES),
    reading("dnf yum zypper apk", "-q", "list info repoquery history! se search if", "-- -c", PACKAGES),
    reading(
        "apt apt-get apt-cache",
        "-q -qq",
        "list show search policy showpkg depends rdepends changelog",
        "-o --op -c --co",
        PACKAGES,
    ),
    reading(
        "brew",
        "-v -q --verbose --quiet",
        "list info search outdated config doctor deps ls leaves --prefix --cellar --repository",
        "",
        PACKAGES,
    ),
    Reading {
        valued: "-w --workspace --prefix --loglevel",
        ..reading(
            "npm cnpm",
            "-s --silent -q --quiet -ws --workspaces -g --global --offline --json --no-color",
            "test t tst run run-script rum urn start stop restart ls list ll la outdated explain why root prefix \
             pkg/get config/get config/list config/ls c/get c/list get version! pack help fund query sbom \
             completion -v! -h! -l!",
            "",
            PACKAGES,
        )
    },
    reading(
        "pip pip3",
        "-q -v --quiet --verbose --no-color --isolated --disable-pip-version-check",
        "list show freeze check inspect help hash debug config/list config/get config/debug cache/dir \
         cache/list cache/info completion",
        "",
        PACKAGES,
    ),
    reading(
        "uv",
        "-q --quiet -v --verbose --offline --no-progress",
        "version! help tree pip/list pip/show pip/freeze pip/check pip/tree python/list python/find python/dir \
         cache/dir tool/list tool/dir",
        "",
        PACKAGES,
    ),
    reading(
        "poetry pipenv pdm conda mamba micromamba",
        "-q --quiet -v -vv",
        "run show check version! about list help graph verify scripts build env/info env/list env/show --venv! \
         --where! config/--list config/--show info",
        "",
        PACKAGES,
    ),
    reading("hatch rye pixi", "", "version! status list info tree env/show task/list", "", PACKAGES),
    Reading {
        valued: "-C",
        ..reading(
            "go",
            "",
            "! build test vet fmt mod list doc env version help generate run tool fix work clean",
            "",
            PACKAGES,
        )
    },
    reading(
        "gem",
        "",
        "list env environment which contents dependency help specification query build",
        "",
        PACKAGES,
    ),
    reading(
        "bundle bundler",
        "--verbose",
        "exec check list show info doctor help version platform outdated config! config/list config/get",
        "",
        PACKAGES,
    ),
    reading(
        "dotnet",
        "",
        "! build run test clean list publish pack watch format msbuild sln help restore vstest tool/list \
         new/list new/console new/classlib new/web new/webapi new/sln new/xunit workload/list --info --list-sdks \
         --list-runtimes",
        "",
        PACKAGES,
    ),
    reading(
        "rustup",
        "-v -q",
        "! show which help run check completions toolchain/list target/list component/list override/list",
        "",
        PACKAGES,
    ),
    reading(
        "deno",
        "-q --quiet",
        "test fmt lint check doc info bench task types help coverage completions",
        ":// npm: jsr:",
        "runs or installs packages from elsewhere",
    ),
    reading(
        "nvm fnm volta pyenv rbenv nodenv goenv tfenv",
        "",
        "! ls list versions version current which use local exec run help whence where prefix root",
        "",
        PACKAGES,
    ),
    reading("asdf mise jenv sdk", "", "! ls list current which where help doctor", "", PACKAGES),
    reading("direnv", "", "! status version exec help", "", "runs a file whenever this folder is entered"),
    reading(
        "pre-commit lefthook husky",
        "",
        "run validate-config validate-manifest sample-config help version validate dump",
        "",
        "installs hooks that run later",
    ),
    reading("svn", "", "status st diff di add mkdir cleanup help info", "://", REPOSITORY),
    reading(
        "hg jj bzr fossil",
        "",
        "status st diff di log annotate blame cat manifest files branches tags heads parents paths root summary \
         help version add show",
        "://",
        REPOSITORY,
    ),
];

/// Whether a call asks for nothing but the version or the options of a program.
pub(super) fn only_tells(call: &Call) -> bool {
    let tells = |value: &Value| matches!(value.text.as_str(), "--version" | "--help" | "-V");
    matches!(call.arguments(), [only] if tells(only)) && !call.has_more
}

fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|each| each == word)
}

impl Reading {
    /// Whether a call only reads. Anything that is not known for reading does more.
    pub(super) fn fits(&self, call: &Call) -> bool {
        let arguments = call.arguments();
        let mut path = String::new();
        let mut at = 0;
        loop {
            let Some(value) = arguments.get(at) else {
                return !call.has_more && lists(self.commands, &format!("{path}!"));
            };
            let Some(text) = value.known() else { return false };
            at += 1;
            let rest = arguments.get(at..).unwrap_or_default();
            let word = format!("{path}{text}");
            let is_last = rest.is_empty() && !call.has_more;
            let fits = |word: &str| {
                lists(self.commands, word) || is_last && lists(self.commands, &format!("{word}!"))
            };
            let is_any = !text.starts_with('-') && fits(&format!("{path}*"));
            if fits(&word) || is_any {
                let unseen = !self.never.is_empty() && call.has_more;
                return !unseen && !arguments.iter().any(|value| self.changes(value, text));
            }
            let starts = |folder: &str| {
                self.commands.split_whitespace().any(|command| {
                    command.strip_prefix(folder).is_some_and(|command| command.starts_with('/'))
                })
            };
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            if lists(self.valued, name) {
                at += usize::from(name == text);
            } else if starts(&word) {
                path = format!("{word}/");
            } else if path.is_empty() && starts("*") && !text.starts_with('-') {
                "*/".clone_into(&mut path);
            } else if !lists(self.flags, text) {
                return false;
            }
        }
    }

    /// Whether an argument makes a reading command another one.
    fn changes(&self, value: &Value, command: &str) -> bool {
        let text = value.text.as_str();
        if self.never.is_empty() || text == command && text.starts_with('-') {
            return false;
        }
        if value.may_be_option() && value.known().is_none() {
            return true;
        }
        let is_valued = |letter: char| lists(self.valued, &format!("-{letter}"));
        let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')).unwrap_or_default();
        let end = cluster.find(is_valued).unwrap_or(cluster.len());
        let letters = cluster.get(..end).unwrap_or_default();
        self.never.split_whitespace().any(|never| match never.strip_prefix('-') {
            Some("") => !cluster.is_empty(),
            Some(letter) if !letter.starts_with('-') => letters.contains(letter),
            Some(_) => text.starts_with(never),
            None => text.to_ascii_lowercase().contains(never),
        })
    }
}
