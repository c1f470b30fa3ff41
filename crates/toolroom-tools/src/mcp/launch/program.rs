//! The program of an entry: where it is, and what it may read beside the workspace.

use std::path::{Path, PathBuf};

use toolroom::foreign::ProgramEntry;
use toolroom_host::process::{CachedPackage, FoundProgram, folder_of_script, is_narrow, named_file};
use toolroom_host::sandbox::NamedProfile;

/// Programs whose first argument is a script, by how their names begin.
const INTERPRETERS: [&str; 8] = ["node", "python", "deno", "bun", "ruby", "perl", "php", "bash"];

/// A program as it is started.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Where it finds other programs first.
    pub(crate) programs: Option<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
}

/// Why a program cannot be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is not there.
    Program,
    /// Something is in the way, and this is what to do.
    Because(String),
}

/// Where a program is, and what it has to read. Without a network nothing can be fetched, so what was fetched before is
/// started itself. Blocks.
pub(crate) fn look(
    server: &str,
    entry: &ProgramEntry,
    workspace: &Path,
    has_network: bool,
) -> Result<Looked, Missing> {
    let folder = entry.folder.as_ref().map_or(workspace, Path::new);
    let found = FoundProgram::find(&entry.command, folder).ok_or(Missing::Program)?;
    let mut looked = Looked {
        programs: found.path.parent().map(Path::to_owned),
        program: found.path,
        arguments: entry.arguments.clone(),
        readable: found.folders,
    };
    if let Some(folder) = &entry.folder {
        let folder = PathBuf::from(folder);
        if !folder.starts_with(workspace) && !is_narrow(&folder) {
            return Err(Missing::Because(format!(
                "the folder `{}` holds more than this program should read; let it start in one below",
                folder.display()
            )));
        }
        looked.readable.push(folder);
    }
    let is_script = INTERPRETERS.iter().any(|name| name_of(&entry.command).starts_with(name));
    let mut is_first = is_script;
    for argument in entry.arguments.iter().filter(|argument| !argument.starts_with('-')) {
        let Some(file) = named_file(Path::new(argument)) else {
            is_first = false;
            continue;
        };
        looked.readable.extend(std::mem::take(&mut is_first).then(|| folder_of_script(&file)).flatten());
        looked.readable.push(file);
    }
    if !has_network {
        fetched(&mut looked, server, entry)?;
    }
    // What it may change it may read, and must not be kept from changing.
    looked.readable.retain(|path| !path.starts_with(workspace));
    looked.readable.sort();
    looked.readable.dedup();
    Ok(looked)
}

/// Puts what was fetched in the place of what would fetch it.
fn fetched(looked: &mut Looked, server: &str, entry: &ProgramEntry) -> Result<(), Missing> {
    let by = name_of(&entry.command);
    if !matches!(by, "npx" | "uvx") {
        return Ok(());
    }
    let is_flag = |argument: &&String| argument.starts_with('-');
    let flags: Vec<&String> = entry.arguments.iter().take_while(is_flag).collect();
    let is_plain = flags.iter().all(|flag| matches!(flag.as_str(), "-y" | "--yes" | "-q" | "--quiet"));
    let Some(package) = entry.arguments.get(flags.len()).filter(|_| is_plain) else {
        return Err(Missing::Because(format!(
            "`{by}` cannot fetch anything without a network; give it one with `toolroom mcp set {server} --profile \
             network:HOST`, or enter the program that it would run"
        )));
    };
    let found = if by == "npx" { CachedPackage::by_npx(package) } else { CachedPackage::by_uv(package) };
    let Some(found) = found else {
        let once = match by {
            "npx" => format!("npx -y {package}"),
            _ => format!("uv tool install {package}"),
        };
        return Err(Missing::Because(format!(
            "`{package}` has not been fetched on this machine, and the server runs without a network; run `{once}` \
             once in a terminal of your own, then try again; or let it fetch by itself with `toolroom mcp set {server} \
             --profile network:HOST`, HOST being that of your package registry"
        )));
    };
    looked.program = found.program;
    looked.readable.extend(found.folders);
    looked.arguments.drain(..=flags.len());
    Ok(())
}

/// Whether a program under this profile can fetch things by itself.
pub(crate) const fn has_network(profile: &NamedProfile) -> bool {
    matches!(profile, NamedProfile::Network(_) | NamedProfile::Off)
}

/// What the program of an entry may read beside the workspace, as far as that can be told. Blocks.
#[must_use]
pub fn reads(entry: &ProgramEntry, workspace: &Path) -> Vec<PathBuf> {
    let has_network = entry.profile.parse().is_ok_and(|profile| has_network(&profile));
    let mut paths = look("", entry, workspace, has_network).map(|looked| looked.readable).unwrap_or_default();
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
            let looked = look("x", &entry(command, arguments), Path::new("/nowhere"), false).unwrap();
            looked.readable.into_iter().filter(|path| path.starts_with(&root)).collect::<Vec<_>>()
        };
        assert_eq!(
            reads("bash", &arguments),
            [data.join("one"), scripts.join("one")],
            "it may be anybody's folder"
        );
        std::fs::write(scripts.join("package.json"), "{}").unwrap();
        assert_eq!(reads("bash", &arguments), [data.join("one"), scripts.clone(), scripts.join("one")]);
        assert_eq!(reads("true", &arguments), [data.join("one"), scripts.join("one")]);
        let module = ["-c".to_owned(), "x".to_owned(), text(data.join("one"))];
        assert_eq!(reads("bash", &module), [data.join("one")], "only what comes first is a script");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn what_was_not_fetched_is_told_with_what_to_type() {
        let folder = tempfile::tempdir().unwrap();
        let npx = folder.path().join("npx");
        std::fs::write(&npx, "").unwrap();
        let arguments = ["-y".to_owned(), "@no-such/package-anywhere".to_owned()];
        let entry = entry(npx.to_str().unwrap(), &arguments);
        let Err(Missing::Because(why)) = look("x", &entry, Path::new("/nowhere"), false) else { panic!() };
        assert!(why.contains("run `npx -y @no-such/package-anywhere` once"), "{why}");
        assert!(
            look("x", &entry, Path::new("/nowhere"), true).is_ok(),
            "with a network it fetches by itself"
        );
    }
}
