//! Seccomp: refuses system calls that a confined program does not need.
//!
//! They fail instead of killing the program, so that programs that merely probe keep working. Other calls are allowed,
//! because Landlock and the namespaces restrict their effects.

use std::collections::BTreeMap;
use std::io;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use super::confinement::Confinement;
use super::level::Level;

/// Refused with any arguments.
const REFUSED: &[c_long] = &[
    // Other processes' memory and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_process_mrelease,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Ways around this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The user's kernel keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Code for the kernel.
    libc::SYS_bpf,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    // Mounts and file handles.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // Namespaces, in which a program would be root again.
    libc::SYS_unshare,
    libc::SYS_setns,
    // The machine as a whole.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Too new for libc; the number is the same on all architectures.
const OPEN_TREE_ATTR: c_long = 467;

/// Flags that create a namespace.
const NAMESPACES: [c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// System V and POSIX IPC: namespaces have their own, Landlock does not cover it.
const SHARED: [c_long; 15] = [
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_shmget,
    libc::SYS_ioprio_set,
];

/// File notification reveals names in folders that cannot be opened: Landlock does not cover it. Programs fall back to
/// polling.
const WATCHING: &[c_long] = &[
    libc::SYS_inotify_init1,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
];

/// Calls about a process by PID, with the position of that argument. Allowed for the caller itself (0).
const ABOUT_OTHERS: [(c_long, u8); 6] = [
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
];

/// "All processes of this user", for priorities.
const OF_USER: u64 = 2;

/// Maximum size of shared memory: after detaching it belongs to no process and is not accounted, with up to 4,096
/// segments.
const MAX_SHARED_BYTES: u64 = 1024 * 1024;

/// Injects input into a terminal.
const TYPING: [u64; 2] = [libc::TIOCSTI, TIOCLINUX];

/// Various console functions.
const TIOCLINUX: u64 = 0x541c;

/// The bits of a socket type without flags.
const SOCKET_KINDS: u64 = 0xf;

/// Socket families that stay within the network namespace.
const FAMILIES: [c_int; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];

impl Confinement {
    /// Enforces the filters for this process and its descendants.
    pub(crate) fn filter_calls(&self) -> io::Result<()> {
        for program in self.filters().map_err(io::Error::other)? {
            seccompiler::apply_filter(&program).map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn filters(&self) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
        let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
            REFUSED.iter().map(|call| (*call, Vec::new())).collect();
        let any_flag = NAMESPACES.map(|flag| SeccompCmpOp::MaskedEq(number(flag)).on(0, number(flag)));
        refused.insert(libc::SYS_clone, rules(any_flag)?);
        refused.insert(libc::SYS_ioctl, rules(TYPING.map(|typing| SeccompCmpOp::Eq.on(1, typing)))?);
        match self.level {
            Level::Namespaces => {
                let others = FAMILIES.map(|family| SeccompCmpOp::Ne.on(0, number(family)));
                let others = others.into_iter().collect::<Result<_, _>>()?;
                refused.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
                let too_long =
                    SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Gt, MAX_SHARED_BYTES)?;
                refused.insert(libc::SYS_shmget, rules([Ok(too_long)])?);
            }
            Level::Landlock => {
                refused.extend(SHARED.iter().chain(WATCHING).map(|call| (*call, Vec::new())));
                for (call, place) in ABOUT_OTHERS {
                    refused.insert(call, rules([SeccompCmpOp::Ne.on(place, 0)])?);
                }
                refused
                    .entry(libc::SYS_setpriority)
                    .or_default()
                    .extend(rules([SeccompCmpOp::Eq.on(0, OF_USER)])?);
                // Landlock covers neither sockets in the file system nor datagrams.
                refused.insert(libc::SYS_socket, Vec::new());
                // A datagram socket of a pair can send to any address.
                let datagram = number(libc::SOCK_DGRAM);
                refused.insert(
                    libc::SYS_socketpair,
                    rules([SeccompCmpOp::MaskedEq(SOCKET_KINDS).on(1, datagram)])?,
                );
            }
        }
        // Pairs of this family only have local ends.
        let foreign = rules([SeccompCmpOp::Ne.on(0, number(libc::AF_UNIX))])?;
        refused.entry(libc::SYS_socketpair).or_default().extend(foreign);
        // The flags of the first are behind a pointer, which filters cannot read. The memory of the others is not accounted,
        // because no process needs to map it. Programs fall back to older calls.
        let unknown = [libc::SYS_clone3, libc::SYS_memfd_create, libc::SYS_memfd_secret];
        let unknown = unknown.map(|call| (call, Vec::new())).into();
        let mut programs = vec![compiled(refused, libc::EPERM)?, compiled(unknown, libc::ENOSYS)?];
        if cfg!(target_arch = "x86_64") {
            programs.push(no_second_numbers());
        }
        Ok(programs)
    }
}

/// A condition on the lower half of an argument, which is all the kernel uses in these calls.
trait On {
    fn on(self, argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError>;
}

impl On for SeccompCmpOp {
    fn on(self, argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, self, value)
    }
}

/// Any of the conditions.
fn rules(
    conditions: impl IntoIterator<Item = Result<SeccompCondition, seccompiler::BackendError>>,
) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    conditions.into_iter().map(|condition| SeccompRule::new(vec![condition?])).collect()
}

fn compiled(
    refused: BTreeMap<i64, Vec<SeccompRule>>,
    errno: c_int,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let action = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(refused, SeccompAction::Allow, action, architecture)?.try_into()
}

/// On x86-64 every call has a second number (x32), which the filters above do not cover.
fn no_second_numbers() -> BpfProgram {
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    const LOAD: u16 = 0x20;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const SECOND: u32 = 0x4000_0000;
    const REFUSE: u32 = 0x0005_0000;
    const ALLOW: u32 = 0x7fff_0000;
    vec![
        step(LOAD, 0, 0, 0),
        step(IF_AT_LEAST, 0, 1, SECOND),
        step(RETURN, 0, 0, REFUSE | libc::ENOSYS.unsigned_abs()),
        step(RETURN, 0, 0, ALLOW),
    ]
}

fn number(flag: c_int) -> u64 {
    u64::from(flag.unsigned_abs())
}
