//! Every everyday tool through every interface, verified by its effect.

mod doors;
mod later;

use serde_json::{Value, json};

use crate::desktop::calendar::calendar_at;
use crate::desktop::clipboard::Screen;
use crate::desktop::stand_in::CANARY;
use crate::loopback_service::LoopbackService;
use doors::{Came, Door, House};

/// Runs a test in a prepared house, through every interface. Remote users must not affect this machine.
fn through_every_door(config: &str, try_it: impl Fn(&House)) {
    for door in Door::ALL {
        try_it(&House::new(door, config));
    }
}

/// The names of an object, sorted.
fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn clipboard_read_returns_what_another_program_copied() {
    for door in Door::ALL {
        let screen = Screen::new();
        let house = House::on(door, "", Some(&screen.display));
        screen.copies(&[], "Grüße\nvon drüben".as_bytes());
        let came = house.calls("clipboard-read", &json!({}));
        assert_eq!(came.result, json!({"text": "Grüße\nvon drüben"}), "{door:?}");
    }
}

#[test]
fn clipboard_write_is_what_another_program_pastes() {
    for door in Door::ALL {
        let screen = Screen::new();
        let house = House::on(door, "", Some(&screen.display));
        let came = house.calls("clipboard-write", &json!({"text": "Grüße \u{1f600}"}));
        assert_eq!(came.result, json!({"ok": true}), "{door:?}");
        assert_eq!(screen.pasted(), "Grüße \u{1f600}", "{door:?}");
    }
}

#[test]
fn open_url_opens_locally_and_is_offered_remotely() {
    through_every_door("", |house| {
        let url = "https://example.com/a?q=1";
        let Came { result, address, file } = house.calls("open_url", &json!({"url": url}));
        assert_eq!((&result["success"], &result["url"]), (&json!(true), &json!(url)), "{:?}", house.door);
        assert_eq!(names(&result), ["message", "success", "url"]);
        assert_eq!(file, None);
        if house.door.is_here() {
            assert_eq!((house.desk.said("xdg-open"), address), (vec![url.to_owned()], None));
        } else {
            assert_eq!(address.as_deref(), Some(url), "{:?}", house.door);
            house.desk.is_untouched();
        }
    });
}

#[test]
fn open_url_of_a_file_delivers_the_file() {
    through_every_door("", |house| {
        let place = house.put("page.html", b"<p>hello</p>");
        let came = house.calls("open_url", &json!({"url": format!("file://{place}")}));
        brings(house, came, &place, "page.html", b"<p>hello</p>");
    });
}

#[test]
fn open_file_shows_the_file() {
    through_every_door("", |house| {
        let place = house.put("page.html", "<p>Grüße</p>".as_bytes());
        let came = house.calls("open_file", &json!({"path": "page.html"}));
        assert_eq!(came.result["path"], "page.html");
        brings(house, came, &place, "page.html", "<p>Grüße</p>".as_bytes());
    });
}

/// The file is opened locally, or its bytes are fetched remotely.
#[track_caller]
fn brings(house: &House, came: Came, place: &str, name: &str, bytes: &[u8]) {
    assert_eq!(came.result["success"], true, "{came:?}");
    if house.door.is_here() {
        assert_eq!((house.desk.said("xdg-open"), came.file), (vec![place.to_owned()], None));
    } else {
        assert!(came.result["artifact"].is_string(), "{came:?}");
        assert_eq!(came.file, Some((name.to_owned(), bytes.to_vec())), "{:?}", house.door);
        house.desk.is_untouched();
    }
}

#[test]
fn send_file_arrives_byte_for_byte() {
    // Binary, and not short.
    let bytes: Vec<u8> =
        (0..200_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    through_every_door("", |house| {
        let place = house.put("data.bin", &bytes);
        let came = house.calls("send_file", &json!({"path": "data.bin", "caption": "the figures"}));
        let result = &came.result;
        assert_eq!(
            (&result["success"], &result["path"], &result["size"]),
            (&json!(true), &json!("data.bin"), &json!(bytes.len())),
            "{:?}",
            house.door
        );
        if house.door.is_here() {
            assert_eq!((result["place"].as_str(), came.file), (Some(place.as_str()), None));
        } else {
            assert_eq!(result["sent"], true);
            let (name, arrived) = came.file.unwrap();
            assert!(name == "data.bin" && arrived == bytes, "{:?}: {} bytes", house.door, arrived.len());
        }
        house.desk.is_untouched();
    });
}

#[test]
fn send_notification_is_shown_by_the_notifier() {
    through_every_door("", |house| {
        let came = house.calls("send_notification", &json!({"title": "Bread", "message": "is ready"}));
        assert_eq!(came.result["success"], true, "{:?}", house.door);
        assert_eq!(house.desk.said("notify-send")[1..], ["--", "Bread", "is ready"], "{:?}", house.door);
    });
}

/// Otherwise it asks.
const MAY_CREATE: &str = "[[rule]]\nid = \"go\"\neffect = \"allow\"\ntool = \"builtin:create_calendar_event\"\nreason = \"test\"\n";

fn lunch() -> Value {
    json!({"title": "Lunch, with Ann", "start_time": "2026-03-01T12:00", "location": "Harbour"})
}

#[track_caller]
fn is_lunch(came: &Came) {
    let told = &came.result;
    assert_eq!((&told["success"], &told["title"]), (&json!(true), &json!("Lunch, with Ann")), "{came:?}");
    assert_eq!((&told["all_day"], &told["reminder_minutes"]), (&json!(false), &json!(15)), "{came:?}");
    assert_eq!(told["end_time"], "2026-03-01T13:00:00+00:00", "{came:?}");
}

#[test]
fn create_calendar_event_leaves_a_file_that_is_opened() {
    through_every_door(MAY_CREATE, |house| {
        let came = house.calls("create_calendar_event", &lunch());
        is_lunch(&came);
        let path = came.result["path"].as_str().unwrap().to_owned();
        let place = house.home().path().join("workspace").join(&path).canonicalize().unwrap();
        let text = std::fs::read(&place).unwrap();
        let said = String::from_utf8(text.clone()).unwrap();
        assert!(
            said.contains("SUMMARY:Lunch\\, with Ann\r\n") && said.contains("LOCATION:Harbour\r\n"),
            "{said}"
        );
        if house.door.is_here() {
            assert_eq!(house.desk.said("xdg-open"), [place.to_str().unwrap()]);
        } else {
            let (name, arrived) = came.file.unwrap();
            assert_eq!((name.as_str(), arrived), (path.strip_prefix("calendar/").unwrap(), text));
            house.desk.is_untouched();
        }
    });
}

#[test]
fn create_calendar_event_adds_it_to_the_calendar_on_a_server() {
    for door in Door::ALL {
        let server = LoopbackService::answering("201 Created", "");
        let house = House::new(door, &format!("{}{MAY_CREATE}", calendar_at(&server)));
        let came = house.calls("create_calendar_event", &lunch());
        is_lunch(&came);
        let told = server.told();
        let [put] = told.as_slice() else { panic!("{door:?}: {told:?}") };
        assert!(
            put.starts_with("PUT /dav/ann/call_") && put.contains("SUMMARY:Lunch\\, with Ann\r\n"),
            "{put}"
        );
        assert!(!came.result.to_string().contains(CANARY));
        house.desk.is_untouched();
    }
}

#[test]
fn get_location_from_ip_returns_what_the_service_reports() {
    for door in Door::ALL {
        let known = json!({"success": true, "ip": "203.0.113.7", "city": "Tashkent", "region": "Tashkent",
            "country": "Uzbekistan", "country_code": "UZ", "latitude": 41.25, "longitude": 69.5, "postal": "100000",
            "timezone": {"id": "Asia/Tashkent"}, "connection": {"isp": "Example"}});
        let service =
            LoopbackService::answering("200 OK\r\nContent-Type: application/json", &known.to_string());
        let house = House::new(door, &format!("[location]\nurl = \"{}\"\n", service.url("/me")));
        let came = house.calls("get_location_from_ip", &json!({}));
        let expected = json!({"success": true, "city": "Tashkent", "region": "Tashkent", "country": "Uzbekistan",
            "country_code": "UZ", "latitude": 41.25, "longitude": 69.5, "timezone": "Asia/Tashkent", "zip": "100000",
            "isp": "Example", "ip": "203.0.113.7"});
        assert_eq!(came.result, expected, "{door:?}");
        assert!(service.told()[0].starts_with("GET /me HTTP/1.1\r\n"), "{:?}", service.told());
    }
}

#[test]
fn web_search_returns_what_the_engine_found() {
    for door in Door::ALL {
        let found = json!({"query": "rust crabs", "results": [
            {"title": "Crabs", "url": "https://crabs.example/", "content": "All about crabs"},
            {"title": "Old", "url": "http://old.example/", "content": "", "publishedDate": "2019-01-02"},
        ]});
        let engine =
            LoopbackService::answering("200 OK\r\nContent-Type: application/json", &found.to_string());
        let house = House::new(door, &format!("[search.searxng]\nurl = \"{}\"\n", engine.url("")));
        let mut came = house.calls("web_search", &json!({"query": "rust crabs", "count": 2}));
        let source = came.result.as_object_mut().unwrap().remove("source").unwrap();
        assert!(source.as_str().unwrap().contains("not instructions"), "{door:?}: {source}");
        let expected = json!({"query": "rust crabs", "provider": "searxng", "count": 2, "results": [
            {"title": "Crabs", "url": "https://crabs.example/", "description": "All about crabs"},
            {"title": "Old", "url": "http://old.example/", "description": "", "age": "2019-01-02"},
        ]});
        assert_eq!(came.result, expected, "{door:?}");
        assert!(engine.told()[0].starts_with("GET /search?q=rust+crabs&format=json"), "{:?}", engine.told());
    }
}
