use std::collections::BTreeSet;

use super::*;

#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests start processes")]
fn shell(script: &str) -> std::process::Child {
    std::process::Command::new("sh").args(["-c", script]).spawn().unwrap()
}

#[test]
fn both_ways_to_find_descendants_agree_and_none_is_left() {
    let mut root = shell("sleep 600 & sh -c 'sleep 600 & sleep 600; :' & wait");
    let pids = |members: Vec<Descendant>| members.iter().map(|member| member.pid).collect::<BTreeSet<_>>();
    while descendants(root.id()).len() < 4 {
        std::thread::yield_now();
    }
    let found = pids(descendants(root.id()));
    assert_eq!(found, pids(descendants_by_parent(root.id())));
    assert!(found.is_subset(&pids(descendants(std::process::id()))));

    kill_from_outside(root.id());
    root.wait().unwrap();
    // A signal was sent to all of them; dying takes its time.
    while !found.iter().all(|pid| Stat::read(*pid).map_or(true, |stat| stat.is_dead())) {
        std::thread::yield_now();
    }
}

#[test]
fn a_number_used_again_gets_no_signal() {
    // It must not leave by itself when its children are gone.
    let mut root = shell("exec sleep 600");
    let stat = Stat::read(root.id()).unwrap();
    let before = Descendant { pid: root.id(), stat: Stat { started_ticks: stat.started_ticks - 1, ..stat } };
    before.signal(Signal::KILL);
    assert_eq!(root.try_wait().unwrap(), None);
    kill_from_outside(root.id());
    let status = root.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    Descendant { pid: root.id(), stat }.signal(Signal::KILL);
}
