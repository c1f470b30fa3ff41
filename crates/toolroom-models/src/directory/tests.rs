use toolroom::clock::SystemClock;
use toolroom::model::Price;

use super::*;
use crate::vendor::WireKind;

fn directory(variables: &[(&str, &str)], configured: Vec<(&str, VendorSettings)>) -> Directory {
    let look =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let mut settings = from_variables(look);
    for (name, stronger) in configured {
        let weaker = settings.remove(name).unwrap_or_default();
        settings.insert(name.to_owned(), stronger.over(weaker));
    }
    Directory::new(settings, Arc::new(SystemClock))
}

fn at(url: &str) -> VendorSettings {
    let base_url = Some(Given { value: url.to_owned(), from: "toolroom.toml".to_owned() });
    VendorSettings { base_url, ..VendorSettings::default() }
}

fn name(text: &str) -> ModelName {
    text.parse().unwrap()
}

fn error(directory: &Directory, model: &str) -> String {
    match directory.open(&name(model)) {
        Ok(_) => panic!("{model} was opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn vendors_are_found_by_the_usual_variables() {
    let directory = directory(
        &[
            ("OPENAI_API_KEY", "sk-secret-1"),
            ("OPENAI_BASE_URL", "http://10.0.0.5:4000"),
            ("GOOGLE_API_KEY", "g-secret-2"),
            ("OLLAMA_HOST", "box:1234"),
        ],
        Vec::new(),
    );
    let seen: Vec<String> = directory
        .configured()
        .map(|vendor| {
            let wire = vendor.wire().unwrap().as_str();
            format!(
                "{} {} {wire} {}",
                vendor.name(),
                vendor.base_url().unwrap(),
                vendor.key_from().unwrap_or("-")
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            "openai http://10.0.0.5:4000/v1 openai_chat $OPENAI_API_KEY",
            "gemini https://generativelanguage.googleapis.com/v1beta gemini $GOOGLE_API_KEY",
            "ollama http://box:1234/v1 openai_chat -",
        ]
    );
    assert!(!format!("{directory:?}").contains("secret-"));
    assert_eq!(directory.default_model(), Some(name("openai/gpt-5.6-terra")));
    let opened = directory.open(&name("openai/gpt-4o")).unwrap();
    assert_eq!((opened.model.name(), opened.known.facts.window), ("openai/gpt-4o", 128_000));
}

#[test]
fn at_its_own_address_openai_speaks_responses() {
    let directory = directory(&[("OPENAI_API_KEY", "sk-secret-1")], Vec::new());
    let vendor = directory.configured().next().unwrap();
    assert_eq!(vendor.wire(), Some(WireKind::OpenaiResponses));
    assert!(vendor.problem().is_none());
}

#[test]
fn where_nothing_is_set_up_the_offline_model_answers() {
    let directory = directory(&[], Vec::new());
    let default_model = directory.default_model().unwrap();
    assert_eq!(default_model, name("offline/toolroom"));
    let opened = directory.open(&default_model).unwrap();
    assert_eq!(opened.model.name(), "offline/toolroom");
    let facts = opened.known.facts;
    assert_eq!((facts.tools, facts.price), (true, Some(Price::FREE)));
    let error = directory.open(&name("offline/gpt")).err().unwrap().to_string();
    assert_eq!(error, "unknown model `offline/gpt`; the offline model is `offline/toolroom`");
}

#[test]
fn what_is_missing_is_named() {
    let directory = directory(
        &[],
        vec![
            ("lab", VendorSettings::default()),
            ("odd", VendorSettings { like: Some("missing".to_owned()), ..at("http://x") }),
        ],
    );
    assert_eq!(directory.default_model(), None);
    for (model, words) in [
        ("openai/gpt-5", "OpenAI needs a key: set OPENAI_API_KEY"),
        ("opnai/gpt-5", "did you mean `openai`?"),
        ("azure/mine", "set AZURE_OPENAI_ENDPOINT, or `base_url` in `[vendor.azure]`"),
        ("lab/m", "lab has no address: set `base_url` in `[vendor.lab]`"),
        ("odd/m", "`like = \"missing\"`"),
    ] {
        let told = error(&directory, model);
        assert!(told.contains(words), "{model}: {told}");
    }
    // What runs locally needs no key, but a name alone opens no port of this machine.
    for model in ["ollama/qwen3", "lmstudio/m", "llamacpp/m", "vllm/m"] {
        let told = error(&directory, model);
        assert!(told.contains("is not set up") && told.contains("http://localhost:"), "{model}: {told}");
    }
    let directory = directory.named([&name("ollama/qwen3")]);
    assert!(directory.open(&name("ollama/llama3")).is_ok());
    assert!(directory.open(&name("vllm/m")).is_err());
    assert_eq!(directory.configured().count(), 2);
}

#[test]
fn a_missing_secret_and_a_bad_address_affect_no_other_vendor() {
    let missing = VendorSettings {
        key: Some(KeySetting::Missing("no secret `x`".to_owned())),
        ..VendorSettings::default()
    };
    let directory = directory(
        &[("GROQ_API_KEY", "gsk-secret-3")],
        vec![("anthropic", missing), ("mistral", at("mistral.example"))],
    );
    assert!(error(&directory, "anthropic/claude-opus-5-5").contains("no secret `x`"));
    let told = error(&directory, "mistral/m");
    assert!(told.contains("from toolroom.toml cannot be used"), "{told}");
    assert_eq!(directory.default_model(), Some(name("groq/openai/gpt-oss-120b")));
}

#[test]
fn a_vendor_of_an_operators_own_follows_a_preset_and_never_goes_to_its_address() {
    let like =
        |preset: &str, settings: VendorSettings| VendorSettings { like: Some(preset.to_owned()), ..settings };
    let directory = directory(
        &[("ANTHROPIC_API_KEY", "sk-ant-secret")],
        vec![
            ("proxy", like("anthropic", at("https://proxy.example"))),
            ("twin", like("anthropic", VendorSettings::default())),
        ],
    );
    let proxy = directory.vendors().iter().find(|vendor| vendor.name() == "proxy").unwrap();
    assert_eq!(proxy.base_url().unwrap().as_str(), "https://proxy.example/v1");
    assert_eq!(proxy.key_from(), None);
    assert!(error(&directory, "proxy/claude-opus-5-5").contains("proxy needs a key: set its `key`"));
    assert!(error(&directory, "twin/claude-opus-5-5").contains("twin has no address"));
}

#[test]
fn no_key_goes_where_others_can_listen() {
    for (url, is_overheard) in [
        ("http://b.example", true),
        ("HTTP://8.8.8.8", true),
        ("http://127.0.0.1.b.example", true),
        ("https://b.example", false),
        ("http://127.0.0.1:8080", false),
        ("http://10.0.0.5", false),
        ("http://box:1234", false),
    ] {
        let directory = directory(&[("OPENAI_API_KEY", "sk-secret-1")], vec![("openai", at(url))]);
        let opened = directory.open(&name("openai/m"));
        assert_eq!(matches!(opened, Err(OpenError::Unencrypted { .. })), is_overheard, "{url}");
    }
}

#[test]
fn what_is_configured_goes_before_what_variables_say() {
    let configured = VendorSettings {
        window: Some(9_000),
        wire: Some(WireKind::OpenaiResponses),
        model: Some("m".to_owned()),
        ..at("https://b.example")
    };
    let directory = directory(
        &[("OPENAI_API_KEY", "sk-secret-1"), ("OPENAI_BASE_URL", "https://a.example")],
        vec![("openai", configured)],
    );
    let vendor = directory.configured().next().unwrap();
    assert_eq!(vendor.base_url().unwrap().as_str(), "https://b.example/v1");
    assert_eq!(
        (vendor.wire(), vendor.key_from()),
        (Some(WireKind::OpenaiResponses), Some("$OPENAI_API_KEY"))
    );
    assert_eq!(directory.default_model(), Some(name("openai/m")));
    assert_eq!(directory.open(&name("openai/m")).unwrap().known.facts.window, 9_000);
}
