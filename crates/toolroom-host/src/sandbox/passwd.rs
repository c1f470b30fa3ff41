//! The list of users as a confined program sees it: the same, but that its own home is the one it has.
//!
//! Some programs ask this list instead of `HOME`; ssh does, for its configuration and its keys.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::user::User;
use crate::regular_file::{Links, RegularFile};

/// Where it is.
pub(super) const PASSWD: &str = "/etc/passwd";

/// Longer lists are left as they are.
const MAX_BYTES: usize = 1024 * 1024;

/// This machine's list, in which the user has this home. `None` if there is none that could be covered.
pub(super) fn with_home(user: User, home: &Path) -> Option<Vec<u8>> {
    let found = RegularFile::open(Path::new(PASSWD), Links::Refuse).ok()??;
    changed(&found.read(MAX_BYTES).ok()?, user, home.as_os_str().as_bytes())
}

fn changed(list: &[u8], user: User, home: &[u8]) -> Option<Vec<u8>> {
    // It could be read as another field, or another user.
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
    fn only_the_own_home_is_another_one() {
        let root = "root:x:0:0:root:/root:/bin/bash\n";
        assert_eq!(text(7, "/a b").unwrap(), format!("{root}ann:x:7:7::/a b:/bin/sh\n"));
        let unknown = format!("{root}ann:x:7:7::/home/ann:/bin/sh\nuser:x:70:8::/h:/bin/sh\n");
        assert_eq!(text(70, "/h").unwrap(), unknown);
    }

    #[test]
    fn a_home_that_no_line_can_hold_is_not_written() {
        assert_eq!(text(7, "/a:b"), None);
        assert_eq!(text(7, "/a\nroot::0:0:::"), None);
    }
}
