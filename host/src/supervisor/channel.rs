//! The supervisor's end of the socket: blocking frames, with file descriptors.

use super::protocol::{self, Reply, Request};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Requests come in, replies go out.
pub struct Channel {
    socket: UnixStream,
    buffer: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
}

/// What one read of the socket brought.
pub enum Received {
    /// Something, maybe a whole request: ask [`Channel::next_request`].
    Bytes,
    /// The engine is gone.
    Closed,
}

impl Channel {
    /// Takes over a connected socket.
    pub fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            buffer: Vec::new(),
            descriptors: VecDeque::new(),
        }
    }

    /// Reads once; blocks if nothing is there.
    pub fn receive(&mut self) -> io::Result<Received> {
        let mut chunk = [0; 64 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(16))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            recvmsg(
                &self.socket,
                &mut [IoSliceMut::new(&mut chunk)],
                &mut ancillary,
                RecvFlags::CMSG_CLOEXEC,
            )
        });
        let received = match received {
            Ok(received) => received,
            Err(Errno::CONNRESET) => return Ok(Received::Closed),
            Err(error) => return Err(error.into()),
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        if received.bytes == 0 {
            return Ok(Received::Closed);
        }
        self.buffer.extend_from_slice(&chunk[..received.bytes]);
        Ok(Received::Bytes)
    }

    /// The next whole request, if one has arrived.
    pub fn next_request(&mut self) -> io::Result<Option<Request>> {
        protocol::decode(&mut self.buffer)
    }

    /// The three file descriptors of a spawn request.
    pub fn take_stdio(&mut self) -> Option<[OwnedFd; 3]> {
        let mut next = || self.descriptors.pop_front();
        Some([next()?, next()?, next()?])
    }

    /// The file descriptors of a request to limit.
    pub fn take_descriptors(&mut self, count: usize) -> Option<Vec<OwnedFd>> {
        (0..count).map(|_| self.descriptors.pop_front()).collect()
    }

    /// Sends a reply.
    pub fn send(&mut self, reply: &Reply) -> io::Result<()> {
        self.socket.write_all(&protocol::encode(reply)?)
    }

    /// Sends a reply with a file descriptor.
    pub fn send_with(&mut self, reply: &Reply, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let frame = protocol::encode(reply)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = [descriptor];
        if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::Error::other("no room for a file descriptor"));
        }
        let bytes = [IoSlice::new(&frame)];
        let sent =
            retry_on_intr(|| sendmsg(&self.socket, &bytes, &mut ancillary, SendFlags::NOSIGNAL))?;
        self.socket.write_all(&frame[sent..])
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
