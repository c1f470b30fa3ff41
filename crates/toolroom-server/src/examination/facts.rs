//! What is known about an installation. Plain values: whether they are good or bad is for `judge` to say.

use std::path::PathBuf;

use toolroom::clock::Timestamp;
use toolroom::ledger::CallStatus;
use toolroom::policy::Preset;
use toolroom_host::machine::{DiskSpace, Machine, TreeSize};
use toolroom_host::sandbox::Level;
use toolroom_host::text_file::SkippedFile;
use toolroom_store::{ConversationCounts, StoreHealth};

/// Everything that is judged. A text in the place of an error is its cause, in words for a person.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) at: Timestamp,
    pub(super) config: Result<ConfigFacts, ConfigTrouble>,
    /// Absent when the configuration cannot be used.
    pub(super) policy: Option<Result<PolicyFacts, Vec<String>>>,
    /// Absent when the configuration cannot be used.
    pub(super) models: Option<ModelFacts>,
    /// The workspace, then every folder that is opened besides; absent when the configuration cannot be used.
    pub(super) files: Option<Result<Vec<FolderFacts>, String>>,
    /// Absent when the database cannot be read.
    pub(super) answers: Option<AnswerFacts>,
    /// Absent when nothing says where data is kept.
    pub(super) store: Option<StoreFacts>,
    pub(super) key: KeyFacts,
    /// Absent when the database cannot be read.
    pub(super) sealed: Option<SealedFacts>,
    /// Absent when nothing says where data is kept.
    pub(super) disk: Option<Result<DiskFacts, String>>,
    pub(super) machine: Result<Machine, String>,
    /// Servers that bring tools; absent when the database cannot be read.
    pub(super) servers: Option<Result<Vec<ServerFacts>, String>>,
    /// How well programs are confined, found by trying it.
    pub(super) sandbox: Result<SandboxFacts, String>,
}

/// A server that brings tools. What it said of itself is left out: a stranger wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerFacts {
    pub(super) name: String,
    pub(super) standing: Standing,
    /// Tools that wait for a person.
    pub(super) waiting: usize,
    /// It is a program that has to be confined.
    pub(super) is_confined: bool,
}

/// How a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Somebody has switched it off.
    Off,
    /// Nothing is known against it.
    Fine,
    /// It failed the last time.
    Failing,
    /// It failed so often that it is not started again.
    GivenUp,
    /// Its program is not there.
    NoProgram,
    /// What is kept of it cannot be read.
    Unreadable,
}

/// A confinement that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SandboxFacts {
    pub(super) level: Level,
    /// Why it is not a stronger one.
    pub(super) shortfall: Option<String>,
    /// What does not hold.
    pub(super) gaps: Vec<&'static str>,
}

/// A configuration that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ConfigFacts {
    /// The user's file, if there is one.
    pub(super) user: Option<PathBuf>,
    /// The project's file, if there is one.
    pub(super) project: Option<ProjectFacts>,
    /// What stands in the place of a project's file and does not count as one.
    pub(super) passed_over: Vec<SkippedFile>,
    /// What else is odd and changes nothing.
    pub(super) odd: Vec<Oddity>,
}

/// A project's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProjectFacts {
    pub(super) path: PathBuf,
    /// Settings that do not hold because nobody has said yes to the file.
    pub(super) ignored: usize,
}

/// Something odd, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Oddity {
    pub(super) text: String,
    pub(super) about: About,
}

/// Where something odd is to be mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// In the files, or on the command line.
    Settings,
    /// In the variable of that name.
    Variable(String),
    /// In the database, at the agent of that id.
    Agent(String),
}

/// Why there is no configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConfigTrouble {
    /// Nothing says where the user's folders are.
    NoHome(String),
    /// A file cannot be read.
    Unreadable(String),
    /// What it says cannot be used: a line for each problem.
    Invalid(Vec<String>),
}

/// A policy that holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PolicyFacts {
    pub(super) preset: Preset,
    pub(super) rules: usize,
    /// Examples in the rules; they hold, or the policy would not.
    pub(super) examples: usize,
}

/// The models that are asked where nobody says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ModelFacts {
    /// In order; none, if nobody has set one up and the offline model answers.
    pub(super) asked: Vec<String>,
    /// Tokens that the first one reads and writes together, if it can be asked.
    pub(super) window: Option<u64>,
    /// Those that cannot be asked, and why.
    pub(super) troubles: Vec<(String, String)>,
}

/// A folder that should be open to tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FolderFacts {
    pub(super) path: PathBuf,
    pub(super) state: FolderState,
}

/// How it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FolderState {
    Open,
    /// It is made when it is first used.
    NotMade,
    /// It cannot be used, and what was said about it.
    Closed(FolderTrouble, String),
}

/// Why a folder cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderTrouble {
    Missing,
    NotAFolder,
    /// It is none that may be opened.
    Refused,
    Unwritable,
    Unreadable,
}

/// Standing answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct AnswerFacts {
    pub(super) count: usize,
    /// Ids of those whose condition cannot be read.
    pub(super) unreadable: Vec<String>,
}

/// The database, and whether it can be written.
#[derive(Debug, Clone)]
pub(super) struct StoreFacts {
    pub(super) folder: PathBuf,
    pub(super) database: PathBuf,
    /// Why nothing can be written there.
    pub(super) unwritable: Option<Unwritable>,
    pub(super) state: StoreState,
}

/// A place that cannot be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unwritable {
    /// There is something else in its place.
    NoFolder,
    /// Its file system keeps no files of ours, as that of /proc.
    NoDisk,
    /// This user may not.
    Folder(String),
    /// The same for the file itself.
    File(String),
}

/// How the database was found.
#[derive(Debug, Clone)]
pub(super) enum StoreState {
    /// Nothing was ever kept here.
    Absent,
    /// There is none, though something was kept here: what is said about that.
    Lost(String),
    /// There is something that cannot be used, and what was said about it.
    Unusable(StoreTrouble, String),
    /// This process has it open, and nobody finds it any more.
    Gone(Vanished),
    /// It can be read.
    Open(Box<OpenStore>),
}

/// A database that can be read.
#[derive(Debug, Clone)]
pub(super) struct OpenStore {
    pub(super) health: StoreHealth,
    /// Why nobody can write just now.
    pub(super) locked: Option<(StoreTrouble, String)>,
    /// Calls by status; absent if there was no time to count them.
    pub(super) calls: Option<Vec<(CallStatus, u64)>>,
    /// Absent if there was no time to count them.
    pub(super) words: Option<ConversationCounts>,
    pub(super) damage: Damage,
}

/// What became of a file that is still open here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vanished {
    /// Nothing is in its place.
    Deleted,
    /// Another one is.
    Replaced,
}

/// Why a database cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreTrouble {
    Locked,
    ReadOnly,
    Full,
    Damaged,
    Newer,
    Older,
    Foreign,
    NoSharedMemory,
    Slow,
    Unreadable,
}

/// What came of reading all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Damage {
    /// A line each; none if all is well.
    Found(Vec<String>),
    /// It was too large to be read in passing.
    TooLarge,
    /// There was no time left.
    NoTime,
}

/// The master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyFacts {
    /// There is none.
    Absent,
    /// There is one.
    Held {
        /// Where it comes from, in words.
        home: String,
        change: KeyChange,
    },
    /// There is something that cannot be used, and what was said about it.
    Unusable(KeyTrouble, String),
    /// Nothing says where it would be.
    Nowhere,
}

/// Whether a change of the key was left in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyChange {
    None,
    Unfinished,
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyTrouble {
    /// Others may read its file.
    Readable(PathBuf),
    /// Its successor is there, and it is not.
    Missing(PathBuf),
    /// Its file holds none, or cannot be read.
    File(PathBuf),
    /// Its variable holds none.
    Variable(&'static str),
    /// Something else.
    Other,
}

/// What is sealed, and what of it opens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SealedFacts {
    /// How many secrets there are.
    pub(super) secrets: usize,
    /// How many requests wait, sealed, for an answer.
    pub(super) requests: usize,
    /// How many of both are sealed with a key that is not here. Not counted without a key.
    pub(super) other_key: usize,
    /// Names of secrets that do not open although the key fits.
    pub(super) damaged: Vec<String>,
    /// Names of secrets that are too short to be hidden.
    pub(super) too_short: Vec<String>,
}

/// The file system of the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DiskFacts {
    pub(super) space: DiskSpace,
    /// What the data folder takes; absent if there is none yet, or it cannot be read.
    pub(super) used: Option<TreeSize>,
}
