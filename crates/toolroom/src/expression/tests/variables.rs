use serde_json::{Map, Value as Json, json};

use super::super::{Expression, Value};
use super::check_all;

fn call() -> Json {
    json!({
        "args": {
            "command": "rm -r build",
            "user": { "name": "ann", "age": 41 },
            "items": ["a", { "id": 7 }],
            "odd key": 1,
            "in": "word",
            "big": 18446744073709551615_u64,
            "half": 0.5,
            "none": null
        },
        "caller": { "user": "bob", "roles": ["admin", "dev"] }
    })
}

#[test]
fn paths() {
    check_all(
        &[
            ("args.user.name", "'ann'"),
            ("args.user.age + 1", "42"),
            ("args['user']['name']", "'ann'"),
            ("args['odd key']", "1"),
            ("args.in", "'word'"),
            ("args . items [ 0 ]", "'a'"),
            ("args.items[0 + 1].id", "7"),
            ("args.items[2]", "null"),
            ("args.missing", "null"),
            ("args.missing.deeper[3]", "null"),
            ("args.command.deeper", "null"),
            ("args[0]", "null"),
            ("args.items['a']", "null"),
            ("args.half", "0.5"),
            ("args.big", "1.8446744073709552e19"),
            ("[1, [2, 3]][1][0]", "2"),
            ("if(true, args, null).user.name", "'ann'"),
            ("(args).user.name", "'ann'"),
            ("args.user", r#"{"name":"ann","age":41}"#),
            ("args.items", r#"["a",{"id":7}]"#),
            ("args.user == args.user", "true"),
            ("args.user == caller", "false"),
            ("args.items == ['a', args.items[1]]", "true"),
            ("'name' in args.user", "true"),
            ("args.user contains 'nam'", "false"),
            ("'admin' in caller.roles and 'x' not in caller.roles", "true"),
            ("args.command contains 'rm' and caller.user != 'ann'", "true"),
            ("args.missing contains 'rm' or starts_with(args.missing, 'rm')", "false"),
            ("len(args.user)", "2"),
            ("type(args)", "'map'"),
            ("sum([args.half, args.half])", "1.0"),
            ("args.items[-1]", "an index is a text or an int of 0 or more, found -1 at character 12"),
            ("args.items[0.5]", "an index is a text or an int of 0 or more, found float at character 12"),
            ("args[args.none]", "an index is a text or an int of 0 or more, found null at character 6"),
            ("arg.user", "unknown name `arg` at character 1, did you mean `args`?"),
            ("1 + Caller", "unknown name `Caller` at character 5, did you mean `caller`?"),
            ("True", "unknown name `True` at character 1, did you mean `true`?"),
            ("banana", "unknown name `banana` at character 1"),
            ("sqrt + 1", "unknown name `sqrt` at character 1, write sqrt(...) to call it"),
            (
                "args.user.age < args.missing",
                "`<` needs two numbers or two texts, found int and null at character 15",
            ),
            (
                "7 in args.user",
                "`in` needs two texts, a list and an item, or a map and a text, found int and map at character 3",
            ),
        ],
        &call(),
    );
}

#[test]
fn a_map_serves_as_variables_and_other_json_has_no_names() {
    let mut map = Map::new();
    map.insert("x".to_owned(), json!(2));
    check_all(&[("x * 3", "6")], &map);
    check_all(&[("x", "unknown name `x` at character 1")], &json!([1]));
}

#[test]
fn roots_are_the_first_names_of_paths() {
    let check = |text: &str, expected: &[&str]| {
        let expression = Expression::parse(text).unwrap();
        assert_eq!(expression.roots().collect::<Vec<_>>(), expected, "of `{text}`");
    };
    check("b.x + a[c.y] + max(d, pi) + if(true, e, b)", &["a", "b", "c", "d"]);
    check("1 + 2", &[]);
}

#[test]
fn a_condition_holds_fails_or_is_none() {
    let check = |text: &str, expected: Result<bool, &str>| {
        let found = Expression::parse(text).unwrap().holds(&call());
        assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "of `{text}`");
    };
    check("caller.user = 'bob'", Ok(true));
    check("caller.user == 'ann'", Ok(false));
    check("caller.user", Err("the condition gave text, expected a bool at character 1"));
    check("args.none", Err("the condition gave null, expected a bool at character 1"));
    check("1 / 0 == 1", Err("division by zero at character 3"));
}

#[test]
fn values_survive_the_way_to_json_and_back() {
    for json in [
        json!(null),
        json!(true),
        json!(-3),
        json!(0.25),
        json!("a"),
        json!([1, [2.5, "b"], null]),
        json!({ "k": [1] }),
    ] {
        assert_eq!(Json::from(Value::from(&json)), json);
    }
}

#[test]
fn expressions_can_be_shared_between_threads() {
    fn shared<T: Clone + Send + Sync>(value: &T) -> T {
        value.clone()
    }
    let expression = Expression::parse("x + 1").unwrap();
    let other = shared(&expression);
    let value = std::thread::spawn(move || other.evaluate(&json!({ "x": 1 }))).join().unwrap();
    assert_eq!(value, Ok(Value::Int(2)));
}
