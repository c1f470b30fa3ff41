use super::*;

fn judge() -> Judge {
    Judge::new(Some(PathBuf::from("/srv/ann")))
}

/// Inside a project, in a home, and in the home that was given.
const REFUSED_FILES: &[&str] = &[
    "/w/.env",
    "/w/.ENV",
    "/w/.env.local",
    "/w/.env.production",
    "/w/.Env.Production",
    "/w/.env.bak",
    "/w/.env~",
    "/w/.env_old",
    "/w/.env-backup",
    "/w/app/.env.development.local",
    "/w/id_rsa",
    "/w/ID_RSA",
    "/w/keys/id_ed25519",
    "/w/id_ed25519_sk",
    "/w/id_ecdsa",
    "/w/id_dsa.old",
    "/w/id_rsa_github",
    "/w/id_ed25519-work",
    "/w/id_xmss",
    "/w/.netrc",
    "/w/_netrc",
    "/w/.pgpass",
    "/w/pgpass.conf",
    "/w/.npmrc",
    "/w/.pypirc",
    "/w/.git-credentials",
    "/w/.htpasswd",
    "/w/.my.cnf",
    "/w/.mylogin.cnf",
    "/w/.dockercfg",
    "/w/.boto",
    "/w/.s3cfg",
    "/w/.terraformrc",
    "/w/terraform.rc",
    "/w/credentials",
    "/w/credentials.json",
    "/w/CREDENTIALS.JSON",
    "/w/credentials.tfrc.json",
    "/w/client_secret_123.apps.googleusercontent.com.json",
    "/w/application_default_credentials.json",
    "/w/kubeconfig",
    "/w/kubeconfig.yaml",
    "/w/prod.kubeconfig",
    "/w/.kubeconfig",
    "/w/passwords.kdbx",
    "/w/Old.KDB",
    "/w/cert.p12",
    "/w/cert.pfx",
    "/w/release.jks",
    "/w/debug.keystore",
    "/w/login.keychain-db",
    "/w/putty.ppk",
    "/w/config/master.key",
    "/w/wallet.dat",
    "/w/.vault-token",
    "/w/.vault_pass",
    "/w/.passwd-s3fs",
    "/w/.msmtprc",
    "/w/.ssh/config",
    "/w/.SSH/known_hosts",
    "/w/deep/.gnupg/pubring.kbx",
    "/w/.aws/credentials",
    "/w/.aws/config",
    "/w/.aws/sso/cache/x.json",
    "/w/.docker/config.json",
    "/w/.kube/config",
    "/w/.cargo/credentials",
    "/w/.cargo/credentials.toml",
    "/w/.config/gcloud/access_tokens.db",
    "/w/.config/gh/hosts.yml",
    "/w/.config/google-chrome/Default/Cookies",
    "/w/.mozilla/firefox/x.default/logins.json",
    "/w/.password-store/mail.gpg",
    "/w/.local/share/keyrings/login.keyring",
    "/w/.gem/credentials",
    "/w/.terraform.d/credentials.tfrc.json",
    "/home/ann/.aws/anything",
    "/home/ann/.azure/msal_token_cache.json",
    "/home/bob/.docker/contexts/meta/x",
    "/home/bob/.kube/prod.yaml",
    "/root/.kube/staging",
    "/root/.oci/config",
    "/mnt/c/Users/eve/.terraform.d/plugin",
    "/mnt/d/users/eve/.m2/settings.xml",
    "/var/home/eve/.azure/x",
    "/srv/ann/.docker/x",
    "/srv/ann/.gradle/gradle.properties",
    "/srv/ann/.electrum/wallets/default_wallet",
];

const ALLOWED_FILES: &[&str] = &[
    "/w/.env.example",
    "/w/.env.sample",
    "/w/.env.template",
    "/w/.env.dist",
    "/w/.env.local.example",
    "/w/.env-example",
    "/w/.env_sample",
    "/w/.ENV.EXAMPLE",
    "/w/.env.md",
    "/w/.envrc",
    "/w/.environment",
    "/w/env",
    "/w/env.d.ts",
    "/w/environment.ts",
    "/w/prod.env.ts",
    "/w/.env/bin/activate",
    "/w/id_card.png",
    "/w/id_list.txt",
    "/w/id_rsa.pub",
    "/w/id_ed25519.pub",
    "/w/id_ed25519_work.pub",
    "/w/id_rsacipher.rs",
    "/w/identity.rs",
    "/w/config.json",
    "/w/config.toml",
    "/w/settings.xml",
    "/w/public.crt",
    "/w/ca.pem",
    "/w/server.key",
    "/w/keyboard.key",
    "/w/cert.cer",
    "/w/keystore.rs",
    "/w/keystore",
    "/w/keychain.md",
    "/w/credentials.rs",
    "/w/credentials.md",
    "/w/src/credentials/mod.rs",
    "/w/credential_store.py",
    "/w/client_secrets.md",
    "/w/kubeconfig.go",
    "/w/kubeconfig_test.go",
    "/w/netrc.py",
    "/w/npmrc.md",
    "/w/package.json",
    "/w/.npmignore",
    "/w/.gitignore",
    "/w/.git/config",
    "/w/.gitattributes",
    "/w/.github/workflows/ci.yml",
    "/w/.aws/task-definition.json",
    "/w/.docker/Dockerfile",
    "/w/.kube/deployment.yaml",
    "/w/.cargo/config.toml",
    "/w/.config/nvim/init.lua",
    "/home/ann/.config/nvim/init.lua",
    "/home/ann/.cargo/config.toml",
    "/home/ann/.npm/_logs/x.log",
    "/home/ann/.bashrc",
    "/home/ann/.local/share/toolroom/workspace/notes.txt",
    "/home/ann/notes/ssh.md",
    "/home/ann/ssh/config",
    "/home/ann/docker/config.json",
    "/home/ann/.ssh.md",
    "/home/ann/.sshrc",
    "/w/.gradle/gradle.properties",
    "/w/.m2/settings.xml",
    "/w/.mozilla/notes.txt",
    "/w/wallet.dat.md",
    "/w/master.key.md",
    "/w/my.cnf",
    "/w/secrets.md",
    "/w/tokens.txt",
    "/w/password_reset.html",
    "/w/kdbx.rs",
    "/w/.kdbx",
    "/srv/ann/project/.docker/compose.yml",
    "/srv/anna/.docker/compose.yml",
    "/home/ann/project/.kube/deployment.yaml",
    "/mnt/c/Users/eve/project/.docker/compose.yml",
    "/mnt/c/work/.docker/compose.yml",
    "/mnt/disk/Users/eve/.docker/compose.yml",
    "/etcetera/x",
    "/w/etc/passwd",
    "/w/usr/bin/x",
    "/var/www/index.html",
    "/var/tmp/x",
    "/opt/app/config.json",
    "/tmp/x",
    "/libraries/x",
];

const SYSTEM_PLACES: &[&str] = &[
    "/bin/sh",
    "/boot/vmlinuz",
    "/dev/zero",
    "/dev",
    "/etc/passwd",
    "/etc",
    "/lib/x",
    "/lib64/x",
    "/proc/self/environ",
    "/run/secrets/x",
    "/run/user/1000/bus",
    "/sbin/init",
    "/sys/kernel",
    "/usr/share/x",
    "/usr/local/bin/x",
    "/var/lib/docker/x",
    "/var/run/docker.sock",
];

#[test]
fn places_of_credentials_are_refused() {
    assert!(REFUSED_FILES.len() >= 60);
    for place in REFUSED_FILES {
        let judged = judge().place(Path::new(place), Path::new("/w"), Role::File);
        assert_eq!(judged, Err(Refusal::Credential), "{place}");
    }
}

#[test]
fn what_only_sounds_like_credentials_is_not() {
    assert!(ALLOWED_FILES.len() >= 60);
    for place in ALLOWED_FILES {
        assert_eq!(judge().place(Path::new(place), Path::new("/w"), Role::File), Ok(()), "{place}");
    }
}

#[test]
fn a_folder_is_judged_by_where_it_is_and_not_by_the_name_of_a_file() {
    let folder = |place: &str| judge().place(Path::new(place), Path::new("/w"), Role::Folder);
    for open in ["/w/.env", "/w/credentials", "/w/kubeconfig", "/w/.aws", "/w/.docker", "/home/ann", "/home"]
    {
        assert_eq!(folder(open), Ok(()), "{open}");
    }
    for closed in ["/w/.ssh", "/home/ann/.gnupg", "/home/ann/.aws", "/root/.kube", "/srv/ann/.azure"] {
        assert_eq!(folder(closed), Err(Refusal::Credential), "{closed}");
    }
}

#[test]
fn system_folders_are_refused_whatever_root_covers_them() {
    for place in SYSTEM_PLACES {
        for root in ["/w", "/", "/var", "/v"] {
            let judged = judge().place(Path::new(place), Path::new(root), Role::File);
            assert!(matches!(judged, Err(Refusal::System { .. })), "{place} below {root}");
        }
        assert!(matches!(judge().root(Path::new(place)), Err(Refusal::System { .. })), "{place}");
    }
    // Where our own data folder is a service's.
    let own = Path::new("/var/lib/toolroom/workspace");
    assert_eq!(judge().place(&own.join("a.txt"), own, Role::File), Ok(()));
    assert_eq!(judge().place(&own.join(".env"), own, Role::File), Err(Refusal::Credential));
}

#[test]
fn roots_are_folders_of_people() {
    for open in [
        "/home/ann",
        "/home/ann/work",
        "/srv/data",
        "/tmp/x",
        "/root",
        "/opt/app",
        "/var/www",
        "/var",
        "/mnt/c",
    ] {
        assert_eq!(judge().root(Path::new(open)), Ok(()), "{open}");
    }
    for closed in ["/", "/etc", "/usr/src", "/home/ann/.ssh", "/root/.aws", "/w/.gnupg/private-keys-v1.d"] {
        assert!(judge().root(Path::new(closed)).is_err(), "{closed}");
    }
}
