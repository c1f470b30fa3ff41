//! What `toolroom doctor` says of servers, and that it starts none.

use super::{folder, found, python};
use crate::home::Home;

fn servers(home: &Home) -> serde_json::Value {
    home.run(&["doctor", "--json"]).json()["checks"]["servers"].clone()
}

#[test]
fn the_doctor_says_which_servers_do_not_work_and_what_to_type() {
    let home = Home::new();
    assert_eq!(servers(&home)["details"], "none");
    let script = found(&folder().join("hostile.py"));
    home.run(&["mcp", "add", "fine", "--", &python(), &script, "calm"]).ended(0);
    assert_eq!(servers(&home)["details"], "1 server, 1 enabled");

    home.run(&["mcp", "add", "broken", "--", &python(), &script, "no_start"]).ended(1);
    home.run(&["mcp", "add", "moody", "--", &python(), &script, "changes"]).ended(0);
    home.run(&["mcp", "test", "moody"]).ended(0);
    let program = home.path().join("program");
    std::fs::write(&program, "#!/bin/sh\ntouch started\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    home.run(&["mcp", "add", "gone", "--no-start", "--", program.to_str().unwrap()]).ended(0);
    let starts = || std::fs::read_to_string(home.path().join("workspace/starts-changes")).unwrap();
    let before = starts();
    let told = servers(&home).to_string();
    assert!(told.contains("toolroom mcp test broken") && !told.contains("gone"), "{told}");
    assert!(told.contains("toolroom mcp review moody"), "{told}");
    assert!(!told.contains("I need the network"), "what a stranger wrote is not told: {told}");
    std::fs::remove_file(&program).unwrap();
    let told = servers(&home).to_string();
    assert!(told.contains("toolroom mcp add gone --replace"), "{told}");
    assert_eq!(starts(), before, "nothing is started");

    for name in ["broken", "moody", "gone"] {
        home.run(&["mcp", "disable", name]).ended(0);
    }
    let told = servers(&home);
    assert_eq!(
        (told["status"].as_str(), told["details"].as_str()),
        (Some("ok"), Some("4 servers, 1 enabled"))
    );
}
