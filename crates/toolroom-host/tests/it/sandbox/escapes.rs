//! No way out has an effect, on either level, and every one has without the sandbox.

use toolroom_host::sandbox::Level;

use super::ways::{FILES, KERNEL, NETWORK, PROCESSES, PROTECTED, Way};
use super::world::{By, World, is_root};

/// Those that had an effect, with it.
async fn effects(ways: &[Way], level: Level) -> Vec<String> {
    let mut effects = Vec::new();
    for (name, script, _) in ways {
        let found = World::new().confined(script, level).await;
        if !found.is_empty() {
            effects.push(format!("{name}: {}", found.join(", ")));
        }
    }
    effects
}

/// Those that had none without a sandbox: they would prove nothing.
fn harmless(ways: &[Way]) -> Vec<&'static str> {
    let can_be_tried = |by: By| by == By::Anybody || is_root();
    // To make a program that raises rights takes root as well.
    let is_tried = |(name, _, by): &&Way| can_be_tried(*by) && (is_root() || !name.contains("raises"));
    let tried = ways.iter().filter(is_tried);
    tried
        .filter(|(_, script, by)| World::new().bare(script, *by).is_empty())
        .map(|(name, ..)| *name)
        .collect()
}

macro_rules! groups {
    ($($group:ident: $ways:expr;)*) => {
        $(mod $group {
            use super::*;

            #[tokio::test]
            async fn nothing_gets_out_of_namespaces() {
                assert_eq!(effects(&$ways, Level::Namespaces).await, Vec::<String>::new());
            }

            #[tokio::test]
            async fn nothing_gets_past_landlock() {
                assert_eq!(effects(&$ways, Level::Landlock).await, Vec::<String>::new());
            }

            #[test]
            fn everything_gets_out_of_no_sandbox() {
                assert_eq!(harmless(&$ways), Vec::<&str>::new());
            }
        })*
    };
}

groups! {
    files: FILES;
    kernel: KERNEL;
    network: NETWORK;
    processes: PROCESSES;
    protected: PROTECTED;
}

/// Not tried without a sandbox: it would do it to the processes of all other tests.
#[tokio::test]
async fn a_program_cannot_slow_down_all_processes_of_a_user() {
    for level in [Level::Namespaces, Level::Landlock] {
        let effects = World::new().confined("./escape priority-of-all", level).await;
        assert_eq!(effects, Vec::<String>::new(), "{level:?}");
    }
}

#[test]
fn there_are_more_than_sixty_ways_and_none_twice() {
    let all: Vec<Way> = [&FILES[..], &KERNEL, &NETWORK, &PROCESSES, &PROTECTED].concat();
    let scripts: std::collections::BTreeSet<&str> = all.iter().map(|(_, script, _)| *script).collect();
    assert!(scripts.len() == all.len() && all.len() > 60, "{}", all.len());
}
