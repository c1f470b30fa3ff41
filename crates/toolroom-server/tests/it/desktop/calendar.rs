//! Calendar events: as files, as offers, and in a calendar on a server.

use serde_json::{Value, json};

use super::stand_in::{CANARY, StandIn};
use crate::home::Home;
use crate::loopback_service::LoopbackService;
use crate::serve::Served;

const LUNCH: [&str; 5] =
    ["call", "create_calendar_event", "title=Lunch, with Ann", "start_time=2026-03-01T12:00", "--yes"];

fn written(desk: &StandIn, told: &Value) -> String {
    std::fs::read_to_string(desk.home.path().join("workspace").join(told["path"].as_str().unwrap())).unwrap()
}

#[test]
fn an_event_is_a_file_that_is_opened_on_a_desktop() {
    let desk = StandIn::new();
    let told = desk.run(&LUNCH).ended(0).json();
    assert_eq!((&told["success"], &told["reminder_minutes"]), (&json!(true), &json!(15)), "{told}");
    assert_eq!(told["start_time"], "2026-03-01T12:00:00+00:00");
    assert_eq!(told["end_time"], "2026-03-01T13:00:00+00:00");
    let text = written(&desk, &told);
    assert!(
        text.contains("SUMMARY:Lunch\\, with Ann\r\n") && text.contains("DTSTART:20260301T120000Z\r\n"),
        "{text}"
    );
    assert!(text.contains("TRIGGER:-PT15M\r\n"), "{text}");
    let opened = desk.said("xdg-open");
    assert!(opened.len() == 1 && opened[0].ends_with(told["path"].as_str().unwrap()), "{opened:?}");
    // The user's zone counts.
    let mut abroad = desk.command(&LUNCH);
    let told = crate::home::finished(abroad.env("TZ", "Asia/Tashkent").spawn().unwrap()).ended(0).json();
    assert!(written(&desk, &told).contains("DTSTART:20260301T070000Z\r\n"), "{told}");
    let unseen = desk.run_unseen(&LUNCH).ended(0).json();
    assert!(
        unseen["message"].as_str().unwrap().contains("it could not be opened: there is no desktop here"),
        "{unseen}"
    );
    assert!(written(&desk, &unseen).contains("Lunch"));
}

#[test]
fn an_unknown_or_contradicting_zone_creates_no_event() {
    let desk = StandIn::new();
    for (time, why) in [
        ("2026-03-01T12:00[Mars/Olympus]", "has an unknown time zone `Mars/Olympus`"),
        ("2026-03-01T12:00+05:00[Europe/Berlin]", "the time there is 2026-03-01T08:00:00+01:00"),
    ] {
        for name in ["start_time", "end_time"] {
            let start = "start_time=2026-02-01T12:00".to_owned();
            let times = [start, format!("{name}={time}")];
            let times = if name == "start_time" { &times[1..] } else { &times[..] };
            let mut words = vec!["call", "create_calendar_event", "title=x", "--yes"];
            words.extend(times.iter().map(String::as_str));
            let refused = desk.run(&words).ended(1);
            assert!(refused.err.contains(&format!("`{name}` ")) && refused.err.contains(why), "{refused:?}");
        }
    }
    assert!(!desk.home.path().join("workspace/calendar").exists());
    desk.is_untouched();
}

#[test]
fn no_text_can_inject_a_calendar_line() {
    let desk = StandIn::new();
    let bad = "x\r\nATTENDEE:mailto:a@example.com\nEND:VEVENT\u{2028}BEGIN:VEVENT;,\\";
    let arguments = json!({
        "title": bad, "description": bad, "location": bad, "start_time": "2026-03-01", "end_time": "2026-03-02",
    });
    let told = desk.run(&["call", "create_calendar_event", &arguments.to_string(), "--yes"]).ended(0).json();
    let text = written(&desk, &told).replace("\r\n ", "");
    assert_eq!(text.matches("BEGIN:VEVENT\r\n").count(), 1, "{text}");
    assert!(!text.lines().any(|line| line.starts_with("ATTENDEE")), "{text}");
    assert!(text.contains("DTEND;VALUE=DATE:20260303\r\n"), "{text}");
    for (start, end) in
        [("tomorrow", ""), ("2026-03-01T12:00", "2026-03-01T11:00"), ("2026-03-01\r\nX:1", "")]
    {
        let arguments = json!({"title": "x", "start_time": start, "end_time": end});
        desk.run(&["call", "create_calendar_event", &arguments.to_string(), "--yes"]).ended(1);
    }
    let kept = std::fs::read_dir(desk.home.path().join("workspace/calendar")).unwrap().count();
    assert_eq!(kept, 1);
}

#[test]
fn an_event_is_offered_to_a_remote_user() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("workspace")).unwrap();
    let rule = "[[rule]]\nid = \"go\"\neffect = \"allow\"\ntool = \"builtin:create_calendar_event\"\nreason = \"test\"\n";
    std::fs::write(home.path().join("toolroom.toml"), rule).unwrap();
    let served = Served::at(home);
    let key = served.key("local", "read,call");
    let arguments = json!({"title": "Lunch", "start_time": "2026-03-01T12:00", "all_day": false});
    let done = served.call(&key, "create_calendar_event", &arguments).is(200).json();
    let offer = &done["offers"][0];
    assert_eq!(
        (&offer["type"], &offer["media_type"]),
        (&json!("open_file"), &json!("text/calendar")),
        "{done}"
    );
    let content = served.get(offer["href"].as_str().unwrap(), &key).is(200).body;
    assert!(content.starts_with("BEGIN:VCALENDAR\r\n"), "{content}");
}

/// The requests to a calendar on this server.
pub(crate) fn calendar_at(server: &LoopbackService) -> String {
    let url = server.url("/dav/ann/");
    format!("[calendar]\nurl = \"{url}\"\nuser = \"ann\"\npassword = \"secret:calendar\"\n")
}

/// A home with this calendar.
fn desk(server: &LoopbackService) -> StandIn {
    let home = Home::new();
    std::fs::write(home.path().join("toolroom.toml"), calendar_at(server)).unwrap();
    home.run_with_stdin(&["secrets", "set", "calendar"], CANARY).ended(0);
    StandIn::at(home)
}

#[test]
fn an_event_is_added_once_to_the_configured_calendar() {
    let server = LoopbackService::answering("201 Created", "");
    let desk = desk(&server);
    let done = desk.run(&LUNCH).ended(0);
    assert!(done.json()["message"].as_str().unwrap().contains("in the user's calendar"), "{done:?}");
    let told = server.told();
    let [put] = told.as_slice() else { panic!("{told:?}") };
    assert!(put.starts_with("PUT /dav/ann/call_"), "{put}");
    let head = put.to_ascii_lowercase();
    assert!(
        head.contains("if-none-match: *\r\n")
            && head.contains("content-type: text/calendar; charset=utf-8\r\n")
    );
    // The base64 of ann and the password.
    assert!(put.contains("Basic YW5uOnRyLWNhbmFyeS00MjQyNDI0MjQy"), "{put}");
    assert!(put.contains("SUMMARY:Lunch\\, with Ann\r\n"), "{put}");
    desk.is_untouched();
    let log = desk.run(&["log", "--json"]).ended(0).out;
    assert!(!log.contains(CANARY) && !done.out.contains(CANARY), "{log}");
}

#[test]
fn a_calendar_server_that_redirects_or_refuses_is_not_followed() {
    let inside = LoopbackService::answering("200 OK", "");
    let leads = format!("302 Found\r\nLocation: {}", inside.url("/inside"));
    for (head, why) in [
        (leads.as_str(), "redirects, which is not followed; set `calendar.url` to the target"),
        ("401 Unauthorized", "rejected the login"),
        ("412 Precondition Failed", "the event is already in the calendar"),
        ("500 Broken", "status 500"),
    ] {
        let server = LoopbackService::answering(head, "");
        let desk = desk(&server);
        let failed = desk.run(&LUNCH).ended(1);
        assert!(failed.err.contains(why) && failed.err.contains("calendar/"), "{failed:?}");
        assert!(!failed.err.contains(CANARY), "{failed:?}");
        desk.is_untouched();
    }
    assert_eq!(inside.told(), Vec::<String>::new());
}
