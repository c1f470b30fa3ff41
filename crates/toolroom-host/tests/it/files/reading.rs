use toolroom_host::files::{Access, FileError, Lines, MAX_WHOLE_BYTES, PathRefusal};

use super::Ground;

const ALL: Lines = Lines { first: 1, count: u64::MAX, max_bytes: 1 << 20 };

#[test]
fn a_text_comes_as_it_is() {
    let ground = Ground::new();
    for text in ["", "one", "one\r\ntwo\n", "\u{feff}mark", "añ🙂漢\n\n"] {
        ground.write("a.txt", text);
        for space in ground.both() {
            assert_eq!(space.read("a.txt").unwrap(), text);
            assert_eq!(space.read("./dir/../a.txt").unwrap(), text);
            assert_eq!(space.read(ground.inside("a.txt").to_str().unwrap()).unwrap(), text);
            let page = space.read_lines("a.txt", ALL).unwrap();
            assert_eq!((page.text.as_str(), page.size, page.next), (text, text.len() as u64, None));
        }
    }
}

#[test]
fn a_long_text_is_read_in_pages() {
    let ground = Ground::new();
    let text: String = (1..=400_000).map(|number| format!("line {number} of a long file\n")).collect();
    assert!(text.len() > MAX_WHOLE_BYTES);
    ground.write("long.txt", &text);
    let space = ground.workspace();
    let error = space.read("long.txt").unwrap_err();
    assert!(matches!(error, FileError::TooLarge { size, .. } if size == text.len() as u64), "{error}");
    let page = space.read_lines("long.txt", Lines { first: 399_998, count: 2, max_bytes: 1_000 }).unwrap();
    assert_eq!(page.text, "line 399998 of a long file\nline 399999 of a long file\n");
    assert_eq!((page.next, page.size, page.is_cut), (Some(400_000), text.len() as u64, false));
    let page = space.read_lines("long.txt", Lines { first: 3, count: 1_000, max_bytes: 50 }).unwrap();
    assert_eq!((page.text.as_str(), page.next), ("line 3 of a long file\nline 4 of a long file\n", Some(5)));
}

#[test]
fn what_is_no_text_is_named_and_not_given() {
    let ground = Ground::new();
    for (content, what) in [
        (b"\x89PNG\r\n\x1a\n\0\0\0".as_slice(), "a PNG image"),
        (b"%PDF-1.7\n\xe2\xe3", "a PDF document"),
        (b"text\0text", "a binary file"),
        (b"caf\xe9\n", "a text in another encoding"),
        (b"\xff\xfeh\0i\0", "a text in UTF-16"),
    ] {
        ground.write("thing", content);
        for space in ground.both() {
            for error in [space.read("thing").unwrap_err(), space.read_lines("thing", ALL).unwrap_err()] {
                let expected = format!("of {} bytes", content.len());
                let told = error.to_string();
                assert!(
                    told.contains(what) && (told.contains(&expected) || what.contains("encoding")),
                    "{told}"
                );
                assert!(matches!(error, FileError::NotText { .. }));
            }
        }
    }
}

#[test]
fn credentials_cannot_be_read_under_any_name() {
    let ground = Ground::new();
    let key = format!("-----BEGIN {} KEY-----\nMIIE\n", "PRIVATE");
    ground.write(".env", "TOKEN=x");
    ground.write("conf/.aws/credentials", "x");
    ground.write("deploy.pem", &key);
    ground.write("innocent.txt", &key);
    ground.write("guide.md", format!("A key begins with\n{key}"));
    ground.write("long.txt", format!("{}{key}", "line\n".repeat(180_000)));
    ground.write("key.rs", format!("const BEGIN: &str = \"{}\";\n", key.lines().next().unwrap()));
    ground.write("netrc", "x");
    ground.link(".netrc", "netrc");
    ground.link("notes.txt", ".env");
    ground.link("cloud", "conf/.aws");
    ground.link("dir/up.txt", "../.env");
    let space = ground.workspace();
    for path in [
        ".env",
        "./dir/../.env",
        "notes.txt",
        "dir/up.txt",
        "conf/.aws/credentials",
        "cloud/credentials",
        ".netrc",
    ] {
        let error = space.read(path).unwrap_err();
        assert!(
            matches!(error, FileError::Refused { refusal: PathRefusal::Credential, .. }),
            "{path}: {error}"
        );
        assert!(
            error.to_string().contains(path) && error.to_string().contains("toolroom secrets"),
            "{error}"
        );
        assert!(space.read_lines(path, ALL).is_err());
    }
    let later = Lines { first: 180_002, ..ALL };
    for path in ["deploy.pem", "innocent.txt", "guide.md", "long.txt"] {
        let by_lines = [ALL, later].map(|lines| space.read_lines(path, lines).unwrap_err());
        for error in by_lines.into_iter().chain([space.read(path).unwrap_err()]) {
            assert!(
                matches!(error, FileError::Refused { refusal: PathRefusal::PrivateKey, .. }),
                "{path}: {error}"
            );
        }
    }
    assert!(space.read("key.rs").is_ok() && space.read("netrc").is_ok());
}

#[test]
fn links_are_followed_as_long_as_they_stay_inside() {
    let ground = Ground::new();
    ground.link("in", "dir");
    ground.link("dir/up", "../file.txt");
    ground.link("absolute", ground.inside("file.txt"));
    ground.link("out", "../outside/canary.txt");
    ground.link("loop", "loop");
    ground.link("nowhere", "missing");
    let [following, walking] = ground.both();
    assert_eq!(following.read("in/file.txt").unwrap(), "inside dir\n");
    assert_eq!(following.read("dir/up").unwrap(), "inside\n");
    let told = |path: &str| following.read(path).unwrap_err().to_string();
    assert!(
        told("out").contains("outside the workspace") && told("absolute").contains("outside the workspace")
    );
    assert!(told("loop").contains("symbolic link") && told("nowhere").contains("does not exist"));
    for path in ["in/file.txt", "dir/up", "absolute", "out", "loop", "nowhere"] {
        assert!(matches!(walking.read(path).unwrap_err(), FileError::Link { .. }), "{path}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let ground = Ground::new();
    let space = ground.workspace().with_root(ground.outside(), Access::ReadOnly);
    for (path, text) in [
        ("", "the path is empty"),
        ("~/x", "home folder"),
        ("missing.txt", "`missing.txt` does not exist"),
        ("missing/x.txt", "`missing/x.txt` does not exist"),
        ("dir", "`dir` is a folder, not a file"),
        ("dir/", "`dir/` is a folder, not a file"),
        ("file.txt/", "is not a folder"),
        ("file.txt/x", "is not a folder"),
        ("../x", "`../x` is outside the workspace"),
        ("/srv/x", "`/srv/x` is outside the workspace"),
        ("/etc/passwd", "`/etc/passwd` lies in the system folder `/etc`"),
        ("/proc/self/environ", "system folder `/proc`"),
    ] {
        let told = space.read(path).unwrap_err().to_string();
        assert!(told.contains(text), "{path}: {told}");
    }
    assert!(space.read(ground.outside().join("canary.txt").to_str().unwrap()).is_ok());
}

#[test]
fn lines_are_counted_only_so_far() {
    let ground = Ground::new();
    let mut file = std::fs::File::create(ground.inside("endless.txt")).unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..257 {
        std::io::Write::write_all(&mut file, &block).unwrap();
    }
    let lines = Lines { first: 2, ..ALL };
    let error = ground.workspace().read_lines("endless.txt", lines).unwrap_err();
    assert!(matches!(error, FileError::TooFar { line: 2, .. }), "{error}");
    let page = ground.workspace().read_lines("endless.txt", ALL).unwrap();
    assert_eq!((page.text.len(), page.is_cut, page.next), (ALL.max_bytes, true, Some(2)));
}
