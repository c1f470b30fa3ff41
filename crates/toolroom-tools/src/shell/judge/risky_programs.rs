//! The programs that the judge knows by name.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What is known of a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Known {
    /// Asks whatever it is told to do.
    Risky(&'static str),
    /// Asks for these commands of it. The empty one stands for none.
    RiskyFor(&'static str, &'static str),
    /// Asks for all but these commands of it.
    RiskyUnless(&'static str, &'static str),
    /// Runs nothing that it is given as an argument, so any words may follow it.
    Harmless,
}

/// What is known of the program of that name.
pub(super) fn known(name: &str) -> Option<Known> {
    // `pip3.11` is `pip`.
    let bare = || name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    PROGRAMS.get(name).or_else(|| PROGRAMS.get(bare())).copied()
}

static PROGRAMS: LazyLock<HashMap<&str, Known>> = LazyLock::new(|| {
    let mut programs = HashMap::new();
    let mut add = |names: &'static str, known: Known| {
        programs.extend(names.split(' ').map(|name| (name, known)));
    };
    add(HARMLESS, Known::Harmless);
    RISKY.iter().for_each(|(names, why)| add(names, Known::Risky(why)));
    RISKY_VERBS.iter().for_each(|(names, verbs, why)| add(names, Known::RiskyFor(verbs, why)));
    HARMLESS_VERBS.iter().for_each(|(names, verbs, why)| add(names, Known::RiskyUnless(verbs, why)));
    programs
});

const RISKY: &[(&str, &str)] = &[
    ("rm shred unlink srm wipe trash dd rimraf del-cli trash-put rmtrash gio", "removes files"),
    (
        "curl wget ssh scp sftp ftp tftp telnet nc ncat netcat socat aria2c http https xh lynx w3m links \
         whois dig nslookup host traceroute ping mosh rclone lftp autossh sshfs ssh-copy-id mail \
         sendmail mutt smbclient ldapsearch tcpdump tshark ngrok cloudflared tailscale websocat grpcurl \
         httpie wget2 axel GET POST HEAD lwp-request rsh rlogin rcp rexec mtr mailx s-nail msmtp swaks s3cmd gsutil \
         restic borg duplicity rdiff-backup unison ncftp elinks curlie resolvectl drill",
        "reaches the network",
    ),
    ("kill pkill killall skill xkill renice", "ends or slows other processes"),
    (
        "sudo doas su pkexec runuser sg newgrp gosu su-exec run0 dzdo pfexec please sudoedit ksu login",
        "runs with the rights of somebody else",
    ),
    (
        "systemctl service launchctl systemd-run initctl rc-service update-rc.d chkconfig crontab at \
         batch sysctl modprobe insmod rmmod mount umount swapoff swapon iptables ip6tables nft ufw \
         firewall-cmd ifconfig route useradd userdel usermod groupadd visudo chsh hostnamectl \
         timedatectl dmsetup losetup setcap chroot nsenter unshare bpftool update-grub efibootmgr tmutil \
         diskutil csrutil defaults adduser update-alternatives alternatives ldconfig nmcli dbus-send gdbus busctl \
         qdbus gpasswd groupmod vipw chfn",
        "changes the system",
    ),
    (
        "docker docker-compose podman nerdctl kubectl helm terraform tofu pulumi ansible \
         ansible-playbook vagrant aws gcloud az heroku flyctl fly vercel netlify doctl firebase wrangler \
         oc k9s lxc virsh multipass qemu-system-x86_64 ctr crictl packer nomad consul puppet chef-client salt distrobox toolbox",
        "rules over containers or machines elsewhere",
    ),
    (
        "psql mysql mariadb mongo mongosh redis-cli sqlite3 sqlite clickhouse-client cqlsh influx \
         pg_dump pg_restore mysqldump dropdb createdb mongodump sqlcmd duckdb",
        "reaches a database",
    ),
    (
        "yum dnf pacman zypper apk snap flatpak nix nix-env nix-shell port emerge dpkg rpm npx bunx uvx \
         pipx easy_install aptitude guix winget choco corepack rustup-init cpan cpanm luarocks opam sdk \
         asdf",
        "installs or runs packages from elsewhere",
    ),
    (
        "gpg gpg2 ssh-add ssh-agent ssh-keygen pass security secret-tool keyctl vault op bw age sops \
         kinit gh glab hub",
        "uses keys or accounts",
    ),
    (
        "xdg-open open screen tmux dtach disown gdb lldb strace ltrace perf script parallel watch expect \
         xdotool notify-send wall write cryptsetup fdisk parted mkfs wipefs osascript xterm inotifywait \
         entr",
        "reaches beyond this command",
    ),
];

const RISKY_VERBS: &[(&str, &str, &str)] = &[
    ("pip pip3", " install uninstall download wheel", "installs packages"),
    ("uv", "add remove sync tool pip publish self python lock", "installs packages"),
    ("poetry pipenv pdm hatch rye", "add install update remove publish self sync", "installs packages"),
    ("conda mamba micromamba", "install create update remove env", "installs packages"),
    (
        "npm pnpm yarn bun cnpm",
        " install i ci add uninstall remove rm un update upgrade up publish exec x dlx create init login \
         logout adduser link config set audit token owner global unpublish deprecate rebuild isntall in \
         it cit install-test",
        "installs, publishes or runs packages",
    ),
    ("cargo", "install uninstall publish login logout yank owner", "installs or publishes packages"),
    ("go", "install get", "installs packages"),
    ("gem", "install uninstall update push sources", "installs or publishes packages"),
    ("bundle bundler", " install update add remove config", "installs packages"),
    ("composer", "install require update remove create-project global exec", "installs packages"),
    ("dotnet", "add tool nuget workload remove", "installs packages"),
    (
        "rustup",
        "install update self toolchain component target default override uninstall",
        "installs packages",
    ),
    ("ip", "link addr route netns rule", "changes the network"),
    (
        "hg",
        "push pull commit ci update up checkout co clone revert purge incoming outgoing",
        "reaches another repository",
    ),
    ("getent", "hosts ahosts ahostsv4 ahostsv6", "reaches the network"),
    ("mvn gradle ./gradlew gradlew", "deploy publish release:perform", "publishes packages"),
    ("make gmake", "install uninstall deploy publish release", "installs or publishes"),
    ("deno", "install run upgrade eval repl", "runs or installs packages from elsewhere"),
];

const HARMLESS_VERBS: &[(&str, &str, &str)] = &[
    (
        "apt apt-get apt-cache",
        "list show search policy showpkg depends rdepends changelog",
        "installs packages",
    ),
    ("svn", "status st diff di add mkdir cleanup help", "reaches another repository"),
    ("brew", "list info search outdated config doctor deps ls leaves --prefix", "installs packages"),
];

const HARMLESS: &str = "echo printf true false : test [ cd pwd pushd popd dirs ls cat less more head tail grep egrep fgrep \
    rg ag wc sort uniq cut tr paste join comm diff cmp patch file stat du df tree which type whereis man \
    info apropos whatis basename dirname realpath readlink mkdir rmdir touch cp mv ln install chmod \
    chown date cal uptime whoami id groups hostname uname arch nproc free ps top htop pgrep pidof lsof \
    jobs fg bg wait sleep seq yes tee git make gmake cmake ninja cargo rustc rustfmt rustup go gofmt gcc \
    g++ cc c++ clang javac java mvn gradle sed awk gawk jq yq xmllint column fold fmt nl od hexdump xxd \
    base64 md5sum sha1sum sha256sum sha512sum cksum sum gzip gunzip zcat bzip2 xz zip unzip tar 7z zstd \
    export unset set read declare local readonly typeset return break continue exit shift getopts umask \
    ulimit help history let mapfile readarray command builtin printenv env tput clear reset stty tty \
    expr bc factor shuf split csplit find fd fdfind locate xargs eslint prettier black ruff flake8 \
    pylint mypy isort shellcheck pytest jest vitest tsc rspec phpunit nc alias hash times rev tac expand \
    unexpand iconv dos2unix strings nm objdump readelf ldd size strip caller eval source . trap exec \
    shopt enable compgen complete bind fc logout vi vim nvim nano emacs code dpkg-query timeout nice \
    nohup time busybox toybox";
