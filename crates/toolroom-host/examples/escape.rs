//! Tries to escape from a sandbox: `escape METHOD [ARGUMENT…]`. Prints the data it obtained, or `YES` if the kernel allowed the
//! call; fails without output if it was refused. The tests of the sandbox run it inside and outside.
#![expect(unsafe_code, reason = "many attacks are system calls without a safe wrapper")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an attacker uses every API, and only the sandbox may stop it"
)]

use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// `fcntl` command that sets the signal of a descriptor; the same number on every architecture.
const F_SETSIG: usize = 10;

type Result<T> = std::io::Result<T>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (method, rest) = words.split_first().unwrap();
    let at = |index: usize| rest[index].as_str();
    let number = |index: usize| at(index).parse::<usize>().unwrap();
    match method.as_str() {
        "tcp" => drop(TcpStream::connect(at(0))?.write_all(b"out")),
        "udp" => {
            let any = if at(0).starts_with('[') { "[::]:0" } else { "0.0.0.0:0" };
            UdpSocket::bind(any)?.send_to(b"out", at(0))?;
        }
        "unix" => drop(UnixStream::connect(at(0))?),
        "unix-datagram" => drop(UnixDatagram::unbound()?.send_to(b"out", at(0))?),
        "pair" => {
            // A connected socket can still send to another address.
            let (one, _other) = UnixDatagram::pair()?;
            one.send_to(b"out", at(0))?;
        }
        "abstract" => drop(UnixStream::connect_addr(&SocketAddr::from_abstract_name(at(0))?)?),
        "socket" => yes(call(libc::SYS_socket, &[number(0), number(1), number(2)])?),
        "ptrace" => {
            yes(call(libc::SYS_ptrace, &[libc::PTRACE_ATTACH as usize, number(0), 0, 0])?);
        }
        "seize" => yes(call(libc::SYS_ptrace, &[libc::PTRACE_SEIZE as usize, number(0), 0, 0])?),
        "vm-read" => vm(libc::SYS_process_vm_readv, number(0))?,
        "vm-write" => vm(libc::SYS_process_vm_writev, number(0))?,
        "mem" => {
            let mut memory = File::open(format!("/proc/{}/mem", at(0)))?;
            memory.seek(SeekFrom::Start(writable_address(number(0))? as u64))?;
            memory.read_exact(&mut [0; 8])?;
            println!("YES");
        }
        "take-descriptor" => {
            let process = call(libc::SYS_pidfd_open, &[number(0), 0])?;
            let taken = call(libc::SYS_pidfd_getfd, &[process as usize, 0, 0])?;
            print_from_start(owned(taken))?;
        }
        "signal-descriptor" => {
            let process = call(libc::SYS_pidfd_open, &[number(0), 0])?;
            call(libc::SYS_pidfd_send_signal, &[process as usize, libc::SIGKILL as usize, 0, 0])?;
        }
        "queue-signal" => {
            call(libc::SYS_tgkill, &[number(0), number(0), libc::SIGKILL as usize])?;
        }
        "compare" => {
            call(libc::SYS_kcmp, &[std::process::id() as usize, number(0), 1, 0, 0])?;
            println!("YES");
        }
        "limit" => {
            let limits = [5_u64, 5];
            let at = limits.as_ptr() as usize;
            call(libc::SYS_prlimit64, &[number(0), libc::RLIMIT_NOFILE as usize, at, 0])?;
            println!("YES");
        }
        "priority" => {
            call(libc::SYS_setpriority, &[0, number(0), 19])?;
            println!("YES");
        }
        "priority-of-all" => {
            // All processes of this user.
            call(libc::SYS_setpriority, &[2, 0, 19])?;
        }
        "by-a-pipe" => {
            // The kernel sends the signal when the pipe becomes readable.
            let (reader, mut writer) = std::io::pipe()?;
            let pipe = reader.as_raw_fd() as usize;
            call(libc::SYS_fcntl, &[pipe, libc::F_SETOWN as usize, number(0)])?;
            call(libc::SYS_fcntl, &[pipe, F_SETSIG, libc::SIGKILL as usize])?;
            call(libc::SYS_fcntl, &[pipe, libc::F_SETFL as usize, libc::O_ASYNC as usize])?;
            writer.write_all(b"x")?;
        }
        "affinity" => {
            let mask = [1_u64];
            call(libc::SYS_sched_setaffinity, &[number(0), 8, mask.as_ptr() as usize])?;
            println!("YES");
        }
        "ring" => {
            let parameters = [0_u8; 120];
            yes(call(libc::SYS_io_uring_setup, &[4, parameters.as_ptr() as usize])?);
        }
        "keyring" => yes(call(libc::SYS_keyctl, &[0, (-3_isize) as usize, 1])?),
        "add-key" => {
            let (kind, name) = (c("user"), c("escape"));
            let words = [kind.as_ptr() as usize, name.as_ptr() as usize, name.as_ptr() as usize, 3];
            yes(call(libc::SYS_add_key, &[words[0], words[1], words[2], words[3], (-3_isize) as usize])?);
        }
        "bpf" => {
            // An array of one value of four bytes.
            let map = [2_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            yes(call(libc::SYS_bpf, &[0, map.as_ptr() as usize, 72])?);
        }
        "faults" => yes(call(libc::SYS_userfaultfd, &[1])?),
        "perf" => {
            let mut attributes = [0_u32; 32];
            (attributes[0], attributes[1]) = (1, 128);
            let minus_one = (-1_isize) as usize;
            yes(call(
                libc::SYS_perf_event_open,
                &[attributes.as_ptr() as usize, 0, minus_one, minus_one, 0],
            )?);
        }
        "watch" => {
            let (watch, path) = (call(libc::SYS_inotify_init1, &[0])?, c(at(0)));
            yes(call(libc::SYS_inotify_add_watch, &[watch as usize, path.as_ptr() as usize, 0xfff])?);
        }
        "hoard" => {
            // Memory that is not in any process's map.
            let name = c("hoard");
            yes(call(libc::SYS_memfd_create, &[name.as_ptr() as usize, 0])?);
        }
        "hoard-by-number" => {
            let segment = call(libc::SYS_shmget, &[0, 1 << 30, 0o1600])?;
            call(libc::SYS_shmctl, &[segment as usize, libc::IPC_RMID as usize, 0])?;
            println!("YES");
        }
        "watch-all" => yes(call(libc::SYS_fanotify_init, &[0, 0])?),
        "kernel-log" => yes(call(libc::SYS_syslog, &[10, 0, 0])?),
        "mount" => {
            let (kind, path) = (c("tmpfs"), c(at(0)));
            let path = path.as_ptr() as usize;
            yes(call(libc::SYS_mount, &[kind.as_ptr() as usize, path, kind.as_ptr() as usize, 0, 0])?);
        }
        "open-tree" => {
            let path = c("/");
            // A copy of all mounts.
            let flags = 1 | libc::O_CLOEXEC as usize;
            yes(call(libc::SYS_open_tree, &[libc::AT_FDCWD as usize, path.as_ptr() as usize, flags])?);
        }
        "new-filesystem" => {
            let kind = c("tmpfs");
            yes(call(libc::SYS_fsopen, &[kind.as_ptr() as usize, 0])?);
        }
        "unshare" => yes(call(libc::SYS_unshare, &[number(0)])?),
        "clone" => {
            let flags = number(0) | libc::SIGCHLD as usize;
            let child = call(libc::SYS_clone, &[flags, 0, 0, 0, 0])?;
            if child == 0 {
                println!("YES");
            }
        }
        "clone3" => {
            let arguments = [libc::CLONE_NEWUSER as u64, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
            let child = call(libc::SYS_clone3, &[arguments.as_ptr() as usize, 64])?;
            if child == 0 {
                println!("YES");
            }
        }
        "enter" => {
            let space = File::open(format!("/proc/{}/ns/{}", at(0), at(1)))?;
            yes(call(libc::SYS_setns, &[space.as_raw_fd() as usize, 0])?);
        }
        "chroot" => {
            let path = c(at(0));
            yes(call(libc::SYS_chroot, &[path.as_ptr() as usize])?);
        }
        "by-handle" => by_handle(at(0))?,
        "descriptors" => {
            for number in 3..64 {
                let mut text = String::new();
                let file = File::open(format!("/proc/self/fd/{number}"));
                if file.and_then(|mut file| file.read_to_string(&mut text)).is_ok() {
                    println!("{text}");
                }
            }
        }
        "from-memory" => {
            // A copy of this program in anonymous memory.
            let name = c("copy");
            let memory = owned(call(libc::SYS_memfd_create, &[name.as_ptr() as usize, 0])?);
            let mut copy = File::from(memory);
            std::io::copy(&mut File::open("/proc/self/exe")?, &mut copy)?;
            let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
            return Err(Command::new(path).arg("read").arg(at(0)).exec());
        }
        "read" => println!("{}", std::fs::read_to_string(at(0))?),
        "exchange" => {
            let (one, other) = (c(at(0)), c(at(1)));
            let here = libc::AT_FDCWD as usize;
            let words = [here, one.as_ptr() as usize, here, other.as_ptr() as usize, 2];
            call(libc::SYS_renameat2, &words)?;
        }
        "type" => {
            let path = c("/dev/ptmx");
            let terminal = owned(call(
                libc::SYS_openat,
                &[libc::AT_FDCWD as usize, path.as_ptr() as usize, libc::O_RDWR as usize],
            )?);
            let unlocked = 0_i32;
            let number = terminal.as_raw_fd() as usize;
            call(libc::SYS_ioctl, &[number, libc::TIOCSPTLCK as usize, &raw const unlocked as usize])?;
            let peer = call(libc::SYS_ioctl, &[number, libc::TIOCGPTPEER as usize, libc::O_RDWR as usize])?;
            let letter = b'x';
            call(libc::SYS_ioctl, &[peer as usize, libc::TIOCSTI as usize, &raw const letter as usize])?;
            println!("YES");
        }
        "effective-root" => {
            if rustix::process::geteuid().is_root() {
                println!("YES");
            }
        }
        "share" => {
            let segment = call(libc::SYS_shmget, &[number(0), 4096, 0o1666])?;
            let memory = call(libc::SYS_shmat, &[segment as usize, 0, 0])?;
            // SAFETY: the kernel has just mapped a page there for us.
            unsafe { std::ptr::copy_nonoverlapping(at(1).as_ptr(), memory as *mut u8, at(1).len()) };
        }
        "shared" => {
            let segment = call(libc::SYS_shmget, &[number(0), 4096, 0])?;
            let memory = call(libc::SYS_shmat, &[segment as usize, 0, libc::SHM_RDONLY as usize])?;
            // SAFETY: the kernel has just mapped a page there for us.
            let bytes = unsafe { std::slice::from_raw_parts(memory as *const u8, 64) };
            println!("{}", String::from_utf8_lossy(bytes));
        }
        "unshare-memory" => {
            let segment = call(libc::SYS_shmget, &[number(0), 4096, 0])?;
            call(libc::SYS_shmctl, &[segment as usize, libc::IPC_RMID as usize, 0])?;
        }
        "second-numbers" => {
            // The same call under the number of the other calling convention.
            yes(call(libc::SYS_getpid | 0x4000_0000, &[])?);
        }
        _ => return Err(std::io::ErrorKind::InvalidInput.into()),
    }
    Ok(())
}

fn yes(_: i64) {
    println!("YES");
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn owned(descriptor: i64) -> OwnedFd {
    // SAFETY: the kernel has just opened it, and no other code owns it.
    unsafe { OwnedFd::from_raw_fd(descriptor as i32) }
}

fn call(number: libc::c_long, given: &[usize]) -> Result<i64> {
    let mut words = [0; 6];
    words[..given.len()].copy_from_slice(given);
    // SAFETY: callers pass numbers, and pointers that stay valid during the call.
    let answer = unsafe { libc::syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]) };
    if answer < 0 { Err(std::io::Error::last_os_error()) } else { Ok(answer) }
}

/// A writable address of a process: the last word of its stack.
fn writable_address(process: usize) -> Result<usize> {
    let map = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let line = map.lines().find(|line| line.contains(" rw-p ") && line.contains("[stack]")).unwrap();
    Ok(usize::from_str_radix(line.split('-').nth(1).unwrap().split(' ').next().unwrap(), 16).unwrap() - 8)
}

/// Reads or writes the last eight bytes of another process's stack, which are zeros.
fn vm(number: libc::c_long, process: usize) -> Result<()> {
    // A syscall filter ignores the address, so any will do if the map is refused.
    let address = writable_address(process).unwrap_or(0x1000);
    let mut bytes = [0_u8; 8];
    let here = [bytes.as_mut_ptr() as usize, 8];
    let there = [address, 8];
    yes(call(number, &[process, here.as_ptr() as usize, 1, there.as_ptr() as usize, 1, 0])?);
    Ok(())
}

fn print_from_start(descriptor: OwnedFd) -> Result<()> {
    let mut file = File::from(descriptor);
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    println!("{text}");
    Ok(())
}

/// Opens a file by its file system handle, without a path.
fn by_handle(path: &str) -> Result<()> {
    let name = c(path);
    let mut handle = [0_u32; 34];
    handle[0] = 128;
    let mut mount = 0_i32;
    let here = libc::AT_FDCWD as usize;
    let at = handle.as_mut_ptr() as usize;
    call(libc::SYS_name_to_handle_at, &[here, name.as_ptr() as usize, at, &raw mut mount as usize, 0])?;
    let folder = File::open(std::path::Path::new(path).parent().unwrap()).or_else(|_| File::open("."))?;
    let opened = call(libc::SYS_open_by_handle_at, &[folder.as_raw_fd() as usize, at, 0])?;
    print_from_start(owned(opened))
}
