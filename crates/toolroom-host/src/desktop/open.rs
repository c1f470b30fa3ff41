//! Opens files and addresses in the user's default program.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::error::DesktopError;
use super::session::{Desktop, program};
use crate::net::Url;

/// Starts the default program of a file type or scheme.
const OPENER: &str = "xdg-open";

/// How long it may take to report a failure. Some openers run as long as the program they start.
const TIMEOUT: Duration = Duration::from_secs(3);

impl Desktop {
    /// Opens an address in the browser. Only `http` and `https` are accepted.
    pub async fn open_address(&self, url: &Url) -> Result<(), DesktopError> {
        // In this form it begins with its scheme, and contains no spaces or control characters.
        self.open(OsStr::new(url.as_str())).await
    }

    /// Opens a file, by its absolute path, in the default program of its type.
    pub async fn open_file(&self, file: &Path) -> Result<(), DesktopError> {
        self.open(file.as_os_str()).await
    }

    async fn open(&self, what: &OsStr) -> Result<(), DesktopError> {
        self.seen()?;
        let opener = tokio::task::spawn_blocking(|| program(OPENER, "xdg-utils")).await;
        let order =
            opener.map_err(|_| DesktopError::NoProgram { program: OPENER, package: "xdg-utils" })??;
        match self.supervisor.start_detached(order.with_arguments([what]), TIMEOUT).await? {
            None | Some(0) => Ok(()),
            Some(status) => {
                Err(DesktopError::Failed { program: OPENER, status, said: meaning(status), next: NEXT })
            }
        }
    }
}

/// What to do when it fails.
const NEXT: &str = "try it in a terminal of the desktop: `xdg-open` there says more";

/// The meaning of an exit status, from the manual.
fn meaning(status: i32) -> String {
    let known = match status {
        2 => "there is no such file",
        3 => "no program for it was found",
        4 => "the program for it failed",
        _ => "",
    };
    known.to_owned()
}
