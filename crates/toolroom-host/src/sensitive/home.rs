//! Recognizes home folders by name.

use std::path::Path;

/// Folders whose subfolders are home folders.
const HOMES: [&str; 2] = ["/home", "/var/home"];

/// Home folders on a Windows drive, which WSL mounts by letter.
const DRIVES: &str = "/mnt";
const HOMES_OF_A_DRIVE: &str = "users";

/// Root's home folder.
const ROOT_HOME: &str = "/root";

/// The part of a path below its home folder. `home` is that of this user.
pub(crate) fn below_home<'a>(place: &'a Path, home: Option<&Path>) -> Option<&'a Path> {
    if let Some(rest) = home.and_then(|home| place.strip_prefix(home).ok()) {
        return Some(rest);
    }
    if let Ok(rest) = place.strip_prefix(ROOT_HOME) {
        return Some(rest);
    }
    let homes = || HOMES.iter().find_map(|homes| place.strip_prefix(homes).ok());
    let below = homes().or_else(|| below_homes_of_a_drive(place))?;
    let mut names = below.components();
    names.next()?;
    Some(names.as_path())
}

/// Whether a folder is a home folder or contains one.
pub(crate) fn holds_a_home(folder: &Path, home: Option<&Path>) -> bool {
    let known = home.into_iter().chain(HOMES.map(Path::new)).chain([Path::new(ROOT_HOME)]);
    let is_above = known.into_iter().any(|known| known.starts_with(folder));
    is_above || is_a_home(folder, home)
}

/// Whether a folder is a home folder.
pub(crate) fn is_a_home(folder: &Path, home: Option<&Path>) -> bool {
    below_home(folder, home).is_some_and(|rest| rest.as_os_str().is_empty())
}

fn below_homes_of_a_drive(place: &Path) -> Option<&Path> {
    let mut names = place.strip_prefix(DRIVES).ok()?.components();
    names.next().filter(|drive| drive.as_os_str().len() == 1)?;
    names.next().filter(|homes| homes.as_os_str().eq_ignore_ascii_case(HOMES_OF_A_DRIVE))?;
    Some(names.as_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_and_its_parents_hold_a_home() {
        let home = Some(Path::new("/srv/ann"));
        for folder in ["/srv/ann", "/srv", "/home", "/home/bob", "/root", "/mnt/c/Users/eve", "/"] {
            assert!(holds_a_home(Path::new(folder), home), "{folder}");
        }
        for folder in ["/srv/ann/work", "/srv/shop", "/home/bob/work", "/mnt/c/work", "/tmp"] {
            assert!(!holds_a_home(Path::new(folder), home), "{folder}");
        }
    }
}
