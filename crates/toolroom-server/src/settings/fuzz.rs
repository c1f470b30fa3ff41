//! Fuzz target: imported documents.

use super::document::SettingsDocument;
use super::server_check;
use crate::mutation::fuzz;

/// Every document is rejected with a message, or can be written and read again.
#[test]
fn settings_document() {
    fuzz("settings_document", |text| match SettingsDocument::parse(text) {
        Ok(document) => {
            let servers = document.projects.iter().flat_map(|project| &project.servers);
            for refused in servers.filter_map(|server| server_check::check(server).err()) {
                assert!(!refused.is_empty());
            }
            let written = serde_json::to_string(&document).unwrap();
            assert!(SettingsDocument::parse(&written).is_ok(), "{written}");
        }
        Err(why) => assert!(!why.is_empty()),
    });
}
