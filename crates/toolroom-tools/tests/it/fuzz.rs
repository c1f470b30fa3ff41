//! Fuzz targets of what tools read.

use serde_json::Value;
use toolroom_host::net::Url;
use toolroom_tools::readable::{decode, markdown, plain, pretty};
use toolroom_tools::shell::grammar::{parse, print};
use toolroom_tools::shell::judge::{JudgeSettings, Security, judge};

use crate::mutation::fuzz;

#[test]
fn html() {
    let base = Url::parse("https://pages.example/a/b.html").unwrap();
    fuzz("html", |text| {
        let page = markdown(text, &base);
        assert_eq!(page.text.trim(), page.text);
        assert!(!page.title.contains('\n'));
        // Nothing grows beyond what links and indentation add.
        assert!(page.text.len() <= 64 * (text.len() + 64), "{} from {}", page.text.len(), text.len());
        assert!(plain(text).text.len() <= 8 * (text.len() + 64));
        for content_type in [None, Some("text/html"), Some(text)] {
            let decoded = decode(text.as_bytes(), content_type, true);
            assert!(decoded.len() <= 4 * (text.len() + 1));
        }
    });
}

#[test]
fn json() {
    fuzz("json", |text| {
        let value = serde_json::from_str::<Value>(text);
        let Some(lines) = pretty(text) else { return };
        if let Ok(value) = value {
            assert_eq!(serde_json::from_str::<Value>(&lines).unwrap(), value, "{text}");
        }
        assert_eq!(pretty(&lines).as_deref(), Some(lines.as_str()), "{text}");
    });
}

#[test]
fn shell() {
    let strict = JudgeSettings { security: Security::Strict, ..JudgeSettings::default() };
    fuzz("shell", |text| {
        let judged = judge(text, &JudgeSettings::default());
        assert!(judge(text, &strict).verdict >= judged.verdict, "{text}");
        let Ok(tree) = parse(text) else { return };
        let printed = print(&tree);
        assert_eq!(judged.printed.as_ref(), Some(&printed));
        assert!(printed.len() <= 8 * (text.len() + 64), "{} from {}", printed.len(), text.len());
        let again = parse(&printed).unwrap_or_else(|error| panic!("{text:?} as {printed:?}: {error}"));
        assert_eq!(again, tree, "{text:?} as {printed:?}");
        let verdict = judge(&printed, &JudgeSettings::default()).verdict;
        assert_eq!(verdict, judged.verdict, "{text:?} as {printed:?}");
    });
}
