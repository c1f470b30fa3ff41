//! Shapes that other programs write.

use super::*;

fn only(source: Source, text: &str) -> Imported {
    let mut contents = read(source, text, "/w").unwrap();
    assert_eq!((contents.servers.len(), contents.skipped.len()), (1, 0), "{contents:?}");
    contents.servers.remove(0)
}

fn target(imported: &Imported) -> String {
    match &imported.way {
        Way::Program { command, arguments, .. } => format!("{command} {}", arguments.join(" ")),
        Way::Address { url, is_sse, .. } => format!("{url}{}", if *is_sse { " sse" } else { "" }),
    }
}

#[test]
fn addresses_are_of_the_transport_that_each_program_means() {
    for (source, entry, expected) in [
        (Source::Cursor, r#"{"url": "https://x.example/mcp"}"#, "https://x.example/mcp"),
        (Source::Cursor, r#"{"url": "https://x.example/sse"}"#, "https://x.example/sse sse"),
        (Source::Windsurf, r#"{"serverUrl": "https://x.example/mcp"}"#, "https://x.example/mcp"),
        (Source::Gemini, r#"{"url": "https://x.example/a"}"#, "https://x.example/a sse"),
        (Source::Gemini, r#"{"httpUrl": "https://x.example/a"}"#, "https://x.example/a"),
        (Source::Cline, r#"{"type": "streamableHttp", "url": "https://x.example/a"}"#, "https://x.example/a"),
        (Source::Cline, r#"{"url": "https://x.example/a"}"#, "https://x.example/a sse"),
        (Source::ClaudeCode, r#"{"type": "sse", "url": "https://x.example/a"}"#, "https://x.example/a sse"),
    ] {
        assert_eq!(
            target(&only(source, &format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#))),
            expected,
            "{entry}"
        );
    }
}

#[test]
fn values_say_where_they_come_from() {
    let text = r#"{"servers": {"my server!": {"command": "npx", "env": {
        "A": "plain", "B": "${input:token}", "C": "${env:HOME}", "D": "$HOME", "E": "${HOME:-/x}", "F": 3, "G": "$5 off", "H": null,
        "I": "Bearer ${input:token}", "J": "a${X}b${Y}", "K": "${", "L": "a}b"}}}}"#;
    let imported = only(Source::VsCode, text);
    assert_eq!((imported.name.as_str(), imported.called.as_str()), ("my_server_", "my server!"));
    let Way::Program { environment, .. } = &imported.way else { panic!("{imported:?}") };
    let home = |otherwise: Option<&str>| {
        Given::Pieces(vec![Piece::Variable("HOME".to_owned(), otherwise.map(str::to_owned))])
    };
    let text = |text: &str| Piece::Text(text.to_owned());
    let asked = || Piece::Asked("token".to_owned());
    let variable = |name: &str| Piece::Variable(name.to_owned(), None);
    let expected = [
        ("A", Given::Text("plain".to_owned())),
        ("B", Given::Pieces(vec![asked()])),
        ("C", home(None)),
        ("D", home(None)),
        ("E", home(Some("/x"))),
        ("F", Given::Text("3".to_owned())),
        ("G", Given::Text("$5 off".to_owned())),
        ("I", Given::Pieces(vec![text("Bearer "), asked()])),
        ("J", Given::Pieces(vec![text("a"), variable("X"), text("b"), variable("Y")])),
        ("K", Given::Text("${".to_owned())),
        ("L", Given::Text("a}b".to_owned())),
    ];
    assert_eq!(*environment, expected.map(|(name, given)| (name.to_owned(), given)).into());
}

#[test]
fn what_cannot_be_taken_over_is_told() {
    for (entry, why) in [
        (r#"{}"#, "neither"),
        (r#"{"command": ""}"#, "neither"),
        (r#"{"command": "x", "args": ["--key=${input:k}"]}"#, "filled in"),
        (r#"{"command": "x", "args": ["secret:GITHUB"]}"#, "names a secret"),
        (r#"{"url": "https://x.example/?k=secret:GITHUB"}"#, "names a secret"),
        (r#"{"url": "ftp://x.example"}"#, "address"),
        (r#"{"url": "https://a:b@x.example"}"#, "password"),
        (r#"{"url": "https://${HOST}/mcp"}"#, "address"),
        (r#"{"type": "builtin", "command": "x"}"#, "builtin"),
        (r#"7"#, "neither"),
    ] {
        let contents = read(Source::Cursor, &format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#), "/w").unwrap();
        assert!(contents.servers.is_empty() && contents.skipped[0].1.contains(why), "{entry}: {contents:?}");
    }
    for text in ["[]", "{}", "", "{\"mcpServers\": []}", "null"] {
        assert_eq!(read(Source::Cursor, text, "/w").unwrap(), Contents::default(), "{text}");
    }
    assert!(read(Source::Cursor, "{", "/w").is_err() && read(Source::Codex, "[[", "/w").is_err());
}

#[test]
fn rules_of_claude_code_keep_their_meaning() {
    let text = r#"{"permissions": {"allow": ["mcp__github__get_issue", "Bash(ls)"], "ask": ["mcp__github"],
        "deny": ["mcp__github__delete_repo", "mcp__x__a(b)"]}, "hooks": {},
        "projects": {"/w": {"mcpServers": {"here": {"command": "a"}}}, "/v": {"mcpServers": {"there": {"command": "b"}}}}}"#;
    let contents = read(Source::ClaudeCode, text, "/w").unwrap();
    let rules: Vec<(&str, &str)> =
        contents.rules.iter().map(|rule| (rule.effect, rule.tool.as_str())).collect();
    assert_eq!(rules, [("deny", "delete_repo"), ("ask", "*"), ("allow", "get_issue")]);
    assert!(contents.rules.iter().all(|rule| rule.is_about("github") && !rule.is_about("github-windsurf")));
    assert_eq!(contents.left.len(), 3, "{contents:?}");
    assert_eq!(contents.servers.len(), 1, "those of other folders are not ours: {contents:?}");
}
