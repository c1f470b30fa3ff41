//! A machine that has only `sh`, and what models are told about where commands run.

use std::sync::Arc;

use toolroom::Toolroom;
use toolroom::call::CallRequest;
use toolroom::ledger::SwitchState;
use toolroom::policy::{Policy, Preset};
use toolroom::scope::ProjectId;
use toolroom::testing::MemoryLedger;
use toolroom_host::process::Supervisor;
use toolroom_host::sandbox::NamedProfile;
use toolroom_host::shell::{Interpreter, Shells};
use toolroom_tools::builtin::shell::{CommandPolicy, ConversationResources};
use toolroom_tools::builtin::{self, ToolDependencies};

use crate::around::surroundings;

/// The toggle of all of them.
const FAMILY: &str = "execute_shell_command";

fn room(interpreter: Interpreter, profile: &str) -> Toolroom {
    let ledger = Arc::new(MemoryLedger::new());
    let profile: NamedProfile = profile.parse().unwrap();
    let around = ToolDependencies {
        commands: CommandPolicy { profile, ..CommandPolicy::default() },
        conversation_resources: Arc::new(ConversationResources::new(Shells::new(
            Supervisor::new("/nowhere"),
            interpreter,
        ))),
        ..surroundings(&ledger)
    };
    let open = Policy::new(Preset::Open, Vec::new()).unwrap();
    ledger.set_tool(&ProjectId::default(), FAMILY, SwitchState::On);
    let room = Toolroom::builder(ledger).policy(open).build();
    room.catalog().register_all(None, builtin::of_local_machine(&around).unwrap()).unwrap();
    room
}

/// What a call that does not run says.
async fn said(room: &Toolroom, tool: &str, command: &str) -> String {
    let report = room.call(CallRequest::new(tool).argument("command", command)).await;
    report.for_model().unwrap()["error"].to_string()
}

fn description(room: &Toolroom, tool: &str) -> String {
    room.catalog().find(&ProjectId::default(), tool).unwrap().spec().description.to_string()
}

#[tokio::test]
async fn where_there_is_only_sh_what_is_bashs_is_refused_before_it_runs() {
    let (sh, bash) = (room(Interpreter::Sh, "workspace"), room(Interpreter::Bash, "workspace"));
    for tool in ["execute_shell_command", "run_command"] {
        for (command, what) in [("[[ -f x ]]", "`[[ … ]]`"), ("ls {a,b}", "`{…,…}`"), ("a &> f", "`&>`")]
        {
            let refused = said(&sh, tool, command).await;
            assert!(refused.contains(what) && refused.contains("only `sh`"), "{tool} {command}: {refused}");
            // Where there is bash, it comes as far as the door, which is missing here.
            let tried = said(&bash, tool, command).await;
            assert!(!tried.contains("only `sh`"), "{tool} {command}: {tried}");
        }
        let tried = said(&sh, tool, "ls | wc -l").await;
        assert!(!tried.contains("only `sh`"), "{tool}: {tried}");
    }
}

#[test]
fn a_model_is_told_where_its_commands_run() {
    let confined = "enforced by the operating system: bubblewrap or Landlock";
    for (profile, words) in [
        ("workspace", &["profile `workspace`", confined, "change these folders", "reach no network"][..]),
        (
            "read-only",
            &["profile `read-only`", confined, "change only a temporary folder", "reach no network"],
        ),
        ("network:example.org", &["profile `network`", confined, "change these folders", "only example.org"]),
        ("off", &["commands run without a sandbox, and each one needs approval"]),
    ] {
        for (interpreter, shell) in
            [(Interpreter::Bash, "Linux with bash"), (Interpreter::Sh, "Linux with sh")]
        {
            let room = room(interpreter, profile);
            for tool in ["execute_shell_command", "run_command", "shell-exec"] {
                let told = description(&room, tool);
                for word in words.iter().chain([&shell]) {
                    assert!(told.contains(word), "{tool} with {profile}: {word}: {told}");
                }
                assert_eq!(told.contains("HTML as one self-contained file"), tool != "shell-exec", "{told}");
            }
        }
    }
}
