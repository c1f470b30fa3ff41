//! A socket as standard input of a running program, on which it can also answer.
//!
//! The program's end is passed to the helper as a descriptor, so that both ends talk directly.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tokio::io::{AsyncWriteExt, Interest};

use super::helper::ControlSocket;

/// Our end. Closes when the program and all holders of its end have closed theirs.
pub(crate) type StdinSocket = tokio::net::UnixStream;

/// The standard input of a running program. Dropping it closes that input.
#[derive(Debug)]
pub struct ProgramInput(pub(super) StdinSocket);

impl ProgramInput {
    /// Writes all bytes. Not cancel safe: after a cancellation a part has been written.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }
}

/// A descriptor is sent with one byte.
const ENVELOPE: [u8; 1] = [b'l'];

/// Our end, and the program's.
#[expect(clippy::disallowed_types, reason = "this is the door: a line to a program")]
pub(super) fn pair() -> io::Result<(StdinSocket, OwnedFd)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((StdinSocket::from_std(ours)?, theirs.into()))
}

/// Sends the program's end to the helper.
pub(super) async fn hand_over(control_socket: &tokio::net::UnixStream, end: &OwnedFd) -> io::Result<()> {
    let send = || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut attached = SendAncillaryBuffer::new(&mut space);
        let ends = [end.as_fd()];
        attached.push(SendAncillaryMessage::ScmRights(&ends));
        sendmsg(control_socket, &[IoSlice::new(&ENVELOPE)], &mut attached, SendFlags::NOSIGNAL)?;
        Ok(())
    };
    control_socket.async_io(Interest::WRITABLE, send).await
}

/// Receives it in the helper. Closed on exec of other programs.
pub(super) fn take(control_socket: &ControlSocket) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut envelope = ENVELOPE;
    recvmsg(control_socket, &mut [IoSliceMut::new(&mut envelope)], &mut attached, RecvFlags::CMSG_CLOEXEC)?;
    let ends = attached.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut ends) => ends.next(),
        _ => None,
    });
    ends.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
