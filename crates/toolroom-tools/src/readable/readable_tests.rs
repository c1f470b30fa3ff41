use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::scale::cases;

fn base() -> Url {
    Url::parse("https://pages.example/stories/lights.html").unwrap()
}

fn read_as_markdown(html: &str) -> String {
    markdown(html, &base()).text
}

#[test]
fn pages_become_the_markdown_beside_them() {
    for (html, expected, title) in [
        (
            include_str!("../../tests/corpus/html/article.html"),
            include_str!("../../tests/pages/article.md"),
            "Why lighthouses & buoys blink in turn",
        ),
        (
            include_str!("../../tests/corpus/html/reference.html"),
            include_str!("../../tests/pages/reference.md"),
            "lamp — reference",
        ),
        (
            include_str!("../../tests/corpus/html/links.html"),
            include_str!("../../tests/pages/links.md"),
            "Links",
        ),
        (
            include_str!("../../tests/corpus/html/navigation.html"),
            include_str!("../../tests/pages/navigation.md"),
            "Menu",
        ),
        (
            include_str!("../../tests/corpus/html/xhtml.html"),
            include_str!("../../tests/pages/xhtml.md"),
            "Strict",
        ),
        (include_str!("../../tests/corpus/html/soup.html"), include_str!("../../tests/pages/soup.md"), ""),
    ] {
        let page = markdown(html, &base());
        assert_eq!(page.text, expected.trim_end(), "{title}\n{}", page.text);
        assert_eq!(page.title, title);
    }
}

#[test]
fn pages_without_words_are_empty() {
    for html in
        ["", "   ", "<html></html>", "<!doctype html><title></title><body><script>x</script>", "<!--", "<"]
    {
        let page = markdown(html, &base());
        assert_eq!(page.title, "", "{html}");
        assert!(page.text.is_empty() || html == "<", "{html}: {}", page.text);
    }
    assert_eq!(markdown("<h1>Only <b>this</b></h1>", &base()).title, "Only this");
}

#[test]
fn plain_text_has_words_and_no_marks() {
    let html = "<title>T</title><script>x()</script><style>y{}</style><h1>A &amp; B</h1><p>see <a href=/x>this</a>, \
                <code>f()</code></p><ul><li>one<li>two</ul><table><tr><td>a<td>b<tr><td>c<td>d</table><pre>c\n d</pre><hr>";
    assert_eq!(plain(html).text, "A & B\n\nsee this, f()\n\n- one\n- two\n\na | b\nc | d\n\nc\n d");
}

/// Pages of about `size` bytes, each hostile in its own way.
fn hostile(size: usize) -> Vec<(&'static str, String)> {
    let many = |piece: &str| piece.repeat(size / piece.len());
    vec![
        ("divs", many("<div>")),
        ("closed divs", many("<div>") + &many("</div>")),
        ("short tags", many("<b>")),
        ("different tags", (0..size / 12).map(|n| format!("<x{n}>y")).collect()),
        ("less-than signs", many("<")),
        ("ampersands", many("&")),
        ("ends without beginnings", "<div>".to_owned() + &many("</p></b></table>")),
        ("lists", many("<ul><li>x")),
        ("quotes", many("<blockquote>x<br>y")),
        ("tables", many("<table><tr><td>x")),
        ("cells", "<table>".to_owned() + &many("<td>x")),
        ("rows", "<table><tr>".to_owned() + &many("<td>") + &many("<tr><td>x")),
        ("headings", many("<h1>x")),
        ("links", many("<a href=x>y")),
        ("links that end", format!("<base href=/{}>", "z".repeat(1_900)) + &many("<a href=x>y</a>")),
        ("code", many("<code>`x")),
        ("code that ends", many("<p><code>`x</code>")),
        ("preformatted", many("<pre>`x\n")),
        ("formatting", many("<p><b><i>x")),
        ("one attribute", format!("<a href=\"{}\" class='{}'>x", many("y"), many("z"))),
        ("attributes", format!("<a {}>x", (0..size / 10).map(|n| format!("a{n} ")).collect::<String>())),
        ("equal attributes", format!("<p {}>x", many("style=x "))),
        ("comments", many("<!--")),
        ("closed comments", many("<!---->")),
        ("declarations", many("<!x")),
        ("doctypes", many("<!DOCTYPE x>")),
        ("scripts", many("<script>")),
        ("hidden", many("<p hidden>x")),
        ("titles", many("<title>x</title>")),
        ("title", format!("<title>{}", many("x "))),
        ("images", many("<img alt=x src=y>")),
        ("breaks", many("x<br>")),
        ("spaces", many(" \n")),
        ("nothing", many("\0")),
        ("items", many("<li>")),
        ("deep text", "<ul><li>".repeat(1_000) + &many("x<br>")),
        ("articles", many("<article><header>x")),
        ("tails", many("</")),
        ("references", many("&#1114111;&amp")),
    ]
}

#[test]
fn no_page_takes_long_or_grows_without_bound() {
    for (name, html) in hostile(250_000) {
        let began = tokio::time::Instant::now();
        let page = markdown(&html, &base());
        let took = began.elapsed();
        assert!(page.text.len() <= 20 * html.len(), "{name}: {} from {}", page.text.len(), html.len());
        // Well below a second on an idle machine; quadratic growth would take minutes.
        assert!(took < Duration::from_secs(10), "{name} took {took:?}");
    }
    // Maximum depth: nothing may recurse.
    let deepest = "<b>".repeat(666_666);
    assert_eq!(markdown(&deepest, &base()).text, "");
}

fn soup() -> impl Strategy<Value = String> {
    let tags = [
        "p",
        "div",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "a",
        "code",
        "pre",
        "h2",
        "blockquote",
        "br",
        "title",
        "script",
        "nav",
        "header",
        "article",
        "svg",
        "textarea",
        "x-y",
        "img",
        "hr",
        "base",
        "b",
    ];
    let attributes = [
        "",
        " hidden",
        " href=/x",
        " href='",
        " src=y alt=z",
        " style=\"display:none\"",
        " class=language-c",
    ];
    let tag = proptest::sample::select(tags.to_vec());
    let attribute = proptest::sample::select(attributes.to_vec());
    let piece = prop_oneof![
        (tag.clone(), attribute).prop_map(|(tag, attribute)| format!("<{tag}{attribute}>")),
        tag.prop_map(|tag| format!("</{tag}>")),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        "[a-z`|<&\\[\\]é]{1,4}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn any_mixture_of_tags_gives_tidy_text(html in soup()) {
        let page = markdown(&html, &base());
        prop_assert_eq!(page.text.trim(), page.text.as_str(), "no blank ends");
        prop_assert!(page.text.lines().all(|line| !line.ends_with(' ')), "{:?}", page.text);
        prop_assert!(!page.text.contains("\n\n\n") || html.contains("<pre"), "{:?}", page.text);
        prop_assert!(!page.title.contains('\n'));
    }

    /// Text outside of tags stays, in order.
    #[test]
    fn words_are_neither_lost_nor_moved(words in proptest::collection::vec("[a-z]{1,6}", 1..20), tag in "(p|div|b|li|td|h3|blockquote|span|pre|code|dd)") {
        let html: String = words.iter().map(|word| format!("<{tag}>{word}</{tag}> ")).collect();
        let plain = plain(&html).text;
        let found: Vec<&str> = plain.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty()).collect();
        prop_assert_eq!(found, words);
    }
}

#[test]
fn the_main_part_of_a_page_is_enough() {
    let words = "word ".repeat(60);
    for (start, end) in [("<main>", "</main>"), ("<div role=main>", "</div>")] {
        let html = format!(
            "<title>T</title><p>Skip<h2>Help</h2>{start}<h1>A<a href=#a>§</a></h1>{words}{end}<p>Ads"
        );
        let page = markdown(&html, &base());
        assert_eq!(page.text, format!("# A\n\n{}", words.trim()));
        assert_eq!(page.title, "T");
        let html = format!("<p>before{start}loading{end}<p>{words}");
        assert_eq!(read_as_markdown(&html), format!("before\n\nloading\n\n{}", words.trim()));
    }
}

#[test]
fn an_outer_end_tag_does_not_end_a_cell() {
    let html = "<div><span><table><tr><td>a</div></span><td>b<tr><td>c</p><td>d</table>e</div>";
    assert_eq!(read_as_markdown(html), "| a | b |\n| --- | --- |\n| c | d |\n\ne");
}

#[test]
fn a_self_closing_drawing_hides_nothing() {
    for drawing in ["<svg class='x'/>", "<svg><title/></svg>", "<svg><style/><path/></svg>", "<math/>"] {
        assert_eq!(read_as_markdown(&format!("<p>a {drawing} b</p><p>c")), "a b\n\nc", "{drawing}");
    }
    // HTML elements are not self-closing.
    assert_eq!(read_as_markdown("<p>a <div hidden/> b</div>c"), "a\n\nc");
}

#[test]
fn hidden_elements_and_scripts_are_not_read() {
    for html in [
        "<script>secret</script>",
        "<style>secret</style>",
        "<template>secret</template>",
        "<svg><title>secret</title><text>secret</text></svg>",
        "<noscript>secret</noscript>",
        "<iframe>secret</iframe>",
        "<textarea>secret</textarea>",
        "<select><option>secret</select>",
        "<p hidden>secret</p>",
        "<div style='color:red; DISPLAY :none'><p>secret</p></div>",
        "<span aria-hidden=true>secret</span>",
        "<!-- secret -->",
        "<div hidden><script></div></script>secret</div>",
        "<nav>secret</nav>",
        "<footer>secret</footer>",
        "<header>secret</header>",
    ] {
        assert_eq!(read_as_markdown(&format!("<p>a</p>{html}<p>b</p>")), "a\n\nb", "{html}");
    }
    assert_eq!(
        read_as_markdown("<body style='visibility:hidden'><p>shown by a program</p>"),
        "shown by a program"
    );
}
