//! Finds packages that `npx` or `uvx` have already downloaded, without running them: they need network access and a
//! writable folder even for cached packages.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment::path_variable;
use crate::text_file::read_bounded;

/// Maximum size of a package description.
const MAX_BYTES: usize = 1024 * 1024;

/// A cached package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPackage {
    /// Its executable.
    pub program: PathBuf,
    /// The folders it needs.
    pub folders: Vec<PathBuf>,
}

impl CachedPackage {
    /// What `npx PACKAGE` would run. Blocks.
    #[must_use]
    pub fn by_npx(package: &str) -> Option<Self> {
        let cache =
            path_variable("NPM_CONFIG_CACHE").or_else(|| Some(path_variable("HOME")?.join(".npm")))?;
        Self::in_npx(&cache.join("_npx"), package)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: where packages are")]
    fn in_npx(folders: &Path, package: &str) -> Option<Self> {
        let mut found: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
        for entry in std::fs::read_dir(folders).ok()?.flatten() {
            let described = description(&entry.path().join("package.json"));
            let packages = described.as_ref().and_then(|one| one.pointer("/_npx/packages")?.as_array());
            if packages.is_some_and(|packages| packages.iter().any(|known| known == package)) {
                found.push((entry.metadata().and_then(|about| about.modified()).ok()?, entry.path()));
            }
        }
        // `npx` would run the newest one.
        let (_, folder) = found.into_iter().max()?;
        let name = name_of(package);
        let short = name.rsplit('/').next()?;
        let described = description(&folder.join("node_modules").join(name).join("package.json"))?;
        let bin = match described.get("bin")? {
            Value::Object(all) if all.len() == 1 => all.keys().next()?.clone(),
            Value::Object(all) => all.get_key_value(short)?.0.clone(),
            _ => short.to_owned(),
        };
        let program = folder.join("node_modules/.bin").join(bin);
        program.is_file().then_some(Self { program, folders: vec![folder] })
    }

    /// What `uvx PACKAGE` would run, if it was installed with `uv tool install` in the requested version. Blocks.
    #[must_use]
    pub fn by_uv(package: &str) -> Option<Self> {
        Self::in_uv(&path_variable("HOME")?.join(".local/share/uv"), package)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door: where packages are")]
    fn in_uv(all: &Path, package: &str) -> Option<Self> {
        let name = package.split(['@', '=', '<', '>', '~', '[', '!']).next()?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name) {
            return None;
        }
        let own = all.join("tools").join(name);
        let program = own.join("bin").join(name);
        let is_wanted = match Pin::parse(package.get(name.len()..)?) {
            Pin::Any => true,
            Pin::Exact(version) => versions(&own, name).iter().any(|known| is_same(known, version)),
            Pin::Unclear => false,
        };
        // Its interpreter is next to all tools; the other tools and the data of `uv` there are not opened.
        let folders = vec![own, all.join("python")];
        (is_wanted && program.is_file()).then_some(Self { program, folders })
    }
}

/// The requested version of a package.
enum Pin<'a> {
    /// Any version.
    Any,
    Exact(&'a str),
    /// A version that cannot be compared.
    Unclear,
}

impl<'a> Pin<'a> {
    /// Parses the text after the name.
    fn parse(rest: &'a str) -> Self {
        let version = match rest.strip_prefix('@').or_else(|| rest.strip_prefix("==")) {
            None | Some("latest") => return Self::Any,
            Some(version) => version.trim(),
        };
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_' | '!');
        if !version.is_empty() && version.chars().all(is_fine) { Self::Exact(version) } else { Self::Unclear }
    }
}

/// Whether two versions are equal: `2` is `2.0`.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |version: &str| {
        let version = version.trim_start_matches('v').to_ascii_lowercase();
        let mut version = version.as_str();
        while let Some(shorter) = version.strip_suffix(".0") {
            version = shorter;
        }
        version.to_owned()
    };
    plain(one) == plain(other)
}

/// The installed versions of a package, according to its folder.
#[expect(clippy::disallowed_methods, reason = "this is the door: where packages are")]
fn versions(tool: &Path, name: &str) -> Vec<String> {
    let folded = |name: &str| name.to_ascii_lowercase().replace(['-', '.'], "_");
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let lib = entries(tool.join("lib")).map(|python| python.path().join("site-packages"));
    lib.flat_map(entries)
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let (package, version) = file.strip_suffix(".dist-info")?.split_once('-')?;
            (folded(package) == folded(name)).then(|| version.to_owned())
        })
        .collect()
}

/// The name of a package without its version.
fn name_of(package: &str) -> &str {
    match package.rfind('@') {
        Some(at) if at > 0 => package.get(..at).unwrap_or(package),
        _ => package,
    }
}

fn description(path: &Path) -> Option<Value> {
    serde_json::from_str(&read_bounded(path, MAX_BYTES).ok()??).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn a_cached_npx_package_is_found_by_its_specifier() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("a1/package.json", r#"{"_npx": {"packages": ["@x/server"]}}"#);
        put("a1/node_modules/@x/server/package.json", r#"{"bin": {"x-server": "dist/index.js"}}"#);
        put("a1/node_modules/.bin/x-server", "");
        put("b2/package.json", r#"{"_npx": {"packages": ["plain@1.2.3"]}}"#);
        put("b2/node_modules/plain/package.json", r#"{"bin": "cli.js"}"#);
        put("b2/node_modules/.bin/plain", "");
        put("c3/package.json", "{");
        let program =
            |package: &str| CachedPackage::in_npx(folder.path(), package).map(|found| found.program);
        assert_eq!(program("@x/server"), Some(folder.path().join("a1/node_modules/.bin/x-server")));
        assert_eq!(program("plain@1.2.3"), Some(folder.path().join("b2/node_modules/.bin/plain")));
        let folders = CachedPackage::in_npx(folder.path(), "@x/server").unwrap().folders;
        assert_eq!(folders, [folder.path().join("a1")]);
        for other in ["plain", "server", "@x/server@2", "", "../a1"] {
            assert_eq!(program(other), None, "{other}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn an_installed_uv_tool_is_found_by_version_without_opening_other_tools() {
        let folder = tempfile::tempdir().unwrap();
        let all = folder.path();
        for path in
            ["tools/my-server/bin", "tools/my-server/lib/python3.12/site-packages/my_server-2.1.0.dist-info"]
        {
            std::fs::create_dir_all(all.join(path)).unwrap();
        }
        std::fs::write(all.join("tools/my-server/bin/my-server"), "").unwrap();
        let found = CachedPackage::in_uv(all, "my-server").unwrap();
        assert_eq!(found.program, all.join("tools/my-server/bin/my-server"));
        assert_eq!(found.folders, [all.join("tools/my-server"), all.join("python")]);
        for same in ["my-server@2.1.0", "my-server==2.1", "my-server@latest", "my-server>=1", "my-server[x]"]
        {
            assert!(CachedPackage::in_uv(all, same).is_some(), "{same}");
        }
        for other in
            ["my-server==2", "my-server@2.1.1", "my-server==2.*", "my-server==2.1.0,<3", "my-server@", "x"]
        {
            assert_eq!(CachedPackage::in_uv(all, other), None, "{other}");
        }
    }
}
