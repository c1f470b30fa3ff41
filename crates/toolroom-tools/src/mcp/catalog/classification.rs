//! What a foreign tool is taken for: a person says what it does, the house knows the least that it can do, and what the
//! server says about it can only add to that.

use std::fmt;

use toolroom::foreign::{PinnedTraits, ServerRecord, ToolTraits, Transport};
use toolroom::tool::{Capabilities, Capability, Effect, ToolSpec};
use toolroom_host::sandbox::NamedProfile;

use crate::mcp::catalog::definition::Definition;

/// What a foreign tool is taken for, and why. What is `None` counts as the worst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worth {
    /// What it does to the world.
    pub effect: Option<Effect>,
    /// What it is able to do.
    pub capabilities: Option<Capabilities>,
    /// Where that comes from.
    pub because: Vec<Because>,
}

/// A reason why a tool is taken for what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// A person said so of this tool.
    ToolDeclared,
    /// A person said so of all tools of the server.
    ServerDeclared,
    /// Nobody has said what it does to the world.
    EffectUnsaid,
    /// Nobody has said what it is able to do.
    CapabilitiesUnsaid,
    /// What was said of it was said of another definition.
    Outdated,
    /// Whatever a foreign tool gives back, somebody else wrote.
    Foreign,
    /// Its server is somewhere else: the arguments themselves go out.
    Remote,
    /// The sandbox of its program leads to the network.
    Network,
    /// Its program runs without a sandbox.
    Unconfined,
    /// Its server says of it that it destroys.
    SaysDestructive,
    /// Its server says of it that it does not only read.
    SaysWrites,
    /// Its server says of it that it deals with the world outside.
    SaysOpenWorld,
}

impl fmt::Display for Because {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ToolDeclared => "declared by you",
            Self::ServerDeclared => "declared by you for all tools of the server",
            Self::EffectUnsaid => "destructive because nobody has declared an effect",
            Self::CapabilitiesUnsaid => "everything because nobody has declared what it can do",
            Self::Outdated => "what you declared was about another definition of it",
            Self::Foreign => "reads-untrusted because somebody else wrote what it returns",
            Self::Remote => "egress because its server is somewhere else",
            Self::Network => "egress because its sandbox leads to the network",
            Self::Unconfined => "egress and exec because it runs without a sandbox",
            Self::SaysDestructive => "destructive because its server says so",
            Self::SaysWrites => "writes because its server says so",
            Self::SaysOpenWorld => "egress because its server says so",
        })
    }
}

/// What is added to what was declared, and why.
#[derive(Default)]
struct Added {
    effect: Option<Effect>,
    capabilities: Vec<Capability>,
    because: Vec<Because>,
}

impl Added {
    fn add(&mut self, capabilities: &[Capability], because: Because) {
        self.capabilities.extend_from_slice(capabilities);
        self.because.push(because);
    }
}

/// What a tool of the server is taken for.
#[must_use]
pub fn worth(server: &ServerRecord, definition: &Definition) -> Worth {
    let (declared, mut because) = declared(server, definition);
    let mut added = Added::default();
    floor(&server.transport, &mut added);
    hints(&server.transport, definition, &mut added);
    let effect = declared.effect.max(added.effect);
    let capabilities = declared.capabilities.map(|said| {
        let all: Vec<Capability> = said.iter().chain(added.capabilities).collect();
        Capabilities::of(&all)
    });
    let (effect, capabilities) = agreed(effect, capabilities);
    if effect.is_none() {
        because.push(Because::EffectUnsaid);
    }
    match capabilities {
        Some(_) => because.extend(added.because),
        None => {
            because.push(Because::CapabilitiesUnsaid);
            because.extend(added.because.into_iter().filter(|why| *why == Because::SaysDestructive));
        }
    }
    Worth { effect, capabilities, because }
}

impl Worth {
    /// Puts it into the spec. Both fields as they are: the spec itself takes a pure tool for one that can do nothing.
    pub(crate) fn apply(self, spec: &mut ToolSpec) {
        spec.effect = self.effect;
        spec.capabilities = self.capabilities;
    }
}

/// What a person says of the tool: of it alone before what is said of all.
fn declared(server: &ServerRecord, definition: &Definition) -> (ToolTraits, Vec<Because>) {
    let mut because = Vec::new();
    let all = server.traits.all;
    let own = match server.traits.tools.get(&definition.name) {
        Some(PinnedTraits { definition: hash, traits: declared }) if *hash == definition.hash() => *declared,
        Some(_) => {
            because.push(Because::Outdated);
            // Somebody took the tool out of what is said of all; that stays true until they look again.
            return (ToolTraits::default(), because);
        }
        None => ToolTraits::default(),
    };
    if !own.is_empty() {
        because.push(Because::ToolDeclared);
    }
    let is_for_all = (own.effect.is_none() && all.effect.is_some())
        || (own.capabilities.is_none() && all.capabilities.is_some());
    if is_for_all {
        because.push(Because::ServerDeclared);
    }
    let declared =
        ToolTraits { effect: own.effect.or(all.effect), capabilities: own.capabilities.or(all.capabilities) };
    (declared, because)
}

/// The profile of a program; nothing for what is somewhere else.
fn profile(transport: &Transport) -> Option<NamedProfile> {
    match transport {
        // What nobody can read confines nothing.
        Transport::Stdio(program) => Some(program.profile.parse().unwrap_or(NamedProfile::Off)),
        Transport::Http(_) | Transport::Sse(_) => None,
    }
}

/// What it can do whatever anybody says.
fn floor(transport: &Transport, added: &mut Added) {
    added.add(&[Capability::ReadsUntrusted], Because::Foreign);
    match profile(transport) {
        None => added.add(&[Capability::Egress], Because::Remote),
        Some(NamedProfile::Network(_)) => added.add(&[Capability::Egress], Because::Network),
        Some(NamedProfile::Off) => added.add(&[Capability::Egress, Capability::Exec], Because::Unconfined),
        Some(NamedProfile::Workspace | NamedProfile::ReadOnly) => {}
    }
}

/// What its server says of it, where that is the worse. A program without a network reaches nobody, whatever it says.
fn hints(transport: &Transport, definition: &Definition, added: &mut Added) {
    if definition.hint("destructiveHint") == Some(true) {
        added.effect = Some(Effect::Destructive);
        added.add(&[Capability::Writes, Capability::Destructive], Because::SaysDestructive);
    } else if definition.hint("readOnlyHint") == Some(false) {
        added.add(&[Capability::Writes], Because::SaysWrites);
    }
    let is_offline = matches!(profile(transport), Some(NamedProfile::Workspace | NamedProfile::ReadOnly));
    if definition.hint("openWorldHint") == Some(true) && !is_offline {
        added.add(&[Capability::Egress], Because::SaysOpenWorld);
    }
}

/// Effect and capabilities that do not contradict each other: of two words the worse one counts.
fn agreed(
    effect: Option<Effect>,
    capabilities: Option<Capabilities>,
) -> (Option<Effect>, Option<Capabilities>) {
    let implied = capabilities.and_then(|able| {
        let destroys = able.has(Capability::Destructive).then_some(Effect::Destructive);
        destroys.or(able.has(Capability::Writes).then_some(Effect::OnceOnlyWrite))
    });
    // An effect that nobody declared stays unsaid.
    let effect = effect.map(|effect| match implied {
        Some(Effect::OnceOnlyWrite) if effect.writes() => effect,
        Some(implied) => effect.max(implied),
        None => effect,
    });
    let capabilities = capabilities.map(|able| {
        let mut all: Vec<Capability> = able.iter().collect();
        if effect.is_some_and(Effect::writes) {
            all.push(Capability::Writes);
        }
        if effect == Some(Effect::Destructive) {
            all.push(Capability::Destructive);
        }
        Capabilities::of(&all)
    });
    (effect, capabilities)
}

#[cfg(test)]
#[path = "classification_tests.rs"]
mod tests;
