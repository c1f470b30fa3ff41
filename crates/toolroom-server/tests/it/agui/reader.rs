//! A second reader: the models of the protocol in Python.

use std::path::Path;
use std::process::Command;

/// Reads what a client was told. What it heard without a client in between is not in the file.
#[track_caller]
pub(super) fn reads(record: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agui");
    let python = folder.join("venv/bin/python");
    assert!(python.is_file(), "{} is missing: run `make setup`", python.display());
    let read = Command::new(&python).arg(folder.join("read.py")).arg(record).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
}
