//! A second reader: the models of the protocol in Python.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::client::{CLIENTS, Stage};
use crate::scripted_model::Line;

#[test]
fn what_is_told_fits_the_models_of_the_protocol_in_another_language() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agui");
    let python = folder.join("venv/bin/python");
    assert!(python.is_file(), "{} is missing: run `make setup`", python.display());
    let config = "[[rule]]\nid = \"ask\"\neffect = \"ask\"\ntool = \"builtin:calculator\"\n";
    for version in CLIENTS {
        let calls = Line::CallsAll(vec![("builtin__calculator", json!({"expression": "17*23"}))]);
        let stage = Stage::new([calls, Line::says("Good.")], config);
        stage.plays("approve", version);
        let read = Command::new(&python).arg(folder.join("read.py")).arg(stage.record()).output().unwrap();
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    }
}
