//! The program of an entry: its path, and what it may read besides the workspace.

use std::path::{Path, PathBuf};

use toolroom::foreign::ProgramEntry;
use toolroom_host::process::{CachedPackage, FoundProgram, folder_of_script, is_narrow, named_file};
use toolroom_host::sandbox::NamedProfile;

/// Interpreters: their first argument is a script. Prefixes of names.
const INTERPRETERS: [&str; 8] = ["node", "python", "deno", "bun", "ruby", "perl", "php", "bash"];

/// A program that can be started.
#[derive(Debug)]
pub(crate) struct ResolvedProgram {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Prepended to its `PATH`.
    pub(crate) programs: Option<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
}

/// Why a program cannot be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResolveError {
    /// The command does not exist.
    NotFound,
    /// The program cannot be started, and what to do.
    Unusable(String),
}

/// Finds the program of an entry and what it has to read. Without network access, a cached package replaces `npx` or `uvx`.
/// Blocks.
pub(crate) fn resolve(
    server: &str,
    entry: &ProgramEntry,
    workspace: &Path,
    has_network: bool,
) -> Result<ResolvedProgram, ResolveError> {
    let folder = entry.folder.as_ref().map_or(workspace, Path::new);
    let found = FoundProgram::find(&entry.command, folder).ok_or(ResolveError::NotFound)?;
    let mut resolved = ResolvedProgram {
        programs: found.path.parent().map(Path::to_owned),
        program: found.path,
        arguments: entry.arguments.clone(),
        readable: found.folders,
    };
    if let Some(folder) = &entry.folder {
        let folder = PathBuf::from(folder);
        if !folder.starts_with(workspace) && !is_narrow(&folder) {
            return Err(ResolveError::Unusable(format!(
                "the folder `{}` contains more than this program should read; use a folder below it",
                folder.display()
            )));
        }
        resolved.readable.push(folder);
    }
    let is_script = INTERPRETERS.iter().any(|name| name_of(&entry.command).starts_with(name));
    let mut is_first = is_script;
    for argument in entry.arguments.iter().filter(|argument| !argument.starts_with('-')) {
        let Some(file) = named_file(Path::new(argument)) else {
            is_first = false;
            continue;
        };
        resolved.readable.extend(std::mem::take(&mut is_first).then(|| folder_of_script(&file)).flatten());
        resolved.readable.push(file);
    }
    if !has_network {
        use_cached_package(&mut resolved, server, entry)?;
    }
    // The workspace has its own access mode.
    resolved.readable.retain(|path| !path.starts_with(workspace));
    resolved.readable.sort();
    resolved.readable.dedup();
    Ok(resolved)
}

/// Replaces `npx` and `uvx` by the cached package they would run.
fn use_cached_package(
    resolved: &mut ResolvedProgram,
    server: &str,
    entry: &ProgramEntry,
) -> Result<(), ResolveError> {
    let runner = name_of(&entry.command);
    if !matches!(runner, "npx" | "uvx") {
        return Ok(());
    }
    let is_flag = |argument: &&String| argument.starts_with('-');
    let flags: Vec<&String> = entry.arguments.iter().take_while(is_flag).collect();
    let is_plain = flags.iter().all(|flag| matches!(flag.as_str(), "-y" | "--yes" | "-q" | "--quiet"));
    let Some(package) = entry.arguments.get(flags.len()).filter(|_| is_plain) else {
        return Err(ResolveError::Unusable(format!(
            "`{runner}` cannot fetch packages without network access; grant it with `toolroom mcp set {server} --profile \
             network:HOST`, or configure the program that it would run"
        )));
    };
    let found = if runner == "npx" { CachedPackage::by_npx(package) } else { CachedPackage::by_uv(package) };
    let Some(found) = found else {
        let once = match runner {
            "npx" => format!("npx -y {package}"),
            _ => format!("uv tool install {package}"),
        };
        return Err(ResolveError::Unusable(format!(
            "`{package}` is not cached on this machine, and the server runs without network access; run `{once}` once in \
             a terminal, then try again; or grant network access with `toolroom mcp set {server} --profile network:HOST`, \
             where HOST is your package registry"
        )));
    };
    resolved.program = found.program;
    resolved.readable.extend(found.folders);
    resolved.arguments.drain(..=flags.len());
    Ok(())
}

/// Whether programs in this sandbox profile can fetch packages.
pub(crate) const fn has_network(profile: &NamedProfile) -> bool {
    matches!(profile, NamedProfile::Network(_) | NamedProfile::Off)
}

/// What the program of an entry may read besides the workspace, if it can be resolved. Blocks.
#[must_use]
pub fn reads(entry: &ProgramEntry, workspace: &Path) -> Vec<PathBuf> {
    let has_network = entry.profile.parse().is_ok_and(|profile| has_network(&profile));
    let resolved = resolve("", entry, workspace, has_network);
    let mut paths = resolved.map(|resolved| resolved.readable).unwrap_or_default();
    paths.extend(entry.readable.iter().map(PathBuf::from));
    paths.sort();
    paths.dedup();
    paths
}

fn name_of(command: &str) -> &str {
    command.rsplit('/').next().unwrap_or(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(command: &str, arguments: &[String]) -> ProgramEntry {
        ProgramEntry {
            command: command.to_owned(),
            arguments: arguments.to_vec(),
            folder: None,
            environment: std::collections::BTreeMap::new(),
            profile: "workspace".to_owned(),
            readable: Vec::new(),
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn an_argument_opens_its_file_and_a_script_the_folder_of_its_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (scripts, data) = (root.join("scripts"), root.join("data"));
        for folder in [&scripts, &data] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("one"), "").unwrap();
        }
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let arguments =
            ["-u".to_owned(), text(scripts.join("one")), "--db".to_owned(), text(data.join("one"))];
        let reads = |command: &str, arguments: &[String]| {
            let resolved = resolve("x", &entry(command, arguments), Path::new("/nowhere"), false).unwrap();
            resolved.readable.into_iter().filter(|path| path.starts_with(&root)).collect::<Vec<_>>()
        };
        assert_eq!(
            reads("bash", &arguments),
            [data.join("one"), scripts.join("one")],
            "a folder without a project file is not opened"
        );
        std::fs::write(scripts.join("package.json"), "{}").unwrap();
        assert_eq!(reads("bash", &arguments), [data.join("one"), scripts.clone(), scripts.join("one")]);
        assert_eq!(reads("true", &arguments), [data.join("one"), scripts.join("one")]);
        let module = ["-c".to_owned(), "x".to_owned(), text(data.join("one"))];
        assert_eq!(reads("bash", &module), [data.join("one")], "only the first argument is a script");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn a_package_that_is_not_cached_is_an_error_with_the_command_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let npx = folder.path().join("npx");
        std::fs::write(&npx, "").unwrap();
        let arguments = ["-y".to_owned(), "@no-such/package-anywhere".to_owned()];
        let entry = entry(npx.to_str().unwrap(), &arguments);
        let Err(ResolveError::Unusable(why)) = resolve("x", &entry, Path::new("/nowhere"), false) else {
            panic!()
        };
        assert!(why.contains("run `npx -y @no-such/package-anywhere` once"), "{why}");
        assert!(
            resolve("x", &entry, Path::new("/nowhere"), true).is_ok(),
            "with network access it fetches by itself"
        );
    }
}
