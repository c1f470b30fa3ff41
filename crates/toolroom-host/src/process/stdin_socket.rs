//! A line to a running program: a socket that is its standard input, and that it can answer on.
//!
//! The program's end goes to the helper as a descriptor, so that nobody stands between the two who talk.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tokio::io::{AsyncWriteExt, Interest};

use super::helper::ControlSocket;

/// Our end. At its end when the program and all who have it from it have closed theirs.
pub(crate) type StdinSocket = tokio::net::UnixStream;

/// The standard input of a running program. Dropping it ends that input.
#[derive(Debug)]
pub struct ProgramInput(pub(super) StdinSocket);

impl ProgramInput {
    /// Writes all of it. Whoever gives this up has written a part, and nothing sensible can follow it.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}

/// A descriptor travels beside a byte.
const ENVELOPE: [u8; 1] = [b'l'];

/// Both ends: ours, and the program's.
#[expect(clippy::disallowed_types, reason = "this is the door: a line to a program")]
pub(super) fn pair() -> io::Result<(StdinSocket, OwnedFd)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((StdinSocket::from_std(ours)?, theirs.into()))
}

/// Hands the program's end to the helper.
pub(super) async fn hand_over(lifeline: &tokio::net::UnixStream, end: &OwnedFd) -> io::Result<()> {
    let send = || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut attached = SendAncillaryBuffer::new(&mut space);
        let ends = [end.as_fd()];
        attached.push(SendAncillaryMessage::ScmRights(&ends));
        sendmsg(lifeline, &[IoSlice::new(&ENVELOPE)], &mut attached, SendFlags::NOSIGNAL)?;
        Ok(())
    };
    lifeline.async_io(Interest::WRITABLE, send).await
}

/// Takes it, in the helper. It closes when a program starts that it is not for.
pub(super) fn take(lifeline: &ControlSocket) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut envelope = ENVELOPE;
    recvmsg(lifeline, &mut [IoSliceMut::new(&mut envelope)], &mut attached, RecvFlags::CMSG_CLOEXEC)?;
    let ends = attached.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut ends) => ends.next(),
        _ => None,
    });
    ends.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
