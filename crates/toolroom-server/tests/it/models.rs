//! `toolroom models`: who can be asked, what a trial says, and who may not decide about it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::aimock::Aimock;
use crate::home::{Home, binary, ran};
use crate::project::Project;

const KEY: &str = "sk-model-key-0123456789abcdef";

/// Ignores the variables of the developer.
const VARIABLES: [&str; 8] = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OLLAMA_HOST",
    "GROQ_API_KEY",
];

fn command(project: &Project, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = project.home.command(arguments);
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.envs(variables.iter().copied());
    command
}

fn mock() -> Aimock {
    Aimock::start(&[
        json!({"match": {"userMessage": "Oslo", "model": "gpt-4o"},
            "response": {"toolCalls": [{"id": "call_1", "name": "local_time", "arguments": {"city": "Oslo"}}]}}),
        json!({"match": {"userMessage": "Oslo", "model": "claude-haiku-4-5"}, "chunkSize": 3,
            "response": {"content": "It is noon in Oslo."}}),
        json!({"match": {"userMessage": "Oslo", "model": "gpt-wrong-key"},
            "response": {"error": {"message": "Incorrect API key", "type": "authentication_error"}, "status": 401}}),
    ])
}

#[test]
fn vendors_are_listed_with_where_their_key_comes_from_and_never_the_key() {
    let project =
        Project::new("model = ['lab/m', 'openai/gpt-4o']\n[vendor.lab]\nbase_url = 'http://10.1.2.3:8000'\n");
    let variables = [("OPENAI_API_KEY", KEY), ("OLLAMA_HOST", "box")];
    let ran = project.finish(command(&project, &variables, &["models", "list", "--json"])).ended(0);
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY));
    let listed = ran.json();
    assert_eq!(listed["model"], "lab/m");
    let vendors: Vec<String> = listed["vendors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|vendor| format!("{} {} {}", vendor["name"], vendor["base_url"], vendor["key_from"]))
        .collect();
    assert_eq!(
        vendors,
        [
            r#""openai" "https://api.openai.com/v1" "$OPENAI_API_KEY""#,
            r#""ollama" "http://box:11434/v1" null"#,
            r#""lab" "http://10.1.2.3:8000/v1" null"#,
        ]
    );
    let models = listed["vendors"][0]["models"].as_array().unwrap();
    let gpt = models.iter().find(|model| model["name"] == "gpt-4o").unwrap();
    assert_eq!((&gpt["window"], &gpt["price"]["input"]), (&json!(128_000), &json!(2.5)));
    let ran = project.finish(command(&project, &variables, &["models"])).ended(0);
    assert!(ran.out.contains("key from $OPENAI_API_KEY") && ran.out.contains("gpt-4o"), "{ran:?}");
    let nobody = Project::new("");
    let ran = nobody.finish(command(&nobody, &[], &["models"])).ended(0);
    assert!(ran.err.contains("set a key such as OPENAI_API_KEY"), "{ran:?}");
}

#[test]
fn a_trial_says_what_the_model_can_do_or_what_to_do() {
    let mock = mock();
    let project = Project::new("");
    let url = mock.url();
    let variables = [
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", url.as_str()),
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", url.as_str()),
    ];
    let test = |model: &str, more: &[&str]| {
        project.finish(command(&project, &variables, &[&["models", "test", model], more].concat()))
    };
    let called = test("openai/gpt-4o", &["--json"]).ended(0).json();
    assert_eq!((&called["called_tool"], &called["streamed"]), (&json!(true), &json!(true)), "{called}");
    let spoken = test("anthropic/claude-haiku-4-5", &["--json"]).ended(0).json();
    assert_eq!(
        (&spoken["called_tool"], &spoken["text"]),
        (&json!(false), &json!("It is noon in Oslo.")),
        "{spoken}"
    );
    let ran = test("anthropic/claude-haiku-4-5", &[]).ended(0);
    assert!(ran.out.contains("in chunks") && ran.out.contains("200000 tokens"), "{ran:?}");
    let ran = test("openai/gpt-wrong-key", &[]).ended(1);
    assert!(
        ran.err.contains("auth: Incorrect API key") && ran.err.contains("check the API key: "),
        "{ran:?}"
    );
    assert!(test("gemini/gemini-2.5-flash", &[]).ended(1).err.contains("set GEMINI_API_KEY"));
    assert!(test("gpt-4o", &[]).ended(2).err.contains("write vendor and model"));
}

#[test]
fn a_key_may_be_a_stored_secret() {
    let mock = mock();
    let project =
        Project::new(&format!("[vendor.openai]\nbase_url = '{}'\nkey = 'secret:oai'\n", mock.url()));
    let test = || project.finish(command(&project, &[], &["models", "test", "openai/gpt-4o", "--json"]));
    let ran = test().ended(1);
    assert!(format!("{ran:?}").contains("no secret `oai`"), "{ran:?}");
    project.home.run_with_stdin(&["secrets", "set", "oai"], KEY).ended(0);
    test().ended(0);
    let headers = &mock.journal()[0]["headers"];
    assert!(headers["authorization"].as_str().is_some_and(|value| !value.is_empty()), "{headers}");
}

#[test]
fn a_project_that_is_not_trusted_sends_nothing_elsewhere() {
    let (ours, theirs) = (mock(), mock());
    let project = Project::new("");
    project.write(format!(
        "model = 'openai/gpt-4o'\n[vendor.openai]\nbase_url = '{}'\nkey = '$HOME'\n",
        theirs.url()
    ));
    let url = ours.url();
    let variables = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", url.as_str())];
    let ran = project.finish(command(&project, &variables, &["models", "test", "openai/gpt-4o"])).ended(0);
    assert!(ran.err.contains("is not trusted; ignored settings: 3"), "{ran:?}");
    assert_eq!((ours.journal().len(), theirs.journal().len()), (1, 0));
    let listed = project.finish(command(&project, &variables, &["models", "--json"])).ended(0).json();
    assert_eq!(listed["chain"], json!([]));
}

#[test]
fn a_key_that_is_written_into_a_file_is_refused_and_not_repeated() {
    let project = Project::new(&format!("[vendor.openai]\nkey = '{KEY}'\n"));
    let ran = project.finish(command(&project, &[], &["models"]));
    assert!(ran.code != 0 && ran.err.contains("do not put the key itself here"), "{ran:?}");
    assert!(!ran.err.contains(KEY) && !ran.out.contains(KEY), "{ran:?}");
}

#[test]
fn no_wire_opens_a_port_of_this_machine_by_naming_a_model() {
    let home = Home::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/vendor_ports.py");
    let mut python = Command::new("unshare");
    python.args(["--user", "--map-root-user", "--net", "python3"]).arg(script).arg(binary());
    python.env("TOOLROOM_HOME", home.path()).stdin(Stdio::null());
    for vendor in ["OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"] {
        python.env_remove(vendor);
    }
    let told = ran(python.output().unwrap()).ended(0).json();
    assert_eq!(told["hits_by_wire"], json!([]), "{told}");
    for asked in told["wire"].as_array().unwrap() {
        let door = asked[0].as_str().unwrap();
        // As for a vendor whose key is missing; without its ranker an agent goes on.
        let expected = match door {
            "model" => 404,
            door if door.ends_with("-main") => 502,
            _ => 200,
        };
        assert_eq!(asked[2], expected, "{asked}");
    }
    let by_owner = told["hits_by_owner"].as_array().unwrap();
    assert!(!by_owner.is_empty() && by_owner.iter().all(|port| port == 11434), "{told}");
}
