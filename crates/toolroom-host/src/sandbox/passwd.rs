//! The `/etc/passwd` of a confined program: the system's file with the program's own home folder.
//!
//! Some programs use it instead of `HOME`, such as ssh for its configuration and keys.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::user::User;
use crate::regular_file::{Links, RegularFile};

/// Its path.
pub(super) const PASSWD: &str = "/etc/passwd";

/// Longer files are not changed.
const MAX_BYTES: usize = 1024 * 1024;

/// The system's file with this home for the user. `None` if it cannot be replaced.
pub(super) fn with_home(user: User, home: &Path) -> Option<Vec<u8>> {
    let found = RegularFile::open(Path::new(PASSWD), Links::Refuse).ok()??;
    changed(&found.read(MAX_BYTES).ok()?, user, home.as_os_str().as_bytes())
}

fn changed(list: &[u8], user: User, home: &[u8]) -> Option<Vec<u8>> {
    // These characters would start another field or line.
    if home.iter().any(|byte| matches!(byte, b':' | b'\n')) {
        return None;
    }
    let number = user.uid.to_string();
    let mut is_there = false;
    let mut text = Vec::with_capacity(list.len() + home.len() + 64);
    for line in list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        if let [_, _, uid, _, _, place, ..] = fields.as_mut_slice()
            && *uid == number.as_bytes()
        {
            *place = home;
            is_there = true;
        }
        text.extend(fields.join(&b':'));
        text.push(b'\n');
    }
    if !is_there {
        text.extend(format!("user:x:{number}:{}::", user.gid).into_bytes());
        text.extend([home, b":/bin/sh\n"].concat());
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"root:x:0:0:root:/root:/bin/bash\nann:x:7:7::/home/ann:/bin/sh";

    fn text(uid: u32, home: &str) -> Option<String> {
        Some(String::from_utf8(changed(LIST, User { uid, gid: 8 }, home.as_bytes())?).unwrap())
    }

    #[test]
    fn only_the_users_own_home_is_changed() {
        let root = "root:x:0:0:root:/root:/bin/bash\n";
        assert_eq!(text(7, "/a b").unwrap(), format!("{root}ann:x:7:7::/a b:/bin/sh\n"));
        let unknown = format!("{root}ann:x:7:7::/home/ann:/bin/sh\nuser:x:70:8::/h:/bin/sh\n");
        assert_eq!(text(70, "/h").unwrap(), unknown);
    }

    #[test]
    fn a_home_that_does_not_fit_a_line_is_not_written() {
        assert_eq!(text(7, "/a:b"), None);
        assert_eq!(text(7, "/a\nroot::0:0:::"), None);
    }
}
