//! Cost of guarded file access, compared with the standard library.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock, its arguments and files"
)]

#[expect(dead_code, reason = "this bench sets no thresholds")]
#[path = "../../toolroom/benches/measure/mod.rs"]
mod measure;

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use measure::{Bar, Measure};
use toolroom_host::files::{Lines, Parents, Workspace};

const SIZES: [(&str, usize); 2] = [("4_kib", 4 * 1024), ("1_mib", 1024 * 1024)];
const ENTRIES: usize = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let measure = Measure::from_arguments();
    let time = |case: &str, work: &mut dyn FnMut()| measure.time("files", case, Bar::NONE, work);
    let folder = tempfile::tempdir()?;
    let space = Workspace::new(folder.path().to_owned());
    let without_openat2 = space.clone().without_links();
    for (name, size) in SIZES {
        let text = "some text of a line\n".repeat(size / 20 + 1);
        let content = text.get(..size).ok_or("the text is too short")?;
        let path = folder.path().join(name);
        fs::write(&path, content)?;
        time(&format!("read_{name}"), &mut || drop(space.read(name)));
        time(&format!("read_{name}_without_openat2"), &mut || drop(without_openat2.read(name)));
        time(&format!("read_{name}_std"), &mut || drop(fs::read_to_string(&path)));
        time(&format!("write_{name}"), &mut || {
            drop(space.write("written", content.as_bytes(), Parents::MustExist));
        });
        let target = folder.path().join("written_std");
        time(&format!("write_{name}_std_synced"), &mut || drop(write_synced(&target, content)));
        time(&format!("write_{name}_std"), &mut || drop(fs::write(&target, content)));
    }
    let deep = folder.path().join("a/b/c/d/e/f");
    fs::create_dir_all(&deep)?;
    fs::write(deep.join("x"), "x")?;
    time("read_seven_deep", &mut || drop(space.read("a/b/c/d/e/f/x")));
    time("read_seven_deep_std", &mut || drop(fs::read_to_string(deep.join("x"))));
    let page = Lines { first: 50_000, count: 100, max_bytes: 50_000 };
    time("page_at_the_end_of_1_mib", &mut || drop(space.read_lines("1_mib", page)));

    let many = folder.path().join("many");
    fs::create_dir(&many)?;
    for number in 0..ENTRIES {
        fs::write(many.join(number.to_string()), "x")?;
    }
    time("list_1000", &mut || drop(space.list("many", ENTRIES)));
    time("list_1000_std", &mut || drop(list_with_std(&many)));
    Ok(())
}

/// As atomic and durable as `Workspace::write`: temporary file, sync, rename, sync of the folder.
fn write_synced(target: &Path, content: &str) -> io::Result<()> {
    let stage = target.with_extension("part");
    fs::write(&stage, content)?;
    fs::File::open(&stage)?.sync_all()?;
    fs::rename(&stage, target)?;
    fs::File::open(target.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Lists names, kinds and sizes.
fn list_with_std(folder: &Path) -> io::Result<Vec<(OsString, bool, u64)>> {
    let entries = fs::read_dir(folder)?.map(|entry| {
        let entry = entry?;
        let metadata = entry.metadata()?;
        Ok((entry.file_name(), metadata.is_dir(), metadata.len()))
    });
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}
