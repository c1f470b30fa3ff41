//! Classification of foreign tools: the user declares what a tool does, its origin sets a minimum, and the server's hints can
//! only add to that.

use std::fmt;

use toolroom::foreign::{PinnedTraits, ServerRecord, ToolTraits, Transport};
use toolroom::tool::{Capabilities, Capability, Effect, ToolSpec};
use toolroom_host::sandbox::NamedProfile;

use crate::mcp::catalog::definition::Definition;

/// Effect and capabilities of a foreign tool, and why. `None` counts as the worst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classification {
    /// Its effect class.
    pub effect: Option<Effect>,
    /// Its capabilities.
    pub capabilities: Option<Capabilities>,
    /// Why it is classified so.
    pub reasons: Vec<ClassificationReason>,
}

/// Why a tool is classified as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassificationReason {
    /// Declared for this tool.
    ToolDeclared,
    /// Declared for all tools of the server.
    ServerDeclared,
    /// No effect is declared.
    EffectUndeclared,
    /// No capabilities are declared.
    CapabilitiesUndeclared,
    /// The declaration is for another definition of the tool.
    Outdated,
    /// Results of foreign tools are untrusted.
    Foreign,
    /// The server is remote: arguments leave this machine.
    Remote,
    /// The sandbox of the program allows network access.
    Network,
    /// The program runs without a sandbox.
    Unconfined,
    /// The server hints that the tool is destructive.
    HintsDestructive,
    /// The server hints that the tool writes.
    HintsWrites,
    /// The server hints that the tool reaches the open world.
    HintsOpenWorld,
}

impl fmt::Display for ClassificationReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ToolDeclared => "declared by you",
            Self::ServerDeclared => "declared by you for all tools of the server",
            Self::EffectUndeclared => "destructive because no effect is declared",
            Self::CapabilitiesUndeclared => "everything because no capabilities are declared",
            Self::Outdated => "your declaration is for an older definition",
            Self::Foreign => "reads-untrusted because its results come from outside",
            Self::Remote => "egress because its server is remote",
            Self::Network => "egress because its sandbox allows network access",
            Self::Unconfined => "egress and exec because it runs without a sandbox",
            Self::HintsDestructive => "destructive because its server says so",
            Self::HintsWrites => "writes because its server says so",
            Self::HintsOpenWorld => "egress because its server says so",
        })
    }
}

/// Additions to the declaration, and why.
#[derive(Default)]
struct Additions {
    effect: Option<Effect>,
    capabilities: Vec<Capability>,
    reasons: Vec<ClassificationReason>,
}

impl Additions {
    fn add(&mut self, capabilities: &[Capability], reason: ClassificationReason) {
        self.capabilities.extend_from_slice(capabilities);
        self.reasons.push(reason);
    }
}

/// Classifies a tool of the server.
#[must_use]
pub fn classify(server: &ServerRecord, definition: &Definition) -> Classification {
    let (declared, mut reasons) = declared(server, definition);
    let mut added = Additions::default();
    add_minimum(&server.transport, &mut added);
    add_hints(&server.transport, definition, &mut added);
    let effect = declared.effect.max(added.effect);
    let capabilities = declared.capabilities.map(|capabilities| {
        let all: Vec<Capability> = capabilities.iter().chain(added.capabilities).collect();
        Capabilities::of(&all)
    });
    let (effect, capabilities) = reconciled(effect, capabilities);
    if effect.is_none() {
        reasons.push(ClassificationReason::EffectUndeclared);
    }
    match capabilities {
        Some(_) => reasons.extend(added.reasons),
        None => {
            reasons.push(ClassificationReason::CapabilitiesUndeclared);
            reasons.extend(
                added.reasons.into_iter().filter(|reason| *reason == ClassificationReason::HintsDestructive),
            );
        }
    }
    Classification { effect, capabilities, reasons }
}

impl Classification {
    /// Sets both fields of the spec directly: the setter of a pure effect would drop the capabilities.
    pub(crate) fn apply(self, spec: &mut ToolSpec) {
        spec.effect = self.effect;
        spec.capabilities = self.capabilities;
    }
}

/// What the user declared: for this tool, or else for all tools of the server.
fn declared(server: &ServerRecord, definition: &Definition) -> (ToolTraits, Vec<ClassificationReason>) {
    let mut reasons = Vec::new();
    let all = server.traits.all;
    let own = match server.traits.tools.get(&definition.name) {
        Some(PinnedTraits { definition: hash, traits: declared }) if *hash == definition.hash() => *declared,
        Some(_) => {
            reasons.push(ClassificationReason::Outdated);
            // The user made an exception for this tool: the declaration for all tools does not apply until they renew it.
            return (ToolTraits::default(), reasons);
        }
        None => ToolTraits::default(),
    };
    if !own.is_empty() {
        reasons.push(ClassificationReason::ToolDeclared);
    }
    let is_for_all = (own.effect.is_none() && all.effect.is_some())
        || (own.capabilities.is_none() && all.capabilities.is_some());
    if is_for_all {
        reasons.push(ClassificationReason::ServerDeclared);
    }
    let declared =
        ToolTraits { effect: own.effect.or(all.effect), capabilities: own.capabilities.or(all.capabilities) };
    (declared, reasons)
}

/// The sandbox profile of a local program.
fn profile(transport: &Transport) -> Option<NamedProfile> {
    match transport {
        // An unreadable profile confines nothing.
        Transport::Stdio(program) => Some(program.profile.parse().unwrap_or(NamedProfile::Off)),
        Transport::Http(_) | Transport::Sse(_) => None,
    }
}

/// The minimum, independent of declarations.
fn add_minimum(transport: &Transport, added: &mut Additions) {
    added.add(&[Capability::ReadsUntrusted], ClassificationReason::Foreign);
    match profile(transport) {
        None => added.add(&[Capability::Egress], ClassificationReason::Remote),
        Some(NamedProfile::Network(_)) => added.add(&[Capability::Egress], ClassificationReason::Network),
        Some(NamedProfile::Off) => {
            added.add(&[Capability::Egress, Capability::Exec], ClassificationReason::Unconfined);
        }
        Some(NamedProfile::Workspace | NamedProfile::ReadOnly) => {}
    }
}

/// The server's hints, where they are worse. The hint of an open world is ignored for a program without a network.
fn add_hints(transport: &Transport, definition: &Definition, added: &mut Additions) {
    if definition.hint("destructiveHint") == Some(true) {
        added.effect = Some(Effect::Destructive);
        added.add(&[Capability::Writes, Capability::Destructive], ClassificationReason::HintsDestructive);
    } else if definition.hint("readOnlyHint") == Some(false) {
        added.add(&[Capability::Writes], ClassificationReason::HintsWrites);
    }
    let is_offline = matches!(profile(transport), Some(NamedProfile::Workspace | NamedProfile::ReadOnly));
    if definition.hint("openWorldHint") == Some(true) && !is_offline {
        added.add(&[Capability::Egress], ClassificationReason::HintsOpenWorld);
    }
}

/// Makes effect and capabilities consistent: of two contradicting values the worse one counts.
fn reconciled(
    effect: Option<Effect>,
    capabilities: Option<Capabilities>,
) -> (Option<Effect>, Option<Capabilities>) {
    let implied = capabilities.and_then(|able| {
        let destroys = able.has(Capability::Destructive).then_some(Effect::Destructive);
        destroys.or(able.has(Capability::Writes).then_some(Effect::OnceOnlyWrite))
    });
    // An undeclared effect stays undeclared.
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
