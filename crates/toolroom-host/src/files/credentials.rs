//! Where credentials lie, by name. All lower case: `.ENV` is an `.env`.
//!
//! A name is listed if files of that name are nearly always secret. Where only some are (`server.pem`, `deploy_rsa`),
//! the content decides: see `private_key.rs`.

/// Folders and files wherever they are: names one after another, and everything below them.
const ANYWHERE: &[&str] = &[
    ".aws/cli/cache",
    ".aws/config",
    ".aws/credentials",
    ".aws/sso",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".composer/auth.json",
    ".config/chromium",
    ".config/composer/auth.json",
    ".config/containers/auth.json",
    ".config/doctl",
    ".config/fly",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/helm/registry",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/solana/id.json",
    ".config/sops/age",
    ".docker/config.json",
    ".gem/credentials",
    ".gnupg",
    ".kube/cache",
    ".kube/config",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".m2/settings-security.xml",
    ".mozilla/firefox",
    ".password-store",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".thunderbird",
];

/// Folders that hold credentials in a home, and elsewhere something else (a project's `.docker`).
pub(super) const IN_A_HOME: &[&str] = &[
    ".aws",
    ".azure",
    ".bitcoin",
    ".docker",
    ".electrum",
    ".ethereum",
    ".gradle/gradle.properties",
    ".kube",
    ".m2/settings.xml",
    ".oci",
    ".terraform.d",
    ".vault-token",
];

/// Files by their whole name.
const NAMES: &[&str] = &[
    ".boto",
    ".dockercfg",
    ".dockerconfigjson",
    ".fetchmailrc",
    ".git-credentials",
    ".htpasswd",
    ".kubeconfig",
    ".msmtprc",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".npmrc",
    ".passwd-s3fs",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".terraformrc",
    ".vault-token",
    ".vault_pass",
    ".vault_password",
    "_netrc",
    "application_default_credentials.json",
    "credentials",
    "credentials.json",
    "credentials.tfrc.json",
    "kubeconfig",
    "kubeconfig.json",
    "kubeconfig.yaml",
    "kubeconfig.yml",
    "master.key",
    "pgpass.conf",
    "terraform.rc",
    "wallet.dat",
];

/// Files by what their names end in: key stores and password safes. Most are binary; they are here so that nobody
/// overwrites them either.
const ENDS: &[&str] = &[
    ".agekey",
    ".bks",
    ".jks",
    ".kdb",
    ".kdbx",
    ".keychain",
    ".keychain-db",
    ".keystore",
    ".kubeconfig",
    ".p12",
    ".pfx",
    ".ppk",
];

/// Private keys of SSH; what belongs to a name may follow (`id_rsa.old`, `id_ed25519_work`).
const SSH_KEYS: &[&str] = &["id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "id_xmss"];

/// Words behind `.env` that say that there is nothing in it yet.
const BLANK_FORMS: &[&str] =
    &["defaults", "dist", "example", "examples", "md", "sample", "schema", "template", "tmpl", "tpl"];

/// Whether a file of that name (in lower case) holds credentials.
pub(super) fn is_credential_name(name: &str) -> bool {
    let is_ssh_key = |key: &str| {
        let rest = name.strip_prefix(key);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric) && !rest.ends_with(".pub"))
    };
    NAMES.contains(&name)
        || ENDS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
        || SSH_KEYS.iter().any(|key| is_ssh_key(key))
        || (name.starts_with("client_secret") && name.ends_with(".json"))
        || is_environment(name)
}

/// `.env` and its kin (`.env.local`, `.env~`), without blank forms (`.env.example`) and other words (`.envrc`).
fn is_environment(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    let is_kin = rest.is_empty() || rest.starts_with(['.', '-', '_', '~']);
    let last = rest.rsplit(['.', '-', '_']).next().unwrap_or_default();
    is_kin && !BLANK_FORMS.contains(&last)
}

/// Whether the names (in lower case) lead to, or through, a place of credentials.
pub(super) fn leads_to_credentials(names: &[String]) -> bool {
    // All of them begin with a dot, and few names do.
    let mut hidden = names.iter().enumerate().filter(|(_, name)| name.starts_with('.'));
    hidden.any(|(at, _)| names.get(at..).is_some_and(|rest| leads_to_one_of(ANYWHERE, rest)))
}

/// Whether the names begin with one of these places.
pub(super) fn leads_to_one_of(places: &[&str], names: &[String]) -> bool {
    places.iter().any(|place| {
        let mut names = names.iter();
        place.split('/').all(|wanted| names.next().is_some_and(|name| name == wanted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_begins_with_a_dot_and_is_in_lower_case() {
        for place in ANYWHERE.iter().chain(IN_A_HOME) {
            assert!(place.starts_with('.') && *place == place.to_lowercase(), "{place}");
        }
        for name in NAMES.iter().chain(ENDS).chain(SSH_KEYS).chain(BLANK_FORMS) {
            assert_eq!(*name, name.to_lowercase());
        }
    }
}
