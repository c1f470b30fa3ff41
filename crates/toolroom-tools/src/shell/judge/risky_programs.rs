//! The programs that the judge knows by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::invocation::Invocation;
use super::reading_commands::{READING, ReadOnlyProgram, only_tells};

/// What is known about a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum KnownProgram {
    /// Always needs approval.
    Risky(&'static str),
    /// Needs approval for these subcommands. The empty one stands for no subcommand.
    RiskyFor(&'static str, &'static str),
    /// Needs approval except for its read-only subcommands.
    ReadOnly(&'static ReadOnlyProgram),
    /// Never runs its arguments, so any arguments are fine.
    Harmless,
}

/// What is known about the program of this name.
pub(super) fn known(name: &str) -> Option<KnownProgram> {
    // `pip3.11` is `pip`.
    let bare = || name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    PROGRAMS.get(name).or_else(|| PROGRAMS.get(bare())).copied()
}

/// Whether an invocation is known to change nothing, although its program can.
pub(super) fn only_reads(invocation: &Invocation) -> bool {
    only_tells(invocation)
        || matches!(known(invocation.name()), Some(KnownProgram::ReadOnly(reading)) if reading.fits(invocation))
}

static PROGRAMS: LazyLock<HashMap<&str, KnownProgram>> = LazyLock::new(|| {
    let mut programs = HashMap::new();
    let mut add = |names: &'static str, known: KnownProgram| {
        programs.extend(names.split(' ').map(|name| (name, known)));
    };
    add(HARMLESS, KnownProgram::Harmless);
    RISKY.iter().for_each(|(names, why)| add(names, KnownProgram::Risky(why)));
    RISKY_VERBS.iter().for_each(|(names, verbs, why)| add(names, KnownProgram::RiskyFor(verbs, why)));
    READING.iter().for_each(|reading| add(reading.names, KnownProgram::ReadOnly(reading)));
    programs
});

const RISKY: &[(&str, &str)] = &[
    (
        "rm shred scrub nwipe unlink srm wipe trash dd rimraf del-cli trash-put rmtrash gio rdfind rmlint logrotate tmpreaper \
         tmpwatch bleachbit systemd-tmpfiles",
        "removes files",
    ),
    ("truncate", "cuts off what is in files"),
    ("rename rename.ul prename perl-rename file-rename mmv vidir", "renames many files, over others"),
    (
        "setfacl chattr chown chgrp chcon restorecon setfattr attr xattr chflags icacls",
        "changes rights that others rely on",
    ),
    ("http-server serve live-server darkhttpd webfsd httpd", "opens a port to other machines"),
    (
        "curl wget ssh scp sftp ftp tftp telnet nc ncat netcat socat aria2c http https xh lynx w3m links \
         whois dig nslookup host traceroute ping mosh rclone lftp autossh sshfs ssh-copy-id mail \
         sendmail mutt smbclient ldapsearch tcpdump tshark ngrok cloudflared tailscale websocat grpcurl \
         httpie wget2 axel GET POST HEAD lwp-request rsh rlogin rcp rexec mtr mailx s-nail msmtp swaks s3cmd gsutil \
         restic borg duplicity rdiff-backup unison ncftp elinks curlie resolvectl drill \
         yt-dlp youtube-dl croc wormhole chisel frpc frps gost sshuttle wg wg-quick vncserver x11vnc mosquitto_pub \
         mosquitto_sub kcat wscat fping tor iperf iperf3 localtunnel lt bore tracepath snmpwalk xfreerdp cvs",
        "reaches the network",
    ),
    ("pkill killall skill xkill renice", "ends or slows other processes"),
    (
        "sudo doas su pkexec runuser sg newgrp gosu su-exec run0 dzdo pfexec please sudoedit ksu login",
        "runs with the rights of another user",
    ),
    (
        "systemd-run initctl rc-service update-rc.d chkconfig at batch modprobe insmod rmmod umount swapoff useradd \
         userdel usermod groupadd visudo chsh setcap chroot nsenter unshare bpftool update-grub efibootmgr tmutil \
         defaults adduser dbus-send gdbus busctl qdbus gpasswd groupmod vipw chfn mknod firewall-cmd pw-cli",
        "changes the system",
    ),
    (
        "k9s pulumi ansible ansible-playbook vagrant aws gcloud az heroku flyctl fly vercel netlify doctl firebase \
         wrangler lxc virsh multipass qemu-system-x86_64 ctr crictl packer nomad consul puppet chef-client salt \
         distrobox toolbox cdk sls serverless sam eb eksctl minikube kind k3d skaffold tilt argocd flux railway \
         supabase hcloud linode-cli oci ibmcloud scw istioctl kops",
        "rules over containers or machines elsewhere",
    ),
    (
        "psql mysql mariadb mongo mongosh redis-cli sqlite3 sqlite clickhouse-client cqlsh influx \
         pg_dump pg_restore mysqldump dropdb createdb mongodump sqlcmd duckdb",
        "reaches a database",
    ),
    (
        "port nix nix-env nix-shell emerge npx bunx pnpx uvx pipx easy_install aptitude guix winget choco corepack \
         rustup-init cpan cpanm luarocks opam cargo-binstall cargo-quickinstall cargo-install-update",
        "installs or runs packages from elsewhere",
    ),
    (
        "ssh-agent pass security secret-tool keyctl vault op bw age sops \
         kinit gh glab hub",
        "uses keys or accounts",
    ),
    ("semantic-release release-it np", "publishes packages"),
    (
        "xdg-open open dtach disown gdb lldb strace ltrace perf script parallel watch xdotool gitk notify-send wall write cryptsetup fdisk parted mkfs wipefs osascript xterm inotifywait \
         entr",
        "reaches beyond this command",
    ),
];

const RISKY_VERBS: &[(&str, &str, &str)] = &[
    (
        "pnpm yarn bun",
        " install i ci add uninstall remove rm un update upgrade up publish x dlx create init login logout link \
         unlink unplug config set audit token owner global unpublish deprecate rebuild in it plugin policies npm \
         self-update approve-builds patch patch-commit import fetch prune store cache env pkg dedupe deploy",
        "installs, publishes or runs packages",
    ),
    (
        "cargo",
        "install uninstall publish login logout yank owner binstall quickinstall install-update",
        "installs or publishes packages",
    ),
    (
        "composer",
        "install require update remove create-project global exec config init reinstall bump archive self-update",
        "installs packages",
    ),
    ("getent", "hosts ahosts ahostsv4 ahostsv6", "reaches the network"),
    ("mvn gradle ./gradlew gradlew", "deploy publish release:perform", "publishes packages"),
    (
        "goreleaser flit twine lerna changeset nx vsce ovsx",
        "release publish upload version announce",
        "publishes packages",
    ),
    ("playwright cypress", "install uninstall open codegen", "installs packages"),
    ("caddy", "file-server run start reverse-proxy", "opens a port to other machines"),
];

const HARMLESS: &str = "echo printf true false : test [ cd pwd pushd popd dirs ls cat less more head tail grep egrep fgrep \
    rg ag wc sort uniq cut tr paste join comm diff cmp patch file stat du df tree which type whereis man \
    info apropos whatis basename dirname realpath readlink mkdir rmdir touch cp mv ln install chmod \
    date cal uptime whoami id groups hostname uname arch nproc free ps top htop pgrep pidof lsof \
    jobs fg bg wait sleep seq yes tee git make gmake cmake ninja cargo rustc rustfmt gofmt gcc \
    g++ cc c++ clang javac java mvn gradle sed awk gawk jq yq xmllint column fold fmt nl od hexdump xxd \
    base64 md5sum sha1sum sha256sum sha512sum cksum sum gzip gunzip zcat bzip2 xz zip unzip tar 7z zstd \
    export unset set read declare local readonly typeset return break continue exit shift getopts umask \
    ulimit help history let mapfile readarray command builtin printenv env tput clear reset stty tty \
    expr bc factor shuf split csplit find fd fdfind locate xargs eslint prettier black ruff flake8 \
    pylint mypy isort shellcheck pytest jest vitest tsc rspec phpunit nc alias hash times rev tac expand \
    unexpand iconv dos2unix strings nm objdump readelf ldd size strip caller eval source . trap exec \
    shopt enable compgen complete bind fc logout vi vim nvim nano emacs code dpkg-query timeout nice \
    nohup time busybox toybox";
