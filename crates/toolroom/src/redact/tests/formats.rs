//! One table for each format: what it hides, and what is nearly it.

use super::{check, check_untouched, hex, random};
use crate::redact::{Patterns, Redactor};

#[test]
fn issued_keys_are_known_by_their_prefix() {
    for (prefix, length, kind) in [
        ("ghp_", 36, "github token"),
        ("gho_", 36, "github token"),
        ("ghu_", 36, "github token"),
        ("ghs_", 36, "github token"),
        ("ghr_", 76, "github token"),
        ("github_pat_", 82, "github token"),
        ("glpat-", 20, "gitlab token"),
        ("trk_prod_", 50, "toolroom key"),
        ("trk_test_", 50, "toolroom key"),
        ("tru_", 120, "toolroom key"),
        ("sk_live_", 24, "stripe key"),
        ("sk_test_", 99, "stripe key"),
        ("rk_live_", 24, "stripe key"),
        ("whsec_", 32, "webhook secret"),
        ("xoxa-", 40, "slack token"),
        ("xoxb-", 50, "slack token"),
        ("xoxp-", 60, "slack token"),
        ("xoxr-", 40, "slack token"),
        ("xoxs-", 40, "slack token"),
        ("xapp-", 64, "slack token"),
        ("sk-", 48, "openai key"),
        ("sk-proj-", 120, "openai key"),
        ("sk-ant-api03-", 95, "anthropic key"),
        ("AIza", 35, "google key"),
        ("GOCSPX-", 28, "google key"),
        ("ya29.", 60, "google token"),
        ("hf_", 34, "hugging face token"),
        ("npm_", 36, "npm token"),
        ("pypi-AgEIcHlwaS5vcmc", 100, "pypi token"),
    ] {
        check(&format!("{prefix}{}", random(length)), &format!("[redacted {kind}]"));
        check_untouched(&format!("{prefix}{}", random(7)));
        check_untouched(prefix);
    }
    check(&format!("dop_v1_{}", hex(64)), "[redacted digitalocean token]");
    check(&format!("SK{}", hex(32)), "[redacted twilio key]");
    check(&format!("SG.{}.{}", random(22), random(43)), "[redacted sendgrid key]");
    for prefix in ["AKIA", "ASIA"] {
        check(&format!("{prefix}IOSFODNN7EXAMPLE"), "[redacted aws key id]");
    }
}

#[test]
fn words_that_begin_like_a_key_are_left() {
    for text in [
        "sk-fading-circle-12-dot-large-spinner",
        "task-12345678901234567890abcdef",
        "sk-12345678901234567890",
        "hf_transformers_are_all_you_need_in_life",
        "npm_config_registry_and_more_of_it_is_long",
        "xoxb-your-token-here",
        "pypi-mirror-of-something",
        "SKIPPED",
        "AKIA",
        "AKIAIOSFODNN7EXAMPLEX",
        "MAKIAIOSFODNN7EXAMPLE",
        "akiaiosfodnn7example",
        "AKIAIOSFODNN7EXAMPL",
        "SG.short.parts",
        "ghp_underscores_are_not_in_a_token_and_it_is_long",
        "https://hooks.slack.com/docs",
    ] {
        check_untouched(text);
    }
    check_untouched(&format!("SK{}", hex(33)));
    check_untouched(&format!("SK{}", hex(31)));
    check_untouched(&format!("aSK{}", hex(32)));
    check_untouched(&format!("xAIza{}", random(35)));
}

#[test]
fn a_webhook_keeps_its_host() {
    check(
        &format!("https://hooks.slack.com/services/T0123456/B0123456/{}", random(24)),
        "https://hooks.slack.com/[redacted slack webhook]",
    );
}

#[test]
fn telegram_tokens_are_a_number_and_35_characters() {
    check(&format!("123456789:AA{}", random(33)), "[redacted telegram token]");
    check(&format!("bot-110201543:AA{}", random(33)), "bot-[redacted telegram token]");
    for text in [format!("123456789:{}", random(36)), format!("12:{}", random(35)), "12:34:56".to_owned()] {
        check_untouched(&text);
    }
}

#[test]
fn json_web_tokens_have_parts() {
    let (header, payload) = ("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0");
    check(&format!("{header}.{payload}.{}", random(43)), "[redacted jwt]");
    check(&format!("{header}.{payload}."), "[redacted jwt]");
    check(&format!("{header}..{}.{}.{}", random(16), random(80), random(22)), "[redacted jwt]");
    for text in [header, "eyJ.eyJ.eyJ", "eyJhbGciOiJIUzI1NiJ9.", "xeyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"]
    {
        check_untouched(text);
    }
    check_untouched(&format!("{header}.json.gz"));
}

#[test]
fn private_keys_are_hidden_whole() {
    let line = random(64);
    for label in
        ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
    {
        let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
        check(&format!("{begin}\n{line}\n{line}\nAbc=\n{end}"), "[redacted private key]");
        check(&format!("{begin}\\n{line}\\n{line}\\nAbc=\\n{end}"), "[redacted private key]");
        check(&format!("{begin}\r\n{line}\r\n{line}\r\n{end}"), "[redacted private key]");
        check(&format!("{begin}\n{line}\n{line}\nAbc"), "[redacted private key]");
        check(&format!("{begin}\nMIIEvQIBADANBgkq\n{end}"), "[redacted private key]");
        check(&format!("{begin}\\nMIIEvQIBADANBgkq."), "[redacted private key].");
        check(&format!("{begin}\n  | {line}\n  | {line}\n  | Abc=\n  | {end}"), "[redacted private key]");
        check(&format!("{begin}\" +\n  \"{line}\" +\n  \"{line}\";"), "[redacted private key]\";");
        for width in [1, 4, 8, 15, 20] {
            for separator in ["\n", "\r\n", "\\n"] {
                let key = random(1_600);
                let lines: Vec<&str> =
                    key.as_bytes().chunks(width).map(|line| str::from_utf8(line).unwrap()).collect();
                let lines = lines.join(separator);
                let whole = format!("{begin}{separator}{lines}{separator}{end}");
                check(&whole, "[redacted private key]");
                check(&format!("{begin}{separator}{lines}."), "[redacted private key].");
            }
        }
        check_untouched(&begin);
        check_untouched(&format!("{begin}\n{end}"));
        check_untouched(&format!("{begin}\nis\nnot\nhere\nany\nmore"));
        check_untouched(&format!("{begin} is how it begins, and {end} is how it ends").replace(&end, "that"));
    }
    let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF0123456789ABCDEF\n\n";
    check(
        &format!("-----BEGIN RSA PRIVATE KEY-----\n{headers}{line}\n-----END RSA PRIVATE KEY-----, then"),
        "[redacted private key], then",
    );
    check(
        &format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{line}\n=AbCd\n-----END PGP PRIVATE KEY BLOCK-----."
        ),
        "[redacted private key].",
    );
    // Two keys that share dashes.
    let key = |dashes: &str| format!("{dashes}BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----");
    check(&format!("{}{}", key("-----"), key("----")), "[redacted private key]");
    check_untouched(&format!("-----BEGIN CERTIFICATE-----\n{line}\n-----END CERTIFICATE-----"));
    check_untouched(&format!("-----BEGIN PUBLIC KEY-----\n{line}\n-----END PUBLIC KEY-----"));
}

#[test]
fn a_header_keeps_its_scheme() {
    let token = random(40);
    for (text, expected) in [
        (format!("Authorization: Bearer {token}"), "Authorization: Bearer [redacted bearer token]"),
        (format!("authorization: bearer {token}"), "authorization: bearer [redacted bearer token]"),
        ("Authorization: Basic dXNlcjpwYXNz".to_owned(), "Authorization: Basic [redacted authorization]"),
        (
            format!("{{'Authorization': 'Token {token}'}}"),
            "{'Authorization': 'Token [redacted authorization]'}",
        ),
        (
            format!("\\\"Authorization\\\":\\\"Bearer {token}\\\""),
            "\\\"Authorization\\\":\\\"Bearer [redacted bearer token]\\\"",
        ),
        (format!("Proxy-Authorization: {token}"), "Proxy-Authorization: [redacted authorization]"),
        (format!("sent with bearer {token}"), "sent with bearer [redacted bearer token]"),
    ] {
        check(&text, expected);
    }
    for text in [
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer <token>",
        "authorization: required",
        "the bearer authentication of this service",
        "Authorization is required",
        "bearer token",
    ] {
        check_untouched(text);
    }
}

#[test]
fn only_the_password_of_a_url_is_hidden() {
    for (text, expected) in [
        ("postgres://app:hunter2@db/x", "postgres://app:[redacted password]@db/x"),
        ("https://u:p%40ss@host:8080", "https://u:[redacted password]@host:8080"),
        ("redis://:geheim@cache:6379/0", "redis://:[redacted password]@cache:6379/0"),
        ("mongodb://u:p@ss@h1:1,h2:2/db", "mongodb://u:[redacted password]@h1:1,h2:2/db"),
    ] {
        check(text, expected);
    }
    for text in [
        "https://example.com:8080/a@b",
        "https://user@example.com/",
        "https://user:@example.com/",
        "https://user:$PASSWORD@example.com/",
        "https://user:xxxxx@example.com/",
        "https://example.com/?mail=a:b@c",
        "https://example.com:443 and me:you@there",
        "://user:word@host",
    ] {
        check_untouched(text);
    }
}

#[test]
fn values_that_are_called_a_secret_and_look_like_one_are_hidden() {
    for (text, expected) in [
        ("password=hunter2hunter2", "password=[redacted password]"),
        ("Password: Tr0ub4dor&3", "Password: [redacted password]"),
        ("https://x.y/#access_token=abcdefgh&state=1", "https://x.y/#access_token=[redacted token]&state=1"),
        ("passwd=12345678", "passwd=[redacted password]"),
        ("{\"password\":\"P(ss)w0rd\\\"x\"}", "{\"password\":\"[redacted password]\"}"),
        ("{\\\"api_key\\\": \\\"a1b2c3d4e5\\\"}", "{\\\"api_key\\\": \\\"[redacted api key]\\\"}"),
        ("config[\"token\"] = 'a1b2c3d4'", "config[\"token\"] = '[redacted token]'"),
        ("accessToken: a1b2c3d4e5", "accessToken: [redacted token]"),
        ("client_secret => 'a1b2c3d4e5'", "client_secret => '[redacted secret]'"),
        ("secret_key := \"a1b2c3d4e5\"", "secret_key := \"[redacted secret]\""),
        ("X-Api-Key: a1b2c3d4e5", "X-Api-Key: [redacted api key]"),
        ("https://x.y/?a=b&token=expression&c=d", "https://x.y/?a=b&token=[redacted token]&c=d"),
        ("https://x.y/?apikey=abcdefgh", "https://x.y/?apikey=[redacted api key]"),
        ("?a=b&amp;secret=abcdefgh", "?a=b&amp;secret=[redacted secret]"),
        ("DB_PASSWORD=correct-horse", "DB_PASSWORD=[redacted password]"),
        ("export GITHUB_TOKEN=abcdefgh", "export GITHUB_TOKEN=[redacted token]"),
    ] {
        check(text, expected);
    }
    let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz";
    check(&format!("aws_secret_access_key = {key}"), "aws_secret_access_key = [redacted aws secret key]");
    check(&format!("\"SecretAccessKey\": \"{key}\""), "\"SecretAccessKey\": \"[redacted aws secret key]\"");
}

#[test]
fn code_and_prose_about_secrets_are_left() {
    for text in [
        "token=expression",
        "token = self.next_token()",
        "let token: u64 = 1234567890;",
        "token = tokens[12345678]",
        "secret: Option<Secret1234>",
        "password == \"hunter2hunter2\"",
        "token::Kind2Value3",
        "password: config.v2.password",
        "secret = module2::Secret34::new()",
        "\"password\": \"The password of user 12345678\"",
        "password: null",
        "token: 1234567890",
        "tokens=1234567890abc",
        "max_tokens: 16000abcd",
        "token_count=12345678abc",
        "token=${TOKEN1234567}",
        "PASSWORD=$DB_PASSWORD12",
        "TOKEN=%CI_TOKEN12%",
        "password=********",
        "password=xxxxxxxxxxxx",
        "secret: /run/secrets/db1234",
        "token: https://example.com/token/12",
        "nextPageToken: a1b2c3d4e5",
        "?page_token=a1b2c3d4e5",
        "csrf_token=a1b2c3d4e5",
        "password=short1",
        "the secret: keep it simple",
        "secretary: abc12345678",
        "pub Token: WIN32_TOKEN_17,",
        "authorization = base64.decode(authorization)",
    ] {
        check_untouched(text);
    }
}

#[test]
fn card_numbers_pass_their_check() {
    for number in [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "5555 5555 5555 4444",
        "2223003122003222",
        "378282246310005",
        "3782 822463 10005",
        "30569309025904",
        "3056 930902 5904",
        "6011111111111117",
        "3530111333300000",
        "6200000000000005",
    ] {
        check(number, "[redacted payment card]");
    }
    check("4000 0000 0000 0000 006", "[redacted payment card]");
    check("4111 1111 1111 1111 12/30 123", "[redacted payment card] 12/30 123");
    for number in [
        "4111111111111112",
        "4111 1111-1111 1111",
        "41111111 11111111",
        "0.4111111111111111",
        "4111111111111111.5",
        "x4111111111111111",
        "4111111111111111x",
        "1111111111111117",
        "411111111111111",
        "4000000000000000006",
        "1753871234567890",
        "550e8400-e29b-41d4-a716-446655440000",
        "2024-01-02 03:04:05",
    ] {
        check_untouched(number);
    }
    let keys = Redactor::new([], Patterns::Keys);
    assert_eq!(keys.redact_text("4111111111111111"), "4111111111111111");
}

#[test]
fn without_patterns_only_stored_values_are_hidden() {
    let redactor = Redactor::new([super::super::Secret::new("A", "stored value")], Patterns::None);
    let text = format!("stored value, ghp_{}, https://u:pass@h", random(36));
    assert_eq!(redactor.redact_text(&text), text.replace("stored value", "[secret A]"));
}
