//! Configurations as other programs write them.

use super::*;

fn only(source: ImportSource, text: &str) -> ImportedServer {
    let mut contents = parse(source, text, "/w").unwrap();
    assert_eq!((contents.servers.len(), contents.skipped.len()), (1, 0), "{contents:?}");
    contents.servers.remove(0)
}

fn target(imported: &ImportedServer) -> String {
    match &imported.target {
        ImportTarget::Program { command, arguments, .. } => format!("{command} {}", arguments.join(" ")),
        ImportTarget::Address { url, is_sse, .. } => format!("{url}{}", if *is_sse { " sse" } else { "" }),
    }
}

#[test]
fn each_program_decides_the_transport_of_its_addresses() {
    for (source, entry, expected) in [
        (ImportSource::Cursor, r#"{"url": "https://x.example/mcp"}"#, "https://x.example/mcp"),
        (ImportSource::Cursor, r#"{"url": "https://x.example/sse"}"#, "https://x.example/sse sse"),
        (ImportSource::Windsurf, r#"{"serverUrl": "https://x.example/mcp"}"#, "https://x.example/mcp"),
        (ImportSource::Gemini, r#"{"url": "https://x.example/a"}"#, "https://x.example/a sse"),
        (ImportSource::Gemini, r#"{"httpUrl": "https://x.example/a"}"#, "https://x.example/a"),
        (
            ImportSource::Cline,
            r#"{"type": "streamableHttp", "url": "https://x.example/a"}"#,
            "https://x.example/a",
        ),
        (ImportSource::Cline, r#"{"url": "https://x.example/a"}"#, "https://x.example/a sse"),
        (
            ImportSource::ClaudeCode,
            r#"{"type": "sse", "url": "https://x.example/a"}"#,
            "https://x.example/a sse",
        ),
    ] {
        assert_eq!(
            target(&only(source, &format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#))),
            expected,
            "{entry}"
        );
    }
}

#[test]
fn values_are_parsed_as_literals_and_templates() {
    let text = r#"{"servers": {"my server!": {"command": "npx", "env": {
        "A": "plain", "B": "${input:token}", "C": "${env:HOME}", "D": "$HOME", "E": "${HOME:-/x}", "F": 3, "G": "$5 off", "H": null,
        "I": "Bearer ${input:token}", "J": "a${X}b${Y}", "K": "${", "L": "a}b"}}}}"#;
    let imported = only(ImportSource::VsCode, text);
    assert_eq!((imported.name.as_str(), imported.original_name.as_str()), ("my_server_", "my server!"));
    let ImportTarget::Program { environment, .. } = &imported.target else { panic!("{imported:?}") };
    let template = ImportedValue::Template;
    let home = |default: Option<&str>| {
        template(vec![TemplatePart::Variable("HOME".to_owned(), default.map(str::to_owned))])
    };
    let text = |text: &str| TemplatePart::Text(text.to_owned());
    let input = || TemplatePart::Input("token".to_owned());
    let variable = |name: &str| TemplatePart::Variable(name.to_owned(), None);
    let expected = [
        ("A", ImportedValue::Text("plain".to_owned())),
        ("B", template(vec![input()])),
        ("C", home(None)),
        ("D", home(None)),
        ("E", home(Some("/x"))),
        ("F", ImportedValue::Text("3".to_owned())),
        ("G", ImportedValue::Text("$5 off".to_owned())),
        ("I", template(vec![text("Bearer "), input()])),
        ("J", template(vec![text("a"), variable("X"), text("b"), variable("Y")])),
        ("K", ImportedValue::Text("${".to_owned())),
        ("L", ImportedValue::Text("a}b".to_owned())),
    ];
    assert_eq!(*environment, expected.map(|(name, value)| (name.to_owned(), value)).into());
}

#[test]
fn servers_that_cannot_be_imported_are_skipped_with_a_reason() {
    for (entry, why) in [
        (r#"{}"#, "neither"),
        (r#"{"command": ""}"#, "neither"),
        (r#"{"command": "x", "args": ["--key=${input:k}"]}"#, "placeholder"),
        (r#"{"command": "x", "args": ["secret:GITHUB"]}"#, "Toolroom secret"),
        (r#"{"url": "https://x.example/?k=secret:GITHUB"}"#, "Toolroom secret"),
        (r#"{"url": "ftp://x.example"}"#, "URL"),
        (r#"{"url": "https://a:b@x.example"}"#, "password"),
        (r#"{"url": "https://${HOST}/mcp"}"#, "URL"),
        (r#"{"type": "builtin", "command": "x"}"#, "builtin"),
        (r#"7"#, "neither"),
    ] {
        let contents =
            parse(ImportSource::Cursor, &format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#), "/w").unwrap();
        assert!(contents.servers.is_empty() && contents.skipped[0].1.contains(why), "{entry}: {contents:?}");
    }
    for text in ["[]", "{}", "", "{\"mcpServers\": []}", "null"] {
        assert_eq!(parse(ImportSource::Cursor, text, "/w").unwrap(), ImportedFile::default(), "{text}");
    }
    assert!(
        parse(ImportSource::Cursor, "{", "/w").is_err() && parse(ImportSource::Codex, "[[", "/w").is_err()
    );
}

#[test]
fn rules_of_claude_code_keep_their_meaning() {
    let text = r#"{"permissions": {"allow": ["mcp__github__get_issue", "Bash(ls)"], "ask": ["mcp__github"],
        "deny": ["mcp__github__delete_repo", "mcp__x__a(b)"]}, "hooks": {},
        "projects": {"/w": {"mcpServers": {"here": {"command": "a"}}}, "/v": {"mcpServers": {"there": {"command": "b"}}}}}"#;
    let contents = parse(ImportSource::ClaudeCode, text, "/w").unwrap();
    let rules: Vec<(&str, &str)> =
        contents.rules.iter().map(|rule| (rule.effect, rule.tool.as_str())).collect();
    assert_eq!(rules, [("deny", "delete_repo"), ("ask", "*"), ("allow", "get_issue")]);
    assert!(contents.rules.iter().all(|rule| rule.is_about("github") && !rule.is_about("github-windsurf")));
    assert_eq!(contents.ignored.len(), 3, "{contents:?}");
    assert_eq!(contents.servers.len(), 1, "servers of other folders are left out: {contents:?}");
}
