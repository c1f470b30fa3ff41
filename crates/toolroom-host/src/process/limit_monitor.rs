//! Checks the resources of a process tree against its limits.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

use super::descendants::Descendant;
use super::end::{Limit, Usage};
use super::order::Limits;

/// Check interval of a stable tree.
const STABLE_INTERVAL: Duration = Duration::from_millis(100);

/// Check interval of a growing tree.
const GROWING_INTERVAL: Duration = Duration::from_millis(20);

/// Keeps the highest values of a tree.
#[derive(Debug)]
pub(super) struct LimitMonitor {
    limits: Limits,
    usage: Usage,
    last_processes: u32,
    last_memory: u64,
}

/// The result of one check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Check again after this time.
    Within(Duration),
    /// A limit was reached.
    Reached(Limit),
}

impl LimitMonitor {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, usage: Usage::default(), last_processes: 1, last_memory: 0 }
    }

    /// Number of processes sufficient for a decision, if `ours` of them are ours.
    pub(super) fn enough(&self, ours: usize) -> usize {
        let most = self.limits.processes.and_then(|most| usize::try_from(most).ok());
        most.map_or(usize::MAX, |most| most.saturating_add(ours + 1))
    }

    /// Checks the living processes, of which `ours` are ours; `reaped` is the CPU time of ended ones.
    pub(super) fn look(&mut self, living: &[Descendant], ours: usize, reaped: Duration) -> Verdict {
        let ticks: u64 = living.iter().map(|member| member.stat.cpu_ticks).sum();
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        let cpu = reaped + Duration::from_millis(ticks.saturating_mul(1_000) / per_second);
        let pages: u64 = living.iter().map(|member| member.stat.resident_pages).sum();
        let memory = pages.saturating_mul(rustix::param::page_size() as u64);
        let processes = u32::try_from(living.len().saturating_sub(ours)).unwrap_or(u32::MAX);
        self.usage.cpu = self.usage.cpu.max(cpu);
        self.usage.peak_memory_bytes = self.usage.peak_memory_bytes.max(memory);
        self.usage.peak_processes = self.usage.peak_processes.max(processes);
        let grows = processes > self.last_processes || memory > self.last_memory + self.last_memory / 2;
        (self.last_processes, self.last_memory) = (processes, memory);
        if self.limits.processes.is_some_and(|most| processes > most) {
            return Verdict::Reached(Limit::Processes);
        }
        if self.limits.memory_bytes.is_some_and(|most| memory > most) {
            return Verdict::Reached(Limit::Memory);
        }
        if self.limits.cpu.is_some_and(|most| cpu > most) {
            return Verdict::Reached(Limit::Cpu);
        }
        Verdict::Within(if grows { GROWING_INTERVAL } else { STABLE_INTERVAL })
    }

    /// The total usage, once all are reaped.
    pub(super) fn usage(&self, wall: Duration) -> Usage {
        // The first process may have come and gone between two checks.
        Usage {
            wall,
            cpu: self.usage.cpu.max(reaped_cpu()),
            peak_processes: self.usage.peak_processes.max(1),
            ..self.usage
        }
    }
}

/// CPU time of all reaped children of this process and of their reaped children.
pub(super) fn reaped_cpu() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Duration::ZERO };
    let both = usage.user_time() + usage.system_time();
    let micros = both.tv_sec().saturating_mul(1_000_000).saturating_add(both.tv_usec());
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}
